"""Getting a data set: import a folder or an archive, or download it."""
