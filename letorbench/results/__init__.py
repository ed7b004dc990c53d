"""Every file that a run leaves: written, read, checked and exported."""
