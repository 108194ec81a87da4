package dev.verbena.staging.carrier;

import dev.verbena.agent.ByteStreams;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.Status;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportException;
import org.agrona.CloseHelper;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * One end of a stream of bytes over a connection of a transport. Owned by the transport's thread.
 */
final class CarriedStream implements ByteStreams.ByteStream {
    private static final long RELEASE_PAUSE_NS = 1_000_000_000L;

    private final TransportStreams streams;
    private final Transport transport;
    private final String peer;

    /** Null: there was no memory for it. */
    private InboundRing in;

    private long connection;
    private OutboundRing out;
    private int state = CONNECTING;
    private String error = "";
    private boolean isConnected;
    private boolean isGreetingDue;
    private boolean isDropDue;
    private long releaseAgainNs;

    CarriedStream(TransportStreams streams, Transport transport, String peer, long nowNs) {
        this.releaseAgainNs = nowNs;
        this.streams = streams;
        this.transport = transport;
        this.peer = peer;
    }

    // ---- of the transport

    /** Makes memory to read from; false: there is none, and the stream has failed. */
    boolean open(int ringLength) {
        try {
            in = new InboundRing(transport, ringLength);
        } catch (TransportException e) {
            fail("no memory for " + peer + ": " + e.getMessage());
        }
        return in != null;
    }

    /** The transport's handle. */
    long connection() {
        return connection;
    }

    void connecting(long handle) {
        connection = handle;
        isConnected = true;
    }

    void onConnected() {
        isGreetingDue = true;
        progress();
    }

    /** Sends what could not be sent before; work done. */
    int progress() {
        if (isDropDue) {
            // Not where it was found out: its message is being handled there.
            isDropDue = false;
            transport.disconnect(connection);
        }
        if (!isConnected) {
            return 0;
        }
        int work = 0;
        if (isGreetingDue && streams.sendGreeting(connection, in.capacity(), in.describe())) {
            isGreetingDue = false;
            work++;
        }
        if (in.isReportDue() && streams.sendRead(connection, in.position())) {
            in.reported();
            work++;
        }
        return work;
    }

    void onRecord(DirectBuffer buffer, int offset, int length) {
        int type = length == CarrierRecord.LENGTH ? CarrierRecord.type(buffer, offset) : 0;
        boolean isKnown =
                type == CarrierRecord.GREETING && out == null
                        ? isGreeted(buffer, offset)
                        : type == CarrierRecord.READ
                                && out != null
                                && out.onRead(CarrierRecord.read(buffer, offset));
        if (!isKnown) {
            malformed("a record of type " + type);
        }
    }

    private boolean isGreeted(DirectBuffer buffer, int offset) {
        int ringLength = CarrierRecord.ringLength(buffer, offset);
        if (Integer.bitCount(ringLength) != 1
                || ringLength < 1
                || ringLength > CarrierRecord.RING_MAX) {
            return false;
        }
        try {
            RemoteDescriptor ring = CarrierRecord.descriptor(buffer, offset);
            out = new OutboundRing(transport, connection, streams.sources(), ring, ringLength);
            state = state == CONNECTING ? OPEN : state;
        } catch (IllegalArgumentException e) {
            return false;
        } catch (TransportException e) {
            isDropDue = true;
            ended("no memory for " + peer + ": " + e.getMessage());
        }
        return true;
    }

    void onPiece(int number, long regionId, long offset, long length) {
        if (!in.onPiece(number, regionId, offset, length)) {
            malformed("piece " + number + " of " + length + " bytes at " + offset);
        }
    }

    private void malformed(String what) {
        isDropDue = true;
        ended(peer + " sent what is not of a stream: " + what);
    }

    void onCompletion(long number, int status) {
        out.onCompletion(number);
        if (status != Status.OK && state == OPEN) {
            fail("writing to " + peer + " failed: " + Status.name(status));
        }
    }

    /** The connection is gone. */
    void ended(String why) {
        isConnected = false;
        fail(why);
    }

    private void fail(String why) {
        if (state != CLOSED && state != FAILED) {
            state = FAILED;
            error = why;
        }
    }

    boolean isClosed() {
        return state == CLOSED;
    }

    /** Whether it is closed, and nothing of this side uses its memory. */
    boolean isReleasable(long nowNs) {
        return state == CLOSED && (out == null || out.isQuiet()) && nowNs - releaseAgainNs >= 0;
    }

    /** Gives its memory back; false: a peer is still in it, try again later. */
    boolean release(long nowNs) {
        try {
            CloseHelper.closeAll(in, out);
            return true;
        } catch (IllegalStateException | TransportException e) {
            releaseAgainNs = nowNs + RELEASE_PAUSE_NS;
            return false;
        }
    }

    // ---- of the user

    @Override
    public int state() {
        if (state == CONNECTING) {
            streams.poll();
        }
        return state;
    }

    @Override
    public String error() {
        return error;
    }

    @Override
    public String peer() {
        return peer;
    }

    @Override
    public int read(MutableDirectBuffer buffer, int offset, int length) {
        buffer.boundsCheck(offset, length);
        if (state == CLOSED || in == null) {
            return -1;
        }
        if (in.unread() == 0) {
            streams.poll();
        }
        int taken = in.read(buffer, offset, length);
        if (taken > 0) {
            progress();
            return taken;
        }
        return state == FAILED && length > 0 && in.unread() == 0 ? -1 : 0;
    }

    @Override
    public int write(DirectBuffer buffer, int offset, int length) {
        buffer.boundsCheck(offset, length);
        if (state != OPEN) {
            return state == CONNECTING ? 0 : -1;
        }
        return answer(out.write(buffer, offset, length));
    }

    @Override
    public int write(
            DirectBuffer first,
            int firstOffset,
            int firstLength,
            DirectBuffer second,
            int secondOffset,
            int secondLength) {
        first.boundsCheck(firstOffset, firstLength);
        second.boundsCheck(secondOffset, secondLength);
        if (state == OPEN && out.isOnePiece(firstLength, secondLength)) {
            return answer(
                    out.writeBoth(
                            first, firstOffset, firstLength, second, secondOffset, secondLength));
        }
        return ByteStreams.ByteStream.super.write(
                first, firstOffset, firstLength, second, secondOffset, secondLength);
    }

    /** A put into memory that this process can reach has completed already. */
    private int answer(int posted) {
        streams.poll();
        int taken = Math.max(posted, 0) + out.takeDirect();
        if (posted < 0) {
            fail("writing to " + peer + " failed: the connection is gone");
        }
        return taken == 0 && state == FAILED ? -1 : taken;
    }

    @Override
    public void close() {
        if (state != CLOSED) {
            state = CLOSED;
            if (isConnected) {
                isConnected = false;
                transport.disconnect(connection);
            }
            streams.closed();
        }
    }
}
