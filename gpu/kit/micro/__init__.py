"""Micro-kernels: small PTX programs, each of which measures one property of the machine."""
