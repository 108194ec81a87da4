package dev.verbena.savime.query;

import java.util.ArrayList;
import java.util.List;

/**
 * What a result consists of, in the order of the query (specification, section 7.6).
 *
 * @param elements one or more, their names different
 */
public record SavimeSchema(List<Element> elements) {
    /**
     * A dimension or an attribute.
     *
     * @param type {@code double} for example
     * @param length scalars of one value, from 1
     */
    public record Element(String name, boolean isDimension, String type, int length) {
        /** Bytes of one value; 0: of a type that is not known. */
        public int size() {
            int scalar =
                    switch (type) {
                        case "char", "int8", "uchar", "uint8" -> 1;
                        case "int16", "uint16" -> 2;
                        case "int", "int32", "uint32", "float" -> 4;
                        case "long", "int64", "uint64", "double" -> 8;
                        default -> 0;
                    };
            return scalar * length;
        }
    }

    /**
     * Reads {@code #name,kind,type|...}; a vector's type is {@code double:2:2}.
     *
     * @throws SavimeProtocolException naming what is wrong
     */
    static SavimeSchema parse(String text) throws SavimeProtocolException {
        List<Element> elements = new ArrayList<>();
        for (String each : text.substring(1).split("\\|", -1)) {
            String[] fields = each.split(",", -1);
            if (fields.length != 3 || fields[0].isEmpty() || !fields[1].matches("[da]")) {
                throw new SavimeProtocolException("schema element '" + each + "'");
            }
            for (Element before : elements) {
                if (before.name().equals(fields[0])) {
                    throw new SavimeProtocolException("two elements '" + fields[0] + "'");
                }
            }
            elements.add(element(fields));
        }
        return new SavimeSchema(List.copyOf(elements));
    }

    private static Element element(String[] fields) throws SavimeProtocolException {
        String[] type = fields[2].split(":", -1);
        try {
            int length = type.length > 1 ? Integer.parseInt(type[1]) : 1;
            if (length >= 1 && length <= 1 << 20) {
                return new Element(fields[0], fields[1].equals("d"), type[0], length);
            }
        } catch (NumberFormatException e) {
            // Reported below.
        }
        throw new SavimeProtocolException("schema type '" + fields[2] + "'");
    }

    /** The element of this name; null: none. */
    public Element element(String name) {
        for (Element each : elements) {
            if (each.name().equals(name)) {
                return each;
            }
        }
        return null;
    }
}
