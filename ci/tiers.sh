# The tiers of ./verbena test. Each is a function tier_NAME that answers 0, 1 or $SKIPPED (with SKIP_REASON set).
# Sourced by ci/test.
# shellcheck shell=bash

readonly SKIPPED=77
readonly LOGS="$VERBENA_HOME/target/test-logs"
readonly TMP_OF_RUN=${TMPDIR:-/tmp}
readonly TIERS=(build jdk25 processes vm c faults wire cluster seeds consumer conformance)
readonly LONG_TIERS=(mutation)
# An emulated machine keeps one processor busy, C tests and those of hosts wait more than they compute: these run beside the first, one after
# the other, if they were asked for; when the first ends, two at a time. They build in folders of their own.
# shellcheck disable=SC2034 # used by ci/test
readonly -A BESIDE=([vm]="c faults" [cluster]="seeds")
declare -A BUDGET=([build]=7 [jdk25]=7 [processes]=14 [vm]=20 [wire]=5 [c]=15 [cluster]=8 [faults]=12 [seeds]=7 [consumer]=12 [conformance]=1 [mutation]=60)
declare -A WHAT=(
    [build]="compile, format, Checkstyle, ShellCheck, unit tests and the transport contract on the default JDK"
    [jdk25]="unit tests and the contract on JDK 25 or newer, suites over several transports sampled, a choice of those of several processes, and a short demo"
    [processes]="tests of several processes, kills and stops, mpirun"
    [vm]="what needs an RDMA device: in a virtual machine with Soft-RoCE, or directly where there is a device"
    [wire]="two virtual machines whose wire loses packets and whose cables are pulled; DART from one to the other; alone, as emulated processors are slow"
    [c]="C tests, by day with gcc or clang; address, undefined-behaviour and thread sanitizers; bounded fuzzing"
    [cluster]="staging over three hosts that are network namespaces: auto://, Slurm, Open MPI, MPICH, Podman; cancelled, requeued, a lost node"
    [faults]="planted faults: the named test must turn red; Java processes killed at labelled steps"
    [seeds]="randomised tests with a seed of the day"
    [consumer]="the release made twice, with equal bytes, and signed; a separate Maven project that uses it, on class path and module path; API of the last release; natives for x86-64 and AArch64 in the same jars, their GLIBC level and instruction sets; Java tests on emulated AArch64"
    [mutation]="changed decoders, journal, spill, stores, accounts and steps of DART and engine of the simulator: the tests must notice 85 %"
    [conformance]="every numbered assertion is named by the test that checks it"
)

# left_behind FOLDER: what a tier left in its temporary folder, but for what JVMs keep there themselves.
left_behind() { find "$1" -mindepth 1 -maxdepth 1 ! -name 'hsperfdata_*' ! -name '.java_pid*' ! -name '.attach_pid*' -printf '%f\n' | sort; }

# end_tree PROCESS: ends it unless it is this shell, and all that it has started, also in the background, where Ctrl-C does not come.
# Adds to ENDED what it has ended.
ENDED=()
end_tree() {
    local children child
    children=$(pgrep -P "$1")
    [ "$1" = $$ ] || { kill "$1" 2>/dev/null && ENDED+=("$1"); }
    for child in $children; do end_tree "$child"; done
}

# end_run CODE: when a signal comes. What still ends may write to its temporary folder: it is waited for, at most 10 s.
end_run() {
    local i
    end_tree $$
    for ((i = 0; i < 100; i++)); do
        kill -0 "${ENDED[@]}" 2>/dev/null || break
        sleep 0.1
    done
    exit "$1"
}

# However the run ends, nothing that it started and no temporary folder of its own stays.
catch_signals() {
    trap 'rm -rf "$TMP_OF_RUN/vtest-$$-"*' EXIT
    trap 'end_run 129' HUP
    trap 'end_run 130' INT
    trap 'end_run 143' TERM
}

# with_own_tmp COMMAND...: with a temporary folder of its own, which must be empty at the end.
with_own_tmp() {
    local code=0 left
    local -x TMPDIR
    TMPDIR=$(mktemp -d "$TMP_OF_RUN/vtest-$$-XXXX") || return 1
    # As /tmp is: some tests act as another user.
    chmod 1777 "$TMPDIR"
    "$@" || code=$?
    left=$(left_behind "$TMPDIR")
    if [ -n "$left" ]; then
        echo "   left in the temporary folder:"
        head -n 20 <<<"$left" | sed 's/^/      /'
        code=1
    fi
    rm -rf "$TMPDIR"
    return $code
}

tier_known() { [ -n "${BUDGET[${1:-none}]-}" ]; }

# What a run consists of.
tiers_of_a_run() {
    printf '%s\n' "${TIERS[@]}"
    [ "${VERBENA_LONG-}" != 1 ] || printf '%s\n' "${LONG_TIERS[@]}"
}

# What a run that is not long leaves out.
print_long_only() {
    [ "${VERBENA_LONG-}" != 1 ] || return 0
    local tier
    echo "Only with --long:"
    for tier in "${LONG_TIERS[@]}"; do echo "  tier $tier: ${WHAT[$tier]}"; done
    ci/long-only | sed 's/^/  /'
}

# run_maven_tests TIER REPORTS ARGS...: Maven's verify; failures are counted from the reports, so that all modules run.
run_maven_tests() {
    local tier=$1 reports=$2 code=0
    shift 2
    find . -path ./target -prune -o -path "*/target/$reports" -type d -print0 | xargs -0 -r rm -rf
    local long=()
    # --long: whatever asks for verbena.long, and two hours for the tests of several processes
    [ "${VERBENA_LONG-}" = 1 ] && long=(-Dverbena.long=true -Dverbena.processes.seconds=7200)
    # -fn: a failure in one module does not keep the modules above from being tested.
    MAVEN_LOG=$LOGS/$tier.log maven verify -fn -Dmaven.test.failure.ignore=true -Dverbena.tmp="${TMPDIR:-/tmp}" \
        -Dsurefire.rerunFailingTestsCount=1 -Dfailsafe.rerunFailingTestsCount=1 "${long[@]}" "$@" || code=1
    ! grep -q '^\[ERROR\] Failed to execute goal' "$LOGS/$tier.log" || code=1
    print_reports "$reports" || code=1
    print_problems "$reports"
    unsteady_within_limit "$reports" || code=1
    return $code
}

# A test that fails is run once more; one that then passes is named as unsteady, and more than this many fail the tier
# (docs/decisions/0134).
readonly MOST_UNSTEADY=3
unsteady_within_limit() {
    local count
    count=$(print_problems "$1" | grep -c '^ *UNSTEADY: ' || true)
    [ "$count" -le $MOST_UNSTEADY ] && return 0
    echo "   $count unsteady tests; at most $MOST_UNSTEADY are allowed"
    return 1
}

# print_reports FOLDER: sums Surefire's XML reports; fails if one has a failure or there are none.
print_reports() {
    find . -path ./target -prune -o -path "*/target/$1/TEST-*.xml" -print0 | xargs -0 -r grep -h '<testsuite ' |
        awk -v what="$1" '
            function number(name) { return match($0, " " name "=\"[0-9]+\"") ? substr($0, RSTART + length(name) + 3) + 0 : 0 }
            { n += number("tests"); f += number("failures"); e += number("errors"); s += number("skipped") }
            END { printf "Tests run: %d, Failures: %d, Errors: %d, Skipped: %d\n", n, f, e, s; exit f + e > 0 || n == 0 }'
}

# print_skips FOLDER: why tests were skipped, and how many for each reason.
print_skips() {
    find . -path ./target -prune -o -path "*/target/$1/TEST-*.xml" -print0 |
        xargs -0 -r grep -h '<skipped' |
        sed -e 's/.*message="\([^"]*\)".*/\1/' -e 's/.*CDATA\[[^:]*: //' -e 's/^/skipped: /' -e 's/&quot;/"/g' |
        sort | uniq -c | cut -c1-200
}

# print_problems FOLDER: every test that failed, and every one that failed once and passed when run again, with its message.
print_problems() {
    find . -path ./target -prune -o -path "*/target/$1/TEST-*.xml" -print0 |
        xargs -0 -r awk '
            function value(name) { return match($0, " " name "=\"[^\"]*\"") ? substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 4) : "" }
            function plain(text) { gsub(/&quot;/, "\"", text); gsub(/&lt;/, "<", text); gsub(/&gt;/, ">", text); gsub(/&#10;/, " ", text); gsub(/&amp;/, "\\&", text); return substr(text, 1, 300) }
            /<testcase / { test = value("classname") "." value("name"); told = 0 }
            /<(failure|error)[ >]/ && !told++ { print "FAILED: " plain(test ": " value("message")) }
            /<(flakyFailure|flakyError)[ >]/ && !told++ { print "UNSTEADY: " plain(test ": " value("message")) }' |
        sed 's/^/      /'
}

print_totals() {
    local folder
    for folder in surefire-reports surefire-reports-25 failsafe-reports failsafe-reports-25; do
        [ -n "$(find . -path ./target -prune -o -path "*/target/$folder/TEST-*.xml" -print -quit)" ] || continue
        printf '  %-20s ' "$folder:"
        print_reports $folder || true
        print_skips $folder
        print_problems $folder
    done
}

# Tests wait more than they compute: several JVMs at a time.
readonly THREE_AT_A_TIME=-Dverbena.forks=3
readonly TWO_JOBS_AT_A_TIME=-Dverbena.processes.forks=2
readonly NO_STYLE=(-Dspotless.check.skip=true -Dcheckstyle.skip=true)

tier_build() {
    local code=0 style
    check_style >"$LOGS/style.txt" 2>&1 &
    style=$!
    # The class paths are for ci/docs.
    run_maven_tests build surefire-reports $THREE_AT_A_TIME "${NO_STYLE[@]}" dependency:build-classpath -Dmdep.includeScope=test \
        -Dmdep.outputFile=target/test-class-path.txt || code=1
    # The two may have disturbed each other where plugins had to be downloaded: what failed is repeated alone.
    wait $style || check_style >"$LOGS/style.txt" 2>&1 || code=1
    cat "$LOGS/style.txt"
    return $code
}

# ShellCheck, format and Checkstyle; with the processor's time that tests leave.
check_style() (
    local code=0
    renice -n 10 -p $BASHPID >/dev/null
    check_scripts || code=1
    # Only the rows, which cost a second here and a whole run in the last tier.
    "$JAVA_HOME/bin/java" ci/Conformance.java --names || code=1
    # The module bom has no sources, nor a parent that says which version of a plugin.
    MAVEN_LOG=$LOGS/style.log maven -fn com.diffplug.spotless:spotless-maven-plugin:check@check \
        org.apache.maven.plugins:maven-checkstyle-plugin:check@check -pl '!:verbena-bom' 2>/dev/null || code=1
    ! grep '^\[ERROR\] Failed to execute goal' "$LOGS/style.log" || code=1
    [ $code -eq 0 ] || echo "   in full: target/test-logs/style.log"
    return $code
)

# Every script: quoting of paths, and what else ShellCheck warns of.
check_scripts() {
    local scripts log=$LOGS/shellcheck.log
    if ! command -v shellcheck >/dev/null; then
        echo "   shellcheck: skipped: not installed"
        return 0
    fi
    mapfile -t scripts < <(git grep -lE '^#!/(usr/bin/env |bin/)(ba)?sh' -- ':!*.md'; git ls-files '*.sh')
    printf '%s\0' "${scripts[@]}" | xargs -0 -P 2 -n 8 timeout 60 shellcheck -S warning -f gcc >"$log" 2>&1 && return 0
    echo "   shellcheck:"
    head -n 20 "$log" | sed 's/^/      /'
    return 1
}

tier_jdk25() {
    local home version
    for home in "${JAVA25_HOME-}" /usr/lib/jvm/*; do
        version=$(jdk_version "$home")
        [ "${version:-0}" -ge 25 ] && break
    done
    if [ "${version:-0}" -lt 25 ]; then
        SKIP_REASON="no JDK 25 or newer under /usr/lib/jvm"
        return $SKIPPED
    fi
    echo "   JDK $version in $home"
    local code=0 again=()
    # --long: on the newer JDK every test, not those tagged "once" left out and suites over transports sampled
    [ "${VERBENA_LONG-}" = 1 ] || again=(-Dverbena.again=true -Dverbena.unit.excluded=once)
    find . -path ./target -prune -o -path '*/target/failsafe-reports-25' -type d -print0 | xargs -0 -r rm -rf
    run_maven_tests jdk25 surefire-reports-25 -Dverbena.reports=surefire-reports-25 -Djvm="$home/bin/java" $THREE_AT_A_TIME \
        "${again[@]}" -Dverbena.unit.jvm= -Dverbena.processes.skip=false -Dverbena.processes.groups=each-jdk -Dverbena.alone.skip=true $TWO_JOBS_AT_A_TIME -Dverbena.processes.reports=failsafe-reports-25 \
        "${NO_STYLE[@]}" || code=1
    printf '   of several processes: '
    print_reports failsafe-reports-25 || code=1
    compile_with "$home" || code=1
    return $code
}

# compile_with JDK_HOME: does its compiler take our sources? Warnings are counted, not failed on. Without the views of an optional
# library that is not on the command's class path, and without sinks, whose drivers are not on it.
compile_with() {
    local sources log=$LOGS/compile-25.log
    mapfile -t sources < <(git ls-files '*/src/main/java/*.java' '*/src/normal/java/*.java' | grep -v -e '^jmh/' -e '^sink-' -e 'module-info.java$' -e '/memory/chronicle/')
    rm -rf target/compile-25
    if "$1/bin/javac" --release 17 -Xlint:all -proc:none -implicit:none -d target/compile-25 -cp 'cli/target/dist/lib/*' \
        "${sources[@]}" >"$log" 2>&1; then
        echo "   its javac compiles ${#sources[@]} sources, $(grep -c ': warning:' "$log") warnings (target/test-logs/compile-25.log)"
    else
        echo "   its javac does not compile our sources:"
        grep ': error:' "$log" | head -n 10
        return 1
    fi
}

tier_processes() {
    run_maven_tests processes failsafe-reports -Dverbena.unit.skip=true -Dverbena.processes.skip=false $TWO_JOBS_AT_A_TIME \
        "${NO_STYLE[@]}"
}

tier_vm() { virtual_machines vm; }
tier_wire() { virtual_machines wire; }
virtual_machines() {
    local code=0
    ci/rdma-vm/tier "$1" || code=$?
    # shellcheck disable=SC2034 # used by ci/test
    [ $code -ne $SKIPPED ] || SKIP_REASON=$(<"$LOGS/$1/skipped")
    return $code
}

# Every folder with C tests has a Makefile with the targets check, check-asan, check-ubsan, check-tsan and fuzz.
c_run() {
    local name=$1 log=$LOGS/c-$1.log module code=0
    shift
    : >"$log"
    for module in native portals-emul gni-shim; do
        [ -f "$module/src/test/c/Makefile" ] || continue
        timeout -k 30 900 make -C "$module/src/test/c" BUILD="$VERBENA_HOME/$module/target/c-$name" "$@" >>"$log" 2>&1 </dev/null || code=1
    done
    awk -v name="$name" '
        /^[0-9]+ passed, [0-9]+ failed/ { p += $1; f += $3; s += $5; programs++ }
        END { printf "   %-12s %d programs: %d passed, %d failed, %d skipped\n", name, programs, p, f, s; exit f > 0 || p == 0 }' "$log" || code=1
    [ $code -eq 0 ] || { grep -hE '^not ok|ERROR: |WARNING: ThreadSanitizer|runtime error|error:|\*\*\*' "$log" | head -n 20; }
    return $code
}

# Two lanes at a time: these tests, too, wait more than they compute, and each build has a folder of its own.
tier_c() {
    local code=0 lane
    c_lane_compilers >"$LOGS/c-lane-compilers.txt" 2>&1 &
    lane=$!
    c_lane_sanitizers || code=1
    wait $lane || code=1
    cat "$LOGS/c-lane-compilers.txt"
    return $code
}

c_lane_compilers() {
    local code=0 compilers=(gcc clang)
    if ! command -v clang >/dev/null; then
        echo "   clang: skipped: not installed"
        c_run gcc CC=gcc check || code=1
    else
        [ $(($(date +%s) / 86400 % 2)) = 0 ] || compilers=(clang gcc)
        c_run "${compilers[0]}" CC="${compilers[0]}" check || code=1
        # --long: the C tests compiled by gcc and by clang, instead of one of them on each day
        if [ "${VERBENA_LONG-}" = 1 ]; then
            c_run "${compilers[1]}" CC="${compilers[1]}" check || code=1
        else
            c_compile "${compilers[1]}" || code=1
        fi
        c_fuzz || code=1
        command -v clang-format >/dev/null && { format_c || code=1; }
    fi
    c_aarch64 || code=1
    return $code
}

# c_compile COMPILER: only whether it takes all that c_run would run. The warnings that need optimising come on the days that it runs.
c_compile() {
    local log=$LOGS/c-$1.log module code=0
    : >"$log"
    for module in native portals-emul gni-shim; do
        timeout -k 30 900 make -C "$module/src/test/c" BUILD="$VERBENA_HOME/$module/target/c-$1-compile" CC="$1" CFLAGS="-O0 -g0" all >>"$log" 2>&1 </dev/null || code=1
    done
    if [ $code -eq 0 ]; then
        printf '   %-12s compiled; its programs run on another day\n' "$1"
    else
        grep -hE 'error:|\*\*\*' "$log" | head -n 20
    fi
    return $code
}

# "asan" finds undefined behaviour, too; both in one build.
c_lane_sanitizers() {
    local code=0 san
    for san in asan tsan; do
        c_run $san CC=gcc check-$san || code=1
    done
    return $code
}

# The processor that orders memory least: compiled for it, and what an emulator of user programs can run.
c_aarch64() {
    if [ "$(uname -m)" = aarch64 ]; then return 0; fi
    if ! command -v aarch64-linux-gnu-gcc >/dev/null || ! command -v qemu-aarch64 >/dev/null; then
        echo "   aarch64: skipped: gcc-aarch64-linux-gnu or qemu-user is not installed"
        return 0
    fi
    c_run aarch64 check-aarch64
}

# libFuzzer ends with exit code 0 after its time, or with the input that broke something.
c_fuzz() {
    local log=$LOGS/c-fuzz.log module seconds=20 code=0
    if ! clang_has_sanitizers; then
        echo "   fuzz: skipped: clang's fuzzing library is not installed"
        return 0
    fi
    # --long: 300 s of fuzzing for each module instead of 20
    [ "${VERBENA_LONG-}" != 1 ] || seconds=300
    : >"$log"
    for module in native portals-emul gni-shim; do
        grep -qs '^fuzz:' "$module/src/test/c/Makefile" || continue
        timeout -k 30 900 make -C "$module/src/test/c" BUILD="$VERBENA_HOME/$module/target/c-fuzz" CC=clang SECONDS=$seconds fuzz \
            >>"$log" 2>&1 </dev/null || code=1
    done
    awk '/^Done [0-9]+ runs/ { n++; runs += $2 } END { printf "   fuzz         %d programs: %d inputs\n", n, runs; exit n == 0 }' "$log" || code=1
    [ $code -eq 0 ] || grep -hE 'ERROR: |SUMMARY|error:|\*\*\*' "$log" | head -n 20
    return $code
}

format_c() {
    local files
    mapfile -t files < <(git ls-files '*.c' '*.h')
    clang-format --dry-run --Werror "${files[@]}" >"$LOGS/clang-format.log" 2>&1 && return 0
    echo "   clang-format: these files differ:"
    sed -n 's/^\([^: ]*\):[0-9]*:[0-9]*: error.*/     \1/p' "$LOGS/clang-format.log" | sort | uniq -c | head -n 20
    return 1
}

tier_cluster() {
    local code=0
    ci/cluster/tier || code=$?
    # shellcheck disable=SC2034 # used by ci/test
    [ $code -ne $SKIPPED ] || SKIP_REASON=$(<"$LOGS/cluster/skipped")
    return $code
}

tier_faults() { ci/planted-faults/run; }

# The tests that take -Dverbena.seed, with the seed of the day.
tier_seeds() {
    local seed=$(($(date +%s) / 86400)) count=1 i code=0
    # --long: 20 seeds that no run had before, instead of the one of the day
    [ "${VERBENA_LONG-}" != 1 ] || count=20 seed=$(date +%s)
    for ((i = 0; i < count; i++, seed++)); do
        echo "   seed $seed (repeat: mvn verify -Dgroups=seeded -Dverbena.seed=$seed)"
        run_maven_tests "seeds-$i" surefire-reports-seeds -Dgroups=seeded -Dverbena.seed=$seed -Dverbena.reports=surefire-reports-seeds $THREE_AT_A_TIME \
            "${NO_STYLE[@]}" -pl native,java-api,portals-emul,gni-shim,ofi,staging,nsim -am || code=1
    done
    return $code
}

tier_consumer() {
    local home version code=0 lane jdks=("$JAVA_HOME")
    for home in "${JAVA25_HOME-}" /usr/lib/jvm/*; do
        version=$(jdk_version "$home")
        [ "${version:-0}" -lt 25 ] || { jdks+=("$home"); break; }
    done
    natives_for_aarch64 || code=1
    ci/consumer-test "${jdks[@]}" || code=1
    # The emulator keeps one processor busy.
    consumer_lane_files >"$LOGS/consumer-lane-files.txt" 2>&1 &
    lane=$!
    java_on_aarch64 || code=1
    run_modules "${jdks[@]}" || code=1
    api_compatible || code=1
    wait $lane || code=1
    cat "$LOGS/consumer-lane-files.txt"
    return $code
}

# What reads the files that were built and runs none of them.
consumer_lane_files() {
    local code=0
    if ci/docs >/dev/null; then echo "   Javadoc of what is exported: no warning"; else code=1; fi
    ci/glibc-check || code=1
    ci/instruction-check --self-test || code=1
    ci/instruction-check || code=1
    check_licences || code=1
    return $code
}

# Before our jars are deployed and the natives are looked at: those for AArch64 are in the jars, too.
natives_for_aarch64() {
    local code=0
    ci/aarch64-natives || code=$?
    [ $code -eq 0 ] || [ $code -eq $SKIPPED ]
}

# Some Java tests over those natives, in an emulator of user programs.
java_on_aarch64() {
    local code=0
    ci/aarch64-java || code=$?
    [ $code -eq 0 ] || [ $code -eq $SKIPPED ]
}

# With the last release, once there is one; that the check finds what it should is tested each time.
api_compatible() {
    local code=0
    ci/api-check --self-test || return 1
    ci/api-check || code=$?
    [ $code -eq 0 ] || [ $code -eq $SKIPPED ]
}

# run_modules JDK_HOME...: all our jars from the module path, all providers, a process that starts another; no JVM flag.
run_modules() {
    local home scheme code=0 log=$LOGS/modules.log
    for home in "$@"; do
        for scheme in shm portals gni; do
            timeout 60 "$home/bin/java" --module-path cli/target/dist/lib -m dev.verbena.cli/dev.verbena.cli.VerbenaCommand \
                lat --op=put --transport=$scheme -s 64 -n 100 >"$log" 2>&1 </dev/null && grep -q '^ *64 ' "$log" && continue
            echo "   from the module path with $home, over $scheme://, fails:"
            tail -n 10 "$log"
            code=1
        done
    done
    [ $code -ne 0 ] || echo "   all modules from the module path, shm://, portals:// and gni://: work"
    return $code
}

# Every library that a user's class path gets is in the table of docs/dependencies.md.
check_licences() {
    local jar name code=0
    for jar in cli/target/dist/lib/*.jar; do
        name=$(basename "$jar" | sed 's/-[0-9].*//')
        case $name in verbena-*) continue ;; esac
        grep -qE "^\| .*[:\`]$name\b|^\| .*$name" docs/dependencies.md && continue
        echo "   docs/dependencies.md does not name $name"
        code=1
    done
    return $code
}

tier_mutation() { ci/mutation/run; }

tier_conformance() {
    local code=0
    "$JAVA_HOME/bin/java" ci/Conformance.java || code=1
    ci/pyverbs-table --check || code=1
    "$JAVA_HOME/bin/java" ci/Troubleshooting.java --check || code=1
    return $code
}
