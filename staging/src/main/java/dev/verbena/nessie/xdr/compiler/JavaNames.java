package dev.verbena.nessie.xdr.compiler;

import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.lang.model.SourceVersion;

/** Names in Java: {@code data_t} becomes {@code DataT} or {@code dataT}; constants keep theirs. */
final class JavaNames {
    /** Types of Verbena and others that generated classes may import, in the order of imports. */
    static final List<String> IMPORTS =
            List.of(
                    ("XdrBooleans XdrDoubles XdrEnum XdrEnums XdrException XdrFloats XdrInts"
                                    + " XdrList XdrLongs XdrNode XdrObject XdrOpaque XdrOperation"
                                    + " XdrOptional XdrString XdrVoid java.nio.ByteOrder"
                                    + " java.util.Objects org.agrona.DirectBuffer"
                                    + " org.agrona.MutableDirectBuffer")
                            .replace("Xdr", "dev.verbena.nessie.xdr.Xdr")
                            .split(" "));

    /** Methods that generated classes have. */
    private static final Set<String> METHODS =
            Set.of(
                    ("clone encodedLength finalize getClass hashCode notify notifyAll reset"
                                    + " toString wait xdrArm xdrDepthMax xdrNext xdrNodesMax"
                                    + " xdrResetArm")
                            .split(" "));

    private static final Set<String> TYPES =
            Set.of("Enum IllegalArgumentException Object Override String StringBuilder".split(" "));

    /** The first letter of a word, behind underscores; or underscores at the end. */
    private static final Pattern FIRST = Pattern.compile("(?:^|_)_*([^_]|$)");

    private final Map<String, String> owners = new HashMap<>();

    static String type(String name) {
        String joined = joined(name);
        boolean isImport = IMPORTS.stream().anyMatch(each -> each.endsWith("." + joined));
        return isImport || TYPES.contains(joined) ? joined + "Value" : joined;
    }

    static String field(String name) {
        String joined = joined(name);
        String field = joined.substring(0, 1).toLowerCase(Locale.ROOT) + joined.substring(1);
        return METHODS.contains(field) ? field + "_" : constant(field);
    }

    static String constant(String name) {
        return SourceVersion.isKeyword(name) ? name + "_" : name;
    }

    private static String joined(String name) {
        boolean isUpper = name.equals(name.toUpperCase(Locale.ROOT));
        String words = isUpper ? name.toLowerCase(Locale.ROOT) : name;
        Matcher firsts = FIRST.matcher(words);
        String joined = firsts.replaceAll(each -> each.group(1).toUpperCase(Locale.ROOT));
        return joined.matches("[A-Za-z].*") ? joined : "X" + joined;
    }

    /** Refuses two names of a scope that are one in Java, or differ in case only, as files do. */
    void claim(String java, String name, Position at) {
        String other = owners.putIfAbsent(java.toLowerCase(Locale.ROOT), name);
        if (other != null) {
            throw at.wrong("'%s' and '%s' both become %s in Java", other, name, java);
        }
    }
}
