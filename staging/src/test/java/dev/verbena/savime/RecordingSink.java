package dev.verbena.savime;

import dev.verbena.staging.sink.Sink;
import dev.verbena.staging.sink.SinkDataset;
import dev.verbena.staging.sink.SinkRejectedException;
import dev.verbena.staging.sink.SinkSession;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;

/** A sink in memory whose owner says when it takes what, and whether it can be reached. */
public final class RecordingSink implements Sink {
    /** Names of datasets and texts of commands, in the order in which they were taken. */
    public final List<String> order = new CopyOnWriteArrayList<>();

    public final Map<String, byte[]> datasets = new ConcurrentHashMap<>();
    public final Set<String> refused = ConcurrentHashMap.newKeySet();
    public final AtomicInteger tries = new AtomicInteger();
    private final Semaphore permits = new Semaphore(0, true);
    private final int sessions;
    public volatile boolean isDown;
    public volatile String answer = "Query executed successfully";
    private volatile boolean isOpen = true;

    /** Takes everything at once. */
    public RecordingSink(int sessions) {
        this.sessions = sessions;
    }

    /** From now on takes only what {@link #permit} allows. */
    public RecordingSink hold() {
        isOpen = false;
        return this;
    }

    public void permit(int count) {
        permits.release(count);
    }

    /** How many wait for a permit; they get it in the order in which they came. */
    public int waiting() {
        return permits.getQueueLength();
    }

    public void openAll() {
        isOpen = true;
        permits.release(1 << 20);
    }

    private void await() throws IOException {
        if (!isOpen) {
            permits.acquireUninterruptibly();
        }
        if (isDown) {
            throw new IOException("down");
        }
    }

    @Override
    public int sessionsMax() {
        return sessions;
    }

    @Override
    public SinkSession open() throws IOException {
        return session(this);
    }

    private static SinkSession session(RecordingSink sink) throws IOException {
        sink.tries.incrementAndGet();
        if (sink.isDown) {
            throw new IOException("connection refused");
        }
        return new SinkSession() {
            @Override
            public void transfer(SinkDataset dataset, FileChannel data) throws IOException {
                sink.await();
                if (sink.refused.contains(dataset.name())) {
                    throw new SinkRejectedException("Error: " + dataset.name() + " is refused");
                }
                ByteBuffer bytes = ByteBuffer.allocate((int) Math.min(dataset.length(), 1 << 20));
                data.read(bytes, 0);
                sink.datasets.put(dataset.name(), bytes.array());
                sink.order.add(dataset.name());
            }

            @Override
            public String command(String text) throws IOException {
                sink.await();
                if (sink.refused.contains(text)) {
                    throw new SinkRejectedException("Error: " + text);
                }
                sink.order.add(text);
                return sink.answer;
            }

            @Override
            public void close() {}
        };
    }

    @Override
    public void close() {
        openAll();
    }
}
