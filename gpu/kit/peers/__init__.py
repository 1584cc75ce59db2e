"""Competitors: what other compilers and libraries reach on the same machine."""
