"""LETOR text: compiled parsing, the messages about bad lines, and the writer."""
