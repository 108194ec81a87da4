package dev.verbena.nsim.world;

import dev.verbena.agent.ByteStreams.ByteStream;
import java.math.BigInteger;
import java.util.ArrayDeque;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * One end of a connection. Bytes take the latency and the time that both hosts' rates ask for; a
 * partition holds them back; a window bounds what is under way and unread.
 */
final class SimulatedStream implements ByteStream {
    private static final long CONNECT_PATIENCE_PS = 60 * World.PS_PER_S;

    /** Bytes that were written in one call; where sizes alone count, the first of them. */
    private static final class Segment {
        final byte[] bytes;
        final int length;
        int from;

        Segment(byte[] bytes, int length) {
            this.bytes = bytes;
            this.length = length;
        }
    }

    private final SimulatedProcess process;
    private final World world;
    private final String peerName;
    private final ArrayDeque<Segment> arrived = new ArrayDeque<>();
    private final ArrayDeque<Segment> underWay = new ArrayDeque<>();
    private SimulatedStream peer;
    private int state = CONNECTING;
    private String error = "";

    /** Segments that are due and that a partition holds back. */
    private int stuck;

    /** Bytes that the peer has written and this end has not read. */
    private int used;

    private boolean isEnding;
    private boolean wantsRoom;
    private long lastArrivalPs;

    SimulatedStream(SimulatedProcess process, String peerName) {
        this.process = process;
        this.world = process.world;
        this.peerName = peerName;
    }

    void connect(Host target, int port) {
        int at = process.host.index();
        world.afterPs(world.streamLatencyPs, target.index(), () -> arriveAt(target, port));
        world.afterPs(
                CONNECT_PATIENCE_PS,
                at,
                () -> {
                    if (state == CONNECTING) {
                        fail("connect to " + peerName + ": no answer in time");
                    }
                });
    }

    private void arriveAt(Host target, int port) {
        if (state != CONNECTING || target.isDown || isCut(target)) {
            return;
        }
        StreamListener listener = world.listeners.get(StreamListener.key(target, port));
        int at = process.host.index();
        if (listener == null) {
            world.afterPs(
                    world.streamLatencyPs,
                    at,
                    () -> fail("connect to " + peerName + ": connection refused"));
            return;
        }
        SimulatedProcess owner = listener.process;
        SimulatedStream other =
                owner.simulatedStreams().made(new SimulatedStream(owner, process.host.name()));
        other.peer = this;
        peer = other;
        other.state = OPEN;
        listener.toAccept.add(other);
        world.streamEnds.add(other);
        world.streamEnds.add(this);
        owner.simulatedStreams().isReady();
        world.afterPs(
                world.streamLatencyPs,
                at,
                () -> {
                    if (state == CONNECTING) {
                        state = OPEN;
                        process.simulatedStreams().isReady();
                    }
                });
    }

    private boolean isCut(Host other) {
        return world.linkFaults.isCut(process.host, other)
                || world.linkFaults.isCut(other, process.host);
    }

    void fail(String why) {
        if (state == CONNECTING || state == OPEN) {
            state = FAILED;
            error = why;
            process.simulatedStreams().isReady();
        }
    }

    boolean isOver() {
        return state == CLOSED || state == FAILED && arrived.isEmpty() && underWay.isEmpty();
    }

    @Override
    public int state() {
        return state;
    }

    @Override
    public String error() {
        return error;
    }

    @Override
    public String peer() {
        return peerName;
    }

    @Override
    public int read(MutableDirectBuffer buffer, int offset, int length) {
        if (state == CLOSED) {
            return -1;
        }
        int done = 0;
        while (done < length && !arrived.isEmpty()) {
            Segment segment = arrived.peek();
            int n = Math.min(length - done, segment.length - segment.from);
            int carried = Math.min(n, segment.bytes.length - segment.from);
            if (carried > 0) {
                buffer.putBytes(offset + done, segment.bytes, segment.from, carried);
            }
            segment.from += n;
            done += n;
            if (segment.from == segment.length) {
                arrived.poll();
            }
        }
        if (done > 0) {
            used -= done;
            makeRoom();
            return done;
        }
        return state == FAILED && length > 0 ? -1 : 0;
    }

    private void makeRoom() {
        if (peer != null && peer.wantsRoom) {
            peer.wantsRoom = false;
            SimulatedProcess writer = peer.process;
            world.afterPs(
                    world.streamLatencyPs,
                    writer.host.index(),
                    () -> writer.simulatedStreams().isReady());
        }
    }

    @Override
    public int write(DirectBuffer buffer, int offset, int length) {
        return write(buffer, offset, length, buffer, 0, 0);
    }

    /** Both travel as one segment. */
    @Override
    public int write(
            DirectBuffer first,
            int firstOffset,
            int firstLength,
            DirectBuffer second,
            int secondOffset,
            int secondLength) {
        if (state != OPEN) {
            return state == CONNECTING ? 0 : -1;
        }
        int length = firstLength + secondLength;
        int n = Math.min(length, world.streamWindow - peer.used);
        if (n <= 0) {
            wantsRoom = length > 0;
            return 0;
        }
        int ofFirst = Math.min(n, firstLength);
        int ofSecond = Math.min(n - ofFirst, secondLength);
        int carriedFirst = Math.min(ofFirst, world.copiedMax);
        // The first is sent whole before any of the second is carried.
        int carriedSecond = carriedFirst < ofFirst ? 0 : Math.min(ofSecond, world.copiedMax);
        byte[] carried = new byte[carriedFirst + carriedSecond];
        first.getBytes(firstOffset, carried, 0, carriedFirst);
        second.getBytes(secondOffset, carried, carriedFirst, carriedSecond);
        wantsRoom = n < length;
        send(new Segment(carried, n));
        return n;
    }

    private void send(Segment segment) {
        int n = segment.length;
        peer.used += n;
        peer.underWay.add(segment);
        Host from = process.host;
        Host to = peer.process.host;
        long now = world.engine.nowPs();
        long leavingPs = takesPs(n, rate(from));
        long lastPs = from.leave(now, leavingPs) + world.streamLatencyPs;
        long enters = to.enter(lastPs - leavingPs, lastPs, takesPs(n, rate(to)));
        long slow = world.linkFaults.delayPs(from, to, n);
        peer.lastArrivalPs = Math.max(peer.lastArrivalPs, enters + slow);
        SimulatedStream reader = peer;
        world.afterPs(peer.lastArrivalPs - now, to.index(), reader::arrive);
    }

    private long rate(Host host) {
        return host.streamRate > 0 ? host.streamRate : world.streamRate;
    }

    /** How long bytes take, rounded up to a whole picosecond. */
    private static long takesPs(long bytes, long rate) {
        if (bytes > Long.MAX_VALUE / World.PS_PER_S) {
            BigInteger[] parts =
                    BigInteger.valueOf(bytes)
                            .multiply(BigInteger.valueOf(World.PS_PER_S))
                            .divideAndRemainder(BigInteger.valueOf(rate));
            return parts[0].longValueExact() + parts[1].signum();
        }
        long product = bytes * World.PS_PER_S;
        return product / rate + (product % rate == 0 ? 0 : 1);
    }

    private void arrive() {
        stuck++;
        retry();
    }

    /** Delivers what is due, unless a partition still holds it back. */
    void retry() {
        if (stuck == 0 || peer == null || isCut(peer.process.host)) {
            return;
        }
        while (stuck > 0) {
            stuck--;
            Segment segment = underWay.poll();
            if (segment != null) {
                arrived.add(segment);
            } else if (isEnding) {
                isEnding = false;
                fail("ended by " + peerName);
            }
        }
        process.simulatedStreams().isReady();
    }

    @Override
    public void close() {
        if (peer != null && (state == OPEN || state == CONNECTING)) {
            peer.endsLater();
        }
        state = CLOSED;
        arrived.clear();
    }

    /** The end of the stream comes behind its last byte. */
    private void endsLater() {
        isEnding = true;
        long now = world.engine.nowPs();
        lastArrivalPs = Math.max(lastArrivalPs, now + world.streamLatencyPs);
        world.afterPs(lastArrivalPs - now, process.host.index(), this::arrive);
    }

    /** The process at this end is gone; the other end is notified. */
    void reset() {
        if (peer != null && (state == OPEN || state == CONNECTING)) {
            SimulatedStream other = peer;
            world.afterPs(
                    world.streamLatencyPs, other.process.host.index(), () -> other.resetByPeer());
        }
        vanish();
    }

    private void resetByPeer() {
        if (peer != null && isCut(peer.process.host)) {
            return; // The reset is lost; the peer has only its time-out.
        }
        underWay.clear();
        stuck = 0;
        fail("reset by " + peerName);
    }

    void vanish() {
        state = CLOSED;
        arrived.clear();
        underWay.clear();
    }
}
