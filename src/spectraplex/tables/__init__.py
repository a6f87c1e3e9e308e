"""One reader for people's files, for datasets and the command line alike."""
