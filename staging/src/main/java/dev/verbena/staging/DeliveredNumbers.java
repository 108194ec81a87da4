package dev.verbena.staging;

/**
 * Which messages of one client came over one stream. A server that takes a client on hears of its
 * messages from some number on, not from the first; and every registration of a process has numbers
 * of its own. So what came is a few ranges, and a lower number than the highest may still be new:
 * of a process that died, whose messages wait in files. One thread.
 */
public final class DeliveredNumbers {
    /** Numbers of a registration differ from those of another above these bits. */
    public static final int GENERATION_SHIFT = 40;

    /** The oldest are forgotten: what is repeated of them is taken again, rather than lost. */
    public static final int RANGES_MAX = 64;

    private long[] from = new long[1];
    private long[] upTo = new long[1];
    private int count;
    private long highest;

    private boolean hasNews;

    /** The journal was not told of a range, or not of all of it that began. */
    public boolean hasNews() {
        return hasNews;
    }

    /**
     * The journal was told.
     *
     * @param isAll whether of every range
     */
    public void told(boolean isAll) {
        hasNews = !isAll;
    }

    /** The highest number of all; nothing up to here comes again over the same stream. */
    public long highest() {
        return highest;
    }

    public int rangeCount() {
        return count;
    }

    public long from(int range) {
        return from[range];
    }

    public long upTo(int range) {
        return upTo[range];
    }

    /**
     * This message has come. One that was left out between was given up here, and may come through
     * another server.
     */
    public void add(long sequence) {
        if (sequence <= highest) {
            return;
        }
        boolean isNext = count > 0 && sequence == upTo[count - 1] + 1;
        highest = sequence;
        if (isNext) {
            upTo[count - 1] = sequence;
        } else {
            open(sequence, sequence);
        }
    }

    /** What a journal remembers: messages from where the last range begins up to this one came. */
    public void extend(long sequence) {
        if (sequence <= highest) {
            return;
        }
        highest = sequence;
        if (isOfLastRange(sequence)) {
            upTo[count - 1] = sequence;
        } else {
            open(sequence, sequence);
        }
    }

    private boolean isOfLastRange(long sequence) {
        return count > 0 && sequence >>> GENERATION_SHIFT == upTo[count - 1] >>> GENERATION_SHIFT;
    }

    /** The highest number up to this one that came; 0 for none. */
    public long floor(long sequence) {
        for (int i = count - 1; i >= 0; i--) {
            if (from[i] <= sequence) {
                return Math.min(sequence, upTo[i]);
            }
        }
        return 0;
    }

    /** What a journal remembers. */
    public void restore(long first, long last) {
        if (count > 0 && from[count - 1] == first) {
            upTo[count - 1] = Math.max(upTo[count - 1], last);
        } else if (count == 0 || first > upTo[count - 1]) {
            open(first, last);
        }
        highest = Math.max(highest, last);
    }

    private void open(long first, long last) {
        if (count == RANGES_MAX) {
            System.arraycopy(from, 1, from, 0, --count);
            System.arraycopy(upTo, 1, upTo, 0, count);
        } else if (count == from.length) {
            from = java.util.Arrays.copyOf(from, 2 * count);
            upTo = java.util.Arrays.copyOf(upTo, 2 * count);
        }
        from[count] = first;
        upTo[count++] = last;
        hasNews = true;
    }

    /** Whether this very message came over this stream. */
    public boolean contains(long sequence) {
        for (int i = count - 1; i >= 0; i--) {
            if (sequence >= from[i] && sequence <= upTo[i]) {
                return true;
            }
        }
        return false;
    }
}
