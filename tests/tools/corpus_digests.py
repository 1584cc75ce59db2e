#!/usr/bin/env python3
"""Writes tests/corpus/decode.tsv: for each bytecode file a digest (64-bit FNV-1a) of what decode.py prints with -v.

The Rust tests print what they read in the same format and compare digests, so they need no Python.
"""
import os, sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import decode

decode.VERB = True
corpus = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "corpus")
with open(os.path.join(corpus, "decode.tsv"), "w") as out:
    for name in sorted(os.listdir(corpus)):
        if not name.endswith(".tileirbc"):
            continue
        try:
            m = decode.Module(open(os.path.join(corpus, name), "rb").read())
        except decode.Err as e:
            out.write("%s\t-\t%s\n" % (name, e))
            continue
        lines = (["producer %r" % m.producer] if m.producer is not None else []) + m.out
        text = "".join(line + "\n" for line in lines)
        h = 0xCBF29CE484222325
        for b in text.encode():
            h = (h ^ b) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
        out.write("%s\t%d\t%016x\n" % (name, len(lines), h))
