# kinase: B-factor = group of the finding, occupancy = cluster at sc = 0.2223 A, both from 1, 0 for none
# In PyMOL, in this folder: @view.pml; scenes: bodies, clusters, largest_mode
load structure.cif, timme
bg_color white
set_color timme_rest, [0.741, 0.741, 0.741]
hide everything
disable all
enable timme
color timme_rest, timme
show cartoon, timme
show sticks, timme and organic
set_color timme_body_1, [0.000, 0.000, 0.545]
select body_1, timme and b=1
color timme_body_1, body_1
set_color timme_body_2, [0.902, 0.624, 0.000]
select body_2, timme and b=2
color timme_body_2, body_2
set_color timme_body_3, [0.337, 0.706, 0.914]
select body_3, timme and b=3
color timme_body_3, body_3
/cmd.load_cgo([9.0, -6.020, -0.741, -24.624, 16.335, 10.331, 7.710, 0.400, 0.902, 0.624, 0.000, 0.902, 0.624, 0.000, 27.0, 16.335, 10.331, 7.710, 17.977, 11.144, 10.086, 1.200, 0.0, 0.902, 0.624, 0.000, 0.902, 0.624, 0.000, 1.0, 1.0], 'axis_2')
/cmd.load_cgo([9.0, 19.474, -8.918, 18.787, -17.585, 0.363, 4.351, 0.400, 0.337, 0.706, 0.914, 0.337, 0.706, 0.914, 27.0, -17.585, 0.363, 4.351, -20.307, 1.044, 3.291, 1.200, 0.0, 0.337, 0.706, 0.914, 0.337, 0.706, 0.914, 1.0, 1.0], 'axis_3')
deselect
orient timme
scene bodies, store
hide everything
disable all
enable timme
color timme_rest, timme
show cartoon, timme
show sticks, timme and organic
set_color timme_cluster_1, [0.000, 0.000, 0.545]
select cluster_1, timme and q=1
color timme_cluster_1, cluster_1
set_color timme_cluster_2, [0.902, 0.624, 0.000]
select cluster_2, timme and q=2
color timme_cluster_2, cluster_2
set_color timme_cluster_3, [0.000, 0.620, 0.451]
select cluster_3, timme and q=3
color timme_cluster_3, cluster_3
set_color timme_cluster_4, [0.533, 0.133, 0.333]
select cluster_4, timme and q=4
color timme_cluster_4, cluster_4
set_color timme_cluster_5, [0.667, 0.267, 0.600]
select cluster_5, timme and q=5
color timme_cluster_5, cluster_5
deselect
orient timme
scene clusters, store
scene bodies, recall
