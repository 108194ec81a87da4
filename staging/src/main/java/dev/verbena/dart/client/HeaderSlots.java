package dev.verbena.dart.client;

import dev.verbena.dart.config.ClientSettings;
import dev.verbena.dart.wire.ControlFlyweight;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.transport.Transport;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The headers of a client's messages, as they are sent, and what the server has answered to each. A
 * message occupies the slot of its sequence while its header may have to be sent again: until it is
 * transferred, or, where messages outlive their server, until it is confirmed. One thread.
 */
final class HeaderSlots {
    private static final int SLOT_LENGTH = ControlFlyweight.MESSAGE_LENGTH_MAX;

    private final Transport transport;
    private final NanoClock clock;
    private final long timeoutNs;
    private final RegisteredRegion region;

    /** Where headers are encoded, each from its {@link #offset} on. */
    final UnsafeBuffer memory;

    final int count;

    /** Sequence of the message in a slot; 0: none. */
    private final long[] owners;

    private final int[] lengths;

    /** Sends of a header that are under way. */
    private final int[] sends;

    private final int[] tries;
    private final long[] sentNs;
    private final boolean[] seen;
    private final boolean[] transferred;
    private final CopyBuffers.CopyBuffer[] copies;

    HeaderSlots(ClientSettings settings, Transport transport) {
        this.transport = transport;
        this.clock = settings.environment().nanoClock();
        this.timeoutNs = settings.headerTimeoutNs();
        int wanted = 2 * settings.maxInFlight();
        if (settings.isReassigned()) {
            wanted = Math.max(wanted, settings.unconfirmedMax());
        }
        this.count = Integer.highestOneBit(wanted - 1) << 1;
        this.owners = new long[count];
        this.lengths = new int[count];
        this.sends = new int[count];
        this.tries = new int[count];
        this.sentNs = new long[count];
        this.seen = new boolean[count];
        this.transferred = new boolean[count];
        this.copies = new CopyBuffers.CopyBuffer[count];
        this.region = transport.allocate((long) count * SLOT_LENGTH, 0);
        this.memory = region.buffer(0, count * SLOT_LENGTH);
    }

    /** Slot of a sequence, and the context of its sends. */
    int at(long sequence) {
        return (int) (sequence & (count - 1));
    }

    int offset(long sequence) {
        return at(sequence) * SLOT_LENGTH;
    }

    boolean has(long sequence) {
        return owners[at(sequence)] == sequence;
    }

    /** Whether a message of this sequence can take its slot. */
    boolean isFree(long sequence) {
        return owners[at(sequence)] == 0 && !isSending(sequence);
    }

    boolean isSending(long sequence) {
        return sends[at(sequence)] > 0;
    }

    /** No send of a header is under way. */
    boolean isIdle() {
        for (int each : sends) {
            if (each > 0) {
                return false;
            }
        }
        return true;
    }

    /**
     * A message takes its slot, in which its header is encoded.
     *
     * @param copy what is given back with the slot; null: nothing
     */
    void take(long sequence, int length, CopyBuffers.CopyBuffer copy) {
        int slot = at(sequence);
        owners[slot] = sequence;
        lengths[slot] = length;
        copies[slot] = copy;
        restart(sequence);
    }

    /** No server knows anything of it. */
    void restart(long sequence) {
        int slot = at(sequence);
        tries[slot] = 0;
        seen[slot] = false;
        transferred[slot] = false;
    }

    /** Sends the header; false: not now. */
    boolean post(long sequence, long connection) {
        int slot = at(sequence);
        int answer =
                transport.send(
                        connection, region, (long) slot * SLOT_LENGTH, lengths[slot], slot, 0);
        if (answer != Transport.ACCEPTED) {
            return false;
        }
        sends[slot]++;
        tries[slot]++;
        sentNs[slot] = clock.nanoTime();
        return true;
    }

    void onSent(int slot) {
        sends[slot]--;
    }

    int tries(long sequence) {
        return tries[at(sequence)];
    }

    /** Whether the server has shown for too long no sign of having the header. */
    boolean isUnanswered(long sequence, long nowNs) {
        int slot = at(sequence);
        return owners[slot] == sequence
                && !seen[slot]
                && !transferred[slot]
                && nowNs - sentNs[slot] - timeoutNs >= 0
                && sends[slot] == 0;
    }

    void seen(long sequence) {
        seen[at(sequence)] = true;
    }

    /** The server has every header up to this one. */
    void seenUpTo(long sequence) {
        for (int slot = 0; slot < count; slot++) {
            if (owners[slot] != 0 && owners[slot] <= sequence) {
                seen[slot] = true;
            }
        }
    }

    /** The server has the data; the header may have to be sent again to another one. */
    void transferred(long sequence) {
        transferred[at(sequence)] = true;
    }

    boolean isTransferred(long sequence) {
        return transferred[at(sequence)];
    }

    /** The header is not sent again; a server that has it after all reads nothing. */
    void giveUp(long sequence) {
        int slot = at(sequence);
        if (copies[slot] != null) {
            copies[slot].revoke();
            copies[slot] = null;
        }
    }

    /** The header is not sent again. */
    void leave(long sequence) {
        int slot = at(sequence);
        owners[slot] = 0;
        if (copies[slot] != null) {
            copies[slot].free();
            copies[slot] = null;
        }
    }

    void close() {
        region.close();
    }
}
