package dev.verbena.cli.terminal;

import java.nio.file.Path;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * A folder and how much may be in it, of the command line.
 *
 * @param size bytes, at least 1; typed as such, or with k, m, g or t behind the number
 */
public record SizedFolder(Path directory, long size) {
    private static final String UNITS = "kmgt";

    /** Of a folder, a separator and a size; {@code like} is an example. */
    private static SizedFolder parse(String text, char separator, String like) {
        int at = text.lastIndexOf(separator);
        long size = at < 1 ? -1 : bytes(text.substring(at + 1).strip().toLowerCase());
        if (size < 1) {
            throw new TypeConversionException("'" + text + "' is not " + like);
        }
        return new SizedFolder(Path.of(text.substring(0, at)), size);
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

    /** {@code DIR,LIMIT} of {@code --spill}. */
    public static final class OfSpill implements ITypeConverter<SizedFolder> {
        @Override
        public SizedFolder convert(String value) {
            return parse(value, ',', "DIR,LIMIT, such as /scratch/spill,20g");
        }
    }

    /** {@code DIR:SIZE} of {@code --memory}. */
    public static final class OfMemory implements ITypeConverter<SizedFolder> {
        @Override
        public SizedFolder convert(String value) {
            return parse(value, ':', "DIR:SIZE, such as /dev/shm/stage:20g");
        }
    }
}
