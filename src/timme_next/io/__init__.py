"""Reading: files and objects of other libraries become ensembles."""
