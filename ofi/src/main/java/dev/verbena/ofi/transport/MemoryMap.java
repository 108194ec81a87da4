package dev.verbena.ofi.transport;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** What this process may do with its memory, from {@code /proc/self/maps}. Thread-safe. */
final class MemoryMap {
    private static final Path MAPS = Path.of("/proc/self/maps");
    private static final int HEX = 16;
    private static final int WRITE_AT = 2;

    private MemoryMap() {}

    /** Whether no part of the range is memory that may only be read. */
    static boolean isWritable(long address, long length) {
        try {
            for (String line : Files.readAllLines(MAPS)) {
                int dash = line.indexOf('-');
                int space = line.indexOf(' ');
                long from = Long.parseUnsignedLong(line.substring(0, dash), HEX);
                long to = Long.parseUnsignedLong(line.substring(dash + 1, space), HEX);
                boolean isInside =
                        Long.compareUnsigned(from, address + length) < 0
                                && Long.compareUnsigned(address, to) < 0;
                if (isInside && line.charAt(space + WRITE_AT) != 'w') {
                    return false;
                }
            }
        } catch (IOException e) {
            return true; // no such file here: the provider finds out
        }
        return true;
    }
}
