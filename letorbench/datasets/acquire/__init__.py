"""Getting a data set: import a folder or an archive, download it, verify what is there."""
