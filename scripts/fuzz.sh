#!/usr/bin/env bash
# Builds a fuzz target and runs it, without cargo-fuzz. With a nightly tool chain, or with the stable one and
# RUSTC_BOOTSTRAP=1.
#
#   scripts/fuzz.sh TARGET [RUNS] [ARGUMENTS OF LIBFUZZER...]
#
# TARGET is raw, round_trip, section_aware, version_swap or text; RUNS defaults to 10000000. The MLIR-free targets run under
# AddressSanitizer, with overflow checks and debug assertions. `text` links the distribution's libMLIR and libLLVM, which
# are not instrumented: it runs without a sanitizer, and coverage is that of our own Rust and C++. An input that takes
# longer than a second on the processor, or needs more than 2 GB, counts as a failure. What was found is kept in fuzz/corpus/TARGET.
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

coverage="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4"
coverage+=" -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table"
coverage+=" -Cllvm-args=-sanitizer-coverage-trace-compares --cfg fuzzing -Cdebug-assertions -Coverflow-checks"

# The seeds are made by a plain program.
(cd "$root/fuzz" && cargo run --quiet --release --target-dir target/plain --bin seeds -- \
    seeds ../tests/corpus ../tests/ir/cuda_tile)

if [ "$target" = text ]; then
    cd "$root/fuzz/text"
    TILEIRAS_CXXFLAGS="-fsanitize-coverage=inline-8bit-counters,pc-table,trace-cmp" RUSTFLAGS="$coverage" \
        "${cargo[@]}" build --release --target "$host" --bin text
    binary=$PWD/target/$host/release/text
    # Texts that a person could have written; MLIR's own parser recurses without a limit.
    extra=(-dict="$root/fuzz/seeds/text.dict" -max_len=2048 -only_ascii=1)
else
    cd "$root/fuzz"
    RUSTFLAGS="$coverage -Zsanitizer=address" "${cargo[@]}" build --release --target "$host" --bin "$target"
    binary=$PWD/target/$host/release/$target
    extra=(-max_len=4096)
fi

cd "$root/fuzz"
mkdir -p "corpus/$target" "artifacts/$target"
exec "$binary" "corpus/$target" "seeds/$target" -runs="$runs" -timeout=120 -rss_limit_mb=2048 \
    -artifact_prefix="artifacts/$target/" -print_final_stats=1 "${extra[@]}" "$@"
