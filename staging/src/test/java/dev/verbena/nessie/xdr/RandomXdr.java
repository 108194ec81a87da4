package dev.verbena.nessie.xdr;

import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.SplittableRandom;

/**
 * A random {@code .x} source that rpcgen takes, too; values of its types; and text that says what a
 * value is, from the Java object here and from the struct in C by functions that {@link #printers}
 * writes.
 */
final class RandomXdr {
    private static final int MEMBERS_MAX = 5;
    private static final int COUNT_MAX = 7;
    private static final int DEPTH_MAX = 4;

    enum Prim {
        INT("int", "%d"),
        UNSIGNED("unsigned int", "%u"),
        HYPER("hyper", "%ld"),
        UNSIGNED_HYPER("unsigned hyper", "%lu"),
        FLOAT("float", "%08x"),
        DOUBLE("double", "%016lx"),
        BOOL("bool", "%d"),
        CHAR("char", "%d"),
        UNSIGNED_CHAR("unsigned char", "%u"),
        SHORT("short", "%d"),
        UNSIGNED_SHORT("unsigned short", "%u"),
        /** rpcgen's C sets the low 32 bits of it. */
        LONG("long", "%d");

        final String xdr;
        final String format;

        Prim(String xdr, String format) {
            this.xdr = xdr;
            this.format = format;
        }
    }

    enum Form {
        SINGLE,
        FIXED,
        ARRAY,
        OPTIONAL,
        FIXED_OPAQUE,
        OPAQUE,
        STRING,
        VOID
    }

    enum Kind {
        ENUM,
        STRUCT,
        UNION,
        TYPEDEF
    }

    /** Either prim or type is set, or neither. */
    record Field(String name, Form form, Prim prim, Type type, int size) {}

    /** Of an enum the numbers; of a union the numbers of its cases, one for each field. */
    record Type(Kind kind, String name, List<Field> fields, List<Integer> numbers, Field selector) {
        String java() {
            return "T" + name.substring(1);
        }

        boolean isEnum() {
            return kind == Kind.ENUM;
        }
    }

    private final SplittableRandom random;
    private final List<Type> types = new ArrayList<>();
    private final StringBuilder source = new StringBuilder();

    RandomXdr(long seed, int count) {
        random = new SplittableRandom(seed);
        for (int i = 0; i < count; i++) {
            types.add(type("t" + i));
        }
    }

    String source() {
        return source.toString();
    }

    /** All types that have a class of their own, and bytes. */
    List<Type> types() {
        return types.stream().filter(type -> !type.isEnum()).toList();
    }

    private Type type(String name) {
        return switch (random.nextInt(8)) {
            case 0 -> enumeration(name);
            case 1, 2 -> typedef(name);
            case 3, 4 -> union(name);
            default -> struct(name);
        };
    }

    private Type enumeration(String name) {
        List<Integer> numbers = new ArrayList<>();
        source.append("enum ").append(name).append(" {");
        int number = random.nextInt(5) - 2;
        for (int i = 0; i <= random.nextInt(MEMBERS_MAX); i++) {
            source.append(i == 0 ? "" : ",").append(" E_%s_%d = %d".formatted(name, i, number));
            numbers.add(number);
            number += 1 + random.nextInt(1000);
        }
        source.append(" };\n");
        return new Type(Kind.ENUM, name, List.of(), numbers, null);
    }

    private Type struct(String name) {
        List<Field> fields = new ArrayList<>();
        source.append("struct ").append(name).append(" {\n");
        for (int i = 0; i <= random.nextInt(9); i++) {
            fields.add(declared(field("f" + i)));
        }
        Type self = new Type(Kind.STRUCT, name, fields, List.of(), null);
        if (random.nextInt(4) == 0) {
            fields.add(declared(new Field("next", Form.OPTIONAL, null, self, 1)));
        }
        source.append("};\n");
        return self;
    }

    private Field declared(Field field) {
        source.append("    ").append(declaration(field)).append(";\n");
        return field;
    }

    private Type typedef(String name) {
        Field field;
        do {
            field = field(name);
        } while (field.form == Form.SINGLE);
        source.append("typedef ").append(declaration(field)).append(";\n");
        return new Type(Kind.TYPEDEF, name, List.of(field), List.of(), null);
    }

    private Type union(String name) {
        List<Type> enums = types.stream().filter(Type::isEnum).toList();
        Field selector;
        List<Integer> numbers = new ArrayList<>();
        int kind = random.nextInt(3);
        if (kind == 0 && !enums.isEmpty()) {
            Type type = enums.get(random.nextInt(enums.size()));
            selector = new Field("d", Form.SINGLE, null, type, 0);
            numbers.addAll(type.numbers);
        } else if (kind == 1) {
            selector = new Field("d", Form.SINGLE, Prim.BOOL, null, 0);
            numbers.addAll(List.of(1, 0));
        } else {
            selector = new Field("d", Form.SINGLE, Prim.INT, null, 0);
            for (int i = 0; i <= random.nextInt(4); i++) {
                numbers.add(i * 7 - 3);
            }
        }
        List<Field> arms = new ArrayList<>();
        source.append("union %s switch (%s) {\n".formatted(name, declaration(selector)));
        for (int i = 0; i < numbers.size(); i++) {
            boolean isVoid = random.nextInt(4) == 0;
            arms.add(isVoid ? new Field("", Form.VOID, null, null, 0) : field("a" + i));
            String value =
                    selector.type != null
                            ? "E_%s_%d".formatted(selector.type.name, i)
                            : "" + numbers.get(i);
            source.append("case ").append(value).append(": ");
            source.append(declaration(arms.get(i))).append(";\n");
        }
        source.append("};\n");
        return new Type(Kind.UNION, name, arms, numbers, selector);
    }

    private Field field(String name) {
        int size = 1 + random.nextInt(COUNT_MAX);
        Form form = Form.values()[random.nextInt(Form.values().length - 1)];
        if (form == Form.FIXED_OPAQUE || form == Form.OPAQUE || form == Form.STRING) {
            boolean isBounded = form == Form.FIXED_OPAQUE || random.nextBoolean();
            return new Field(name, form, null, null, isBounded ? size : -1);
        }
        size = form == Form.ARRAY && random.nextBoolean() ? -1 : size;
        if (!types.isEmpty() && random.nextBoolean()) {
            Type type = types.get(random.nextInt(types.size()));
            // rpcgen's C for arrays of named fixed arrays does not compile.
            boolean isVector =
                    type.kind == Kind.TYPEDEF
                            && (type.fields.get(0).form == Form.FIXED
                                    || type.fields.get(0).form == Form.FIXED_OPAQUE);
            return new Field(name, isVector ? Form.SINGLE : form, null, type, size);
        }
        Prim prim = Prim.values()[random.nextInt(Prim.values().length)];
        // Nor that for fixed arrays of bool, in some structs.
        boolean isBools = prim == Prim.BOOL && form == Form.FIXED;
        return new Field(name, isBools ? Form.SINGLE : form, prim, null, size);
    }

    private static String declaration(Field field) {
        String type =
                field.prim == null ? field.type == null ? "" : field.type.name : field.prim.xdr;
        String bound = field.size < 0 ? "" : "" + field.size;
        return switch (field.form) {
            case SINGLE -> type + " " + field.name;
            case FIXED -> type + " " + field.name + "[" + bound + "]";
            case ARRAY -> type + " " + field.name + "<" + bound + ">";
            case OPTIONAL -> type + " *" + field.name;
            case FIXED_OPAQUE -> "opaque " + field.name + "[" + bound + "]";
            case OPAQUE -> "opaque " + field.name + "<" + bound + ">";
            case STRING -> "string " + field.name + "<" + bound + ">";
            case VOID -> "void";
        };
    }

    // Values.

    /** Gives an object of a type a random value. */
    void fill(Object object, Type type, SplittableRandom random) {
        fill(object, type, random, 0);
    }

    private void fill(Object object, Type type, SplittableRandom random, int depth) {
        switch (type.kind) {
            case STRUCT -> type.fields.forEach(field -> fillField(object, field, random, depth));
            case TYPEDEF -> fillForm(object, type.fields.get(0), random, depth);
            default -> {
                int arm = random.nextInt(type.numbers.size());
                setNumber(object, type.selector, type.numbers.get(arm));
                if (type.fields.get(arm).form != Form.VOID) {
                    fillField(object, type.fields.get(arm), random, depth);
                }
            }
        }
    }

    private static void setNumber(Object object, Field field, int number) {
        Object value = number;
        if (field.type != null) {
            value = constant(GeneratedXdr.get(object, field.name).getClass(), number);
        } else if (field.prim == Prim.BOOL) {
            value = number == 1;
        }
        GeneratedXdr.set(object, field.name, value);
    }

    private static Object constant(Class<?> type, int number) {
        for (Object constant : type.getEnumConstants()) {
            if (((XdrEnum) constant).value() == number) {
                return constant;
            }
        }
        throw new AssertionError(type + " has no " + number);
    }

    private static int anyNumber(Type type, SplittableRandom random) {
        return type.numbers.get(random.nextInt(type.numbers.size()));
    }

    private void fillField(Object owner, Field field, SplittableRandom random, int depth) {
        if (field.form != Form.SINGLE) {
            fillForm(GeneratedXdr.get(owner, field.name), field, random, depth);
        } else if (field.prim != null) {
            GeneratedXdr.set(owner, field.name, number(field.prim, random));
        } else if (field.type.isEnum()) {
            setNumber(owner, field, anyNumber(field.type, random));
        } else {
            fill(GeneratedXdr.get(owner, field.name), field.type, random, depth);
        }
    }

    private static Object number(Prim prim, SplittableRandom random) {
        return switch (prim) {
            case INT, UNSIGNED, LONG -> random.nextInt();
            case CHAR -> (int) (byte) random.nextInt();
            case UNSIGNED_CHAR -> random.nextInt(1 << 8);
            case SHORT -> (int) (short) random.nextInt();
            case UNSIGNED_SHORT -> random.nextInt(1 << 16);
            case HYPER, UNSIGNED_HYPER -> random.nextLong();
            case FLOAT ->
                    random.nextInt(8) == 0 ? -0f : (float) Math.scalb(random.nextDouble(), 40);
            case DOUBLE ->
                    random.nextInt(8) == 0
                            ? Double.NEGATIVE_INFINITY
                            : Math.scalb(random.nextDouble(), 900);
            case BOOL -> random.nextBoolean();
        };
    }

    private void fillForm(Object object, Field field, SplittableRandom random, int depth) {
        if (object instanceof XdrOptional<?> optional) {
            optional.reset();
            if (depth < DEPTH_MAX && random.nextBoolean()) {
                fill(optional.add(), field.type, random, depth + 1);
            }
            return;
        }
        XdrArray array = (XdrArray) object;
        int max = Math.min(array.countMax(), depth < DEPTH_MAX ? COUNT_MAX : 1);
        array.resize(array.isFixed() ? array.countMax() : random.nextInt(max + 1));
        for (int i = 0; i < array.count(); i++) {
            if (array instanceof XdrString string) {
                string.set(i, (byte) (1 + random.nextInt(126)));
            } else if (array instanceof XdrOpaque opaque) {
                opaque.set(i, (byte) random.nextInt());
            } else if (array instanceof XdrList<?> list) {
                fill(list.get(i), field.type, random, depth + 1);
            } else {
                fillElement(array, i, field, random);
            }
        }
    }

    private static void fillElement(XdrArray array, int i, Field field, SplittableRandom random) {
        Object value = field.prim == null ? null : number(field.prim, random);
        if (array instanceof XdrInts ints) {
            ints.set(i, (Integer) value);
        } else if (array instanceof XdrLongs longs) {
            longs.set(i, (Long) value);
        } else if (array instanceof XdrFloats floats) {
            floats.set(i, (Float) value);
        } else if (array instanceof XdrDoubles doubles) {
            doubles.set(i, (Double) value);
        } else if (array instanceof XdrBooleans booleans) {
            booleans.set(i, (Boolean) value);
        } else {
            setEnum((XdrEnums<?>) array, i, anyNumber(field.type, random));
        }
    }

    @SuppressWarnings("unchecked")
    private static void setEnum(XdrEnums<?> array, int i, int number) {
        ((XdrEnums<Object>) array).set(i, constant(array.get(i).getClass(), number));
    }

    // Text.

    /** What a value is. */
    String text(Object object, Type type) {
        StringBuilder text = new StringBuilder();
        append(text, object, type);
        return text.toString();
    }

    private void append(StringBuilder text, Object object, Type type) {
        switch (type.kind) {
            case ENUM -> text.append(((XdrEnum) object).value()).append(' ');
            case STRUCT -> type.fields.forEach(field -> appendField(text, object, field));
            case TYPEDEF -> appendForm(text, object, type.fields.get(0));
            default -> {
                appendField(text, object, type.selector);
                Object selected = GeneratedXdr.get(object, type.selector.name);
                int number =
                        selected instanceof XdrEnum constant
                                ? constant.value()
                                : selected instanceof Boolean bool
                                        ? bool ? 1 : 0
                                        : (Integer) selected;
                Field arm = type.fields.get(type.numbers.indexOf(number));
                if (arm.form != Form.VOID) {
                    appendField(text, object, arm);
                }
            }
        }
    }

    private void appendField(StringBuilder text, Object owner, Field field) {
        Object value = GeneratedXdr.get(owner, field.name);
        if (field.form != Form.SINGLE) {
            appendForm(text, value, field);
        } else {
            appendOne(text, value, field);
        }
    }

    private void appendOne(StringBuilder text, Object value, Field field) {
        if (field.type != null) {
            append(text, value, field.type);
            return;
        }
        text.append(
                        switch (field.prim) {
                            case UNSIGNED -> Integer.toUnsignedString((Integer) value);
                            case UNSIGNED_HYPER -> Long.toUnsignedString((Long) value);
                            case FLOAT -> "%08x".formatted(Float.floatToRawIntBits((Float) value));
                            case DOUBLE ->
                                    "%016x".formatted(Double.doubleToRawLongBits((Double) value));
                            case BOOL -> (Boolean) value ? "1" : "0";
                            default -> value.toString();
                        })
                .append(' ');
    }

    private void appendForm(StringBuilder text, Object object, Field field) {
        if (object instanceof XdrOptional<?> optional) {
            text.append(optional.isPresent() ? "1 " : "0 ");
            if (optional.isPresent()) {
                append(text, optional.get(), field.type);
            }
            return;
        }
        if (object instanceof XdrOpaque opaque) {
            text.append('x').append(HexFormat.of().formatHex(opaque.toArray())).append(' ');
            return;
        }
        XdrArray array = (XdrArray) object;
        if (!array.isFixed()) {
            text.append(array.count()).append(' ');
        }
        for (int i = 0; i < array.count(); i++) {
            appendOne(text, element(array, i), field);
        }
    }

    private static Object element(XdrArray array, int i) {
        if (array instanceof XdrList<?> list) {
            return list.get(i);
        }
        if (array instanceof XdrInts ints) {
            return ints.get(i);
        }
        if (array instanceof XdrLongs longs) {
            return longs.get(i);
        }
        if (array instanceof XdrFloats floats) {
            return floats.get(i);
        }
        if (array instanceof XdrDoubles doubles) {
            return doubles.get(i);
        }
        return array instanceof XdrBooleans booleans
                ? (Object) booleans.get(i)
                : ((XdrEnums<?>) array).get(i);
    }

    /** Functions in C that print the same text of a struct, {@code print_NAME} for all types. */
    String printers() {
        return XdrPrinters.of(types);
    }
}
