"""The code that runs on a GPU machine, and on the simulated device in tests: see gpu/README.md."""
