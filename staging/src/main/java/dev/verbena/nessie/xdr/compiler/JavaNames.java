package dev.verbena.nessie.xdr.compiler;

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** Names in Java: {@code data_t} becomes {@code DataT} or {@code dataT}; constants keep theirs. */
final class JavaNames {
    private static final Set<String> KEYWORDS =
            Set.of(
                    "_",
                    "abstract",
                    "assert",
                    "boolean",
                    "break",
                    "byte",
                    "case",
                    "catch",
                    "char",
                    "class",
                    "const",
                    "continue",
                    "default",
                    "do",
                    "double",
                    "else",
                    "enum",
                    "extends",
                    "false",
                    "final",
                    "finally",
                    "float",
                    "for",
                    "goto",
                    "if",
                    "implements",
                    "import",
                    "instanceof",
                    "int",
                    "interface",
                    "long",
                    "native",
                    "new",
                    "null",
                    "package",
                    "private",
                    "protected",
                    "public",
                    "return",
                    "short",
                    "static",
                    "strictfp",
                    "super",
                    "switch",
                    "synchronized",
                    "this",
                    "throw",
                    "throws",
                    "transient",
                    "true",
                    "try",
                    "void",
                    "volatile",
                    "while");

    /** Methods that every generated class has. */
    private static final Set<String> METHODS =
            Set.of(
                    "clone",
                    "encodedLength",
                    "finalize",
                    "getClass",
                    "hashCode",
                    "notify",
                    "notifyAll",
                    "reset",
                    "toString",
                    "wait",
                    "xdrArm",
                    "xdrDepthMax");

    /** Types that generated classes use. */
    private static final Set<String> TYPES =
            Set.of(
                    "ByteOrder",
                    "DirectBuffer",
                    "Enum",
                    "IllegalArgumentException",
                    "MutableDirectBuffer",
                    "Object",
                    "Objects",
                    "Override",
                    "Record",
                    "String",
                    "StringBuilder",
                    "XdrBooleans",
                    "XdrDoubles",
                    "XdrEnum",
                    "XdrEnums",
                    "XdrException",
                    "XdrFloats",
                    "XdrInts",
                    "XdrList",
                    "XdrLongs",
                    "XdrObject",
                    "XdrOpaque",
                    "XdrOperation",
                    "XdrOptional",
                    "XdrString",
                    "XdrValue",
                    "XdrVoid");

    private final Map<String, String> owners = new HashMap<>();

    /** Names of one scope: a package, a class. */
    JavaNames() {}

    static String type(String name) {
        String joined = joined(name);
        return TYPES.contains(joined) ? joined + "Value" : joined;
    }

    static String field(String name) {
        String joined = joined(name);
        String field = joined.substring(0, 1).toLowerCase(Locale.ROOT) + joined.substring(1);
        return KEYWORDS.contains(field) || METHODS.contains(field) ? field + "_" : field;
    }

    static String constant(String name) {
        return KEYWORDS.contains(name) ? name + "_" : name;
    }

    static boolean isPackage(String name) {
        for (String part : name.split("\\.", -1)) {
            if (!part.matches("[A-Za-z_][A-Za-z0-9_]*") || KEYWORDS.contains(part)) {
                return false;
            }
        }
        return true;
    }

    private static String joined(String name) {
        boolean isUpper = name.equals(name.toUpperCase(Locale.ROOT));
        StringBuilder joined = new StringBuilder();
        for (String part : name.split("_")) {
            if (!part.isEmpty()) {
                String rest = part.substring(1);
                joined.append(Character.toUpperCase(part.charAt(0)))
                        .append(isUpper ? rest.toLowerCase(Locale.ROOT) : rest);
            }
        }
        boolean isName = !joined.isEmpty() && !Character.isDigit(joined.charAt(0));
        return isName ? joined.toString() : "X" + joined;
    }

    /** Refuses two names of the source that are one in Java. */
    void claim(String java, String name, Position at) {
        // On some file systems Foo.java and FOO.java are one file.
        String other = owners.putIfAbsent(java.toLowerCase(Locale.ROOT), name);
        if (other != null) {
            throw new XdrSourceException(
                    at, "'%s' and '%s' both become %s in Java", other, name, java);
        }
    }
}
