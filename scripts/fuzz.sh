#!/usr/bin/env bash
# Builds and runs a fuzz target without cargo-fuzz, with a nightly toolchain or with the stable one and RUSTC_BOOTSTRAP=1.
#
#   scripts/fuzz.sh TARGET [RUNS] [ARGUMENTS OF LIBFUZZER...]
#
# TARGET is raw, round_trip, section_aware, version_swap, ptx_parse, ptx_run, text, whole_bytecode or whole_text; RUNS
# defaults to 10000000. The targets without MLIR run under AddressSanitizer, with overflow checks and debug assertions.
# The last three link the distribution's libMLIR and libLLVM, which are not instrumented. They run without a sanitizer,
# and coverage only includes our Rust and C++. An input counts as a failure if it takes more than a second of processor
# time (a minute for whole_*) or more than 2 GB (6 GB). Interesting inputs are kept in fuzz/corpus/TARGET, and failing
# ones in fuzz/artifacts/TARGET.
#
# TILEIR_FUZZ_FAST=1 does not trace comparisons and does not instrument the stack, which gives two to three times as many
# runs. Use it after a first campaign has explored the format. docs/results has the results of past campaigns.
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
# Recording a full stack for each allocation would take most of the time.
export ASAN_OPTIONS=${ASAN_OPTIONS:-malloc_context_size=2:quarantine_size_mb=16:detect_stack_use_after_return=0}

# A program without instrumentation generates the seeds. The seeds of PTX are the tests of the simulator.
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
    # Restricted to text that a person could write, because MLIR's parser recurses without a limit.
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
    # The files that contain every operation have 6500 bytes.
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
