package dev.verbena.examples.pic;

/**
 * How long one restart file held up its process, by one way of output. Times in nanoseconds.
 *
 * @param mode the way
 * @param round of the comparison, from 0
 * @param rank of the process
 * @param step of the file
 * @param length bytes of the file
 * @param stallNs from the moment the simulation turned to output until it could go on
 * @param computeNs computing since the output before
 * @param drainNs after the last file of a round, until all of the round were safe; otherwise 0
 */
public record StallSample(
        OutputMode mode,
        int round,
        int rank,
        long step,
        long length,
        long stallNs,
        long computeNs,
        long drainNs) {
    private static final int FIELD_COUNT = 8;

    /** As a line. */
    public String encode() {
        return "%s,%s,%s,%s,%s,%s,%s,%s"
                .formatted(mode.word(), round, rank, step, length, stallNs, computeNs, drainNs);
    }

    /**
     * Reads a line that may come from anywhere.
     *
     * @throws IllegalArgumentException quoting the line
     */
    public static StallSample decode(String line) {
        String[] parts = line.strip().split(",", -1);
        long[] v = new long[FIELD_COUNT];
        boolean isGood = parts.length == FIELD_COUNT;
        for (int i = 1; isGood && i < FIELD_COUNT; i++) {
            isGood = parts[i].matches("[0-9]{1,18}");
            v[i] = isGood ? Long.parseLong(parts[i]) : 0;
        }
        if (!isGood || v[1] > Integer.MAX_VALUE || v[2] > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("no line of times: '" + line.strip() + "'");
        }
        return new StallSample(
                OutputMode.of(parts[0]), (int) v[1], (int) v[2], v[3], v[4], v[5], v[6], v[7]);
    }
}
