package dev.verbena.nessie.xdr.compiler;

import java.util.List;

/** A definition of a source. */
sealed interface Definition {
    String name();

    Position at();

    record Constant(String name, long value, Position at) implements Definition {}

    record EnumType(String name, List<Member> members, Position at) implements Definition {}

    record StructType(String name, List<Declaration> fields, Position at) implements Definition {}

    /**
     * A union.
     *
     * @param arms the default, if there is one, is the last
     */
    record UnionType(String name, Declaration discriminant, List<Arm> arms, Position at)
            implements Definition {}

    record Typedef(String name, Declaration declaration, Position at) implements Definition {}

    record Program(String name, int number, List<Version> versions, Position at)
            implements Definition {}

    record Member(String name, int value, Position at) {}

    /** An arm with its cases; values as encoded. The default has none. */
    record Arm(List<Case> cases, Declaration declaration) {}

    record Case(int value, Position at) {}

    record Version(String name, int number, List<Procedure> procedures, Position at) {}

    record Procedure(
            String name, int number, List<Declaration> arguments, Declaration reply, Position at) {}
}
