package dev.verbena.nessie.xdr.compiler;

import dev.verbena.nessie.xdr.compiler.Declaration.TypeReference;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * The types of a source by name. Checks that names are defined once and that those which are used
 * are defined, that no type contains itself (but by a pointer or an array), and that no fixed size
 * is too long.
 */
final class XdrTypes {
    private static final int UNIT = 4;
    private static final long LENGTH_MAX = Integer.MAX_VALUE - 8;

    private final Map<String, Definition> byName = new LinkedHashMap<>();

    /** Least encoded lengths, and the types of which one is asked for or known. */
    private final Map<String, Long> lengths = new HashMap<>();

    private final Set<String> open = new HashSet<>();

    /** Bound of a list that is linked by pointers. */
    final int lengthMax;

    /**
     * Checks a source.
     *
     * @param lengthMax bound of what has none
     */
    XdrTypes(List<Definition> definitions, int lengthMax) {
        this.lengthMax = lengthMax;
        definitions.forEach(this::add);
        Stream<Declaration> all = definitions.stream().flatMap(XdrTypes::declarations);
        all.filter(each -> each.type() != null).forEach(each -> resolve(each.type()));
        definitions.forEach(this::checkLength);
    }

    /** Adds a definition that is made of others. */
    void add(Definition definition) {
        Definition other = byName.putIfAbsent(definition.name(), definition);
        if (other != null) {
            String message = "'%s' is defined already, at %s";
            throw definition.at().wrong(message, definition.name(), other.at());
        }
    }

    List<Definition> all() {
        return List.copyOf(byName.values());
    }

    /** A type without its other names: a primitive, or one that has a class. */
    record Resolved(Primitive primitive, Definition definition) {
        boolean isObject() {
            return primitive == null && !(definition instanceof Definition.EnumType);
        }

        /** Its name in Java. */
        String java() {
            return primitive != null ? primitive.java : JavaNames.type(definition.name());
        }

        /** Value of a number or an enum in a new object. */
        String initial() {
            if (primitive != null) {
                return primitive == Primitive.BOOL ? "false" : "0";
            }
            Definition.Member first = ((Definition.EnumType) definition).members().get(0);
            return java() + "." + JavaNames.constant(first.name());
        }
    }

    Resolved resolve(TypeReference reference) {
        TypeReference at = reference;
        for (int i = 0; i <= byName.size(); i++) {
            if (at.primitive() != null) {
                return new Resolved(at.primitive(), null);
            }
            Definition found = byName.get(at.name());
            if (found == null
                    || found instanceof Definition.Constant
                    || found instanceof Definition.Program) {
                String what = found == null ? "is not defined" : "is no type";
                throw at.at().wrong("'%s' %s", at.name(), what);
            }
            if (!isOtherName(found)) {
                return new Resolved(null, found);
            }
            at = ((Definition.Typedef) found).declaration().type();
        }
        throw reference.at().wrong("'%s' is only another name of itself", reference.name());
    }

    /** A typedef that adds nothing to the type. */
    static boolean isOtherName(Definition definition) {
        return definition instanceof Definition.Typedef typedef
                && typedef.declaration().form() == Declaration.Form.SINGLE;
    }

    /** What a definition consists of; of a union the discriminant, the arms and the default. */
    static Stream<Declaration> declarations(Definition definition) {
        if (definition instanceof Definition.StructType struct) {
            return struct.fields().stream();
        }
        if (definition instanceof Definition.Typedef typedef) {
            return Stream.of(typedef.declaration());
        }
        if (definition instanceof Definition.UnionType union) {
            Stream<Declaration> arms = union.arms().stream().map(Definition.Arm::declaration);
            return Stream.concat(Stream.of(union.discriminant()), arms);
        }
        if (definition instanceof Definition.Program program) {
            Stream<Definition.Version> versions = program.versions().stream();
            Stream<Definition.Procedure> all = versions.flatMap(each -> each.procedures().stream());
            return all.flatMap(
                    each -> Stream.concat(each.arguments().stream(), Stream.of(each.reply())));
        }
        return Stream.empty();
    }

    private void checkLength(Definition definition) {
        if (!(definition instanceof Definition.Program)) {
            lengthMin(definition);
            long length = declarations(definition).mapToLong(this::lengthMin).sum();
            if (length > LENGTH_MAX) {
                throw definition.at().wrong("'%s' takes at least 2 GiB encoded", definition.name());
            }
        }
    }

    /** Bytes that an encoded value takes at least. */
    long lengthMin(Declaration declaration) {
        return switch (declaration.form()) {
            case VOID -> 0;
            case SINGLE -> lengthMin(declaration.type());
            case FIXED_ARRAY -> saturated(declaration.size(), lengthMin(declaration.type()));
            case FIXED_OPAQUE -> (declaration.size() + UNIT - 1) & -UNIT;
            default -> UNIT;
        };
    }

    long lengthMin(TypeReference type) {
        Resolved resolved = resolve(type);
        Primitive primitive = resolved.primitive();
        return primitive != null ? primitive.length() : lengthMin(resolved.definition());
    }

    private long lengthMin(Definition definition) {
        if (definition instanceof Definition.EnumType) {
            return UNIT;
        }
        Long known = lengths.get(definition.name());
        if (known != null) {
            return known;
        }
        if (!open.add(definition.name())) {
            throw definition.at().wrong("'%s' contains itself", definition.name());
        }
        LongStream parts = declarations(definition).mapToLong(this::lengthMin);
        long length =
                definition instanceof Definition.UnionType
                        ? UNIT + parts.skip(1).min().orElseThrow()
                        : parts.reduce(0, (a, b) -> Math.min(LENGTH_MAX + 1, a + b));
        lengths.put(definition.name(), length);
        return length;
    }

    private static long saturated(long count, long length) {
        return length > 0 && count > LENGTH_MAX / length ? LENGTH_MAX + 1 : count * length;
    }

    /** Every value takes the same number of bytes. */
    boolean isFixed(Declaration declaration) {
        return switch (declaration.form()) {
            case VOID, FIXED_OPAQUE -> true;
            case SINGLE, FIXED_ARRAY -> isFixed(declaration.type());
            default -> false;
        };
    }

    boolean isFixed(TypeReference type) {
        Resolved resolved = resolve(type);
        return resolved.primitive() != null
                || !(resolved.definition() instanceof Definition.UnionType)
                        && declarations(resolved.definition()).allMatch(this::isFixed);
    }

    /** Number of elements or bytes, or the bound: the declared one, else the compiler's. */
    int bound(Declaration declaration) {
        long size = declaration.size();
        boolean isBounded = size != Declaration.UNBOUNDED && size <= Integer.MAX_VALUE;
        return isBounded ? (int) size : lengthMax;
    }
}
