"""Micro-kernels: small PTX programs that each answer one question about the machine."""
