"""What there is: atoms and their chemistry, space and its boxes, snapshots, all as an Ensemble."""
