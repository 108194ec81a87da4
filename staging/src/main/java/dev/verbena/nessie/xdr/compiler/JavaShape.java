package dev.verbena.nessie.xdr.compiler;

import dev.verbena.nessie.xdr.compiler.Declaration.Form;
import dev.verbena.nessie.xdr.compiler.XdrTypes.Resolved;

/**
 * What a declaration is in Java.
 *
 * @param type as it is written
 * @param primitive of a number, else null
 * @param arguments of the constructor of an object; null for numbers and enums
 * @param initial value of a number or an enum in a new object; null for objects
 */
record JavaShape(String type, Primitive primitive, String arguments, String initial) {
    static JavaShape of(Declaration declaration, XdrTypes types) {
        Form form = declaration.form();
        boolean isFixed = form == Form.FIXED_ARRAY || form == Form.FIXED_OPAQUE;
        // An optional number is encoded as an array of at most one.
        String bounds = isFixed + ", " + (form == Form.OPTIONAL ? 1 : types.bound(declaration));
        return switch (form) {
            case SINGLE -> single(types.resolve(declaration.type()));
            case FIXED_OPAQUE, OPAQUE -> object("XdrOpaque", bounds);
            case STRING -> object("XdrString", "" + types.bound(declaration));
            default -> array(declaration, bounds, types);
        };
    }

    private static JavaShape single(Resolved type) {
        Primitive primitive = type.primitive();
        if (primitive != null) {
            String zero = primitive == Primitive.BOOL ? "false" : "0";
            return new JavaShape(primitive.java, primitive, null, zero);
        }
        String name = JavaNames.type(type.definition().name());
        return type.isObject()
                ? object(name, "")
                : new JavaShape(name, null, null, first(name, type));
    }

    private static JavaShape array(Declaration declaration, String bounds, XdrTypes types) {
        Resolved element = types.resolve(declaration.type());
        Primitive primitive = element.primitive();
        if (primitive != null) {
            String range = primitive.isNarrow() ? ", " + primitive.min + ", " + primitive.max : "";
            String elements = primitive == Primitive.BOOL ? "Boolean" : primitive.wire();
            return object("Xdr" + elements + "s", bounds + range);
        }
        String name = JavaNames.type(element.definition().name());
        if (!element.isObject()) {
            String first = first(name, element);
            return object("XdrEnums<" + name + ">", name + "::of, " + first + ", " + bounds);
        }
        if (declaration.form() == Form.OPTIONAL) {
            return object("XdrOptional<" + name + ">", name + "::new");
        }
        return object(
                "XdrList<" + name + ">",
                "%s::new, %d, %b, %s"
                        .formatted(
                                name,
                                types.lengthMin(declaration.type()),
                                types.isFixed(declaration.type()),
                                bounds));
    }

    private static String first(String name, Resolved type) {
        Definition.EnumType definition = (Definition.EnumType) type.definition();
        return name + "." + JavaNames.constant(definition.members().get(0).name());
    }

    private static JavaShape object(String type, String arguments) {
        return new JavaShape(type, null, arguments, null);
    }

    boolean isObject() {
        return arguments != null;
    }

    boolean isEnum() {
        return primitive == null && !isObject();
    }

    /** Expression that makes an object. */
    String creation() {
        return "new " + type.replaceFirst("<.*>", "<>") + "(" + arguments + ")";
    }
}
