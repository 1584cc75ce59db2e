#!/usr/bin/env python3
"""Predicts the clocks of row kernels with each mode of --numerics, and prints a table for docs/results.

Each tile block loads a row, computes in f32 and stores the row or its sum. Usage:

    scripts/row_kernels.py TILE_RUN [--targets sm_90,sm_100] [--modes pinned,portable] [--lengths 1024,4096]
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROWS = 1056


def reduction(name, operand, body, identity, n):
    return f"""
      %{name}_r = reduce %{operand} dim=1 identities=[{identity} : f32] : tile<1x{n}xf32> -> tile<1xf32>
      (%a: tile<f32>, %b: tile<f32>) {{
        %c = {body} %a, %b : tile<f32>
        yield %c : tile<f32>
      }}
      %{name}_s = reshape %{name}_r : tile<1xf32> -> tile<1x1xf32>"""


def spread(name, n):
    return f"\n      %{name} = broadcast %{name}_s : tile<1x1xf32> -> tile<1x{n}xf32>"


def softmax(n):
    t = f"tile<1x{n}xf32>"
    return (reduction("max", "x", "maxf", "0xFF800000", n) + spread("max", n)
            + f"\n      %d = subf %x, %max : {t}\n      %e = exp %d : {t}"
            + reduction("sum", "e", "addf", "0.0", n) + spread("sum", n)
            + f"\n      %y = divf %e, %sum : {t}"), n


def layernorm(n):
    t, one = f"tile<1x{n}xf32>", "tile<1x1xf32>"
    return (reduction("sum", "x", "addf", "0.0", n)
            + f"\n      %count = constant <f32: {n}.0> : {one}\n      %mean_s = divf %sum_s, %count : {one}" + spread("mean", n)
            + f"\n      %d = subf %x, %mean : {t}\n      %q = mulf %d, %d : {t}"
            + reduction("var", "q", "addf", "0.0", n)
            + f"\n      %v = divf %var_s, %count : {one}\n      %eps = constant <f32: 1.0e-5> : {one}"
            + f"\n      %w = addf %v, %eps : {one}\n      %inv_s = rsqrt %w : {one}" + spread("inv", n)
            + f"\n      %y = mulf %d, %inv : {t}"), n


def row_sum(n):
    return reduction("sum", "x", "addf", "0.0", n) + "\n      %y = addf %sum_s, %sum_s : tile<1x1xf32>", 1


KERNELS = {"softmax": softmax, "layer normalization": layernorm, "sum": row_sum}


def program(kernel, element, n):
    body, out = KERNELS[kernel](n)
    view = lambda i, width: (
        f"      %t{i} = make_tensor_view %q{i}, shape = [%n, {width}], strides = [{width}, 1] : tile<i32>"
        f" -> tensor_view<?x{width}x{element}, strides=[{width},1]>\n"
        f"      %v{i} = make_partition_view %t{i} : {part(width)}\n")
    part = lambda width: f"partition_view<tile=(1x{width}), tensor_view<?x{width}x{element}, strides=[{width},1]>>"
    narrow = element != "f32"
    load, store = ("l", "s") if narrow else ("x", "y")
    text = f"cuda_tile.module @m {{\n  entry @k(%p0: tile<ptr<{element}>>, %p1: tile<ptr<{element}>>, %n: tile<i32>) {{\n"
    text += "".join(f"      %q{i} = assume div_by<16>, %p{i} : tile<ptr<{element}>>\n" for i in range(2))
    text += view(0, n) + view(1, out)
    text += "      %bx, %by, %bz = get_tile_block_id : tile<i32>\n      %z = constant <i32: 0> : tile<i32>\n"
    text += f"      %{load}, %k = load_view_tko weak %v0[%bx, %z] : {part(n)}, tile<i32> -> tile<1x{n}x{element}>, token"
    if narrow:
        text += f"\n      %x = ftof %l : tile<1x{n}x{element}> -> tile<1x{n}xf32>"
    text += body
    if narrow:
        text += f"\n      %s = ftof %y : tile<1x{out}xf32> -> tile<1x{out}x{element}>"
    text += f"\n      %o = store_view_tko weak %{store}, %v1[%bx, %z] : tile<1x{out}x{element}>, {part(out)}, tile<i32> -> token"
    return text + "\n      return\n  }\n}\n", out


def clocks(tile_run, folder, text, target, mode, element, n, out):
    source, answer = folder / "k.mlir", folder / "timing.json"
    source.write_text(text)
    command = [tile_run, source, f"--gpu-name={target}", "--timing", "--timing-json", answer, f"--numerics={mode}",
               "--grid", ROWS, f"zeros:{element}:{ROWS}x{n}:ptr", f"zeros:{element}:{ROWS}x{out}:ptr", f"i32:{ROWS}"]
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stderr}")
    return json.loads(answer.read_text())["clocks"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tile_run", help="the program tile-run")
    parser.add_argument("--targets", default="sm_90,sm_100")
    parser.add_argument("--modes", default="pinned,portable", help="compared with default")
    parser.add_argument("--lengths", default="1024,2048,4096,8192,16384")
    parser.add_argument("--kernels", default=",".join(KERNELS))
    args = parser.parse_args()
    lengths, modes = [int(n) for n in args.lengths.split(",")], args.modes.split(",")
    print(f"| kernel | elements | mode | {' | '.join(map(str, lengths))} |\n|---|---|---|{'---|' * len(lengths)}")
    with tempfile.TemporaryDirectory() as folder:
        for kernel in args.kernels.split(","):
            for target in args.targets.split(","):
                for element in ("f32", "bf16"):
                    rows = {mode: [] for mode in modes}
                    for n in lengths:
                        text, out = program(kernel, element, n)
                        time = lambda mode: clocks(args.tile_run, pathlib.Path(folder), text, target, mode, element, n, out)
                        default = time("default")
                        for mode in modes:
                            rows[mode].append(f"{100 * (time(mode) / default - 1):+.1f} %")
                    for mode in modes:
                        print(f"| {kernel}, {target} | {element} | {mode} | {' | '.join(rows[mode])} |", flush=True)


if __name__ == "__main__":
    main()
