package dev.verbena.flesnet.consume;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import dev.verbena.flesnet.FlesnetException;
import dev.verbena.flesnet.Timeslice;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.concurrent.atomic.AtomicInteger;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * A consumer of a compute node on this machine, in any process of the same user. {@link #poll} is
 * also its sign of life: it must be called more often than every ten seconds while there is nothing
 * to do. One thread; nothing is allocated per timeslice.
 */
public final class TimesliceConsumer implements AutoCloseable {
    private static final AtomicInteger COUNT = new AtomicInteger();
    private static final long BEAT_NS = 1_000_000_000L;
    private static final long SILENCE_NS = 10_000_000_000L;

    private final NanoClock clock;
    private final Path registration;
    private final long token;
    private final ConsumerSegment segment;
    private final UnsafeBuffer buffer;
    private final SharedTimeslice timeslice;
    private int at = -1;
    private long taken;
    private long beat;
    private long beatNs;
    private long brokerBeat;
    private long brokerNs;
    private long lookedNs;

    private TimesliceConsumer(
            NanoClock clock, Path registration, long token, ConsumerSegment segment) {
        this.clock = clock;
        this.registration = registration;
        this.token = token;
        this.segment = segment;
        buffer = segment.buffer();
        timeslice = new SharedTimeslice(segment, this::completed);
        brokerNs = clock.nanoTime();
        lookedNs = brokerNs;
        beatNs = brokerNs - BEAT_NS;
    }

    /**
     * Whether a compute node serves this segment: consumers may register.
     *
     * @throws FlesnetException if it is another kind of file
     */
    public static boolean isServed(Path path) throws IOException {
        try {
            return ConsumerSegment.broker(path) != 0;
        } catch (NoSuchFileException e) {
            return false;
        }
    }

    /**
     * Asks to be registered; {@link #poll} finds out.
     *
     * @param path segment of a compute node
     * @throws IOException if it is not there
     * @throws FlesnetException if it is another kind of file, or its compute node is gone
     */
    public static TimesliceConsumer register(NanoClock clock, Path path, ConsumerWish wish)
            throws IOException {
        ConsumerSegment segment = ConsumerSegment.open(path);
        if (!isServed(path)) {
            throw new FlesnetException(
                    path + " is left over: its compute node is gone and must be started anew");
        }
        long token = ProcessHandle.current().pid() << 32 | COUNT.incrementAndGet();
        Path file = ConsumerSegment.registration(path, token);
        Path whole = path.resolveSibling(path.getFileName() + ".new-" + token);
        Files.writeString(whole, wish.text());
        TimesliceConsumer made = new TimesliceConsumer(clock, file, token, segment);
        Files.move(whole, file, StandardCopyOption.ATOMIC_MOVE);
        if (!segment.isAt(path)) {
            // Another broker would take it for a consumer of its own segment.
            made.close();
            throw new FlesnetException(path + " was replaced meanwhile; register again");
        }
        return made;
    }

    /**
     * The next timeslice; it must be released before the next call.
     *
     * @return null: there is none now
     * @throws FlesnetException if this consumer was refused or given up, or its compute node is
     *     silent or has failed
     */
    public Timeslice poll() {
        if (timeslice.isHeld()) {
            throw new IllegalStateException("the last timeslice was not released");
        }
        long now = clock.nanoTime();
        if (isDone() || !isThere(now)) {
            return null;
        }
        if (now - beatNs >= BEAT_NS) {
            beatNs = now;
            buffer.putLongOrdered(at + ConsumerSegment.WORKER_BEAT, ++beat);
        }
        if (!hasMore()) {
            return null;
        }
        int slot = (int) (taken % ConsumerSegment.QUEUE);
        int item = buffer.getInt(at + ConsumerSegment.QUEUED + slot * Integer.BYTES, LITTLE_ENDIAN);
        taken++;
        return timeslice.hold(item);
    }

    private boolean hasMore() {
        return at >= 0 && buffer.getLongVolatile(at + ConsumerSegment.HANDED) > taken;
    }

    private boolean isThere(long now) {
        long said = buffer.getLongVolatile(ConsumerSegment.BEAT);
        brokerNs += Math.max(0, now - lookedNs - Worker.COUNTED_NS);
        if (said != brokerBeat) {
            brokerBeat = said;
            brokerNs = now;
        }
        lookedNs = now;
        if (now - brokerNs > SILENCE_NS && !isEnded() && !hasMore()) {
            throw new FlesnetException("the compute node is silent");
        }
        if (at < 0) {
            find();
        } else {
            requireKept();
        }
        return at >= 0;
    }

    private void find() {
        boolean isWaiting = Files.exists(registration);
        lookUp();
        if (at >= 0) {
            long process = ProcessHandle.current().pid();
            buffer.putLongOrdered(at + ConsumerSegment.PROCESS, process);
        } else if (!isWaiting) {
            throw new FlesnetException("the compute node has refused this consumer");
        }
    }

    private void lookUp() {
        for (int w = 0; w < ConsumerSegment.WORKERS && at < 0; w++) {
            int slot = ConsumerSegment.workerAt(w);
            at = buffer.getLongVolatile(slot + ConsumerSegment.TOKEN) == token ? slot : -1;
        }
    }

    private void requireKept() {
        if (buffer.getLongVolatile(at + ConsumerSegment.TOKEN) != token) {
            throw new FlesnetException("the compute node has given this consumer up");
        }
    }

    private void completed() {
        requireKept();
        buffer.putLongOrdered(at + ConsumerSegment.COMPLETED, taken);
    }

    /** Whether the compute node gives no more; what was handed over before is still here. */
    public boolean isEnded() {
        return buffer.getIntVolatile(ConsumerSegment.ENDED) != 0;
    }

    /**
     * Whether there will be no further timeslice.
     *
     * @throws FlesnetException if that is because the compute node has failed
     */
    public boolean isDone() {
        boolean isOver = isEnded() && !timeslice.isHeld() && !hasMore();
        if (isOver && buffer.getIntVolatile(ConsumerSegment.ENDED) == ConsumerSegment.FAILED) {
            throw new FlesnetException("the compute node ended before it had given everything");
        }
        return isOver;
    }

    /** Leaves: what it has is given back. */
    @Override
    public void close() throws IOException {
        Files.deleteIfExists(registration);
        // It may be registered and have timeslices, though it has never asked for one.
        lookUp();
        if (at >= 0 && buffer.getLongVolatile(at + ConsumerSegment.TOKEN) == token) {
            buffer.putIntOrdered(at + ConsumerSegment.LEAVING, 1);
        }
    }
}
