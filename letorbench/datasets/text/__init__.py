"""LETOR text: compiled parsing in blocks, the messages about bad lines, and the writer."""
