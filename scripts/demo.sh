#!/usr/bin/env bash
# Compiles each program in examples/ and shows the start of its PTX, its global memory accesses, and the resources of its
# cubin. Then shows how the compiler executes a product of matrices, its predicted time, and a page with all levels.
#
#   scripts/demo.sh [TARGET...]     default: sm_90 and sm_100. 'make demo' builds first
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/progress.sh
targets=("$@")
[ ${#targets[@]} != 0 ] || targets=(sm_90 sm_100)
build=${CARGO_TARGET_DIR:-target}
tileiras=$build/debug/tileiras
output=$(mktemp -d)
trap 'rm -rf "$output"' EXIT

shopt -s nullglob
programs=(examples/*.mlir examples/*.tileirbc)
if [ ${#programs[@]} = 0 ]; then
    echo "demo: no program found in examples/" >&2
    exit 1
fi

bold='' dim='' plain=''
if [ -t 1 ]; then bold=$'\e[1m' dim=$'\e[2m' plain=$'\e[0m'; fi

# A value of the first kernel in the resource file.
resource() { sed -n "/\"$1\":/ { s/[^0-9]*\([0-9]*\).*/\1/p; q }" "$output/usage.json"; }

# The name and the first instructions of the kernel, without parameters and registers.
head_of_ptx() {
    awk -v left="$1" '
        /^\.visible \.entry/ { print $1, $2, $3 " ... )"; started = 1 }
        started && /^{/ { body = 1 }
        body && !/^[[:space:]]*(\.reg.*)?$/ && left-- > 0 { print }
    ' "$output/kernel.ptx" | expand -t 4
}

# The kinds of global memory accesses, with their numbers.
accesses() {
    grep -oE '(ld|st)\.[a-z.]*global[a-z0-9.]*' "$output/kernel.ptx" | sort | uniq -c | sort -rn |
        awk '{printf "%s%s x%s", (NR > 1 ? ", " : ""), $2, $1}'
}

started=$SECONDS done=0
for program in "${programs[@]}"; do
    progress_count demo "$done" ${#programs[@]} "$started"
    done=$((done + 1))
    echo "${bold}$program${plain} ($(wc -c < "$program") bytes)"
    shown=
    for target in "${targets[@]}"; do
        "$tileiras" "$program" --gpu-name="$target" --emit=ptx -o "$output/kernel.ptx"
        "$tileiras" "$program" --gpu-name="$target" -o "$output/kernel.cubin" --resource-usage-file="$output/usage.json"
        if [ -z "$shown" ]; then
            head_of_ptx 12 | sed "s/^/  $dim| /; s/\$/$plain/"
            echo "  $dim| ...$plain"
            shown=yes
        fi
        printf '  %-7s %4s lines of PTX, cubin of %s bytes, %s registers, %s bytes of shared memory, %s of spills\n' \
            "$target" "$(wc -l < "$output/kernel.ptx")" "$(wc -c < "$output/kernel.cubin")" \
            "$(resource registers)" "$(resource shared_memory)" "$(resource spill_stores)"
        printf '          %s\n' "$(accesses)"
    done
    echo
done

# A product of matrices of 4096 x 4096, on an H100.
program=examples/matmul_bf16.mlir
pages=$build/demo
mkdir -p "$pages"
progress_count demo ${#programs[@]} $((${#programs[@]} + 1)) "$started"
echo "${bold}$program on sm_90: what the compiler chose${plain}"
"$tileiras" "$program" --gpu-name=sm_90 --emit=ptx -o "$output/kernel.ptx" --remarks=all 2>&1 |
    sed -nE "s|^$program:([0-9]+):[0-9]+: remark: |line \\1  |p" | fold -s -w 110 | sed 's/^/  /; s/^  \([^l]\)/           \1/'
matrix=zeros:bf16:4096x4096
"$build/debug/tile-run" "$program" --gpu-name sm_90 --grid 32,16 "$matrix" "$matrix" "$matrix" --quiet --timing \
    --timing-html "$pages/timing.html" > "$output/report"
echo
echo "${bold}Its predicted time for matrices of 4096 x 4096${plain}"
sed -n '1,/^warps wait/p' "$output/report" | sed '$d; s/^/  /'
"$tileiras" explore "$program" --gpu-name=sm_90 -o "$pages/explore.html"
echo
echo "${bold}Pages to open in a browser${plain}"
echo "  $pages/timing.html    where the time goes, with the timeline of a block"
echo "  $pages/explore.html   the program at every level, from the language to machine code"
