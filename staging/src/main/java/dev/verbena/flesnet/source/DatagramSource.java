package dev.verbena.flesnet.source;

import static dev.verbena.staging.Counters.add;

import dev.verbena.flesnet.MicrosliceFlyweight;
import dev.verbena.flesnet.MicrosliceSink;
import dev.verbena.flesnet.MicrosliceSource;
import dev.verbena.staging.Checksum;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.util.concurrent.atomic.AtomicLong;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Microslices that arrive as UDP datagrams, one each: its descriptor of 32 bytes, then its content.
 * The descriptor's index is the microslice's number in the stream, from 0. A number that does not
 * come, or comes behind a later one, is an empty microslice flagged {@link
 * MicrosliceFlyweight#TRUNCATED}: later ones keep their places. Datagrams may be anything; what is
 * no microslice is counted and dropped.
 *
 * <p>{@link MicrosliceSource}'s methods are the engine's, {@link #counts} is for any thread.
 * Nothing waits, and nothing is allocated per datagram.
 */
public final class DatagramSource implements MicrosliceSource, AutoCloseable {
    private static final int BATCH = 256;
    private static final int DATAGRAM_MAX = 1 << 16;
    private static final int SOCKET_BYTES = 8 << 20;

    private final DatagramChannel channel;
    private final InetAddress from;
    private final DatagramLimits limits;
    private final ByteBuffer bytes = ByteBuffer.allocateDirect(DATAGRAM_MAX);
    private final UnsafeBuffer buffer = new UnsafeBuffer(bytes);
    private final MicrosliceFlyweight microslice = new MicrosliceFlyweight();
    private final Checksum checksum = new Checksum();
    private final AtomicLong taken = new AtomicLong();
    private final AtomicLong missing = new AtomicLong();
    private final AtomicLong malformed = new AtomicLong();
    private final AtomicLong late = new AtomicLong();
    private final AtomicLong beyond = new AtomicLong();
    private final AtomicLong strangers = new AtomicLong();
    private InetSocketAddress sender;
    private long next;
    private long lastNs;
    private int equipment;
    private int system = MicrosliceFlyweight.SYSTEM_FLES;
    private int format;
    private boolean isSilent;
    private String failure;

    /**
     * Opens the socket.
     *
     * @param local where it listens; port 0: any, see {@link #port}
     * @param from the only address that is believed; null: any that reaches the socket
     * @throws IOException if it cannot be opened
     */
    public DatagramSource(InetSocketAddress local, InetAddress from, DatagramLimits limits)
            throws IOException {
        this.from = from;
        this.limits = limits;
        channel = DatagramChannel.open();
        try {
            channel.setOption(StandardSocketOptions.SO_RCVBUF, SOCKET_BYTES);
            channel.configureBlocking(false);
            channel.bind(local);
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    /** Where it listens. */
    public int port() {
        try {
            return ((InetSocketAddress) channel.getLocalAddress()).getPort();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public int poll(MicrosliceSink sink, long nowNs) {
        int work = 0;
        while (!isSilent && work < BATCH && next < limits.count() && receive()) {
            take(sink, nowNs);
            work++;
        }
        if (next > 0 && nowNs - lastNs > limits.silenceNs()) {
            isSilent = true;
        }
        while (isSilent && work < BATCH && next < limits.count() && sink.hasRoom(0)) {
            miss(sink);
            work++;
        }
        return work;
    }

    private boolean receive() {
        try {
            bytes.clear();
            sender = (InetSocketAddress) channel.receive(bytes);
            return sender != null;
        } catch (IOException e) {
            failure = "datagrams: " + e.getMessage();
            return false;
        }
    }

    private void take(MicrosliceSink sink, long nowNs) {
        if (from != null && !from.equals(sender.getAddress())) {
            add(strangers, 1);
            return;
        }
        int length = bytes.position() - MicrosliceFlyweight.LENGTH;
        if (!isMicroslice(length)) {
            add(malformed, 1);
            return;
        }
        long number = microslice.index();
        if (number >= 0 && number < next) {
            add(late, 1);
            return;
        }
        if (number < 0 || number >= limits.count() || number - next > limits.gapMax()) {
            add(beyond, 1);
            return;
        }
        equipment = microslice.equipment();
        system = microslice.system();
        format = microslice.format();
        while (next < number) {
            miss(sink);
        }
        sink.add(
                equipment,
                microslice.flags(),
                system,
                format,
                number,
                microslice.checksum(),
                buffer,
                MicrosliceFlyweight.LENGTH,
                length);
        add(taken, 1);
        next++;
        lastNs = nowNs;
    }

    private boolean isMicroslice(int length) {
        if (length < 0 || !microslice.wrap(buffer, 0).isKnown() || microslice.size() != length) {
            return false;
        }
        boolean isChecked = (microslice.flags() & MicrosliceFlyweight.CRC_VALID) != 0;
        return !isChecked
                || microslice.checksum() == checksum.of(buffer, MicrosliceFlyweight.LENGTH, length);
    }

    private void miss(MicrosliceSink sink) {
        int flags = MicrosliceFlyweight.TRUNCATED;
        sink.add(equipment, flags, system, format, next, 0, buffer, 0, 0);
        add(missing, 1);
        next++;
    }

    @Override
    public boolean isEnded() {
        return next == limits.count();
    }

    @Override
    public String failure() {
        return failure;
    }

    @Override
    public long nextDueNs() {
        return next == 0 || isSilent ? NEVER : lastNs + limits.silenceNs();
    }

    /** Counts. */
    public DatagramCounts counts() {
        return new DatagramCounts(
                taken.get(),
                missing.get(),
                malformed.get(),
                late.get(),
                beyond.get(),
                strangers.get());
    }

    /** Closes the socket; the engine must have ended. */
    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
