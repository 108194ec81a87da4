package dev.verbena.nessie.xdr.compiler;

import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/** Names in Java: {@code data_t} becomes {@code DataT} or {@code dataT}; constants keep theirs. */
final class JavaNames {
    /** Types of Verbena and others that generated classes may import, in the order of imports. */
    static final List<String> IMPORTS =
            Stream.of(
                            words(
                                    "dev.verbena.nessie.xdr.",
                                    "XdrBooleans XdrDoubles XdrEnum XdrEnums XdrException XdrFloats"
                                            + " XdrInts XdrList XdrLongs XdrNode XdrObject"
                                            + " XdrOpaque XdrOperation XdrOptional XdrString"
                                            + " XdrVoid"),
                            words("java.", "nio.ByteOrder util.Objects"),
                            words("org.agrona.", "DirectBuffer MutableDirectBuffer"))
                    .flatMap(List::stream)
                    .toList();

    private static final Set<String> KEYWORDS =
            Set.copyOf(
                    words(
                            "",
                            "_ abstract assert boolean break byte case catch char class const"
                                    + " continue default do double else enum extends false final"
                                    + " finally float for goto if implements import instanceof int"
                                    + " interface long native new null package private protected"
                                    + " public return short static strictfp super switch"
                                    + " synchronized this throw throws transient true try void"
                                    + " volatile while"));

    /** Methods that generated classes have. */
    private static final Set<String> METHODS =
            Set.copyOf(
                    words(
                            "",
                            "clone encodedLength finalize getClass hashCode notify notifyAll reset"
                                    + " toString wait xdrArm xdrDepthMax xdrNext xdrNodesMax"
                                    + " xdrResetArm"));

    private static final Set<String> TYPES =
            Set.copyOf(
                    words(
                            "",
                            "Enum IllegalArgumentException Object Override String StringBuilder"));

    private final Map<String, String> owners = new HashMap<>();

    private static List<String> words(String prefix, String words) {
        return List.of(words.split(" ")).stream().map(word -> prefix + word).toList();
    }

    static String type(String name) {
        String joined = joined(name);
        boolean isTaken =
                TYPES.contains(joined)
                        || IMPORTS.stream().anyMatch(each -> each.endsWith("." + joined));
        return isTaken ? joined + "Value" : joined;
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
        return List.of(name.split("\\.", -1)).stream()
                .allMatch(part -> part.matches("[A-Za-z_]\\w*") && !KEYWORDS.contains(part));
    }

    private static String joined(String name) {
        boolean isUpper = name.equals(name.toUpperCase(Locale.ROOT));
        StringBuilder joined = new StringBuilder();
        for (String part : name.split("_+")) {
            if (!part.isEmpty()) {
                String rest = part.substring(1);
                joined.append(Character.toUpperCase(part.charAt(0)))
                        .append(isUpper ? rest.toLowerCase(Locale.ROOT) : rest);
            }
        }
        return joined.toString().matches("[A-Za-z].*") ? joined.toString() : "X" + joined;
    }

    /** Refuses two names of a scope that are one in Java, or differ in case only, as files do. */
    void claim(String java, String name, Position at) {
        String other = owners.putIfAbsent(java.toLowerCase(Locale.ROOT), name);
        if (other != null) {
            throw new XdrSourceException(
                    at, "'%s' and '%s' both become %s in Java", other, name, java);
        }
    }
}
