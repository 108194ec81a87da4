package dev.verbena.nessie.xdr.compiler;

import dev.verbena.nessie.xdr.compiler.XdrTypes.Resolved;

/**
 * What a declaration is in Java.
 *
 * @param type as it is written
 * @param primitive of a number, else null
 * @param first constant that an enum begins with; null for everything else
 * @param arguments of the constructor of an object; null for numbers and enums
 * @param length that it takes at least, encoded
 * @param isFixed takes always so many
 */
record JavaShape(
        String type,
        Primitive primitive,
        String first,
        String arguments,
        long length,
        boolean isFixed) {
    static JavaShape of(Declaration declaration, XdrTypes types) {
        long length = types.lengthMin(declaration);
        boolean isFixed = types.isFixed(declaration);
        int bound = types.bound(declaration);
        return switch (declaration.form()) {
            case SINGLE -> single(types.resolve(declaration.type()), length, isFixed);
            case FIXED_OPAQUE, OPAQUE ->
                    object("XdrOpaque", arguments(declaration, bound), length, isFixed);
            case STRING -> object("XdrString", "" + bound, length, isFixed);
            case FIXED_ARRAY, ARRAY, OPTIONAL -> array(declaration, types);
            default -> throw new IllegalArgumentException("void has no shape");
        };
    }

    private static JavaShape single(Resolved type, long length, boolean isFixed) {
        if (type.primitive() != null) {
            return new JavaShape(
                    type.primitive().java, type.primitive(), null, null, length, isFixed);
        }
        String name = JavaNames.type(type.definition().name());
        if (type.definition() instanceof Definition.EnumType definition) {
            String first = JavaNames.constant(definition.members().get(0).name());
            return new JavaShape(name, null, name + "." + first, null, length, isFixed);
        }
        return object(name, "", length, isFixed);
    }

    private static JavaShape array(Declaration declaration, XdrTypes types) {
        Resolved element = types.resolve(declaration.type());
        long length = types.lengthMin(declaration);
        boolean isFixed = types.isFixed(declaration);
        String bounds = arguments(declaration, types.bound(declaration));
        if (element.primitive() != null) {
            Primitive primitive = element.primitive();
            String range = primitive.isNarrow() ? ", " + primitive.min + ", " + primitive.max : "";
            return object(arrayClass(primitive), bounds + range, length, isFixed);
        }
        String name = JavaNames.type(element.definition().name());
        if (!element.isObject()) {
            String arguments = "%s::of, %s.values(), %s".formatted(name, name, bounds);
            return object("XdrEnums<" + name + ">", arguments, length, isFixed);
        }
        if (declaration.form() == Declaration.Form.OPTIONAL) {
            return object("XdrOptional<" + name + ">", name + "::new", length, isFixed);
        }
        String arguments =
                "%s::new, %d, %b, %s"
                        .formatted(
                                name,
                                types.lengthMin(declaration.type()),
                                types.isFixed(declaration.type()),
                                bounds);
        return object("XdrList<" + name + ">", arguments, length, isFixed);
    }

    private static String arrayClass(Primitive primitive) {
        return switch (primitive.java) {
            case "int" -> "XdrInts";
            case "long" -> "XdrLongs";
            case "float" -> "XdrFloats";
            case "double" -> "XdrDoubles";
            default -> "XdrBooleans";
        };
    }

    /** An optional number is encoded as an array of at most one. */
    private static String arguments(Declaration declaration, int bound) {
        boolean isFixed =
                declaration.form() == Declaration.Form.FIXED_ARRAY
                        || declaration.form() == Declaration.Form.FIXED_OPAQUE;
        return isFixed + ", " + (declaration.form() == Declaration.Form.OPTIONAL ? 1 : bound);
    }

    private static JavaShape object(String type, String arguments, long length, boolean isFixed) {
        return new JavaShape(type, null, null, arguments, length, isFixed);
    }

    boolean isObject() {
        return arguments != null;
    }

    /** Expression that makes an object. */
    String creation() {
        return "new " + type.replaceFirst("<.*>", "<>") + "(" + arguments + ")";
    }

    /** Value of a field that is no object in a new object. */
    String initial() {
        if (primitive == null) {
            return first;
        }
        return primitive == Primitive.BOOL ? "false" : "0";
    }
}
