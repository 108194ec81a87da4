package dev.verbena.nsim.network;

import java.util.Arrays;

/**
 * Messages as rows of arrays: nothing is allocated per message once the table has grown. Rows are
 * numbered from 0 and used again.
 */
public final class MessageTable {
    /** The source writes into the destination's memory. */
    public static final int PUT = 0;

    /** The source reads the destination's memory. */
    public static final int GET = 1;

    /** No row. */
    public static final int NONE = -1;

    long[] bytes = new long[64];
    long[] issuedPs = new long[64];
    long[] firstInPs = new long[64];
    long[] toRead = new long[64];
    long[] toArrive = new long[64];
    int[] source = new int[64];
    int[] destination = new int[64];
    int[] kind = new int[64];
    int[] next = new int[64];
    int[] fromRank = new int[64];
    int[] toRank = new int[64];
    int[] tag = new int[64];
    int[] number = new int[64];
    private long[] note;
    private long[] note2;
    private Object[] payload;
    private int free = NONE;
    private int end;
    private int used;

    /** An empty table. */
    MessageTable() {}

    /**
     * A row for a message.
     *
     * @param kind {@link #PUT} or {@link #GET}
     * @param source the node that asks
     * @param destination the node at the other end
     * @param bytes how much, 0 included
     */
    public int add(int kind, int source, int destination, long bytes) {
        int row = free;
        if (row != NONE) {
            free = next[row];
        } else {
            row = end++;
            if (row == next.length) {
                grow(2 * row);
            }
        }
        used++;
        this.kind[row] = kind;
        this.source[row] = source;
        this.destination[row] = destination;
        this.bytes[row] = bytes;
        next[row] = NONE;
        if (note != null) {
            note[row] = 0;
            payload[row] = null;
        }
        return row;
    }

    /** From now on rows have notes and a payload. */
    public void keepNotes() {
        note = new long[next.length];
        note2 = new long[next.length];
        payload = new Object[next.length];
    }

    /** Notes what a message means to its program; the network does not look at it. */
    public void note(int row, long first, long second) {
        note[row] = first;
        note2[row] = second;
    }

    /** Gives a message something to carry; the network does not look at it. */
    public void payload(int row, Object value) {
        payload[row] = value;
    }

    /** Notes for whom a message is; the network does not look at these. */
    public void ranks(int row, int from, int to, int tag, int number) {
        fromRank[row] = from;
        toRank[row] = to;
        this.tag[row] = tag;
        this.number[row] = number;
    }

    /** Gives a row back. */
    void remove(int row) {
        next[row] = free;
        free = row;
        used--;
    }

    private void grow(int length) {
        bytes = Arrays.copyOf(bytes, length);
        issuedPs = Arrays.copyOf(issuedPs, length);
        firstInPs = Arrays.copyOf(firstInPs, length);
        toRead = Arrays.copyOf(toRead, length);
        toArrive = Arrays.copyOf(toArrive, length);
        source = Arrays.copyOf(source, length);
        destination = Arrays.copyOf(destination, length);
        kind = Arrays.copyOf(kind, length);
        next = Arrays.copyOf(next, length);
        fromRank = Arrays.copyOf(fromRank, length);
        toRank = Arrays.copyOf(toRank, length);
        tag = Arrays.copyOf(tag, length);
        number = Arrays.copyOf(number, length);
        if (note != null) {
            note = Arrays.copyOf(note, length);
            note2 = Arrays.copyOf(note2, length);
            payload = Arrays.copyOf(payload, length);
        }
    }

    /** Rows in use. */
    public int used() {
        return used;
    }

    /** {@link #PUT} or {@link #GET}. */
    public int kind(int row) {
        return kind[row];
    }

    /** The node that asked. */
    public int source(int row) {
        return source[row];
    }

    /** The node at the other end. */
    public int destination(int row) {
        return destination[row];
    }

    /** The length. */
    public long bytes(int row) {
        return bytes[row];
    }

    /** When it was submitted. */
    public long issuedPs(int row) {
        return issuedPs[row];
    }

    /** When its first packet was in memory. */
    public long firstInPs(int row) {
        return firstInPs[row];
    }

    /** Who asked, as noted by {@link #ranks}. */
    public int fromRank(int row) {
        return fromRank[row];
    }

    /** Who is at the other end, as noted by {@link #ranks}. */
    public int toRank(int row) {
        return toRank[row];
    }

    /** The tag, as noted by {@link #ranks}. */
    public int tag(int row) {
        return tag[row];
    }

    /** The initiator's number for it, as noted by {@link #ranks}. */
    public int number(int row) {
        return number[row];
    }

    /** The first note, 0 if there is none. */
    public long note(int row) {
        return note == null ? 0 : note[row];
    }

    /** The second note; only if {@link #keepNotes} was called. */
    public long note2(int row) {
        return note2[row];
    }

    /** What the message carries; only if {@link #keepNotes} was called. */
    @SuppressWarnings("unchecked")
    public <T> T payload(int row) {
        return (T) payload[row];
    }
}
