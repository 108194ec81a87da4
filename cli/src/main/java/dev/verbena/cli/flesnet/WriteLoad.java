package dev.verbena.cli.flesnet;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * What senders of figures 3 to 5 write: rounds, in each of which a message of one size goes to each
 * receiver.
 *
 * @param sizes of messages, bytes, in the order of measurement
 * @param isMixed each size is measured again, with a message of 16 and two of 64 bytes beside each
 * @param bytes of each sender to each receiver for each size, about
 */
record WriteLoad(List<Integer> sizes, boolean isMixed, long bytes) {
    /** Rounds under way together: the tickets of the paper's rings. */
    static final int SLOTS = 16;

    /** Lengths of the small messages: a descriptor and two SYNC messages. */
    static final int DESCRIPTOR = 16;

    /** See {@link #DESCRIPTOR}. */
    static final int SYNC = 64;

    /** Room for them behind a message. */
    static final int SMALL = 256;

    private static final int BATCHES_MIN = 2;
    private static final int BATCHES_MAX = 1000;

    int largest() {
        return Collections.max(sizes);
    }

    /** Bytes of a receiver's memory for one sender. */
    int partLength() {
        return SLOTS * (largest() + SMALL);
    }

    /** Times {@link #SLOTS} rounds. */
    int batches(int size) {
        return (int) Math.max(BATCHES_MIN, Math.min(BATCHES_MAX, bytes / size / SLOTS));
    }

    /** As {@code flesnet write-peer} and the program in C have it. */
    List<String> words() {
        List<String> words = new ArrayList<>();
        words.add(Long.toString(bytes));
        words.add(isMixed ? "1" : "0");
        sizes.forEach(size -> words.add(size.toString()));
        return words;
    }

    /** Of {@link #words}. */
    static WriteLoad of(List<String> words) {
        List<Integer> sizes = words.stream().skip(2).map(Integer::valueOf).toList();
        return new WriteLoad(sizes, words.get(1).equals("1"), Long.parseLong(words.get(0)));
    }

    /**
     * What one sender has measured.
     *
     * @param size of messages, bytes
     * @param isMixed with small ones
     * @param rounds so many
     * @param ns in so many nanoseconds
     */
    record Measured(int size, boolean isMixed, long rounds, long ns) {
        private static final String MARK = "point ";

        /** A line for {@link #of}, as the program in C prints it, too. */
        String line() {
            return "%s%s %s %s %s".formatted(MARK, size, isMixed ? 1 : 0, rounds, ns);
        }

        /** Of a line; null: it is another line. */
        static Measured of(String line) {
            if (!line.startsWith(MARK)) {
                return null;
            }
            String[] words = line.substring(MARK.length()).split(" ");
            return new Measured(
                    Integer.parseInt(words[0]),
                    words[1].equals("1"),
                    Long.parseLong(words[2]),
                    Long.parseLong(words[3]));
        }
    }
}
