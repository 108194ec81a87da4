# After an edit: one javac for the edited Java sources and for those that name an edited type, where a whole build takes a minute.
# Sourced by ci/build.sh. Whatever else was edited (C, POMs, resources, module descriptors, generated code) needs the whole build.
# shellcheck shell=bash

readonly MODULES=(native java-api staging sink-postgres sink-duckdb sink-hdf5 portals-emul gni-shim ofi nsim examples cli jmh)

# edited_since FILE KIND...: Java sources of these kinds ("main", "test"), but for descriptors.
edited_since() {
    local since=$1 kind dirs=()
    shift
    for kind in "$@"; do
        for module in "${MODULES[@]}"; do
            [ ! -d "$module/src/$kind/java" ] || dirs+=("$module/src/$kind/java")
        done
    done
    find "${dirs[@]}" -name '*.java' ! -name module-info.java -newer "$since"
}

# naming KIND SOURCE...: these sources of a kind, and those that name a type of one of them; also those whose class does: they may have it from a
# field of a supertype.
naming() {
    local kind=$1 types classes=classes
    shift
    [ $# -gt 0 ] || return 0
    [ "$kind" = main ] || classes=test-classes
    types=$(printf '%s\n' "${@##*/}" | sed 's/\.java$//' | paste -sd'|')
    printf '%s\n' "$@" | grep "/src/$kind/java/" || true
    grep -rlwE --include='*.java' --exclude=module-info.java "$types" ./*/src/"$kind"/java | sed 's|^\./||'
    types=$(printf '%s\n' "$@" | sed -E 's#^.*/src/[a-z]+/java/(.*)\.java$#\1#')
    grep -rlF --include='*.class' --exclude=module-info.class -e "$types" ./*/target/$classes 2>/dev/null |
        sed -E 's#^\./([^/]+)/target/'$classes'/([^$]*)(\$.*)?\.class#\1/src/'"$kind"'/java/\2.java#' |
        while read -r source; do [ ! -f "$source" ] || echo "$source"; done
}

# test_path TREE MODULE: a module's class path for tests, of folders and the libraries' jars.
test_path() {
    local tree
    # As a pattern that finds the name itself.
    tree=$(sed 's/[][\.*^$+?(){}|#]/\\&/g' <<<"$1")
    sed -E -e "s#($tree/[a-z-]+/target/)[^:]*-tests\.jar#\1test-classes#g" -e "s#($tree/[a-z-]+/target/)verbena-[^:]*\.jar#\1classes#g" \
        <<<"$1/$2/target/test-classes:$1/$2/target/classes:$(<"$1/$2/target/test-class-path.txt")"
}

# compile_edits KIND...: compiles what was edited since the last time, into the folders of Maven's classes and the jars of commands.
compile_edits() (
    local kinds=("$@") kind edited sources=()
    cd "$VERBENA_HOME" || return 1
    mkdir -p target/edits
    touch target/edits/began
    for kind in main test; do # both: our caller dates the build anew, also when it asks for one kind
        [ -f "target/edits/$kind" ] || touch -r "$DIST/built" "target/edits/$kind"
    done
    for kind in "${kinds[@]}"; do
        # A test is compiled again, too, when what it tests was edited.
        mapfile -t edited < <(if [ "$kind" = main ]; then edited_since "target/edits/$kind" main; else edited_since "target/edits/$kind" main test; fi)
        mapfile -t -O ${#sources[@]} sources < <(naming "$kind" "${edited[@]}" | sort -u)
    done
    [ ${#sources[@]} -eq 0 ] || compile_sources "$VERBENA_HOME" "${sources[@]}" || return 1
    for kind in "${kinds[@]}"; do touch -r target/edits/began "target/edits/$kind"; done
)

# compile_sources TREE SOURCE...: these alone, in a tree that is built.
compile_sources() (
    local path
    cd "$1" || return 1
    shift
    path=$(for module in "${MODULES[@]}"; do test_path "$PWD" "$module"; done | tr : '\n' | awk '!seen[$0]++' | paste -sd:)
    of_ci CompileEdits || return 1
    # Short runs: the first compiler of the JVM is enough.
    "${JAVA_HOME:+$JAVA_HOME/bin/}java" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$RUNNER" CompileEdits "$path" "$@"
)
