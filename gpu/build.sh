#!/usr/bin/env bash
# Compiles everything that a GPU machine is to run, without a GPU, and packs it into one folder.
#
#   gpu/build.sh [--out DIR] [--parts cases,ptx,abi,copies,micro,peers,programs] [--only REGEX] [--peers-archive FILE]
#                [--target sm_90] [--offline] [--seed N] [--programs COUNT] [--levels 0,3]
#
# DIR is target/gpu-pack unless told. Needs the binaries of this project (built here), ptxas and nvdisasm (scripts/setup.sh),
# and for the competitors the vendor's assembler and Python front end, which scripts/fetch-tileiras.sh brings; --offline does
# without them. Prints the size of the pack and fails when it is more than may be carried.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
arguments=() offline='' parts=cases,ptx,abi,copies,micro,peers,programs
while [ $# != 0 ]; do
    case "$1" in
        --offline) offline=yes ;;
        --target) export PACK_TARGET=$2; shift ;;
        --parts) parts=$2; arguments+=(--parts "$2"); shift ;;
        *) arguments+=("$1") ;;
    esac
    shift
done

scripts/setup.sh
if [ -z "${TILEIRAS_BIN:-}" ]; then
    case ",$parts," in
        # Thousands of compilations.
        *,programs,*) cargo build --quiet --release --bin tile-fuzz --bin tileiras --bin tileiras-core ;;
    esac
    [ "$parts" = programs ] || cargo build --quiet --bin tileiras --bin tileiras-core --bin tile-run
fi
case ",$parts," in
    *,ptx,*)
        cases=$(mktemp -d)
        trap 'rm -rf "$cases"' EXIT
        cargo xtask ptx-cases --out "$cases/cases" >&2
        arguments+=(--ptx-cases "$cases/cases")
        ;;
esac
case "$offline,$parts," in
    ,*abi,*|,*peers,*)
        scripts/fetch-nvcc.sh > /dev/null
        arguments+=(--vendor "$(scripts/fetch-tileiras.sh)")
        ;;
esac
PYTHONPATH=gpu:.tools/python python3 -m packer.main "${arguments[@]}"
