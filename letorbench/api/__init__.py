"""What `import letorbench` and the command line offer: one module for each part of the work."""
