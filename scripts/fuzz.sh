#!/usr/bin/env bash
# Builds a fuzz target and runs it, without cargo-fuzz. With a nightly tool chain, or with the stable one and
# RUSTC_BOOTSTRAP=1.
#
#   scripts/fuzz.sh TARGET [RUNS] [ARGUMENTS OF LIBFUZZER...]
#
# TARGET is raw, round_trip, section_aware, version_swap, ptx_parse, ptx_run, text, whole_bytecode or whole_text; RUNS
# defaults to 10000000. The targets without MLIR run under AddressSanitizer, with overflow checks and debug assertions.
# The last three link the distribution's libMLIR and libLLVM, which are not instrumented: they run without a sanitizer,
# and coverage is that of our own Rust and C++. An input that takes longer than a second on the processor (a minute on
# the whole path), or needs more than 2 GB (6 GB), counts as a failure. What was found is kept in fuzz/corpus/TARGET, an
# input that fails in fuzz/artifacts/TARGET.
#
# TILEIR_FUZZ_FAST=1 traces no comparisons and does not instrument the stack: two to three times the runs, after a first
# campaign has found its way into the format. docs/results has the figures of past campaigns.
set -euo pipefail

target=${1:?usage: scripts/fuzz.sh TARGET [RUNS]}
runs=${2:-10000000}
shift $(($# < 2 ? $# : 2))
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
host=$(rustc -vV | sed -n 's/^host: //p')

if rustup toolchain list 2>/dev/null | grep -q '^nightly'; then
    cargo=(cargo +nightly)
else
    cargo=(env RUSTC_BOOTSTRAP=1 cargo)
fi

coverage="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-inline-8bit-counters"
coverage+=" -Cllvm-args=-sanitizer-coverage-pc-table --cfg fuzzing -Cdebug-assertions -Coverflow-checks"
folder=target
if [ "${TILEIR_FUZZ_FAST:-0}" = 1 ]; then
    coverage+=" -Cllvm-args=-sanitizer-coverage-level=3 -Cllvm-args=-asan-stack=0"
    cxx="-fsanitize-coverage=inline-8bit-counters,pc-table"
    folder=target/fast
else
    coverage+=" -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-trace-compares"
    cxx="-fsanitize-coverage=inline-8bit-counters,pc-table,trace-cmp"
fi
# Most of the time would go into the stacks that each allocation is remembered with.
export ASAN_OPTIONS=${ASAN_OPTIONS:-malloc_context_size=2:quarantine_size_mb=16:detect_stack_use_after_return=0}

# The seeds are made by a plain program; those of PTX are the tests of the simulator.
(cd "$root/fuzz" && cargo run --quiet --release --target-dir target/plain --bin seeds -- \
    seeds ../tests/ir/cuda_tile ../tests/corpus ../tests/bytecode/synthetic)

seeds=("$root/fuzz/seeds/$target")
memory=2048
if [[ $target == text || $target == whole_* ]]; then
    cd "$root/fuzz/mlir"
    TILEIRAS_CXXFLAGS="$cxx" RUSTFLAGS="$coverage" \
        "${cargo[@]}" build --release --target "$host" --target-dir "$folder" --bin "$target"
    binary=$PWD/$folder/$host/release/$target
    llvm=${MLIR_SYS_210_PREFIX:-/usr/lib/llvm-21}
    export LD_LIBRARY_PATH=$llvm/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    # Texts that a person could have written; MLIR's own parser recurses without a limit.
    extra=(-dict="$root/fuzz/seeds/text.dict" -max_len=1024 -only_ascii=1)
    case $target in
        whole_bytecode) extra=(-max_len=2048) memory=6144 ;;
        whole_text) extra=(-dict="$root/fuzz/seeds/text.dict" -max_len=3072) memory=6144 ;;
    esac
else
    cd "$root/fuzz"
    RUSTFLAGS="$coverage -Zsanitizer=address" \
        "${cargo[@]}" build --release --target "$host" --target-dir "$folder" --bin "$target"
    binary=$PWD/$folder/$host/release/$target
    # The files that have every operation are 6500 bytes.
    extra=(-max_len=8192)
    if [[ $target == ptx_* ]]; then
        tests=$root/ptx-sim/tests
        seeds=("$tests/cuda/ptx" "$tests/ptx" "$tests/fuzz")
        extra=(-max_len=3000)
    fi
fi

cd "$root/fuzz"
mkdir -p "corpus/$target" "artifacts/$target"
exec "$binary" "corpus/$target" "${seeds[@]}" -runs="$runs" -timeout=120 -rss_limit_mb="$memory" -reduce_inputs=0 \
    -artifact_prefix="artifacts/$target/" -print_final_stats=1 "${extra[@]}" "$@"
