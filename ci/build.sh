# Building what ./verbena runs, only when it is missing or older than its sources. Sourced by ./verbena and ci/test.
# shellcheck shell=bash

readonly DIST="$VERBENA_HOME/cli/target/dist"
readonly BUILD_LOG="$VERBENA_HOME/target/build.log"
readonly RUNNER="$VERBENA_HOME/target/junit/runner"
# shellcheck source=edits.sh
. "$VERBENA_HOME/ci/edits.sh"

# make, to which C tests, benchmarks and commsplit are whole paths, takes them apart at spaces.
refuse_folder_with_space() {
    case $VERBENA_HOME in
    *[[:space:]]*)
        say "verbena: $VERBENA_HOME has a space in its name, and make builds neither C tests nor benchmarks nor commsplit there; move it to a folder without. (Every other command works.)"
        exit 1
        ;;
    esac
}

# newer_than_build FIND-ARGUMENTS...: sources and POMs that changed since the latest build.
newer_than_build() {
    (cd "$VERBENA_HOME" && find . -path ./target -prune -o -path '*/target' -prune -o -path './.git' -prune -o \
        -newer cli/target/dist/built \( -name pom.xml -o -path '*/src' -o -path '*/src/*' \) "$@" 2>/dev/null)
}

build_is_current() { [ -f "$DIST/built" ] && [ -z "$(newer_than_build -print -quit)" ]; }

# Whether one javac does: tests apart, only Java sources were edited or added, none that something is generated from.
only_java_is_newer() {
    [ -f "$DIST/built" ] && [ -f "$VERBENA_HOME/jmh/target/test-class-path.txt" ] || return 1
    local other folder class package
    other=$(newer_than_build ! -type d ! -path '*/src/test/*' ! -path './*/src/main/java/*.java' -print -quit)
    [ -n "$other" ] || other=$(newer_than_build -type f \( -name module-info.java -o -path './native/src/main/*' -o -path './jmh/src/main/*' \) -print -quit)
    [ -z "$other" ] || return 1
    # Was a source removed?
    while IFS= read -r folder; do
        package=$VERBENA_HOME/${folder/\/src\/main\/java\///target/classes/}
        for class in "$package"/*.class; do
            case $class in *\$* | *-info.class | *'*'*) continue ;; esac
            class=${class##*/}
            [ -f "$VERBENA_HOME/$folder/${class%.class}.java" ] || return 1
        done
    done < <(newer_than_build -type d -path './*/src/main/java/*' -print)
}

# maven ARGS...: Maven in the root, all output to $MAVEN_LOG, progress to standard error. If the network is what failed
# and everything may be cached, once more offline.
maven() {
    local code=0
    mkdir -p "$(dirname "$MAVEN_LOG")"
    maven_once "$@" || code=$?
    if [ $code -ne 0 ] && grep -qE 'Could not (transfer|resolve)|Unknown host|PluginResolutionException|Network is unreachable' "$MAVEN_LOG"; then
        say "  (a repository could not be reached; once more with what is cached)"
        code=0
        maven_once -o "$@" || code=$?
    fi
    return $code
}

maven_once() {
    (cd "$VERBENA_HOME" && mvn -B -ntp -Dstyle.color=never -Dorg.slf4j.simpleLogger.showThreadName=true "$@" </dev/null 2>&1) |
        name_modules | tee "$MAVEN_LOG" | maven_progress >&2
}

# Modules that are built at the same time mix their lines: sums of tests get the module's name, which the thread tells, whose name goes.
name_modules() {
    awk '
        { gsub(/\033\[[0-9;]*m/, ""); thread = "" }
        match($0, /^\[[^]]+\] \[(INFO|WARNING|ERROR)\]/) && !/^\[(INFO|WARNING|ERROR)\]/ { n = index($0, "]"); thread = substr($0, 2, n - 2); $0 = substr($0, n + 2) }
        /^\[INFO\] Building .*\[[0-9]+\/[0-9]+\]/ { name = $0; sub(/^\[INFO\] Building /, "", name); sub(/ [^ ]+ +\[[0-9]+\/[0-9]+\]$/, "", name); module[thread] = name }
        /Tests run:/ && !/Time elapsed/ && thread in module { $0 = $0 " (" module[thread] ")" }
        { print; fflush() }'
}

# What of Maven's output a person wants to see while waiting.
maven_progress() {
    awk '
        /^\[ERROR\] (To see the full|Re-run Maven|For more information|\[Help|After correcting|  mvn <args>|See .*for the individual|See dump files|-> \[Help)/ { next }
        /^\[INFO\] Building .*\[[0-9]+\/[0-9]+\]/ { sub(/^\[INFO\] Building /, ""); n = $NF; $NF = ""; print "  " n " " $0; fflush(); next }
        /Tests run:.*Time elapsed/ && !/(FAILURE|ERROR)!/ { next }
        /Tests run:/ { sub(/^\[[A-Z]*\] */, ""); print "    " $0; fflush(); next }
        /^\[ERROR\] *$/ { next }
        /^\[ERROR\]/ && lines < 60 { lines++; print "    " $0; fflush() }'
}

# command_table: a line for each command, of docs/cli.md.
command_table() {
    # shellcheck disable=SC2016
    sed -n '/^| command |/,/^$/ { s/^| `/  /; T; s/ |$//; s/\[\([^]]*\)\]([^)]*)/\1/g; s/[`\\]//g; s/ | /: /; p; }' "$VERBENA_HOME/docs/cli.md"
}

# What there is, where nothing is built that could say so itself.
print_commands() {
    {
        echo "usage: ./verbena COMMAND [OPTION]..."
        command_table
        echo "Nothing is built here yet: the first command builds, for some minutes. All pages: docs/README.md"
    } | fold -s -w "${COLUMNS:-80}"
}

# print_command WORD: what one command does, likewise; fails if there is no such command.
print_command() {
    local lines
    lines=$(command_table | grep -E "^  ([^:]*[ ,])?$1[ ,:]") || return 1
    {
        printf '%s\n' "$lines"
        echo "Its options are listed here once something is built (./verbena version builds, for some minutes), and in docs/cli.md."
    } | fold -s -w "${COLUMNS:-80}"
}

# Ends with whose build it is that this user may not renew.
refuse_build_of_others() {
    local folder
    folder=$(find "$VERBENA_HOME"/target "$VERBENA_HOME"/*/target -type d ! -writable -print -quit 2>/dev/null)
    [ -n "$folder" ] || [ -d "$VERBENA_HOME/target" ] || [ -w "$VERBENA_HOME" ] || folder=$VERBENA_HOME
    [ -n "$folder" ] || return 0
    say "verbena: what is built here is absent or older than its sources, and $(id -un) may not build: $folder belongs to $(stat -c %U "$folder")."
    say "Let that user run ./verbena version, which builds; or copy the sources (git clone) to a folder of your own, and run it there."
    exit 1
}

# build_if_needed [KIND...]: after an edit of Java sources alone compiles these kinds of them, "main" unless given; else builds all.
build_if_needed() {
    build_is_current && return 0
    refuse_build_of_others
    mkdir -p "$VERBENA_HOME/target"
    exec 8>"$VERBENA_HOME/target/build.lock"
    if ! flock -n 8; then
        say "Another ./verbena is building here; waiting for it."
        flock 8
        build_is_current && return 0
    fi
    if only_java_is_newer; then
        compile_edits "${@:-main}" || { say "verbena: the edited sources do not compile"; exit 1; }
        touch -r "$VERBENA_HOME/target/edits/began" "$DIST/built"
        exec 8>&-
        return 0
    fi
    say "Building Verbena (the first time downloads its libraries; log: target/build.log)"
    local began=$SECONDS
    touch "$VERBENA_HOME/target/build.began"
    MAVEN_LOG=$BUILD_LOG maven package dependency:build-classpath -Dmdep.includeScope=test -Dmdep.outputFile=target/test-class-path.txt -DskipTests -Dspotless.check.skip=true -Dcheckstyle.skip=true ||
        { say "verbena: the build failed; see target/build.log"; exit 1; }
    [ -d "$DIST/lib" ] || { say "verbena: the build left no cli/target/dist/lib"; exit 1; }
    # Dated to the beginning, so that an edit made during the build counts as newer.
    touch -r "$VERBENA_HOME/target/build.began" "$DIST/built"
    rm -rf "$VERBENA_HOME/target/edits"
    say "Built in $((SECONDS - began)) s."
    exec 8>&-
}

junit_platform_version() { echo "1.$(sed -n 's/.*<junit.version>5\.\(.*\)<.*/\1/p' "$VERBENA_HOME/pom.xml")"; }

# The jar of JUnit's launcher, which also brings JUnit: fetched once into target/junit. Prints its path.
console_launcher() {
    local version jar
    version=$(junit_platform_version)
    jar=$VERBENA_HOME/target/junit/junit-platform-console-standalone-$version.jar
    [ -f "$jar" ] || MAVEN_LOG=$VERBENA_HOME/target/test-logs/launcher.log maven -pl :verbena-parent dependency:copy \
        -DoutputDirectory=target/junit -Dartifact="org.junit.platform:junit-platform-console-standalone:$version" >&2 || return 1
    echo "$jar"
}

# crash_excerpt FILE: what a JVM's error file says first, for readers who have no more than our output.
crash_excerpt() {
    printf -- '-- %s\n' "$1"
    { head -n 12 "$1" && grep -E -A 24 '^(siginfo|Stack:|Java frames)' "$1"; } | grep -v '^#* *$' | cut -c1-160 | head -n 70
}

# A class path without the classes that the launcher brings: twice on the path they are refused.
without_junit() { tr : '\n' | grep -v -e '/junit-' -e '/opentest4j-' -e '/apiguardian-' | paste -sd:; }

# of_ci CLASS [PATH]: compiles ci/CLASS.java into $RUNNER when it was edited.
of_ci() {
    [ "$RUNNER/$1.class" -nt "$VERBENA_HOME/ci/$1.java" ] ||
        "${JAVA_HOME:+$JAVA_HOME/bin/}javac" -d "$RUNNER" -cp "${2-}" "$VERBENA_HOME/ci/$1.java"
}

test_runner() { of_ci RunTests "$(console_launcher)"; }

# run_tests TREE MODULE OPTION... -- PACKAGE.CLASS[#METHOD]...: on the classes that were compiled in a tree; options are java's.
# With SECONDS_MAX set the JVM ends after so long.
run_tests() {
    local tree=$1 module=$2 options=()
    shift 2
    while [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    shift
    test_runner || return 1
    (cd "$tree/$module" && ${SECONDS_MAX:+timeout -k 10 "$SECONDS_MAX"} "${JAVA_HOME:+$JAVA_HOME/bin/}java" -ea -XX:+UseSerialGC \
        --add-opens java.base/jdk.internal.misc=ALL-UNNAMED -Dagrona.strict.alignment.checks=true -Djava.io.tmpdir="${TMPDIR:-/tmp}" \
        -Dverbena.home="$tree" -Dverbena.long=false -Dverbena.named=true "${options[@]}" \
        -cp "$RUNNER:$(console_launcher):$(test_path "$tree" "$module" | without_junit)" RunTests "$@")
}
