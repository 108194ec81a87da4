# Building what ./verbena runs, only when it is missing or older than its sources. Sourced by ./verbena and ci/test.
# shellcheck shell=bash

readonly DIST="$VERBENA_HOME/cli/target/dist"
readonly BUILD_LOG="$VERBENA_HOME/target/build.log"

build_is_current() {
    [ -f "$DIST/built" ] || return 1
    local newer
    newer=$(cd "$VERBENA_HOME" && find . -path ./target -prune -o -path '*/target' -prune -o -path './.git' -prune -o \
        -newer cli/target/dist/built \( -name pom.xml -o -path '*/src' -o -path '*/src/*' \) -print -quit 2>/dev/null)
    [ -z "$newer" ]
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
    (cd "$VERBENA_HOME" && mvn -B -ntp -Dstyle.color=never "$@" </dev/null 2>&1) | tee "$MAVEN_LOG" | maven_progress >&2
}

# What of Maven's output a person wants to see while waiting.
maven_progress() {
    awk '
        { gsub(/\033\[[0-9;]*m/, "") }
        /^\[ERROR\] (To see the full|Re-run Maven|For more information|\[Help|After correcting|  mvn <args>|See .*for the individual|See dump files|-> \[Help)/ { next }
        /^\[INFO\] Building .*\[[0-9]+\/[0-9]+\]/ { sub(/^\[INFO\] Building /, ""); n = $NF; $NF = ""; print "  " n " " $0; fflush(); next }
        /Tests run:.*Time elapsed/ && !/(FAILURE|ERROR)!/ { next }
        /Tests run:/ { sub(/^\[[A-Z]*\] */, ""); print "    " $0; fflush(); next }
        /^\[ERROR\] *$/ { next }
        /^\[ERROR\]/ && lines < 60 { lines++; print "    " $0; fflush() }'
}

build_if_needed() {
    build_is_current && return 0
    mkdir -p "$VERBENA_HOME/target"
    exec 8>"$VERBENA_HOME/target/build.lock"
    if ! flock -n 8; then
        say "Another ./verbena is building here; waiting for it."
        flock 8
        build_is_current && return 0
    fi
    say "Building Verbena (the first time downloads its libraries; log: target/build.log)"
    local began=$SECONDS
    touch "$VERBENA_HOME/target/build.began"
    MAVEN_LOG=$BUILD_LOG maven package -DskipTests -Dspotless.check.skip=true -Dcheckstyle.skip=true ||
        { say "verbena: the build failed; see target/build.log"; exit 1; }
    [ -d "$DIST/lib" ] || { say "verbena: the build left no cli/target/dist/lib"; exit 1; }
    # Dated to the beginning, so that an edit made during the build counts as newer.
    touch -r "$VERBENA_HOME/target/build.began" "$DIST/built"
    say "Built in $((SECONDS - began)) s."
    exec 8>&-
}
