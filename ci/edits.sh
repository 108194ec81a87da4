# After an edit: one javac for the edited Java sources and for those that name an edited type, where a whole build takes a minute.
# Sourced by ci/build.sh. Whatever else was edited (C, POMs, resources, module descriptors, generated code) needs the whole build.
# shellcheck shell=bash

readonly MODULES=(native java-api staging portals-emul gni-shim nsim examples cli jmh)

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

# naming KIND SOURCE...: these sources of a kind, and those that name a type of one of them.
naming() {
    local kind=$1 types
    shift
    [ $# -gt 0 ] || return 0
    types=$(printf '%s\n' "${@##*/}" | sed 's/\.java$//' | paste -sd'|')
    printf '%s\n' "$@" | grep "/src/$kind/java/" || true
    grep -rlwE --include='*.java' --exclude=module-info.java "$types" ./*/src/"$kind"/java | sed 's|^\./||'
}

# test_path TREE MODULE: a module's class path for tests, of folders and the libraries' jars.
test_path() {
    sed -E -e "s#($1/[a-z-]+/target/)[^:]*-tests\.jar#\1test-classes#g" -e "s#($1/[a-z-]+/target/)verbena-[^:]*\.jar#\1classes#g" \
        <<<"$1/$2/target/test-classes:$1/$2/target/classes:$(<"$1/$2/target/test-class-path.txt")"
}

# compile_edits KIND...: into the folders where Maven's classes are; "main" also into the jars that commands run from.
compile_edits() (
    local kinds=("$@") kind edited source sources=() out=$VERBENA_HOME/target/edits/classes path
    cd "$VERBENA_HOME" || return 1
    mkdir -p target/edits
    touch target/edits/began
    for kind in "${kinds[@]}"; do
        [ -f "target/edits/$kind" ] || touch -r "$DIST/built" "target/edits/$kind"
        # A test is compiled again, too, when what it tests was edited.
        mapfile -t edited < <(if [ "$kind" = main ]; then edited_since "target/edits/$kind" main; else edited_since "target/edits/$kind" main test; fi)
        mapfile -t -O ${#sources[@]} sources < <(naming "$kind" "${edited[@]}" | sort -u)
    done
    if [ ${#sources[@]} -gt 0 ]; then
        path=$(for module in "${MODULES[@]}"; do test_path "$VERBENA_HOME" "$module"; done | tr : '\n' | awk '!seen[$0]++' | paste -sd:)
        rm -rf "$out"
        mkdir -p "$out"
        "${JAVA_HOME:+$JAVA_HOME/bin/}javac" --release 17 -nowarn -Xlint:none -proc:none -implicit:none -parameters -g -d "$out" -cp "$path" "${sources[@]}" || return 1
        for source in "${sources[@]}"; do place_classes "$source"; done
        update_jars "${sources[@]}"
    fi
    for kind in "${kinds[@]}"; do touch -r target/edits/began "target/edits/$kind"; done
)

# place_classes MODULE/src/KIND/java/PACKAGE/TYPE.java
place_classes() {
    local type=${1#*/src/*/java/} folder=classes
    type=${type%.java}
    case $1 in */src/test/*) folder=test-classes ;; esac
    rm -f "${1%%/*}/target/$folder/$type".class "${1%%/*}/target/$folder/$type"\$*.class
    cp "$out/$type".class "${1%%/*}/target/$folder/${type%/*}/" || return 1
    find "$out/${type%/*}" -maxdepth 1 -name "${type##*/}\$*.class" -exec cp -t "${1%%/*}/target/$folder/${type%/*}/" {} +
}

update_jars() {
    local module artifact jar
    for module in $(printf '%s\n' "$@" | sed -n 's|/src/main/java/.*||p' | sort -u); do
        artifact=$(sed -n 's/.*<artifactId>\(verbena-[a-z]*\)<.*/\1/p' "$module/pom.xml" | sed -n 2p)
        for jar in {cli,jmh}/target/dist/lib/"$artifact"-*.jar; do
            [ ! -f "$jar" ] || "${JAVA_HOME:+$JAVA_HOME/bin/}jar" --update --file "$jar" -C "$module/target/classes" . || return 1
        done
    done
}
