#!/bin/sh
# Compiles the simulator's CUDA test kernels to the checked-in PTX.
#
# Usage: scripts/cuda-ptx.sh [name...]   (all kernels by default)
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
nvcc=$("$root/scripts/fetch-nvcc.sh")
cd "$root/ptx-sim/tests/cuda"
mkdir -p ptx

if [ $# -eq 0 ]; then
    set -- *.cu
fi
for source in "$@"; do
    name=${source%.cu}
    arch=$(sed -n '1s|^// arch: ||p' "$name.cu")
    "$nvcc" -ptx -std=c++17 -arch="$arch" -o "ptx/$name.ptx" "$name.cu"
done
