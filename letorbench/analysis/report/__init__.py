"""One self-contained HTML file of stored results: no network, no server, the same bytes again."""
