#!/usr/bin/env bash
# Brings what a build needs and is not there: LLVM and MLIR 21.1, CMake and a C compiler, cargo-nextest, NVIDIA's ptxas and disassemblers,
# its libNVVM and libdevice, NumPy for the corpus of the tests, and the Python package of the driver API for the tests of the GPU kit.
# Idempotent; silent when nothing is missing. A stamp under .tools/ makes the second run immediate.
#
#   LLVM_PREFIX=/opt/llvm-21 scripts/setup.sh     use this LLVM/MLIR instead of the distribution's packages
#   scripts/setup.sh --force                      ignore the stamp and check everything again
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

llvm_packages=(llvm-21-dev libmlir-21-dev mlir-21-tools libpolly-21-dev clang-21 libclang-21-dev lld-21
               zlib1g-dev libzstd-dev libxml2-dev libz3-dev libffi-dev)
prefix=${LLVM_PREFIX:-/usr/lib/llvm-21}
minimum_rust=1.93
stamp=$root/.tools/setup.stamp

say() { echo "setup: $*" >&2; }
fail() { say "$*"; exit 1; }

# ---- what "present" means ----------------------------------------------------------------------------------------

# The files that the build scripts open; a prefix that lacks one of them fails much later and less clearly.
have_llvm() {
    local file
    for file in bin/llvm-config bin/mlir-tblgen bin/llvm-tblgen bin/clang++ bin/FileCheck \
                lib/libMLIRCAPIIR.a include/mlir-c/IR.h; do
        [ -e "$prefix/$file" ] || { missing_llvm=$prefix/$file; return 1; }
    done
    case "$("$prefix/bin/llvm-config" --version)" in
        21.1.*) ;;
        *) missing_llvm="LLVM 21.1 (found $("$prefix/bin/llvm-config" --version) in $prefix)"; return 1 ;;
    esac
}

have_nextest() { command -v cargo-nextest >/dev/null; }

release_of() { "$1" --version 2>/dev/null | sed -n 's/.*release \([0-9]*\)\.[0-9]*.*/\1/p' | head -n 1; }

# A toolkit counts when it has all three tools and knows PTX 9.0, which sm_88 and sm_110 need.
have_toolkit() {
    local folder tool
    for folder in "${CUDA_HOME:+$CUDA_HOME/bin}" "${CUDA_PATH:+$CUDA_PATH/bin}" \
                  "$(dirname "$(command -v ptxas || echo none/none)")"; do
        [ -n "$folder" ] || continue
        for tool in ptxas nvdisasm cuobjdump; do [ -x "$folder/$tool" ] || continue 2; done
        [ "$(release_of "$folder/ptxas")" -ge 13 ] 2>/dev/null && return 0
    done
    return 1
}

have_cuda_tools() { have_toolkit || scripts/fetch-cuda-tools.sh --check; }

have_nvvm() { scripts/fetch-nvvm.sh --check; }

# NumPy of the python3 that the tests will find, or a copy of our own.
have_numpy() { PYTHONPATH=$root/.tools/python python3 -c 'import numpy' 2>/dev/null; }

# The driver API's package; its tests run on a stand-in for the driver. Without a driver it can be imported all the same.
have_bindings() { PYTHONPATH=$root/.tools/python python3 -c 'import cuda.bindings.driver' 2>/dev/null; }

# What the tests of the C and C++ interfaces build with.
build_tools=(cmake gcc g++ pkg-config make)
have_build_tools() {
    local tool
    for tool in "${build_tools[@]}"; do command -v "$tool" >/dev/null || return 1; done
}

have_rust() { command -v cargo >/dev/null && command -v rustc >/dev/null; }

stamp_text() {
    cksum scripts/setup.sh scripts/fetch-cuda-tools.sh scripts/fetch-nvvm.sh
    echo "$prefix ${CUDA_HOME:-} ${CUDA_PATH:-}"
}

# The stamp says that a full check passed; these cheap tests catch what was removed since.
if [ "${1:-}" != --force ] && [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$(stamp_text)" ] \
        && [ -x "$prefix/bin/llvm-config" ] && have_rust && have_build_tools && have_nextest && have_cuda_tools && have_nvvm && have_numpy && have_bindings; then
    exit 0
fi

# ---- installing --------------------------------------------------------------------------------------------------

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"
    elif command -v sudo >/dev/null; then sudo "$@"
    else fail "root is needed to run: $*"
    fi
}

is_debian() { [ -r /etc/os-release ] && grep -qx 'ID=debian' /etc/os-release && command -v apt-get >/dev/null; }

# Debian carries LLVM 21 in trixie-backports. Debian 12 takes the same packages, with the libraries they need from
# trixie. A low priority cannot be set before the installation (apt would then refuse to take libc from trixie),
# so it is set right after it: nothing else on a Debian 12 system moves to trixie by a later upgrade.
debian_release=$(sed -n 's/^VERSION_ID="\(.*\)"/\1/p' /etc/os-release 2>/dev/null || true)

has_suite() {
    grep -rqsE --include='*.list' --include='*.sources' "^deb .*[[:space:]]$1([[:space:]]|\$)|^Suites:.*[[:space:]]$1([[:space:]]|\$)" \
        /etc/apt/sources.list /etc/apt/sources.list.d
}

add_debian_sources() {
    local list=/etc/apt/sources.list.d/llvm-21-trixie.list suite text=
    for suite in trixie trixie-backports; do
        has_suite "$suite" || text+="deb http://deb.debian.org/debian $suite main"$'\n'
    done
    if [ -z "$text" ]; then return; fi
    say "adding trixie and trixie-backports to the package sources ($list)"
    printf '%s' "$text" | as_root tee -a "$list" >/dev/null
    added_sources=yes
}

hold_back_trixie() {
    if [ "$debian_release" != 12 ] || [ -z "${added_sources:-}" ]; then return; fi
    printf 'Package: *\nPin: release n=%s\nPin-Priority: 100\n\n' trixie trixie-backports \
        | as_root tee /etc/apt/preferences.d/llvm-21-trixie >/dev/null
}

apt_install() {
    as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
        -o Dpkg::Options::=--force-confold "$@" >&2
}

if ! have_rust; then
    fail "rustc and cargo $minimum_rust or newer are needed; see https://rustup.rs"
fi
rust=$(rustc --version | awk '{ print $2 }')
if [ "$(printf '%s\n' "$minimum_rust" "$rust" | sort -V | head -n 1)" != "$minimum_rust" ]; then
    fail "rustc $rust is too old: $minimum_rust or newer is needed (rustup update stable)"
fi

missing_llvm=
if ! have_llvm; then
    if [ -n "${LLVM_PREFIX:-}" ]; then
        fail "LLVM_PREFIX=$LLVM_PREFIX does not hold what is needed: $missing_llvm is missing"
    elif is_debian; then
        say "installing LLVM and MLIR 21.1: ${llvm_packages[*]}"
        add_debian_sources
        apt_install -t trixie-backports "${llvm_packages[@]}"
        hold_back_trixie
        have_llvm || fail "the packages were installed, but $missing_llvm is missing"
    else
        say "LLVM and MLIR 21.1 with development files were not found: $missing_llvm is missing"
        say "On Debian 12 and 13 this script installs them. Elsewhere install LLVM 21.1 built with the projects"
        say "mlir, clang, lld and polly and the target NVPTX, then run: LLVM_PREFIX=/path/to/llvm-21 scripts/setup.sh"
        exit 1
    fi
fi

if ! have_build_tools; then
    is_debian || fail "these are needed on PATH: ${build_tools[*]}"
    say "installing ${build_tools[*]}"
    apt_install "${build_tools[@]}"
fi

if ! have_nextest; then
    say "installing cargo-nextest"
    cargo install cargo-nextest --locked
fi

need_pip() {
    if ! python3 -m pip --version >/dev/null 2>&1 && is_debian; then
        say "installing python3-pip"
        apt_install python3-pip
    fi
}

if ! have_cuda_tools; then
    need_pip
    scripts/fetch-cuda-tools.sh
fi

if ! have_nvvm; then
    need_pip
    scripts/fetch-nvvm.sh
fi

if ! have_numpy; then
    need_pip
    say "installing NumPy into .tools/python"
    python3 -m pip install --quiet --upgrade --target "$root/.tools/python" numpy >&2
    have_numpy || fail "NumPy was installed into .tools/python, but python3 cannot import it"
fi

if ! have_bindings; then
    need_pip
    say "installing cuda-bindings into .tools/python"
    python3 -m pip install --quiet --upgrade --target "$root/.tools/python" cuda-bindings==13.0.3 >&2
    have_bindings || fail "cuda-bindings was installed into .tools/python, but python3 cannot import it"
fi

mkdir -p "$root/.tools"
stamp_text > "$stamp"
