package dev.verbena.nsim.program;

import java.util.Arrays;

/**
 * Receives that wait for a message and messages that wait for a receive, as rows of arrays, and
 * lists of rows. Rows are used again; nothing is allocated once the table has grown.
 */
final class MatchTable {
    static final int NONE = -1;

    int[] from = new int[64];
    int[] tag = new int[64];
    int[] context = new int[64];
    int[] number = new int[64];
    int[] type = new int[64];
    long[] bytes = new long[64];
    long[] sequence = new long[64];
    long[][] data = new long[64][];

    /** For a receive: its receipt. */
    Receipt[] receipt = new Receipt[64];

    /** For a receive whose message is being fetched: the sender's data. */
    long[][] fetched = new long[64][];

    int[] next = new int[64];
    private int free = NONE;
    private int end;

    int add() {
        int row = free;
        if (row != NONE) {
            free = next[row];
        } else {
            row = end++;
            if (row == next.length) {
                grow(2 * row);
            }
        }
        next[row] = NONE;
        return row;
    }

    void remove(int row) {
        data[row] = null;
        fetched[row] = null;
        receipt[row] = null;
        next[row] = free;
        free = row;
    }

    private void grow(int length) {
        from = Arrays.copyOf(from, length);
        tag = Arrays.copyOf(tag, length);
        context = Arrays.copyOf(context, length);
        number = Arrays.copyOf(number, length);
        type = Arrays.copyOf(type, length);
        bytes = Arrays.copyOf(bytes, length);
        sequence = Arrays.copyOf(sequence, length);
        data = Arrays.copyOf(data, length);
        receipt = Arrays.copyOf(receipt, length);
        fetched = Arrays.copyOf(fetched, length);
        next = Arrays.copyOf(next, length);
    }

    /** One list per rank. */
    static final class Lists {
        final int[] head;
        private final int[] tail;

        Lists(int ranks) {
            head = new int[ranks];
            tail = new int[ranks];
            Arrays.fill(head, NONE);
        }

        void append(MatchTable table, int rank, int row) {
            if (head[rank] == NONE) {
                head[rank] = row;
            } else {
                table.next[tail[rank]] = row;
            }
            tail[rank] = row;
            table.next[row] = NONE;
        }

        /** Takes a row out; before is the one before it, or NONE. */
        void unlink(MatchTable table, int rank, int before, int row) {
            int after = table.next[row];
            if (before == NONE) {
                head[rank] = after;
            } else {
                table.next[before] = after;
            }
            if (after == NONE) {
                tail[rank] = before;
            }
        }
    }
}
