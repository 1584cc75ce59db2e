#!/usr/bin/env python3
"""Runs the RUN lines of tests with the stock mlir-opt and the dialect plugin.

    cmake/run_tests.py build/libcuda_tile_plugin.so tests/ir/cuda_tile/*.mlir

`tileiras-opt` is replaced by mlir-opt with the plugin. The options of the dialect, which
mlir-opt does not support, are replaced by the environment variables of Plugin.cpp.
"""
import os
import re
import subprocess
import sys

BIN = os.environ.get("LLVM_BIN", "/usr/lib/llvm-21/bin")
OPTIONS = {
    "--cuda-tile-testing-ops": ("CUDA_TILE_TESTING_OPS", "1"),
    "-Wunsupported-hints": ("CUDA_TILE_HINTS", "warn"),
    "-Werr-hints": (None, None),
}
ALIASES = "--with-aliases"


def run_lines(path):
    """The RUN lines of a file, with continuation lines joined."""
    text, lines = "", []
    for line in open(path, encoding="utf-8"):
        match = re.match(r"\s*//\s*RUN:(.*)", line)
        if not match:
            continue
        text += match.group(1).strip()
        if text.endswith("\\"):
            text = text[:-1] + " "
            continue
        lines.append(text)
        text = ""
    return lines


def translate(command, plugin, path):
    """A shell command for one RUN line."""
    stages = []
    for stage in command.split("|"):
        words, settings = stage.split(), {}
        strict = "-Wunsupported-hints" in words and "-Werr-hints" in words
        for option in [word for word in words if word in OPTIONS]:
            words.remove(option)
            name, value = OPTIONS[option]
            if name:
                settings[name] = "error" if strict and "HINTS" in name else value
        at = words.index("not") + 1 if words[0] == "not" else 0
        if at:
            words[0] = f"{BIN}/not"
        if words[at] == "tileiras-opt":
            # The lines of a file spell attributes out, unless they ask for aliases.
            if ALIASES in words:
                words.remove(ALIASES)
            else:
                words.append("--mlir-print-local-scope")
            words[at] = f"{BIN}/mlir-opt --load-dialect-plugin={plugin}"
        elif words[at] == "FileCheck":
            words[at] = f"{BIN}/FileCheck"
        prefix = [f"{name}={value}" for name, value in settings.items()]
        stages.append(" ".join(["env"] + prefix + words).replace("%s", path))
    return "set -o pipefail; " + " | ".join(stages)


def main():
    plugin, failed = os.path.abspath(sys.argv[1]), 0
    for path in sys.argv[2:]:
        lines = run_lines(path)
        if not lines:
            print(f"NO RUN LINE {path}")
            failed += 1
        for line in lines:
            command = translate(line, plugin, path)
            done = subprocess.run(["bash", "-c", command], capture_output=True,
                                  text=True, timeout=120)
            if done.returncode != 0:
                failed += 1
                print(f"FAIL {path}: {line}\n{done.stderr[-3000:]}")
    print(f"{len(sys.argv) - 2} files, {failed} failures")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
