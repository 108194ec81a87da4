package dev.verbena.cli.experiment;

import dev.verbena.cli.terminal.ChildProcess;
import dev.verbena.cli.terminal.Messages;
import dev.verbena.cli.transfer.PerfEndpoint;
import dev.verbena.cli.transfer.PerfPeer;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * The gets that a server would do, without a protocol: out of two processes' worth of memory of
 * another process into as many buffers as a server has, in pieces of a buffer.
 */
final class RawGet implements AutoCloseable {
    private static final long START_SECONDS = 60;
    private static final int SOURCES = 2;

    /** Memory of each process, at most. */
    private static final int LENGTH_MAX = 1 << 30;

    private final int sources;
    private final int bufferSize;
    private final int bufferCount;
    private final ChildProcess child;
    private final PerfEndpoint endpoint;

    /**
     * Starts the other process and connects. Fewer buffers or one source where all do not fit.
     *
     * @param sizeMax longest message
     */
    RawGet(String scheme, int sizeMax, int bufferSize, int bufferCount)
            throws InterruptedException {
        this.bufferSize = bufferSize;
        this.bufferCount = fitting(bufferCount, bufferSize);
        sources = fitting(SOURCES, sizeMax);
        int length = Math.max(sources * sizeMax, this.bufferCount * bufferSize);
        BlockingQueue<String> told = new ArrayBlockingQueue<>(4);
        child =
                ChildProcess.start(
                        "the raw transfers' other process",
                        null,
                        Map.of(),
                        List.of("-Xmx256m"),
                        PerfPeer.arguments(scheme, length, PerfEndpoint.Settings.usual()),
                        told::add);
        String answer = told.poll(START_SECONDS, TimeUnit.SECONDS);
        if (answer == null || !answer.startsWith("uri ")) {
            child.end(0);
            throw new Messages.Failure(child.exitSummary());
        }
        endpoint = new PerfEndpoint(scheme, length, PerfEndpoint.Settings.usual());
        endpoint.connect(URI.create(answer.substring(4)));
    }

    /** How many, of those wanted, have room. */
    static int fitting(int wanted, int size) {
        return Math.min(wanted, Math.max(1, LENGTH_MAX / size));
    }

    /** MB/s of this many messages. */
    double rate(int size, int messages) {
        transfer(size, Math.max(2, messages / 10));
        long begin = System.nanoTime();
        transfer(size, messages);
        return (double) messages * size * 1e3 / (System.nanoTime() - begin);
    }

    private void transfer(int size, int messages) {
        long piece = 0;
        for (int i = 0; i < messages; i++) {
            long source = (long) (i % sources) * size;
            for (int at = 0; at < size; at += bufferSize) {
                int length = Math.min(bufferSize, size - at);
                long target = piece++ % bufferCount * bufferSize;
                endpoint.startGet(target, source + at, length, bufferCount);
            }
        }
        endpoint.drain();
    }

    @Override
    public void close() {
        endpoint.close();
        child.end(2000);
    }
}
