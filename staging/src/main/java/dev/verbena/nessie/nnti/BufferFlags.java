package dev.verbena.nessie.nnti;

import dev.verbena.memory.RemoteDescriptor;

/** What a buffer is for; the bits of the second generation (specification, section 1.2). */
public final class BufferFlags {
    /** Local source of a put. */
    public static final int PUT_SRC = 1;

    /** A peer may get from here. */
    public static final int GET_SRC = 2;

    /** Local destination of a get. */
    public static final int GET_DST = 4;

    /** A peer may put here. */
    public static final int PUT_DST = 8;

    /** Source of a send. */
    public static final int SEND_SRC = 16;

    /** Receives one send at a time. */
    public static final int RECV_DST = 32;

    /** The ring that takes sends without a destination, an element each. */
    public static final int RECV_QUEUE = 64;

    /** A peer may do atomic operations here; the transport must have the capability. */
    public static final int ATOMICS = 128;

    /** Every flag. */
    static final int ALL = 2 * ATOMICS - 1;

    private BufferFlags() {}

    /** All that a region with these rights can be, but for sends. */
    static int ofRights(int rights) {
        int flags = (rights & RemoteDescriptor.REMOTE_READ) != 0 ? GET_SRC : 0;
        flags |= (rights & RemoteDescriptor.REMOTE_WRITE) != 0 ? PUT_DST : 0;
        flags |= (rights & RemoteDescriptor.REMOTE_ATOMIC) != 0 ? ATOMICS : 0;
        return flags | PUT_SRC | GET_DST;
    }

    /** Rights of the transport contract that peers need. */
    static int rights(int flags) {
        int rights = (flags & GET_SRC) != 0 ? RemoteDescriptor.REMOTE_READ : 0;
        rights |= (flags & (PUT_DST | RECV_DST)) != 0 ? RemoteDescriptor.REMOTE_WRITE : 0;
        return rights | ((flags & ATOMICS) != 0 ? RemoteDescriptor.REMOTE_ATOMIC : 0);
    }
}
