package dev.verbena.nessie.xfer;

import java.util.Locale;

/** How an array travels, in the order of the operations' numbers (specification, section 3.1). */
public enum XferMethod {
    /** To the server, in the arguments. */
    WRITE_ENCODE,
    /** To the server, which gets it. */
    WRITE_RDMA,
    /** From the server, in the result. */
    READ_ENCODE,
    /** From the server, which puts it. */
    READ_RDMA,
    /** To the server; the client puts it where the server asks for it. */
    WRITE_RDMA_PUSH;

    /** Number of the operation. */
    public int opcode() {
        return ordinal() + 1;
    }

    /** From client to server. */
    public boolean isWrite() {
        return this != READ_ENCODE && this != READ_RDMA;
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
