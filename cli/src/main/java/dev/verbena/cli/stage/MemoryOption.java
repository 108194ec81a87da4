package dev.verbena.cli.stage;

import java.nio.file.Path;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** {@code DIR:SIZE} of {@code --memory}: the size in bytes, or with k, m, g or t behind it. */
record MemoryOption(Path directory, long size) {
    private static final String UNITS = "kmgt";

    static MemoryOption parse(String text) {
        int colon = text.lastIndexOf(':');
        long size = colon < 1 ? -1 : bytes(text.substring(colon + 1).strip().toLowerCase());
        if (size < 1) {
            throw new IllegalArgumentException(
                    "'" + text + "' is not DIR:SIZE, such as /dev/shm/stage:20g");
        }
        return new MemoryOption(Path.of(text.substring(0, colon)), size);
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
    static final class Converter implements ITypeConverter<MemoryOption> {
        @Override
        public MemoryOption convert(String value) {
            try {
                return parse(value);
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException(e.getMessage());
            }
        }
    }
}
