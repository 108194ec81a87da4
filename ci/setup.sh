# Set-up: which tools are missing, which Debian packages bring them, and installing those where we may.
# Sourced by ./verbena and ci/test. Everything is printed to standard error.
# shellcheck shell=bash

readonly JDK_MIN=17
readonly MAVEN_MIN=3.6.3
# Maven's runs are short: one compiler of the JVM and the simplest collector take half the processor time. Options of the user replace these.
export MAVEN_OPTS=${MAVEN_OPTS--XX:+UseSerialGC -XX:TieredStopAtLevel=1}

say() { printf '%s\n' "$*" >&2; }
lack() {
    say "verbena: $*"
    exit 3
}

# A standard stream that the caller closed would be the next file that the JVM opens: it writes messages into that, or crashes.
# What is written to a stream that can only be read fails as it does to a closed one.
setup_streams() {
    [ -e "/proc/$$/fd/0" ] || exec 0</dev/null
    [ -e "/proc/$$/fd/1" ] || exec 1</dev/null
    [ -e "/proc/$$/fd/2" ] || exec 2>/dev/null
}

# Names of files are bytes to the system and text to Java, which takes those of the C locale for ASCII: others it cannot name.
setup_locale() {
    case "${LC_ALL:-${LC_CTYPE:-${LANG:-C}}}" in
    C | POSIX) export LC_ALL=C.UTF-8 ;;
    esac
}

# On other systems one command runs it in a container; runs under the old bash of macOS, before anything else.
setup_platform() {
    local system
    system=$(uname -s)
    [ "$system" != Linux ] || return 0
    say "verbena: this is $system; Verbena's software NIC needs Linux (futex, pidfd, cross-memory attach)."
    say "With Docker Desktop or Podman, in this folder, one command builds it and runs the demo, the report in demo-output:"
    case $system in
    MINGW* | MSYS* | CYGWIN*)
        say '  MSYS_NO_PATHCONV=1 docker run --rm --shm-size=1g -v "$(pwd -W):/out" "$(docker build -q -f ci/Containerfile .)" demo --output /out/demo-output'
        ;;
    *)
        say '  docker run --rm --shm-size=1g -v "$PWD:/out" "$(docker build -q -f ci/Containerfile .)" demo --output /out/demo-output'
        ;;
    esac
    say "(podman takes the same arguments). In Windows' Subsystem for Linux (WSL 2) ./verbena runs as it is."
    exit 3
}

# jdk_version HOME: prints the feature number of the JDK in HOME (17), or nothing if it is not a JDK.
jdk_version() {
    local version=''
    [ -x "$1/bin/javac" ] && [ -x "$1/bin/java" ] || return 0
    # A file of the JDK names it; asking javac starts a JVM.
    [ ! -f "$1/release" ] || version=$(sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$1/release")
    [ -n "$version" ] || version=$("$1/bin/javac" -version 2>&1 | sed -n 's/^javac \([0-9]*\).*/\1/p')
    printf '%s' "$version"
}

# Prints the home of the JDK to use: JAVA_HOME, else the one on the PATH, else the lowest usable one installed.
find_jdk() {
    local home version best='' best_version=999
    if [ -n "${JAVA_HOME-}" ]; then
        version=$(jdk_version "$JAVA_HOME")
        if [ -z "$version" ]; then
            say "verbena: JAVA_HOME is '$JAVA_HOME', where there is no JDK (bin/javac); unset it or correct it."
            return 2
        elif [ "$version" -lt $JDK_MIN ]; then
            say "verbena: JAVA_HOME is '$JAVA_HOME', a JDK $version; $JDK_MIN or newer is needed. Unset it or correct it."
            return 2
        fi
        printf '%s' "$JAVA_HOME"
        return 0
    fi
    if home=$(command -v javac); then
        home=$(dirname "$(dirname "$(readlink -f "$home")")")
        version=$(jdk_version "$home")
        if [ "${version:-0}" -ge $JDK_MIN ]; then
            printf '%s' "$home"
            return 0
        fi
    fi
    for home in /usr/lib/jvm/*; do
        version=$(jdk_version "$home")
        if [ "${version:-0}" -ge $JDK_MIN ] && [ "$version" -lt $best_version ]; then
            best=$home best_version=$version
        fi
    done
    printf '%s' "$best"
    [ -n "$best" ]
}

# Sets JAVA_HOME or explains.
setup_java() {
    local home code=0
    home=$(find_jdk) || code=$?
    [ $code -ne 2 ] || exit 3
    [ -n "$home" ] || lack "no JDK $JDK_MIN or newer found. On Debian 12: apt-get install openjdk-17-jdk-headless"
    export JAVA_HOME=$home
}

setup_maven() {
    local version
    version=$(mvn -v 2>/dev/null | sed -n 's/.*Apache Maven \([0-9.]*\).*/\1/p' | head -n 1)
    [ -n "$version" ] || lack "'mvn -v' does not answer with a version; is Maven installed well?"
    [ "$(printf '%s\n%s\n' "$MAVEN_MIN" "$version" | sort -V | head -n 1)" = "$MAVEN_MIN" ] ||
        lack "Maven $version is too old; $MAVEN_MIN or newer is needed."
}

# has_header NAME: can the C compiler find it?
has_header() { printf '#include <%s>\n' "$1" | cc_any -E -x c - >/dev/null 2>&1; }
cc_any() { if command -v gcc >/dev/null; then gcc "$@"; else clang "$@"; fi; }

# first_available NAME...: the first package that apt knows, else the first name.
first_available() {
    local name
    for name in "$@"; do
        if [ -n "$(apt-cache show "$name" 2>/dev/null | head -n 1)" ]; then
            printf '%s' "$name"
            return
        fi
    done
    printf '%s' "$1"
}

# missing_packages WHAT: one package a line, for what is asked: build, test, vm (a build and the virtual machine), machine (it alone),
# peers (what ./verbena compare measures beside).
missing_packages() {
    if [ "$1" = peers ]; then
        command -v ucx_perftest >/dev/null || echo ucx-utils
        return
    fi
    [ "$1" = machine ] || missing_for_build
    [ "$1" != test ] || missing_for_test
    [ "$1" = build ] || missing_for_machine
}

missing_for_build() {
    [ -n "$(find_jdk 2>/dev/null)" ] ||
        echo "$(first_available openjdk-17-jdk-headless openjdk-21-jdk-headless default-jdk-headless)"
    command -v mvn >/dev/null || echo maven
    command -v gcc >/dev/null || echo gcc
    command -v g++ >/dev/null || echo g++
    command -v make >/dev/null || echo make
    if ! command -v gcc >/dev/null || ! has_header stdio.h; then echo libc6-dev; fi
    # Headers only: the library is opened when a program asks for verbs.
    has_header infiniband/verbs.h || echo libibverbs-dev
    has_header rdma/rdma_cma.h || echo librdmacm-dev
    # Debian's package brings the library with the headers.
    has_header rdma/fi_domain.h || echo libfabric-dev
}

missing_for_test() {
    command -v git >/dev/null || echo git
    command -v clang >/dev/null || echo clang
    clang_has_sanitizers || echo libclang-rt-dev
    command -v clang-format >/dev/null || echo clang-format
    command -v shellcheck >/dev/null || echo shellcheck
    [ -x /usr/bin/chromium ] || [ -x /usr/bin/chromium-browser ] || echo chromium
    command -v mpirun.openmpi >/dev/null || echo openmpi-bin
    compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || echo postgresql
    # Staging beside scp, through a server of its own.
    in_system sshd || echo openssh-server
    command -v scp >/dev/null || echo openssh-client
    # They read metrics (--prometheus) and points (--monitor).
    command -v promtool >/dev/null || echo prometheus
    command -v influxd >/dev/null || echo influxdb
    command -v h5dump >/dev/null || echo hdf5-tools
    [ -d /usr/lib/python3/dist-packages/h5py ] || echo python3-h5py
    [ -d /usr/lib/python3/dist-packages/zarr ] || echo python3-zarr
    [ -d /usr/lib/python3/dist-packages/aiohttp ] || echo python3-aiohttp
    [ -d /usr/lib/python3/dist-packages/fsspec ] || echo python3-fsspec
    # A subscriber to the live stream of timeslices.
    [ -d /usr/lib/python3/dist-packages/zmq ] || echo python3-zmq
    missing_for_cluster
    command -v rpcgen >/dev/null || echo rpcsvc-proto
    [ -f /usr/include/tirpc/rpc/rpc.h ] || echo libtirpc-dev
    if [ "$(uname -m)" = x86_64 ]; then
        command -v aarch64-linux-gnu-gcc >/dev/null || printf '%s\n' gcc-aarch64-linux-gnu libc6-dev-arm64-cross
        command -v aarch64-linux-gnu-g++ >/dev/null || echo g++-aarch64-linux-gnu
        command -v qemu-aarch64 >/dev/null || echo qemu-user
    fi
}

# Hosts on one machine, launchers and containers over them: ci/cluster
missing_for_cluster() {
    command -v mpiexec.mpich >/dev/null || echo mpich
    has_mpi_header openmpi || echo libopenmpi-dev
    has_mpi_header mpich || echo libmpich-dev
    in_system slurmctld || printf '%s\n' slurm-wlm munge
    in_system podman || printf '%s\n' podman crun
    command -v mmdebstrap >/dev/null || echo mmdebstrap
}

# The virtual machine with a software RDMA device, and the programs that use such a device. Its kernel is not installed: ci/rdma-vm/image.sh
missing_for_machine() {
    [ "$(uname -m)" = x86_64 ] || return 0
    command -v qemu-system-x86_64 >/dev/null || echo qemu-system-x86
    in_system rdma && in_system tc || echo iproute2
    compgen -G '/usr/lib*/*/libibverbs/librxe-*' >/dev/null || compgen -G '/usr/lib*/libibverbs/librxe-*' >/dev/null || echo ibverbs-providers
    in_system ibv_devinfo || echo ibverbs-utils
    in_system rping || echo rdmacm-utils
    in_system ib_write_lat || echo perftest
}

has_mpi_header() { echo '#include <mpi.h>' | "mpicc.$1" -xc -E /dev/stdin >/dev/null 2>&1; }

# in_system COMMAND: is it there, perhaps where only the administrator's PATH looks?
in_system() { command -v "$1" >/dev/null || [ -x "/usr/sbin/$1" ] || [ -x "/sbin/$1" ]; }

clang_has_sanitizers() {
    command -v clang >/dev/null || return 1
    local file
    file=$(clang -print-file-name=libclang_rt.fuzzer-"$(uname -m)".a 2>/dev/null)
    [ -f "$file" ] && return 0
    ls "$(clang -print-resource-dir)"/lib/linux/libclang_rt.fuzzer-*.a >/dev/null 2>&1
}

print_size() {
    local size
    size=$(apt-cache show --no-all-versions "$1" 2>/dev/null |
        awk 'function size(bytes) { return bytes < 1e6 ? sprintf("%.0f kB", bytes / 1e3) : sprintf("%.0f MB", bytes / 1e6) }
            /^Size:/ { d = $2 } /^Installed-Size:/ { i = $2 * 1024 } END { if (d) print size(d) " to download, " size(i) " on disk" }')
    say "  $1: ${size:-size not known before apt-get update}"
}

# Prints one line per package with its download size; then the sum with everything that they pull in.
print_sizes() {
    local name
    for name in "$@"; do print_size "$name"; done
    LC_ALL=C apt-get -o Debug::NoLocking=1 -y --no-install-recommends --print-uris install "$@" 2>/dev/null |
        awk '/^'"'"'/ {n++; s += $3} END {if (n) printf "  with all that they need: %d packages, %.0f MB to download\n", n, s / 1e6}' >&2
}

# setup_for WHAT: makes sure of the tools, or ends with exit code 3.
setup_for() {
    setup_platform
    [ -z "${JAVA_HOME-}" ] || find_jdk >/dev/null || exit 3
    setup_packages "$1"
    setup_java
    setup_maven
}

# What Debian's packages ask whether they may start the services that they bring. Ours has this line, so that one that was left behind is known.
POLICY=/usr/sbin/policy-rc.d
readonly POLICY_MARK='# of verbena, while it installs packages'

# install_packages ROOT LINE: runs that line of apt-get without starting services (sshd, PostgreSQL, Slurm), unless there is a policy already.
# Another apt-get, which says what it waits for, has five minutes to end. A shell of its own: it takes the policy away however it ends.
install_packages() (
    root=$1
    if [ ! -e "$POLICY" ] || [[ $(cat "$POLICY" 2>/dev/null) = *"$POLICY_MARK"* ]]; then
        trap '$root /bin/rm -f "$POLICY"' EXIT
        # These wait for apt-get to end.
        trap 'trap - INT; kill -INT $BASHPID' INT
        trap 'trap - TERM; kill -TERM $BASHPID' TERM
        trap 'trap - HUP; kill -HUP $BASHPID' HUP
        $root /bin/sh -c "printf '#!/bin/sh\n$POLICY_MARK\nexit 101\n' >$POLICY && /bin/chmod 755 $POLICY" 2>/dev/null
    fi
    # shellcheck disable=SC2086
    $root env DEBIAN_FRONTEND=noninteractive ${2/#apt-get/apt-get -o DPkg::Lock::Timeout=300} >&2
)

# setup_packages WHAT: makes sure of what missing_packages asks for.
setup_packages() {
    local packages root='' line
    mapfile -t packages < <(missing_packages "$1")
    if [ ${#packages[@]} -gt 0 ]; then
        line="apt-get install -y --no-install-recommends ${packages[*]}"
        if ! command -v apt-get >/dev/null; then
            lack "missing here: ${packages[*]} (names of Debian packages; this system has no apt-get, install what corresponds)"
        fi
        say "Missing Debian packages:"
        if [ "$(id -u)" = 0 ]; then
            root='env'
        elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
            root='sudo -n'
        fi
        if [ -n "$root" ] && [ -z "$(apt-cache show "${packages[@]}" 2>/dev/null | head -n 1)" ]; then
            say "  (the package lists are missing: apt-get update)"
            $root apt-get update >&2 || lack "apt-get update failed; when the network works: apt-get update && $line"
        fi
        print_sizes "${packages[@]}"
        if [ -z "$root" ]; then
            if [ "$1" = test ] && [ "${VERBENA_SKIP_MISSING-}" = 1 ] && only_optional "${packages[@]}"; then
                say "Going on without them, as asked; what needs them is skipped and counted."
            elif [ "$1" = peers ]; then
                say "Going on without them; what is measured beside them is left out. To have it: sudo $line"
            else
                say "Not root, and no sudo without a password. Install them with:"
                if [ -z "$(apt-cache show "${packages[@]}" 2>/dev/null | head -n 1)" ]; then
                    say "  sudo apt-get update && sudo $line"
                else
                    say "  sudo $line"
                fi
                exit 3
            fi
        else
            say "Installing: $line"
            install_packages "$root" "$line" ||
                { $root apt-get update >&2 && install_packages "$root" "$line"; } ||
                lack "could not install them. Once the cause above is fixed: apt-get update && $line"
            [ -z "$(missing_packages "$1")" ] ||
                lack "installed, but still not usable: $(missing_packages "$1" | tr '\n' ' ')"
        fi
    fi
}

# offer_peers: installs what is measured beside Java, or says what is missing; then goes on without it.
offer_peers() { (setup_packages peers) || say "Going on without them; what is measured beside them is left out."; }

# only_optional NAME...: true if tests can run (with skips) without these.
only_optional() {
    local name
    for name in "$@"; do
        case $name in
        clang | libclang-rt-dev | clang-format | shellcheck | chromium | openmpi-bin | gcc-aarch64-linux-gnu | g++-aarch64-linux-gnu | libc6-dev-arm64-cross | qemu-user) ;;
        mpich | slurm-wlm | munge | podman | crun | mmdebstrap | rpcsvc-proto | libtirpc-dev | postgresql | openssh-server | openssh-client | prometheus | influxdb | hdf5-tools | python3-h5py | python3-zarr | python3-aiohttp | python3-fsspec | python3-zmq) ;;
        qemu-system-x86 | iproute2 | ibverbs-providers | ibverbs-utils | rdmacm-utils | perftest) ;;
        *) return 1 ;;
        esac
    done
}
