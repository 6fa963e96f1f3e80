# kinase: B-factor = group of the finding, occupancy = cluster at sc = 0.2223 A, both from 1, 0 for none
set here [file dirname [info script]]
color Display Background white
color change rgb 32 0.000 0.000 0.545
color change rgb 31 0.000 0.620 0.451
color change rgb 30 0.337 0.706 0.914
color change rgb 29 0.533 0.133 0.333
color change rgb 28 0.667 0.267 0.600
color change rgb 27 0.741 0.741 0.741
color change rgb 26 0.902 0.624 0.000
mol new [file join $here structure.cif] type pdbx waitfor all
mol rename top bodies
mol delrep 0 top
mol representation NewCartoon
mol color ColorID 27
mol selection {same residue as (beta 0 and name CA P C4')}
mol addrep top
mol representation NewCartoon
mol color ColorID 32
mol selection {same residue as (beta 1 and name CA P C4')}
mol addrep top
mol representation NewCartoon
mol color ColorID 26
mol selection {same residue as (beta 2 and name CA P C4')}
mol addrep top
mol representation NewCartoon
mol color ColorID 30
mol selection {same residue as (beta 3 and name CA P C4')}
mol addrep top
graphics top color 26
graphics top cylinder {-6.020 -0.741 -24.624} {16.335 10.331 7.710} radius 0.400
graphics top cone {16.335 10.331 7.710} {17.977 11.144 10.086} radius 1.200
graphics top color 30
graphics top cylinder {19.474 -8.918 18.787} {-17.585 0.363 4.351} radius 0.400
graphics top cone {-17.585 0.363 4.351} {-20.307 1.044 3.291} radius 1.200
mol new [file join $here structure.cif] type pdbx waitfor all
mol rename top clusters
mol delrep 0 top
mol representation NewCartoon
mol color ColorID 27
mol selection {same residue as (occupancy 0 and name CA P C4')}
mol addrep top
mol representation NewCartoon
mol color ColorID 32
mol selection {same residue as (occupancy 1 and name CA P C4')}
mol addrep top
mol representation NewCartoon
mol color ColorID 26
mol selection {same residue as (occupancy 2 and name CA P C4')}
mol addrep top
mol representation NewCartoon
mol color ColorID 31
mol selection {same residue as (occupancy 3 and name CA P C4')}
mol addrep top
mol representation NewCartoon
mol color ColorID 29
mol selection {same residue as (occupancy 4 and name CA P C4')}
mol addrep top
mol representation NewCartoon
mol color ColorID 28
mol selection {same residue as (occupancy 5 and name CA P C4')}
mol addrep top
mol off [lindex [molinfo list] end-0]
display resetview
