package dev.verbena.jmh;

import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportHandler;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.TearDown;

/**
 * What an operation costs its initiator: post, and poll of the completion. Run with {@code -prof
 * gc}: the normalised allocation rate must stay below 0.1 B/op.
 */
public class TransportBenchmark extends OperationBenchmark {
    private static final TransportHandler NOTHING = TransportHandler.IGNORE;
    private static final int BATCH = 64;

    /** Provider. */
    @Param({"shm", "portals"})
    public String transport;

    /** Bytes of an operation. */
    @Param({"8", "4096"})
    public int length;

    private ConnectedPair pair;
    private long context;

    /** Opens and connects. */
    @Setup(Level.Trial)
    public void open() {
        pair = new ConnectedPair(transport, 1 << 20);
    }

    /** Closes. */
    @TearDown(Level.Trial)
    public void close() {
        pair.close();
    }

    /** One put into the peer's memory, polled in batches. */
    @Benchmark
    public int put() {
        return finish(
                pair.initiator.put(
                        pair.connection, pair.source, 0, pair.descriptor, 0, length, context++, 0));
    }

    /** One get from the peer's memory, polled in batches. */
    @Benchmark
    public int get() {
        return finish(
                pair.initiator.get(
                        pair.connection, pair.source, 0, pair.descriptor, 0, length, context++, 0));
    }

    /** One message; the peer's thread receives it. At 4 KiB it is as long as a receive slot. */
    @Benchmark
    public int send() {
        int result;
        do {
            result = pair.initiator.send(pair.connection, pair.source, 0, length, context, 0);
            if (result != Transport.ACCEPTED) {
                pair.initiator.poll(NOTHING, BATCH);
            }
        } while (result == Transport.BACK_PRESSURED);
        context++;
        return finish(result);
    }

    private int finish(int result) {
        if (result != Transport.ACCEPTED) {
            throw new IllegalStateException("operation was refused with code " + result);
        }
        return (context & (BATCH - 1)) == 0 ? pair.initiator.poll(NOTHING, 2 * BATCH) : 0;
    }
}
