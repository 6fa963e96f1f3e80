"""Everything that leaves the program: pictures, tables, structures and scripts of one analysis."""
