package dev.verbena.cli.dart;

import java.nio.file.Path;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** {@code DIR,LIMIT} of {@code --spill}: the limit in bytes, or with k, m, g or t behind it. */
public record SpillOption(Path directory, long limit) {
    private static final String UNITS = "kmgt";

    /** Of {@code FOLDER} or {@code FOLDER,BYTES}. */
    public static SpillOption parse(String text) {
        int comma = text.lastIndexOf(',');
        long limit = comma < 1 ? -1 : bytes(text.substring(comma + 1).strip().toLowerCase());
        if (limit < 1) {
            throw new IllegalArgumentException(
                    "'" + text + "' is not DIR,LIMIT, such as /scratch/spill,20g");
        }
        return new SpillOption(Path.of(text.substring(0, comma)), limit);
    }

    private static long bytes(String text) {
        int unit = text.isEmpty() ? -1 : UNITS.indexOf(text.charAt(text.length() - 1));
        String digits = unit < 0 ? text : text.substring(0, text.length() - 1);
        if (!digits.matches("[0-9]{1,12}")) {
            return -1;
        }
        long bytes = Long.parseLong(digits);
        int shift = 10 * (unit + 1);
        return bytes > Long.MAX_VALUE >> shift + 2 ? -1 : bytes << shift;
    }

    /** For picocli. */
    static final class Converter implements ITypeConverter<SpillOption> {
        @Override
        public SpillOption convert(String value) {
            try {
                return parse(value);
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException(e.getMessage());
            }
        }
    }
}
