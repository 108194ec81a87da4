package dev.verbena.nsim.network;

import java.util.Arrays;

/**
 * Messages as rows: nothing is allocated per message once the table has grown. Rows are numbered
 * from 0 and used again. Rows are in pieces that never move, so partitions of a parallel run share
 * them: each adds and removes rows by a table of its own, and reads what others have added. A row
 * is handed from the thread of one node to that of the other by the packets of the message.
 */
public final class MessageTable {
    /** The source writes into the destination's memory. */
    public static final int PUT = 0;

    /** The source reads the destination's memory. */
    public static final int GET = 1;

    /** No row. */
    public static final int NONE = -1;

    private static final int BITS = 10;
    private static final int ROWS = 1 << BITS;
    private static final int MASK = ROWS - 1;

    private final Store store;
    private int free = NONE;
    private int end;
    private int limit;
    private int used;

    /** An empty table. */
    MessageTable() {
        this(new Store());
    }

    /** A table of one partition. */
    MessageTable(Store store) {
        this.store = store;
    }

    /** Rows of one piece. */
    private static final class Piece {
        final long[] bytes = new long[ROWS];
        final long[] issuedPs = new long[ROWS];
        final long[] firstInPs = new long[ROWS];
        final long[] toRead = new long[ROWS];
        final long[] toArrive = new long[ROWS];
        final int[] source = new int[ROWS];
        final int[] destination = new int[ROWS];
        final int[] kind = new int[ROWS];
        final int[] next = new int[ROWS];
        final int[] fromRank = new int[ROWS];
        final int[] toRank = new int[ROWS];
        final int[] tag = new int[ROWS];
        final int[] number = new int[ROWS];
        final Object[] payload = new Object[ROWS];
    }

    /**
     * The pieces of all partitions. A reader of a row that another partition added has passed a
     * barrier since, so it sees the piece.
     */
    static final class Store {
        private Piece[] pieces = new Piece[16];
        private int count;

        /** A new piece; answers its first row. */
        synchronized int addPiece() {
            if (count == pieces.length) {
                pieces = Arrays.copyOf(pieces, Math.multiplyExact(2, count));
            }
            pieces[count] = new Piece();
            return Math.multiplyExact(count++, ROWS);
        }
    }

    private Piece of(int row) {
        return store.pieces[row >> BITS];
    }

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
            free = next(row);
        } else {
            if (end == limit) {
                end = store.addPiece();
                limit = end + ROWS;
            }
            row = end++;
        }
        used++;
        Piece piece = of(row);
        int at = row & MASK;
        piece.kind[at] = kind;
        piece.source[at] = source;
        piece.destination[at] = destination;
        piece.bytes[at] = bytes;
        piece.next[at] = NONE;
        return row;
    }

    /** Gives a message something to carry; the network does not look at it. */
    public void payload(int row, Object value) {
        of(row).payload[row & MASK] = value;
    }

    /** Notes the ranks of a message; the network does not look at these. */
    public void ranks(int row, int from, int to, int tag, int number) {
        Piece piece = of(row);
        int at = row & MASK;
        piece.fromRank[at] = from;
        piece.toRank[at] = to;
        piece.tag[at] = tag;
        piece.number[at] = number;
    }

    /** Gives a row back; by the table that added it. */
    void remove(int row) {
        payload(row, null);
        next(row, free);
        free = row;
        used--;
    }

    /** Rows in use that this table added. */
    public int used() {
        return used;
    }

    /** {@link #PUT} or {@link #GET}. */
    public int kind(int row) {
        return of(row).kind[row & MASK];
    }

    /** The node that asked. */
    public int source(int row) {
        return of(row).source[row & MASK];
    }

    /** The node at the other end. */
    public int destination(int row) {
        return of(row).destination[row & MASK];
    }

    /** The length. */
    public long bytes(int row) {
        return of(row).bytes[row & MASK];
    }

    /** When it was submitted. */
    public long issuedPs(int row) {
        return of(row).issuedPs[row & MASK];
    }

    void issuedPs(int row, long timePs) {
        of(row).issuedPs[row & MASK] = timePs;
    }

    /** When its first packet was in memory. */
    public long firstInPs(int row) {
        return of(row).firstInPs[row & MASK];
    }

    void firstInPs(int row, long timePs) {
        of(row).firstInPs[row & MASK] = timePs;
    }

    void packets(int row, long count) {
        Piece piece = of(row);
        piece.toRead[row & MASK] = count;
        piece.toArrive[row & MASK] = count;
    }

    /** Answers how many there were before. */
    long readOne(int row) {
        return of(row).toRead[row & MASK]--;
    }

    /** Answers how many are left. */
    long writtenOne(int row) {
        return --of(row).toArrive[row & MASK];
    }

    int next(int row) {
        return of(row).next[row & MASK];
    }

    void next(int row, int value) {
        of(row).next[row & MASK] = value;
    }

    /** The rank that asked, as noted by {@link #ranks}. */
    public int fromRank(int row) {
        return of(row).fromRank[row & MASK];
    }

    /** The rank at the other end, as noted by {@link #ranks}. */
    public int toRank(int row) {
        return of(row).toRank[row & MASK];
    }

    /** The tag, as noted by {@link #ranks}. */
    public int tag(int row) {
        return of(row).tag[row & MASK];
    }

    /** The initiator's number for it, as noted by {@link #ranks}. */
    public int number(int row) {
        return of(row).number[row & MASK];
    }

    /** What the message carries, or null. */
    public Object payload(int row) {
        return of(row).payload[row & MASK];
    }
}
