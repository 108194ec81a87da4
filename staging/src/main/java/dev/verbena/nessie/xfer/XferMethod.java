package dev.verbena.nessie.xfer;

import java.util.Locale;

/** How an array travels (specification, section 3.1). */
public enum XferMethod {
    /** To the server, in the arguments. */
    WRITE_ENCODE(1),
    /** To the server, which gets it. */
    WRITE_RDMA(2),
    /** From the server, in the result. */
    READ_ENCODE(3),
    /** From the server, which puts it. */
    READ_RDMA(4),
    /** To the server; the client puts it where the server asks for it. */
    WRITE_RDMA_PUSH(5);

    private final int opcode;

    XferMethod(int opcode) {
        this.opcode = opcode;
    }

    /** Number of the operation. */
    public int opcode() {
        return opcode;
    }

    /** From client to server. */
    public boolean isWrite() {
        return this == WRITE_ENCODE || this == WRITE_RDMA || this == WRITE_RDMA_PUSH;
    }

    /** Outside the messages, by put or get. */
    public boolean isBulk() {
        return this != WRITE_ENCODE && this != READ_ENCODE;
    }

    /** As it is typed: {@code write-encode}. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
