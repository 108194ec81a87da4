package dev.verbena.staging.transfer;

import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.Status;

/**
 * One pull or put. Made by the protocol, which derives a class that has what it needs itself; the
 * {@link TransferEngine}'s from its begin to its end, then it may be used again.
 */
public class Transfer {
    private final RemoteDescriptor descriptor = new RemoteDescriptor();
    private long connection;
    private long remoteOffset;
    private long length;
    private boolean isPut;
    private long posted;
    private int outstandingCount;
    private int status = Status.OK;
    private boolean isQueued;

    /** Nothing is to be moved yet. */
    public Transfer() {}

    /**
     * Where the peer's memory is.
     *
     * @param itsConnection of the peer
     * @param offset in what {@link #descriptor} names
     * @param bytes how much is to be moved, from 0
     */
    public final void of(long itsConnection, long offset, long bytes) {
        if (isQueued || outstandingCount > 0) {
            throw new IllegalStateException("it is being moved");
        }
        if (offset < 0 || bytes < 0 || bytes > descriptor.length() - offset) {
            throw new IllegalArgumentException(
                    "bytes from %s, length %s, are outside the peer's %s"
                            .formatted(offset, bytes, descriptor.length()));
        }
        connection = itsConnection;
        remoteOffset = offset;
        length = bytes;
    }

    /** The peer's memory; to be set before {@link #of}. */
    public final RemoteDescriptor descriptor() {
        return descriptor;
    }

    /** Connection of the peer. */
    public final long connection() {
        return connection;
    }

    /** Bytes to be moved. */
    public final long length() {
        return length;
    }

    // ---- by the engine

    final void begin(boolean isToPeer) {
        if (isQueued || outstandingCount > 0) {
            throw new IllegalStateException("it is being moved");
        }
        isPut = isToPeer;
        posted = 0;
        status = Status.OK;
        isQueued = true;
    }

    final boolean isPut() {
        return isPut;
    }

    /** How much was posted: where the next part begins. */
    final long posted() {
        return posted;
    }

    final long nextRemoteOffset() {
        return remoteOffset + posted;
    }

    final boolean needsMore() {
        return status == Status.OK && posted < length;
    }

    final void partPosted(int bytes) {
        posted += bytes;
        outstandingCount++;
    }

    final void partEnded(int partStatus) {
        outstandingCount--;
        fail(partStatus);
    }

    /** The first failure counts. */
    final void fail(int why) {
        status = status == Status.OK ? why : status;
    }

    final int status() {
        return status;
    }

    final void allPosted() {
        isQueued = false;
    }

    final boolean hasEnded() {
        return !isQueued && outstandingCount == 0;
    }
}
