#!/usr/bin/env bash
# Compiles each program in examples/ and shows the first lines of its PTX and what its cubin holds.
#
#   scripts/demo.sh [sm_90]     another target; called by 'make demo', which builds first
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
target=${1:-sm_90}
tileiras=${CARGO_TARGET_DIR:-target}/debug/tileiras
output=$(mktemp -d)
trap 'rm -rf "$output"' EXIT

"$tileiras" --version
shopt -s nullglob
programs=(examples/*.mlir examples/*.tileirbc)
if [ ${#programs[@]} = 0 ]; then
    echo "demo: there is no program in examples/" >&2
    exit 1
fi
for program in "${programs[@]}"; do
    echo
    echo "== $program for $target"
    "$tileiras" "$program" --gpu-name="$target" --emit=ptx -o "$output/kernel.ptx"
    "$tileiras" "$program" --gpu-name="$target" -o "$output/kernel.cubin" --resource-usage-file="$output/usage.json"
    sed -n '1,20p' "$output/kernel.ptx"
    echo "   ... $(wc -l < "$output/kernel.ptx") lines of PTX, a cubin of $(wc -c < "$output/kernel.cubin") bytes"
    cat "$output/usage.json"
done
