package dev.verbena.jmh;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportHandler;
import dev.verbena.transport.Transports;
import java.io.IOException;
import java.net.URI;
import java.util.HexFormat;
import java.util.concurrent.CompletableFuture;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Puts as long as components, out of memory as long as the input's ring, around a ring of another
 * process: what {@link FlesnetFigures} moves, without a protocol.
 */
final class RawRing implements AutoCloseable {
    private static final int RING = 1 << FlesnetFigures.RING_EXPONENT;
    private static final int SOURCE = 1 << FlesnetFigures.SOURCE_EXPONENT;
    private static final int WINDOW = RING / FlesnetFigures.COMPONENT;

    private final OtherProcess process;
    private final Transport transport;
    private final RegisteredRegion source;
    private final RemoteDescriptor ring = new RemoteDescriptor();
    private final UnsafeBuffer content = new UnsafeBuffer(new byte[FlesnetFigures.COMPONENT]);
    private final long connection;

    private RawRing() throws IOException {
        String job = "raw-ring" + ProcessHandle.current().pid();
        process = OtherProcess.start(FlesnetFigures.class, "target", job);
        URI uri = URI.create(process.line());
        ring.decode(new UnsafeBuffer(HexFormat.of().parseHex(process.line())), 0);
        transport = Transports.open("shm", new TransportContext().job(job).name("initiator"));
        source = transport.allocate(SOURCE, 0);
        connection = ConnectedPair.connect(transport, uri);
    }

    /** MB/s. */
    static double put() throws IOException {
        try (RawRing ring = new RawRing()) {
            return FlesnetFigures.megabytesPerSecond(ring::round);
        }
    }

    /** Fills the source as an input's ring is filled, then puts it. */
    private long round() {
        UnsafeBuffer memory = source.buffer(0, SOURCE);
        for (int at = 0; at < SOURCE; at += FlesnetFigures.COMPONENT) {
            memory.putBytes(at, content, 0, FlesnetFigures.COMPONENT);
        }
        long beginNs = System.nanoTime();
        int outstanding = 0;
        for (int at = 0; at < SOURCE; at += FlesnetFigures.COMPONENT) {
            while (outstanding == WINDOW) {
                outstanding -= transport.poll(TransportHandler.IGNORE, WINDOW);
            }
            put(at);
            outstanding++;
        }
        while (outstanding > 0) {
            outstanding -= transport.poll(TransportHandler.IGNORE, WINDOW);
        }
        return System.nanoTime() - beginNs;
    }

    private void put(int at) {
        int length = FlesnetFigures.COMPONENT;
        int result = transport.put(connection, source, at, ring, at & RING - 1, length, at, 0);
        if (result != Transport.ACCEPTED) {
            throw new IllegalStateException("put was refused with code " + result);
        }
    }

    /** In the other process: has the ring until its input closes. */
    static void target(String job) {
        try (Transport target =
                        Transports.open("shm", new TransportContext().job(job).name("target"));
                RegisteredRegion region = target.allocate(RING, RemoteDescriptor.REMOTE_ALL)) {
            RemoteDescriptor described = new RemoteDescriptor();
            region.describe(0, RING, RemoteDescriptor.REMOTE_ALL, described);
            UnsafeBuffer bytes = new UnsafeBuffer(new byte[RemoteDescriptor.LENGTH]);
            described.encode(bytes, 0);
            target.listen();
            System.out.println(target.uri());
            System.out.println(HexFormat.of().formatHex(bytes.byteArray()));
            serve(target);
        }
    }

    private static void serve(Transport target) {
        TransportHandler accepting = ConnectedPair.accepting(target);
        CompletableFuture<Void> end = CompletableFuture.runAsync(RawRing::awaitEndOfInput);
        while (!end.isDone()) {
            if (target.poll(accepting, 64) == 0) {
                Thread.onSpinWait();
            }
        }
    }

    private static void awaitEndOfInput() {
        try {
            OtherProcess.awaitEndOfInput();
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    @Override
    public void close() throws IOException {
        transport.disconnect(connection);
        source.close();
        transport.close();
        process.close();
    }
}
