#!/usr/bin/env bash
# Compiles each program in examples/ and shows the start of its PTX, its global memory accesses, and the resources of its
# cubin.
#
#   scripts/demo.sh [TARGET...]     default: sm_90 and sm_100. 'make demo' builds first
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/progress.sh
targets=("$@")
[ ${#targets[@]} != 0 ] || targets=(sm_90 sm_100)
tileiras=${CARGO_TARGET_DIR:-target}/debug/tileiras
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
