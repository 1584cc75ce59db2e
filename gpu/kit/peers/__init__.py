"""Competitors: the performance of other compilers and libraries on the same machine."""
