package dev.verbena.nessie.xdr;

import dev.verbena.nessie.xdr.RandomXdr.Field;
import dev.verbena.nessie.xdr.RandomXdr.Type;
import java.util.List;

/** Functions in C that print what {@link RandomXdr#text} says of a value, from rpcgen's struct. */
final class XdrPrinters {
    private XdrPrinters() {}

    /** Functions {@code print_NAME} for these types. */
    static String of(List<Type> types) {
        StringBuilder c = new StringBuilder();
        for (Type type : types) {
            c.append("static void print_%s(%s *v)\n{\n".formatted(type.name(), type.name()));
            switch (type.kind()) {
                case ENUM -> c.append("printf(\"%d \", (int)*v);\n");
                case STRUCT -> type.fields().forEach(field -> c.append(print(field, "v->")));
                case TYPEDEF -> {
                    Field field = type.fields().get(0);
                    c.append(print(field, "(*v)", "(*v).%s_".formatted(field.name())));
                }
                default -> {
                    c.append(print(type.selector(), "v->"));
                    c.append("switch ((int)v->d) {\n");
                    for (int i = 0; i < type.fields().size(); i++) {
                        c.append("case %d: {\n".formatted(type.numbers().get(i)));
                        c.append(print(type.fields().get(i), "v->" + type.name() + "_u."));
                        c.append("break;\n}\n");
                    }
                    c.append("}\n");
                }
            }
            c.append("}\n");
        }
        return c.toString();
    }

    private static String print(Field field, String owner) {
        return print(field, owner + field.name(), owner + field.name() + "." + field.name() + "_");
    }

    private static String print(Field field, String value, String array) {
        return switch (field.form()) {
            case SINGLE -> one(field, value);
            case FIXED -> loop("" + field.size(), one(field, value + "[i]"));
            case ARRAY ->
                    "printf(\"%%u \", %slen);\n".formatted(array)
                            + loop(array + "len", one(field, array + "val[i]"));
            case OPTIONAL ->
                    "printf(\"%%d \", %s != NULL);\nif (%s != NULL) {\n%s}\n"
                            .formatted(value, value, one(field, "(*" + value + ")"));
            case FIXED_OPAQUE -> "hex(%s, %d);\n".formatted(value, field.size());
            case OPAQUE -> "hex(%sval, %slen);\n".formatted(array, array);
            case STRING -> "hex(%s, strlen(%s));\n".formatted(value, value);
            case VOID -> "";
        };
    }

    private static String loop(String count, String body) {
        return "for (u_int i = 0; i < %s; i++) {\n%s}\n".formatted(count, body);
    }

    private static String one(Field field, String value) {
        if (field.type() != null) {
            return "print_%s(&%s);\n".formatted(field.type().name(), value);
        }
        String bits =
                switch (field.prim()) {
                    case FLOAT -> "float_bits(" + value + ")";
                    case DOUBLE -> "double_bits(" + value + ")";
                    case LONG -> "(int)" + value;
                    default -> value;
                };
        return "printf(\"%s \", %s);\n".formatted(field.prim().format, bits);
    }
}
