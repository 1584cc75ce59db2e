#!/usr/bin/env bash
# Installs the missing prerequisites of a build: LLVM and MLIR 21.1, CMake and a C compiler, cargo-nextest, NVIDIA's ptxas and
# disassemblers, libNVVM and libdevice, NumPy for the corpus tests, hatchling for wheels, and the Python package of the driver API for
# the tests of the GPU kit. Idempotent, and silent if nothing is missing. A stamp in .tools/ makes the second run immediate.
#
#   LLVM_PREFIX=/opt/llvm-21 scripts/setup.sh     use this LLVM/MLIR instead of the distribution's packages
#   scripts/setup.sh --force                      ignore the stamp and check everything again
#   scripts/setup.sh --yes                        install packages without asking
#   scripts/setup.sh --comparisons                also install NVIDIA's compilers, for comparisons
#   scripts/setup.sh --browser                    also install Chromium, for the tests that open pages
#   scripts/setup.sh --editors                    also install Neovim, for the tests that open files
#   scripts/setup.sh --plan                       list the packages that would be installed or changed, and change nothing
#
# On a terminal the script asks before it installs packages of the distribution. Without a terminal, as in continuous integration, it
# installs them right away, and also lists the changes. On Debian 12 the packages come from Debian 13, and bring its C library,
# base-files and others. To avoid that, build in a container (docker run -it -v "$PWD:/src" -w /src rust:1-trixie make), or set
# LLVM_PREFIX to the directory of another LLVM.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
source scripts/progress.sh

llvm_packages=(llvm-21-dev libmlir-21-dev mlir-21-tools libpolly-21-dev clang-21 libclang-21-dev lld-21
               zlib1g-dev libzstd-dev libxml2-dev libz3-dev libffi-dev)
prefix=${LLVM_PREFIX:-/usr/lib/llvm-21}
minimum_rust=1.93
stamp=$root/.tools/setup.stamp

force=
consent=
plan_only=
compare=
browse=
edit=
for argument in "$@"; do
    case "$argument" in
        --force) force=yes ;;
        --yes) consent=yes ;;
        --plan) plan_only=yes ;;
        --comparisons) compare=yes ;;
        --browser) browse=yes ;;
        --editors) edit=yes ;;
        *) echo "setup: unknown argument '$argument'; use --force, --yes, --comparisons, --browser, --editors or --plan" >&2; exit 1 ;;
    esac
done

say() { echo "setup: $*" >&2; }
fail() { say "$*"; exit 1; }

# The release that earlier results were compared with, and the newest one. The disassembler oracle uses both; `make bench` measures
# the newest. Each has its own directory, and a second call does nothing.
comparisons() {
    local release
    [ -n "$compare" ] || return 0
    for release in 13.4.92 13.5.37; do
        scripts/fetch-nvcc.sh "$release" >/dev/null
        scripts/fetch-tileiras.sh "$release" >/dev/null
    done
}

# ---- checks for installed tools ----------------------------------------------------------------------------------

# The files that the build scripts open. A prefix without one of them would fail much later and less clearly.
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

# A toolkit must contain all three tools and support sm_107, the newest target, because tests assemble for all targets.
have_toolkit() {
    local folder tool
    for folder in "${CUDA_HOME:+$CUDA_HOME/bin}" "${CUDA_PATH:+$CUDA_PATH/bin}" \
                  "$(dirname "$(command -v ptxas || echo none/none)")"; do
        [ -n "$folder" ] || continue
        for tool in ptxas nvdisasm cuobjdump; do [ -x "$folder/$tool" ] || continue 2; done
        [[ "$("$folder/ptxas" --help 2>/dev/null)" == *sm_107* ]] && return 0
    done
    return 1
}

have_cuda_tools() { have_toolkit || scripts/fetch-cuda-tools.sh --check; }

have_nvvm() { scripts/fetch-nvvm.sh --check; }

# NumPy of the python3 that the tests will find, or our copy.
have_numpy() { PYTHONPATH=$root/.tools/python python3 -c 'import numpy' 2>/dev/null; }

# The package of the driver API. Its tests run on a stand-in for the driver; the import works without one.
have_bindings() { PYTHONPATH=$root/.tools/python python3 -c 'import cuda.bindings.driver' 2>/dev/null; }

# Build tools for the tests of the C and C++ interfaces.
build_tools=(cmake gcc g++ pkg-config make)
have_build_tools() {
    local tool
    for tool in "${build_tools[@]}"; do command -v "$tool" >/dev/null || return 1; done
}

# A browser is only required with --browser.
have_browser() { [ -z "$browse" ] || command -v chromium >/dev/null; }

# An editor is only required with --editors. Neovim supports our way of starting servers since 0.10.
minimum_neovim=0.10
have_neovim() {
    local version
    [ -n "$edit" ] || return 0
    version=$(nvim --version 2>/dev/null | sed -n 's/^NVIM v//p')
    [ -n "$version" ] && [ "$(printf '%s\n' "$minimum_neovim" "$version" | sort -V | head -n 1)" = "$minimum_neovim" ]
}

# The build backend of wheels, for building them without PyPI: of python3, or our copy.
have_hatchling() { PYTHONPATH=$root/.tools/python python3 -c 'import hatchling' 2>/dev/null; }

have_rust() { command -v cargo >/dev/null && command -v rustc >/dev/null; }

stamp_text() {
    cksum scripts/setup.sh scripts/progress.sh scripts/fetch-cuda-tools.sh scripts/fetch-nvvm.sh
    echo "$prefix ${CUDA_HOME:-} ${CUDA_PATH:-}"
}

# The stamp records a successful full check. These cheap tests detect later removals.
if [ -z "$force$plan_only" ] && [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$(stamp_text)" ] \
        && [ -x "$prefix/bin/llvm-config" ] && have_rust && have_build_tools && have_nextest && have_cuda_tools && have_nvvm && have_numpy && have_bindings && have_hatchling && have_browser && have_neovim; then
    comparisons
    exit 0
fi

# ---- installing --------------------------------------------------------------------------------------------------

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"
    elif command -v sudo >/dev/null; then sudo "$@"
    else fail "root is needed to run: $*"
    fi
}

is_debian() { [ -r "$os_release" ] && grep -qx 'ID=debian' "$os_release" && command -v apt-get >/dev/null; }

# Debian provides LLVM 21 in trixie-backports. Debian 12 uses the same packages, with the libraries they need from trixie. A low
# priority cannot be set before the installation, because apt would then refuse to take libc from trixie. It is set right after it, so
# that later upgrades of a Debian 12 system move nothing else to trixie. The package of /etc/os-release cannot be kept: libc6 of
# trixie
# breaks base-files before 13.3.
os_release=/etc/os-release
debian_release=$(sed -n 's/^VERSION_ID="\(.*\)"/\1/p' "$os_release" 2>/dev/null || true)
apt_folder=/etc/apt

has_suite() {
    grep -rqsE --include='*.list' --include='*.sources' "^deb .*[[:space:]]$1([[:space:]]|\$)|^Suites:.*[[:space:]]$1([[:space:]]|\$)" \
        "$apt_folder/sources.list" "$apt_folder/sources.list.d"
}

add_debian_sources() {
    local list=$apt_folder/sources.list.d/llvm-21-trixie.list suite text=
    for suite in trixie trixie-backports; do
        has_suite "$suite" || text+="deb http://deb.debian.org/debian $suite main"$'\n'
    done
    if [ -z "$text" ]; then return; fi
    if [ -n "$plan_only" ]; then
        say "trixie and trixie-backports would be added to the package sources ($list); their packages are not known before that"
        return
    fi
    if [ "$debian_release" = 12 ] && ! agreed; then
        say "LLVM 21 for Debian 12 comes from Debian 13 (trixie-backports), with a newer C library, and with that a"
        say "newer base-files: /etc/os-release will call this system Debian 13."
        ask "Add trixie and trixie-backports to the package sources, and list the changes?"
    fi
    say "adding trixie and trixie-backports to the package sources ($list)"
    printf '%s' "$text" | as_root tee -a "$list" >/dev/null
    added_sources=yes
}

# Removes added sources if the packages are not installed after all.
take_back_sources() {
    if [ -z "${added_sources:-}" ]; then return; fi
    say "removing trixie and trixie-backports from the package sources"
    as_root rm -f "$apt_folder/sources.list.d/llvm-21-trixie.list"
}

hold_back_trixie() {
    if [ "$debian_release" != 12 ] || [ -z "${added_sources:-}" ]; then return; fi
    printf 'Package: *\nPin: release n=%s\nPin-Priority: 100\n\n' trixie trixie-backports \
        | as_root tee "$apt_folder/preferences.d/llvm-21-trixie" >/dev/null
}

# Whether packages may be installed without asking: because of --yes, or because there is no terminal.
agreed() { [ -n "$consent" ] || [ -n "${CI:-}" ] || ! { [ -t 0 ] && [ -t 2 ]; }; }

ask() {
    local answer=
    printf 'setup: %s [y/N] ' "$1" >&2
    read -r answer || true
    case "$answer" in
        y | Y | yes | Yes) ;;
        *)
            take_back_sources
            say "nothing was changed. Without packages: LLVM_PREFIX=/path/to/llvm-21 scripts/setup.sh, or a container:"
            fail "docker run -it -v \"\$PWD:/src\" -w /src rust:1-trixie make"
            ;;
    esac
}

# Shows the plan of apt: lists system packages that change, and counts new ones.
show_plan() {
    local plan upgraded removed
    plan=$(env LC_ALL=C apt-get -s install --no-install-recommends "$@") || fail "apt cannot install: $*"
    upgraded=$(sed -n 's/^Inst \([^ ]*\) \[\([^]]*\)\] (\([^ ]*\) .*/\1 \2 -> \3/p' <<< "$plan")
    removed=$(sed -n 's/^Remv \([^ ]*\) .*/\1/p' <<< "$plan")
    say "new packages: $(grep -c '^Inst [^ ]* (' <<< "$plan" || true)"
    if [ -n "$upgraded" ]; then
        say "packages of this system that change: $(wc -l <<< "$upgraded")"
        sed 's/^/setup:   /' <<< "$upgraded" >&2
    fi
    if [ -n "$removed" ]; then
        say "packages that are removed: $(wc -l <<< "$removed")"
        sed 's/^/setup:   /' <<< "$removed" >&2
    fi
}

apt_install() {
    if [ -n "$plan_only" ]; then
        # A simulation needs neither root nor a lock, and uses the current package lists.
        show_plan "$@"
        return
    fi
    as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq
    show_plan "$@"
    agreed || ask "Install them?"
    long "${apt_step:-packages}" as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
        --no-install-recommends -o Dpkg::Options::=--force-confold "$@" >&2
}

# ---- durations ---------------------------------------------------------------------------------------------------

# The usual durations of steps in seconds on a machine with two cores. Most of the time is spent on downloads.
declare -A usual=([LLVM]=120 [packages]=30 [Chromium]=60 [cargo-nextest]=240 [ptxas]=20 [libNVVM]=20 [NumPy]=10
                  [cuda-bindings]=10)

# Announces a missing step, so that the total duration is known before the first step.
will() { progress_expect "${usual[$1]}"; steps+=("$1"); }

# Runs a step. Announces it first if necessary, for example for a package that another step needs.
long() {
    local step=$1
    shift
    [[ " ${steps[*]:-} " == *" $step "* ]] || will "$step"
    progress_step "${usual[$step]}" "setup: $step" "$@"
}
steps=()

if ! have_rust; then
    fail "rustc and cargo $minimum_rust or newer are needed; see https://rustup.rs"
fi
rust=$(rustc --version | awk '{ print $2 }')
if [ "$(printf '%s\n' "$minimum_rust" "$rust" | sort -V | head -n 1)" != "$minimum_rust" ]; then
    fail "rustc $rust is too old: $minimum_rust or newer is needed (rustup update stable)"
fi

missing_llvm=
have_llvm || will LLVM
have_build_tools || will packages
have_browser || will Chromium
have_nextest || will cargo-nextest
have_cuda_tools || will ptxas
have_nvvm || will libNVVM
have_numpy || will NumPy
have_bindings || will cuda-bindings
if [ -z "$plan_only" ] && [ ${#steps[@]} -gt 0 ]; then
    say "missing: ${steps[*]}; about $(progress_rough "$progress_left")"
fi

if ! have_llvm; then
    if [ -n "${LLVM_PREFIX:-}" ]; then
        fail "LLVM_PREFIX=$LLVM_PREFIX is incomplete: $missing_llvm is missing"
    elif is_debian; then
        say "installing LLVM and MLIR 21.1: ${llvm_packages[*]}"
        add_debian_sources
        apt_step=LLVM apt_install -t trixie-backports "${llvm_packages[@]}"
        [ -z "$plan_only" ] || exit 0
        hold_back_trixie
        have_llvm || fail "the packages were installed, but $missing_llvm is missing"
    else
        say "LLVM and MLIR 21.1 with development files were not found: $missing_llvm is missing"
        say "On Debian 12 and 13 this script installs them. Elsewhere install LLVM 21.1 built with the projects"
        say "mlir, clang, lld and polly and the targets NVPTX, X86 and AArch64, then run: LLVM_PREFIX=/path/to/llvm-21 scripts/setup.sh"
        exit 1
    fi
fi

if ! have_build_tools; then
    is_debian || fail "these are needed on PATH: ${build_tools[*]}"
    say "installing ${build_tools[*]}"
    apt_install "${build_tools[@]}"
fi

if ! have_browser; then
    is_debian || fail "install Chromium and put it on PATH"
    say "installing Chromium"
    apt_step=Chromium apt_install chromium
fi

if ! have_neovim; then
    is_debian || fail "install Neovim $minimum_neovim or newer and put it on PATH"
    say "installing Neovim"
    # Debian 12's is too old. On Debian 13 this is the default.
    apt_install -t trixie neovim
fi

if [ -n "$plan_only" ]; then
    say "no other system packages are needed, except for python3-pip if it is missing"
    exit 0
fi

if ! have_nextest; then
    say "installing cargo-nextest"
    long cargo-nextest cargo install cargo-nextest --locked
fi

need_pip() {
    if ! python3 -m pip --version >/dev/null 2>&1 && is_debian; then
        say "installing python3-pip"
        apt_install python3-pip
    fi
}

if ! have_cuda_tools; then
    need_pip
    long ptxas scripts/fetch-cuda-tools.sh
fi

if ! have_nvvm; then
    need_pip
    long libNVVM scripts/fetch-nvvm.sh
fi

if ! have_numpy; then
    need_pip
    say "installing NumPy into .tools/python"
    long NumPy python3 -m pip install --quiet --upgrade --target "$root/.tools/python" numpy >&2
    have_numpy || fail "NumPy was installed into .tools/python, but python3 cannot import it"
fi

if ! have_bindings; then
    need_pip
    say "installing cuda-bindings into .tools/python"
    long cuda-bindings python3 -m pip install --quiet --upgrade --target "$root/.tools/python" \
        cuda-bindings==13.0.3 >&2
    have_bindings || fail "cuda-bindings was installed into .tools/python, but python3 cannot import it"
fi

if ! have_hatchling; then
    need_pip
    say "installing hatchling into .tools/python"
    python3 -m pip install --quiet --upgrade --target "$root/.tools/python" hatchling==1.27.0 >&2
    have_hatchling || fail "hatchling was installed into .tools/python, but python3 cannot import it"
fi

mkdir -p "$root/.tools"
stamp_text > "$stamp"
comparisons
