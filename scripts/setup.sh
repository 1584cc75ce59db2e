#!/usr/bin/env bash
# Brings what a build needs and is not there: LLVM and MLIR 21.1, CMake and a C compiler, cargo-nextest, NVIDIA's ptxas and disassemblers,
# its libNVVM and libdevice, NumPy for the corpus of the tests, hatchling for wheels, and the Python package of the driver API for the
# tests of the GPU kit.
# Idempotent; silent when nothing is missing. A stamp under .tools/ makes the second run immediate.
#
#   LLVM_PREFIX=/opt/llvm-21 scripts/setup.sh     use this LLVM/MLIR instead of the distribution's packages
#   scripts/setup.sh --force                      ignore the stamp and check everything again
#   scripts/setup.sh --yes                        install packages without asking
#   scripts/setup.sh --comparisons                bring NVIDIA's compilers too, for the comparisons with them
#   scripts/setup.sh --browser                    bring Chromium too, in which the tests open pages
#   scripts/setup.sh --editors                    bring Neovim too, in which the tests open files
#   scripts/setup.sh --plan                       say which packages would be installed or changed, and change nothing
#
# Packages of the distribution are installed after a question, if a person sits at a terminal. Without one, as in the
# continuous integration, whose machines are made for the build, they are installed at once, and what changes is said
# all the same. On Debian 12 the packages come from Debian 13, and bring its C library, its base-files and others with
# them; who does not want that on the machine builds in a container (docker run -it -v "$PWD:/src" -w /src rust:1-trixie
# make) or gives the folder of an LLVM of their own as LLVM_PREFIX.
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
        *) echo "setup: unknown argument '$argument'; there are --force, --yes, --comparisons, --browser, --editors and --plan" >&2; exit 1 ;;
    esac
done

say() { echo "setup: $*" >&2; }
fail() { say "$*"; exit 1; }

# The release that results of the past were compared with, and the newest one: the disassembler oracle asks both, the times
# of `make bench` are beside the newest. Each has its own folder, and a second call costs nothing.
comparisons() {
    local release
    [ -n "$compare" ] || return 0
    for release in 13.4.92 13.5.37; do
        scripts/fetch-nvcc.sh "$release" >/dev/null
        scripts/fetch-tileiras.sh "$release" >/dev/null
    done
}

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

# A toolkit counts when it has all three tools and knows sm_107, the newest target; tests assemble for all of them.
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

# A browser is only there for who asks for it.
have_browser() { [ -z "$browse" ] || command -v chromium >/dev/null; }

# Nor is an editor. Neovim starts servers as our settings say from 0.10 on.
minimum_neovim=0.10
have_neovim() {
    local version
    [ -n "$edit" ] || return 0
    version=$(nvim --version 2>/dev/null | sed -n 's/^NVIM v//p')
    [ -n "$version" ] && [ "$(printf '%s\n' "$minimum_neovim" "$version" | sort -V | head -n 1)" = "$minimum_neovim" ]
}

# The tool that builds wheels, for wheels that are built without PyPI: that of python3, or a copy of our own.
have_hatchling() { PYTHONPATH=$root/.tools/python python3 -c 'import hatchling' 2>/dev/null; }

have_rust() { command -v cargo >/dev/null && command -v rustc >/dev/null; }

stamp_text() {
    cksum scripts/setup.sh scripts/progress.sh scripts/fetch-cuda-tools.sh scripts/fetch-nvvm.sh
    echo "$prefix ${CUDA_HOME:-} ${CUDA_PATH:-}"
}

# The stamp says that a full check passed; these cheap tests catch what was removed since.
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

# Debian carries LLVM 21 in trixie-backports. Debian 12 takes the same packages, with the libraries they need from
# trixie. A low priority cannot be set before the installation (apt would then refuse to take libc from trixie),
# so it is set right after it: nothing else on a Debian 12 system moves to trixie by a later upgrade. The package of
# /etc/os-release cannot be kept: trixie's libc6 says that it breaks a base-files older than 13.3.
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
        say "trixie and trixie-backports would be added to the package sources ($list); what comes from there is known then"
        return
    fi
    if [ "$debian_release" = 12 ] && ! agreed; then
        say "LLVM 21 for Debian 12 comes from Debian 13 (trixie-backports), with a newer C library, and with that a"
        say "newer base-files: /etc/os-release will call this a Debian 13."
        ask "Add trixie and trixie-backports to the package sources, and look what they would change?"
    fi
    say "adding trixie and trixie-backports to the package sources ($list)"
    printf '%s' "$text" | as_root tee -a "$list" >/dev/null
    added_sources=yes
}

# Takes away what was added for packages that were not wanted after all.
take_back_sources() {
    if [ -z "${added_sources:-}" ]; then return; fi
    say "taking trixie and trixie-backports out of the package sources again"
    as_root rm -f "$apt_folder/sources.list.d/llvm-21-trixie.list"
}

hold_back_trixie() {
    if [ "$debian_release" != 12 ] || [ -z "${added_sources:-}" ]; then return; fi
    printf 'Package: *\nPin: release n=%s\nPin-Priority: 100\n\n' trixie trixie-backports \
        | as_root tee "$apt_folder/preferences.d/llvm-21-trixie" >/dev/null
}

# Whether packages may be installed without a question: it was said, or nobody is there to be asked.
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

# Says what apt would do, as apt tells it: packages of the system that change are named, new ones counted.
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
        say "packages that go: $(wc -l <<< "$removed")"
        sed 's/^/setup:   /' <<< "$removed" >&2
    fi
}

apt_install() {
    if [ -n "$plan_only" ]; then
        # Simulation needs neither root nor a lock, and takes the package lists as they are.
        show_plan "$@"
        return
    fi
    as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq
    show_plan "$@"
    agreed || ask "Install them?"
    long "${apt_step:-packages}" as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
        --no-install-recommends -o Dpkg::Options::=--force-confold "$@" >&2
}

# ---- how long it takes -------------------------------------------------------------------------------------------

# Steps, with what they usually take in seconds on a machine with two cores, nearly all of it downloads.
declare -A usual=([LLVM]=120 [packages]=30 [Chromium]=60 [cargo-nextest]=240 [ptxas]=20 [libNVVM]=20 [NumPy]=10
                  [cuda-bindings]=10)

# Announces a step that is missing; how long all take is known before the first one begins.
will() { progress_expect "${usual[$1]}"; steps+=("$1"); }

# Does a step. One that was not announced, such as a package that another step needs, is announced now.
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
        fail "LLVM_PREFIX=$LLVM_PREFIX does not hold what is needed: $missing_llvm is missing"
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
        say "mlir, clang, lld and polly and the target NVPTX, then run: LLVM_PREFIX=/path/to/llvm-21 scripts/setup.sh"
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
    # That of Debian 12 is too old; on Debian 13 this is the same.
    apt_install -t trixie neovim
fi

if [ -n "$plan_only" ]; then
    say "no other packages of the system are wanted, but python3-pip where there is none"
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
