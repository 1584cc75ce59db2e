"""Builds the folder that is carried to a GPU machine: see gpu/README.md."""
