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

    /** The journal must be told of the ranges up to this number; 0: it was. */
    private long newsUpTo;

    /** The journal was not told of a range, or not of all of it that began or was filled. */
    public boolean hasNews() {
        return newsUpTo > 0;
    }

    /** The journal was told of every range, each as far as it is not beyond this number. */
    public void told(long sequence) {
        newsUpTo = Math.max(newsUpTo, count == 0 ? 0 : from[count - 1]);
        if (sequence >= newsUpTo) {
            newsUpTo = 0;
        }
    }

    /** The highest number of all. */
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
     * another server, or once more over this stream.
     */
    public void add(long sequence) {
        if (sequence > highest) {
            append(sequence, count > 0 && sequence == upTo[count - 1] + 1);
        } else if (sequence >= 1 && !contains(sequence)) {
            unite(sequence, sequence, 1);
            newsUpTo = highest;
        }
    }

    /** What a journal remembers: messages from where the last range begins up to this one came. */
    public void extend(long sequence) {
        if (sequence > highest) {
            append(sequence, isOfLastRange(sequence));
        }
    }

    private void append(long sequence, boolean isOfLastRange) {
        highest = sequence;
        if (isOfLastRange) {
            upTo[count - 1] = sequence;
        } else {
            insert(count, sequence, sequence);
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
        unite(first, last, 0);
        highest = Math.max(highest, last);
    }

    /**
     * Enters a range, which becomes one with those that it meets.
     *
     * @param reach 1: also with those that are next to it
     */
    private void unite(long first, long last, int reach) {
        int begin = count;
        while (begin > 0 && upTo[begin - 1] >= first - reach) {
            begin--;
        }
        int end = begin;
        while (end < count && from[end] <= last + reach) {
            end++;
        }
        if (begin == end) {
            insert(begin, first, last);
            return;
        }
        from[begin] = Math.min(from[begin], first);
        upTo[begin] = Math.max(upTo[end - 1], last);
        move(end, begin + 1, count - end);
        count -= end - begin - 1;
    }

    private void insert(int at, long first, long last) {
        newsUpTo = Math.max(newsUpTo, first);
        if (count == RANGES_MAX && at == 0) {
            // It is the oldest.
            return;
        }
        int place = at;
        if (count == RANGES_MAX) {
            place--;
            move(1, 0, place);
        } else {
            makeRoom();
            move(place, place + 1, count - place);
            count++;
        }
        from[place] = first;
        upTo[place] = last;
    }

    private void makeRoom() {
        if (count == from.length) {
            from = java.util.Arrays.copyOf(from, 2 * count);
            upTo = java.util.Arrays.copyOf(upTo, 2 * count);
        }
    }

    private void move(int range, int to, int length) {
        System.arraycopy(from, range, from, to, length);
        System.arraycopy(upTo, range, upTo, to, length);
    }

    /** Whether it may have come, and was forgotten. */
    public boolean isForgotten(long sequence) {
        return count == RANGES_MAX && sequence < from[0];
    }

    /** Whether this very message came over this stream. */
    public boolean contains(long sequence) {
        return sequence > 0 && floor(sequence) == sequence;
    }
}
