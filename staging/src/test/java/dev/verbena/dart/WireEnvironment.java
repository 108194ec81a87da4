package dev.verbena.dart;

import dev.verbena.agent.ByteStreams;
import dev.verbena.agent.DurableStore;
import dev.verbena.agent.Environment;
import dev.verbena.agent.VirtualClock;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;
import org.agrona.BufferUtil;
import org.agrona.DirectBuffer;
import org.agrona.ErrorHandler;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.EpochClock;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.UnsafeBuffer;
import org.agrona.concurrent.status.CountersManager;

/**
 * Virtual time, and streams in memory between one server and one receiver: they can be cut at any
 * byte, flip bits, and swallow what is written. Counts the bytes of each direction over all
 * connections. One thread.
 */
public final class WireEnvironment implements Environment, ByteStreams {
    static {
        dev.verbena.softnic.NativeAccess.open();
    }

    /** Directions: from the one who connects to the one who listens, and back. */
    public static final int THERE = 0;

    public static final int BACK = 1;

    public final VirtualClock clock = new VirtualClock(1_000_000_000L, 1_000_000);
    public final List<Throwable> errors = new ArrayList<>();
    public final long[] carried = new long[2];
    public final long[] cutAt = {Long.MAX_VALUE, Long.MAX_VALUE};
    public final long[] flipAt = {Long.MAX_VALUE, Long.MAX_VALUE};

    /** What is flipped there. */
    public int flipBits = 16;

    public final boolean[] isSwallowing = new boolean[2];

    /** Flips a bit at the end of every long write from server to receiver. */
    public boolean isDamagingPayloads;

    private long unpredictableCount;

    /** Nobody listens. */
    public boolean isRefusing;

    /** Every store is this one directory. */
    public final MemoryDisk disk = new MemoryDisk();

    private final List<boolean[]> cuts = new ArrayList<>();
    private final ArrayDeque<End> toAccept = new ArrayDeque<>();
    private final CountersManager counters =
            new CountersManager(
                    new UnsafeBuffer(BufferUtil.allocateDirectAligned(256 * 1024, 64)),
                    new UnsafeBuffer(BufferUtil.allocateDirectAligned(64 * 1024, 64)));

    /** Bytes on their way in one direction of one connection. */
    private static final class Pipe {
        private byte[] bytes = new byte[4096];
        private int from;
        private int to;
    }

    /** One end of a connection. */
    private final class End implements ByteStream {
        private final int direction;
        private final Pipe in;
        private final Pipe out;
        private final boolean[] isCut;

        End(int direction, Pipe in, Pipe out, boolean[] isCut) {
            this.direction = direction;
            this.in = in;
            this.out = out;
            this.isCut = isCut;
        }

        @Override
        public int state() {
            return isCut[0] && in.from == in.to ? FAILED : OPEN;
        }

        @Override
        public String error() {
            return isCut[0] ? "cut" : "";
        }

        @Override
        public String peer() {
            return "wire";
        }

        @Override
        public int read(MutableDirectBuffer buffer, int offset, int length) {
            int n = Math.min(length, in.to - in.from);
            if (n == 0) {
                return isCut[0] ? -1 : 0;
            }
            buffer.putBytes(offset, in.bytes, in.from, n);
            in.from += n;
            return n;
        }

        @Override
        public int write(DirectBuffer buffer, int offset, int length) {
            if (isCut[0]) {
                return -1;
            }
            if (isSwallowing[direction]) {
                return length;
            }
            int n = (int) Math.min(length, cutAt[direction] - carried[direction]);
            if (out.to + n > out.bytes.length) {
                out.bytes = Arrays.copyOf(out.bytes, 2 * (out.to + n));
            }
            buffer.getBytes(offset, out.bytes, out.to, n);
            long flip = flipAt[direction] - carried[direction];
            if (flip >= 0 && flip < n) {
                out.bytes[out.to + (int) flip] ^= (byte) flipBits;
            }
            if (isDamagingPayloads && direction == THERE && n > 200) {
                out.bytes[out.to + n - 1] ^= 1;
            }
            out.to += n;
            carried[direction] += n;
            if (carried[direction] == cutAt[direction]) {
                cutAt[direction] = Long.MAX_VALUE;
                isCut[0] = true;
            }
            return n;
        }

        @Override
        public void close() {
            isCut[0] = true;
        }
    }

    /** Ends every connection; bytes on their way still arrive. */
    public void cut() {
        cuts.forEach(isCut -> isCut[0] = true);
        cuts.clear();
        toAccept.clear();
    }

    @Override
    public ByteStream connect(String host, int port) {
        Pipe there = new Pipe();
        Pipe back = new Pipe();
        boolean[] isCut = new boolean[] {isRefusing};
        if (isRefusing) {
            return new End(THERE, back, there, isCut);
        }
        cuts.add(isCut);
        toAccept.add(new End(BACK, there, back, isCut));
        return new End(THERE, back, there, isCut);
    }

    @Override
    public Listener listen(String host, int port) {
        return new Listener() {
            @Override
            public int port() {
                return 7000;
            }

            @Override
            public ByteStream accept() {
                return toAccept.poll();
            }

            @Override
            public void close() {
                toAccept.clear();
            }
        };
    }

    @Override
    public AutoCloseable onReady(Runnable wakeup) {
        // The test steps everything.
        return () -> {};
    }

    @Override
    public NanoClock nanoClock() {
        return clock;
    }

    @Override
    public EpochClock epochClock() {
        return clock;
    }

    @Override
    public RandomGenerator random(String name) {
        return new java.util.SplittableRandom(name.hashCode());
    }

    @Override
    public RandomGenerator unpredictable() {
        return new java.util.SplittableRandom(++unpredictableCount);
    }

    @Override
    public Transport openTransport(String scheme, TransportContext context) {
        throw new UnsupportedOperationException();
    }

    @Override
    public ByteStreams streams() {
        return this;
    }

    @Override
    public DurableStore store(String directory) {
        return disk.open();
    }

    @Override
    public CountersManager counters() {
        return counters;
    }

    @Override
    public ErrorHandler errorHandler() {
        return errors::add;
    }
}
