#!/usr/bin/env bash
# Runs the published test files of the public cuda-tile project, given a checkout of it:
#
#   git clone https://github.com/NVIDIA/cuda-tile && scripts/replay-published-tests.sh cuda-tile/test
#
# Every RUN line runs with our tools in place of the public ones, with the test ops registered. Nothing is copied into the
# repository. scripts/published-tests.tsv lists the files that cannot pass, with the reason. The exit status is 0 if exactly
# those fail.
set -uo pipefail

folder=$(cd "${1:?usage: scripts/replay-published-tests.sh FOLDER}" && pwd) || exit 1
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
tools=${TILEIRAS_BIN:-$root/target/debug}
llvm=${LLVM_PREFIX:-/usr/lib/llvm-21}/bin
expected=$root/scripts/published-tests.tsv
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

for tool in tileiras-opt tileiras-translate; do
    [ -x "$tools/$tool" ] || { echo "replay: $tools/$tool is not built" >&2; exit 1; }
done

# Wrappers with the public names.
mkdir "$scratch/bin"
wrapper() { printf '#!/usr/bin/env bash\n%s\n' "$2" > "$scratch/bin/$1" && chmod +x "$scratch/bin/$1"; }
wrapper cuda-tile-opt "exec '$tools/tileiras-opt' --cuda-tile-testing-ops \"\$@\""
wrapper cuda-tile-translate "exec '$tools/tileiras-translate' --cuda-tile-testing-ops \"\$@\""
wrapper round-trip 'set -e
input=$1 base=$2; shift 2
cuda-tile-translate -mlir-to-cudatilebc -no-implicit-module "$input" -o "$base.bc"
cuda-tile-translate -cudatilebc-to-mlir "$base.bc" -o "$base.again" "$@"
cuda-tile-opt "$input" -no-implicit-module -o "$base.once" "$@"
diff -B "$base.once" "$base.again"'
export PATH=$scratch/bin:$llvm:$PATH

# The RUN lines of a file, with continuation lines joined and placeholders replaced.
run_lines() {
    sed -n 's/^.*RUN: *//p' "$1" \
        | sed -e ':a' -e '/\\$/{N;s/\\\n */ /;ba}' \
        | sed -e 's/%round_trip_test/round-trip/g' -e "s#%s#$1#g" -e "s#%S#$(dirname "$1")#g" -e "s#%t#$2#g" -e "s#%[A-Za-z_]*#&#g"
}

passed=0 surprises=0 known=0
while read -r file; do
    name=${file#"$folder"/}
    failed=
    number=0
    while IFS= read -r line; do
        number=$((number + 1))
        # A timeout is a failure.
        if ! (cd "$scratch" && timeout 120 bash -o pipefail -c "$line") > "$scratch/log" 2>&1; then
            failed+=" $number"
            cp "$scratch/log" "$scratch/$(echo "$name" | tr '/' '_').$number.log"
        fi
    done < <(run_lines "$file" "$scratch/t")
    reason=$(awk -F'\t' -v name="$name" '$1 == name { print $2 }' "$expected")
    if [ -z "$failed" ] && [ -z "$reason" ]; then
        passed=$((passed + 1))
    elif [ -n "$failed" ] && [ -n "$reason" ]; then
        known=$((known + 1))
        [ -n "${VERBOSE:-}" ] && echo "known      $name: $reason"
    elif [ -n "$failed" ]; then
        surprises=$((surprises + 1))
        echo "FAIL       $name, RUN line$failed"
        for n in $failed; do head -n "${LINES_OF_LOG:-12}" "$scratch/$(echo "$name" | tr '/' '_').$n.log" | sed 's/^/           | /'; done
    else
        surprises=$((surprises + 1))
        echo "UNEXPECTED $name passes, but is in $(basename "$expected"): $reason"
    fi
done < <(find "$folder" -name '*.mlir' | sort)
echo "$passed files pass, $known fail as expected, $surprises surprises"
[ "$surprises" = 0 ] && [ "$((passed + known))" -gt 0 ]
