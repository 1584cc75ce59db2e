#!/usr/bin/env python3
"""Writes decode.tsv next to the stored bytecode files: a digest (64-bit FNV-1a) of what decode.py prints with -v.

The Rust tests print what they read in the same format and compare digests, so they do not need Python.
"""
import os, sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import decode

decode.VERB = True
tests = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
for folder in (os.path.join(tests, "corpus"), os.path.join(tests, "bytecode", "synthetic")):
    with open(os.path.join(folder, "decode.tsv"), "w") as out:
        for name in sorted(os.listdir(folder)):
            if not name.endswith(".tileirbc"):
                continue
            try:
                m = decode.Module(open(os.path.join(folder, name), "rb").read())
            except decode.Err as e:
                out.write("%s\t-\t%s\n" % (name, e))
                continue
            lines = (["producer %r" % m.producer] if m.producer is not None else []) + m.out
            text = "".join(line + "\n" for line in lines)
            h = 0xCBF29CE484222325
            for b in text.encode():
                h = (h ^ b) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
            out.write("%s\t%d\t%016x\n" % (name, len(lines), h))
