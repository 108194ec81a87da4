# Reads mpi.h as the preprocessor leaves it, writes a C file with a wrapper for every MPI function that takes a communicator,
# and one for its Fortran name. Which functions there are differs between MPIs and their versions, so the header itself is asked.
#   mpicc -E -P header.c | awk -f wrappers.awk >wrappers.c

# Without attributes: they contain brackets, and commas that are not between arguments.
function without_attributes(text,   at, depth, i, c) {
    while ((at = match(text, /__attribute__ *\(/)) > 0) {
        depth = 0
        for (i = at + RLENGTH - 1; i <= length(text); i++) {
            c = substr(text, i, 1)
            if (c == "(") depth++
            if (c == ")" && --depth == 0) break
        }
        text = substr(text, 1, at - 1) " " substr(text, i + 1)
    }
    return text
}

{ header = header " " $0 }

END {
    count = split(header, statements, ";")
    for (i = 1; i <= count; i++) remember(without_attributes(statements[i]))
    print "/* Made by wrappers.awk from mpi.h. */"
    print "#include \"commsplit.h\""
    for (i = 1; i <= functions; i++) {
        name = names[i]
        if (("P" name) in arguments && !(name in by_hand)) write(name)
    }
}

function remember(text,   name) {
    gsub(/[ \t\n]+/, " ", text)
    sub(/^ +/, "", text)
    sub(/^(extern )+/, "", text)
    if (text !~ /^int P?MPIX?_[A-Za-z0-9_]+ *\(.*\) *$/) return
    name = text
    sub(/^int /, "", name)
    sub(/ *\(.*/, "", name)
    sub(/^[^(]*\(/, "", text)
    sub(/\) *$/, "", text)
    if (name in arguments) return
    arguments[name] = text
    if (name ~ /^MPI/) names[++functions] = name
}

# The arguments of a prototype, by commas outside of brackets.
function take_apart(text,   i, c, depth) {
    number = 0
    part = ""
    for (i = 1; i <= length(text) + 1; i++) {
        c = i > length(text) ? "," : substr(text, i, 1)
        if (c == "(") depth++
        if (c == ")") depth--
        if (c == "," && depth == 0) {
            parts[++number] = part
            part = ""
        } else part = part c
    }
}

function name_of(text) {
    gsub(/\[[^]]*\]/, "", text)
    sub(/ +$/, "", text)
    sub(/^.*[ *]/, "", text)
    return text
}

function write(name,   i, declared, passed, own, text) {
    take_apart(arguments[name])
    for (i = 1; i <= number; i++) {
        text = parts[i]
        if (text ~ /\.\.\./ || text ~ /\(/) return
        text = (text ~ /^ *MPI_Comm +[a-z_0-9A-Z]+ *$/) ? "commsplit_of(" name_of(text) ")" : name_of(text)
        if (text ~ /^commsplit_of/) own++
        declared = declared (i > 1 ? ", " : "") parts[i]
        passed = passed (i > 1 ? ", " : "") text
    }
    gsub(/  +/, " ", declared)
    if (!own) return
    printf "COMMSPLIT_EXPORT int %s(%s)\n{\n    return P%s(%s);\n}\n", name, declared, name, passed
    fortran(name)
}

# Fortran passes addresses, then the result's, then the lengths of strings by value. The world is a number there.
function fortran(name,   i, lower, declared, types, passed, lengths, text) {
    if (name ~ /spawn|_c$|_c2f$|^MPIX/) return
    lower = tolower(name)
    for (i = 1; i <= number; i++) {
        declared = declared "void *a" i ", "
        types = types "void *, "
        text = "a" i
        if (parts[i] ~ /^ *MPI_Comm +[a-z_0-9A-Z]+ *$/) text = "commsplit_of_fortran(a" i ")"
        passed = passed text ", "
        if (parts[i] ~ /char *\*/ && parts[i] !~ /char *\*+ *[a-z_]*\[|\* *\*/) lengths++
    }
    declared = declared "MPI_Fint *result"
    types = types "MPI_Fint *"
    passed = passed "result"
    for (i = 1; i <= lengths; i++) {
        declared = declared ", size_t length" i
        types = types ", size_t"
        passed = passed ", length" i
    }
    printf "COMMSPLIT_EXPORT void %s_(%s)\n{\n", lower, declared
    printf "    static void (*next)(%s);\n    if (!next)\n        *(void **)&next = commsplit_next(\"p%s_\");\n    next(%s);\n}\n", types, lower, passed
}

BEGIN {
    # In commsplit.c: these do more than to replace the communicator.
    for (i = split("MPI_Abort MPI_Comm_get_attr MPI_Attr_get", words, " "); i > 0; i--) by_hand[words[i]] = 1
}
