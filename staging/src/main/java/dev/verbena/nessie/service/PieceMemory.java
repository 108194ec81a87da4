package dev.verbena.nessie.service;

import dev.verbena.nessie.nnti.BufferFlags;
import dev.verbena.nessie.nnti.NntiBuffer;
import dev.verbena.nessie.nnti.NntiTransport;
import dev.verbena.staging.admission.Account;
import java.util.ArrayDeque;

/**
 * Registered memory of pieces, bounded. What is given back is kept for a piece of the same length,
 * as long as nobody else needs the room: pieces of a simulation have the same length in each
 * version, and pages that were touched before are faster. One thread.
 */
final class PieceMemory {
    /** A network has room for so many more or less, however short they are. */
    private static final int PIECES_MAX = 2048;

    private final NntiTransport transport;
    private final Account account;
    private final ArrayDeque<NntiBuffer> kept = new ArrayDeque<>();

    PieceMemory(NntiTransport transport, long capacity) {
        this.transport = transport;
        this.account = new Account(capacity);
    }

    /** Bytes that a piece of this length counts for. */
    long charge(long length) {
        return Math.max(length, account.capacity() / PIECES_MAX);
    }

    /** Bytes that no piece counts for. */
    long free() {
        return account.free() + kept.stream().mapToLong(each -> charge(each.length())).sum();
    }

    /** Memory of this length, 1 to 1 GiB; null: there is no room. */
    NntiBuffer take(long length) {
        for (NntiBuffer buffer : kept) {
            if (buffer.length() == length) {
                kept.remove(buffer);
                return buffer;
            }
        }
        while (!account.reserve(charge(length))) {
            NntiBuffer oldest = kept.poll();
            if (oldest == null) {
                return null;
            }
            account.release(charge(oldest.length()));
            transport.unregister(oldest);
        }
        try {
            return transport.alloc((int) length, 1, BufferFlags.GET_DST | BufferFlags.PUT_SRC);
        } catch (RuntimeException e) {
            account.release(charge(length));
            throw new ArrayException(
                    ArrayStatus.FAILED, "no memory of " + length + " bytes: " + e.getMessage());
        }
    }

    /** A piece does not need it any more. */
    void give(NntiBuffer buffer) {
        kept.add(buffer);
    }
}
