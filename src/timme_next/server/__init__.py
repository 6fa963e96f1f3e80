"""The server: a page in the browser that runs jobs on this computer."""
