package dev.verbena.cli.perftest;

import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.verbs.Access;
import dev.verbena.verbs.CompletionChannel;
import dev.verbena.verbs.CompletionFlyweight;
import dev.verbena.verbs.CompletionQueue;
import dev.verbena.verbs.CompletionStatus;
import dev.verbena.verbs.ConnectionContext;
import dev.verbena.verbs.ConnectionEvent;
import dev.verbena.verbs.ConnectionEventType;
import dev.verbena.verbs.ConnectionIdentifier;
import dev.verbena.verbs.MemoryRegion;
import dev.verbena.verbs.ProtectionDomain;
import dev.verbena.verbs.QueuePair;
import dev.verbena.verbs.QueuePairContext;
import dev.verbena.verbs.RdmaDevice;
import dev.verbena.verbs.ReceiveRequests;
import dev.verbena.verbs.SendRequestFlyweight;
import dev.verbena.verbs.SendRequests;
import java.nio.ByteOrder;
import org.agrona.CloseHelper;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * One end of an {@code rping}: a queue pair on an identifier, two buffers of a ping's size, and the
 * messages that announce them. One thread.
 *
 * <p>A message has 16 bytes, big-endian: 0:8 address, 8:4 rkey, 12:4 length of a buffer. The client
 * sends one for the buffer that is to be read; the server reads it, and sends a message that says
 * so (its content has no meaning). The client sends one for the buffer that is to be written; the
 * server writes there, and says so.
 */
final class RpingEndpoint implements AutoCloseable {
    private static final int MESSAGE_LENGTH = 16;
    private static final int KEY_AT = 8;
    private static final int LENGTH_AT = 12;
    private static final int MESSAGES = 4;
    private static final int RECEIVES = 2;
    private static final int SEND_AT = 2 * MESSAGE_LENGTH;

    /** Ids: receives are counted from 0. */
    private static final int SENT = RECEIVES;

    private static final int PROBE = RECEIVES + 1;
    private static final long PROBE_NS = 1_000_000_000L;
    private static final long SLICE_NS = 20_000_000L;
    private static final long FAREWELL_NS = 5_000_000_000L;
    private static final long EVENT_NS = 1_000_000_000L;

    /** Without end, as rping has it: its peer is a program that always receives. */
    private static final int NOT_READY_RETRIES = 7;

    final MemoryRegion region;
    final UnsafeBuffer messages;
    private final ConnectionIdentifier identifier;
    private final int size;
    private final long timeoutNs;
    private final Opened opened = new Opened();
    private final RdmaDevice device;
    private final CompletionChannel channel;
    private final CompletionQueue completions;
    final QueuePair queue;
    private final SendRequests sends;
    private final ReceiveRequests receives;
    private int received;
    private int receiveIndex;
    private boolean isSent;
    private boolean isProbing;
    private boolean isDisconnected;

    /** An identifier that belongs to a device; its owner closes it. */
    RpingEndpoint(ConnectionIdentifier identifier, int size, long timeoutNs) {
        this.identifier = identifier;
        this.size = size;
        this.timeoutNs = timeoutNs;
        try {
            OffHeapMemory memory =
                    opened.add(OffHeapMemories.allocate(MESSAGES * MESSAGE_LENGTH + 2L * size));
            device = opened.add(identifier.openDevice());
            ProtectionDomain domain = opened.add(device.allocateProtectionDomain());
            region = opened.add(domain.register(memory, Access.REMOTE_ALL));
            messages = region.buffer(0, MESSAGES * MESSAGE_LENGTH);
            channel = opened.add(device.createCompletionChannel());
            completions = opened.add(device.createCompletionQueue(16, channel, 0));
            queue =
                    opened.add(
                            domain.createQueuePair(
                                    new QueuePairContext().completions(completions)));
            sends = opened.add(queue.newSends(2));
            receives = opened.add(queue.newReceives(RECEIVES));
            identifier.prepare(queue, connection());
            for (int i = 0; i < RECEIVES; i++) {
                postReceive(i);
            }
        } catch (RuntimeException | Error e) {
            CloseHelper.close(e::addSuppressed, this);
            throw e;
        }
    }

    static ConnectionContext connection() {
        return new ConnectionContext().notReadyRetries(NOT_READY_RETRIES);
    }

    /** Where a buffer lies in the region: 0 or 1. */
    long offset(int buffer) {
        return MESSAGES * MESSAGE_LENGTH + (long) buffer * size;
    }

    private void postReceive(int index) {
        receives.set(index, index, region, (long) index * MESSAGE_LENGTH, MESSAGE_LENGTH);
        if (queue.post(receives, index, 1) != 1) {
            throw new IllegalStateException("a receive could not be posted");
        }
    }

    /** Sends a message that announces a buffer, or nothing in particular. */
    void announce(long address, int key, int length) {
        messages.putLong(SEND_AT, address, ByteOrder.BIG_ENDIAN);
        messages.putInt(SEND_AT + KEY_AT, key, ByteOrder.BIG_ENDIAN);
        messages.putInt(SEND_AT + LENGTH_AT, length, ByteOrder.BIG_ENDIAN);
        run(sends.at(0).segment(region, SEND_AT, MESSAGE_LENGTH).send(), "the message");
    }

    /** Reads from the peer into a buffer here. */
    void read(int buffer, int length, long address, int key) {
        run(sends.at(0).segment(region, offset(buffer), length).read(address, key), "the read");
    }

    /** Writes a buffer here to the peer. */
    void write(int buffer, int length, long address, int key) {
        run(sends.at(0).segment(region, offset(buffer), length).write(address, key), "the write");
    }

    private void run(SendRequestFlyweight request, String what) {
        isSent = false;
        int taken = queue.post(request.id(SENT).signalled(true));
        if (taken != 1) {
            throw new IllegalStateException(what + " could not be posted: " + taken);
        }
        long deadlineNs = System.nanoTime() + timeoutNs;
        while (!isSent) {
            if (!progress(deadlineNs, what)) {
                throw new IllegalStateException("the peer ended the connection during " + what);
            }
        }
    }

    /**
     * Waits for a message, which {@link #messages} has then until the next one is waited for.
     *
     * @return where in the messages, or -1 if the peer ended the connection
     */
    int awaitMessage() {
        long beganNs = System.nanoTime();
        long deadlineNs = beganNs + timeoutNs;
        while (received == 0) {
            if (!progress(deadlineNs, "the peer's message")) {
                return -1;
            }
            if (!isProbing && System.nanoTime() - beganNs > PROBE_NS) {
                probe();
                beganNs = System.nanoTime();
            }
        }
        received--;
        int at = receiveIndex * MESSAGE_LENGTH;
        messages.putBytes(SEND_AT + MESSAGE_LENGTH, messages, at, MESSAGE_LENGTH);
        postReceive(receiveIndex);
        receiveIndex = (receiveIndex + 1) % RECEIVES;
        return SEND_AT + MESSAGE_LENGTH;
    }

    /**
     * Writes nothing to the peer, who does not notice: a peer whose machine or wire is gone fails
     * it. A side that only waits for a message would wait indefinitely.
     */
    private void probe() {
        // No piece of memory at all: to some cards one of 0 bytes has 2 GiB.
        SendRequestFlyweight nothing = sends.at(1).segments(0).write(0, 0);
        isProbing = queue.post(nothing.id(PROBE).signalled(true)) == 1;
    }

    long addressAt(int message) {
        return messages.getLong(message, ByteOrder.BIG_ENDIAN);
    }

    int keyAt(int message) {
        return messages.getInt(message + KEY_AT, ByteOrder.BIG_ENDIAN);
    }

    int lengthAt(int message) {
        return messages.getInt(message + LENGTH_AT, ByteOrder.BIG_ENDIAN);
    }

    /** Takes what has completed, sleeping for it. False if the peer has gone. */
    private boolean progress(long deadlineNs, String awaited) {
        if (take()) {
            return true;
        }
        completions.requestNotification(false);
        if (take()) {
            return true;
        }
        if (isDisconnected) {
            return false;
        }
        if (deadlineNs - System.nanoTime() < 0) {
            throw new IllegalStateException(
                    awaited + " did not come in time; is the peer alive? --timeout waits longer");
        }
        channel.await(SLICE_NS);
        heed(identifier.await(0));
        return true;
    }

    private boolean take() {
        if (PerftestEndpoint.polled(completions.poll(1)) == 0) {
            return false;
        }
        CompletionFlyweight completion = completions.completion(0);
        if (isFarewell(completion.status())) {
            return false;
        }
        if (!completion.isSuccess()) {
            throw new IllegalStateException("the device answers " + completion);
        }
        if (completion.id() == SENT) {
            isSent = true;
        } else if (completion.id() == PROBE) {
            isProbing = false;
        } else if (completion.length() != MESSAGE_LENGTH) {
            throw new IllegalStateException(
                    "a message of %s bytes; rping's have 16. Is the peer an rping?"
                            .formatted(completion.length()));
        } else {
            received++;
        }
        return true;
    }

    /**
     * True of what fails because the peer has gone: what was posted is flushed, a probe gets no
     * answer. On some cards that completes before the event comes that tells why.
     */
    private boolean isFarewell(int status) {
        if (status != CompletionStatus.FLUSHED && status != CompletionStatus.RETRIES_EXCEEDED) {
            return false;
        }
        awaitDisconnected(EVENT_NS);
        return isDisconnected;
    }

    /** Ends the connection, and waits a little for the peer to do so. */
    void disconnect() {
        identifier.disconnect();
        awaitDisconnected(FAREWELL_NS);
    }

    private void awaitDisconnected(long timeoutNs) {
        long deadlineNs = System.nanoTime() + timeoutNs;
        while (!isDisconnected && deadlineNs - System.nanoTime() > 0) {
            heed(identifier.await(SLICE_NS));
        }
    }

    private void heed(ConnectionEvent event) {
        isDisconnected |= event != null && event.type() == ConnectionEventType.DISCONNECTED;
    }

    /** For results. */
    RpingResult result(RpingResult.Times times) {
        String peer = identifier.peerAddress().toString().replaceFirst("^.*/", "");
        return new RpingResult(peer, device.info().name(), times.count(), size, times.medianNs());
    }

    @Override
    public void close() {
        opened.close();
    }
}
