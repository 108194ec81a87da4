package dev.verbena.savime;

/**
 * Type of a dataset's elements, as SAVIME names it (specification, section 8.2): a scalar, or a
 * vector of {@code length} scalars.
 *
 * @param name {@code char}, {@code int}, {@code long}, {@code float} or {@code double}
 * @param scalarSize bytes of one scalar
 * @param length scalars of an element, from 1
 */
public record ElementType(String name, int scalarSize, int length) {
    public static final ElementType CHAR = new ElementType("char", 1, 1);
    public static final ElementType INT32 = new ElementType("int", 4, 1);
    public static final ElementType INT64 = new ElementType("long", 8, 1);
    public static final ElementType FLOAT = new ElementType("float", 4, 1);
    public static final ElementType DOUBLE = new ElementType("double", 8, 1);

    private static final int VECTOR_MAX = 1 << 16;

    /** See the constants. */
    public ElementType {
        if (length < 1 || length > VECTOR_MAX) {
            throw new IllegalArgumentException("vector of " + length + " elements");
        }
    }

    /** Vectors of this type. */
    public ElementType vector(int elements) {
        return new ElementType(name, scalarSize, elements);
    }

    /**
     * The type of this name, {@code double:3} for example.
     *
     * @throws IllegalArgumentException if there is none
     */
    public static ElementType of(String text) {
        String[] parts = text.split(":", 2);
        ElementType scalar =
                switch (parts[0]) {
                    case "char" -> CHAR;
                    case "int", "int32" -> INT32;
                    case "long", "int64" -> INT64;
                    case "float" -> FLOAT;
                    case "double" -> DOUBLE;
                    default -> throw new IllegalArgumentException("type '" + text + "'");
                };
        try {
            return parts.length == 1 ? scalar : scalar.vector(Integer.parseInt(parts[1]));
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("type '" + text + "'", e);
        }
    }

    /** Bytes of an element. */
    public int size() {
        return scalarSize * length;
    }

    /** As SAVIME writes it. */
    @Override
    public String toString() {
        return length == 1 ? name : name + ":" + length;
    }
}
