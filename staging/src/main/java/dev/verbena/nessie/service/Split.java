package dev.verbena.nessie.service;

import dev.verbena.staging.metadata.Box;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32;

/** Which part of an array a server has; see the package. */
final class Split {
    private Split() {}

    /** The server that gets every version of an array reported. */
    static int home(String name, int places) {
        CRC32 crc = new CRC32();
        crc.update(name.getBytes(StandardCharsets.UTF_8));
        return (int) (crc.getValue() % places);
    }

    /** The part of a box that a server has; null: none. */
    static Box part(Box whole, Box box, int place, int places) {
        int dimension = dimension(whole, places);
        long size = whole.count(dimension);
        long begin = Math.max(at(size, place, places), box.start(dimension));
        long end = Math.min(at(size, place + 1, places), box.end(dimension));
        return begin < end ? box.with(dimension, begin, end - begin) : null;
    }

    private static long at(long size, int place, int places) {
        // The product may be too large for a long.
        return size / places * place + size % places * place / places;
    }

    private static int dimension(Box whole, int places) {
        int longest = 0;
        for (int i = 0; i < whole.dimensions(); i++) {
            if (whole.count(i) >= places) {
                return i;
            }
            longest = whole.count(i) > whole.count(longest) ? i : longest;
        }
        return longest;
    }
}
