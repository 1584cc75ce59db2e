"""Makes a page of results from recorded lines: see gpu/report.py."""
