package dev.verbena.nsim.network;

import dev.verbena.nsim.engine.Engine;
import java.util.Arrays;

/** Packets as rows of eight ints, half a cache line each. */
final class PacketTable {
    static final int NONE = -1;

    /** Bytes of a message. */
    static final int DATA = 0;

    /** A control packet: all bytes of a put are in memory. */
    static final int CONTROL = 1;

    /** Asks for the bytes of a get. */
    static final int REQUEST = 2;

    private static final int SHIFT = 3;
    private static final int MESSAGE = 0;
    private static final int SIZE = 1;
    private static final int SOURCE = 2;
    private static final int DESTINATION = 3;
    private static final int STATE = 4;
    private static final int NEXT = 5;
    private static final int OUT = 6;
    private static final int TYPE = 7;

    private int[] rows = new int[1024 << SHIFT];
    private int free = NONE;
    private int end;
    private int used;

    int add(int type, int message, int size, int source, int destination) {
        int row = free;
        if (row != NONE) {
            free = rows[(row << SHIFT) + NEXT];
        } else {
            row = end++;
            if (row << SHIFT == rows.length) {
                rows = Arrays.copyOf(rows, 2 * rows.length);
            }
        }
        used++;
        int at = row << SHIFT;
        rows[at + MESSAGE] = message;
        rows[at + SIZE] = size;
        rows[at + SOURCE] = source;
        rows[at + DESTINATION] = destination;
        rows[at + STATE] = 0;
        rows[at + NEXT] = NONE;
        rows[at + TYPE] = type;
        return row;
    }

    /**
     * A packet goes to another partition with the event that was scheduled last: its row is given
     * back.
     */
    void leave(int row, Engine engine) {
        int at = row << SHIFT;
        engine.attach(
                (long) rows[at + MESSAGE] << 32 | rows[at + SIZE],
                (long) rows[at + SOURCE] << 32 | rows[at + DESTINATION],
                rows[at + STATE],
                rows[at + TYPE]);
        remove(row);
    }

    /** A packet comes from another partition. */
    int enter(long messageAndSize, long ends, long state, long type) {
        int row =
                add(
                        (int) type,
                        (int) (messageAndSize >>> 32),
                        (int) messageAndSize,
                        (int) (ends >>> 32),
                        (int) ends);
        state(row, (int) state);
        return row;
    }

    void remove(int row) {
        rows[(row << SHIFT) + NEXT] = free;
        free = row;
        used--;
    }

    int used() {
        return used;
    }

    int message(int row) {
        return rows[(row << SHIFT) + MESSAGE];
    }

    /** Bytes on a cable. */
    int size(int row) {
        return rows[(row << SHIFT) + SIZE];
    }

    int source(int row) {
        return rows[(row << SHIFT) + SOURCE];
    }

    int destination(int row) {
        return rows[(row << SHIFT) + DESTINATION];
    }

    int type(int row) {
        return rows[(row << SHIFT) + TYPE] & 0xff;
    }

    /** 0: asks; 1: answers. */
    int messageClass(int row) {
        return rows[(row << SHIFT) + TYPE] >>> 8;
    }

    void messageClass(int row, int value) {
        rows[(row << SHIFT) + TYPE] = type(row) | value << 8;
    }

    int state(int row) {
        return rows[(row << SHIFT) + STATE];
    }

    void state(int row, int value) {
        rows[(row << SHIFT) + STATE] = value;
    }

    int next(int row) {
        return rows[(row << SHIFT) + NEXT];
    }

    void next(int row, int value) {
        rows[(row << SHIFT) + NEXT] = value;
    }

    /** The virtual channel by which it leaves the router that it is in. */
    int out(int row) {
        return rows[(row << SHIFT) + OUT];
    }

    void out(int row, int value) {
        rows[(row << SHIFT) + OUT] = value;
    }
}
