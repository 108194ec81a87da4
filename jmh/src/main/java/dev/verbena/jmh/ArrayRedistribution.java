package dev.verbena.jmh;

import dev.verbena.agent.RealEnvironment;
import dev.verbena.nessie.nnti.BufferFlags;
import dev.verbena.nessie.nnti.NntiBuffer;
import dev.verbena.nessie.nnti.NntiOptions;
import dev.verbena.nessie.nnti.NntiPeer;
import dev.verbena.nessie.nnti.NntiTransport;
import dev.verbena.nessie.nnti.WorkRequest;
import dev.verbena.nessie.service.ArrayClient;
import dev.verbena.nessie.service.ArrayDescription;
import dev.verbena.nessie.service.ArrayServer;
import dev.verbena.nessie.service.ArrayServerOptions;
import dev.verbena.nessie.service.ArrayType;
import dev.verbena.staging.metadata.Box;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.Transports;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.IntFunction;

/**
 * 256 MiB through an array server over shm://: put as four blocks of rows, got by two clients as
 * halves of the rows and as halves of the columns. Beside it streams of gets of the same bytes
 * without a protocol: of 64 MiB, as long as the blocks, for which the NIC stores past the caches,
 * and of 32 KiB, as long as what is contiguous in half of the columns. Each round measures all, one
 * after the other. Arguments: rounds, 11 unless given.
 */
public final class ArrayRedistribution implements AutoCloseable {
    private static final int ROWS = 4096;
    private static final int COLUMNS = 8192;
    private static final int BYTES = ROWS * COLUMNS * 8;
    private static final int BLOCKS = 4;
    private static final int WINDOW = 4;
    private static final long LIMIT_MS = 60_000;

    private final TransportContext context =
            new TransportContext().job("redistribution" + ProcessHandle.current().pid());
    private final ExecutorService[] threads = {
        Executors.newSingleThreadExecutor(), Executors.newSingleThreadExecutor()
    };
    private final RealEnvironment environment;
    private final ArrayServer server;
    private final ArrayClient writer;
    private final NntiBuffer[] blocks = new NntiBuffer[BLOCKS];
    private final ArrayClient[] readers = new ArrayClient[2];
    private final NntiBuffer[] halves = new NntiBuffer[2];
    private final NntiTransport owner;
    private final NntiTransport getter;
    private final NntiBuffer source;
    private final NntiBuffer target;
    private final NntiPeer peer;
    private long version;

    private ArrayRedistribution(Path directory) {
        environment = RealEnvironment.builder().job(context.job()).build();
        ArrayServerOptions options = ArrayServerOptions.DEFAULT.withVersionsKept(1);
        server = ArrayServer.start(environment, open(), directory.toString(), options);
        writer = connect();
        for (int i = 0; i < BLOCKS; i++) {
            blocks[i] = writer.allocate(BYTES / BLOCKS);
        }
        for (int i = 0; i < 2; i++) {
            int half = i;
            on(
                            i,
                            () -> {
                                readers[half] = connect();
                                halves[half] = readers[half].allocate(BYTES / 2);
                            })
                    .join();
        }
        owner = new NntiTransport(open(), NntiOptions.ONE_SIDED);
        source = owner.alloc(BYTES, 1, BufferFlags.GET_SRC);
        source.window().setMemory(0, BYTES, (byte) 7);
        getter = new NntiTransport(open(), NntiOptions.ONE_SIDED);
        target = getter.alloc(BYTES, 1, BufferFlags.GET_DST);
        peer = getter.startConnect(owner.url(), LIMIT_MS * 1_000_000);
        while (peer.state() != NntiPeer.State.READY) {
            owner.progress();
            getter.progress();
        }
    }

    private Transport open() {
        return Transports.open("shm", context);
    }

    private ArrayClient connect() {
        return ArrayClient.connect(
                open(), List.of(server.url()), LIMIT_MS, environment.errorHandler());
    }

    private CompletableFuture<Void> on(int thread, Runnable action) {
        return CompletableFuture.runAsync(action, threads[thread]);
    }

    private static double rate(Runnable action) {
        long begin = System.nanoTime();
        action.run();
        return BYTES / 1e-3 / (System.nanoTime() - begin);
    }

    private static Box rows(int block) {
        int count = ROWS / BLOCKS;
        return Box.of(new long[] {block * count, 0}, new long[] {count, COLUMNS});
    }

    private void put() {
        ArrayDescription array =
                new ArrayDescription("field", version, ArrayType.FLOAT64, Box.whole(ROWS, COLUMNS));
        for (int i = 0; i < BLOCKS; i++) {
            writer.put(array, rows(i), blocks[i]);
        }
    }

    private static Box halfOfRows(int half) {
        return Box.of(new long[] {half * ROWS / 2, 0}, new long[] {ROWS / 2, COLUMNS});
    }

    private static Box halfOfColumns(int half) {
        return Box.of(new long[] {0, half * COLUMNS / 2}, new long[] {ROWS, COLUMNS / 2});
    }

    private void get(IntFunction<Box> boxes) {
        CompletableFuture<?>[] both = new CompletableFuture<?>[2];
        for (int i = 0; i < 2; i++) {
            int half = i;
            Box box = boxes.apply(half);
            both[i] = on(i, () -> readers[half].get("field", version, box, halves[half], LIMIT_MS));
        }
        CompletableFuture.allOf(both).join();
    }

    /** Several are under way at a time. */
    private void raw(int length) {
        WorkRequest[] works = new WorkRequest[WINDOW];
        for (int i = 0; i < BYTES / length + WINDOW; i++) {
            int slot = i % WINDOW;
            if (works[slot] != null) {
                getter.await(works[slot], LIMIT_MS);
                works[slot] = null;
            }
            if (i < BYTES / length) {
                works[slot] = new WorkRequest();
                int at = i * length;
                getter.get(peer, source.handle(), at, length, target, at, works[slot]);
            }
        }
    }

    private double[] round() {
        double raw = rate(() -> raw(BYTES / BLOCKS));
        double put = rate(this::put);
        double rows = rate(() -> get(ArrayRedistribution::halfOfRows));
        double rawShort = rate(() -> raw(COLUMNS / 2 * 8));
        double columns = rate(() -> get(ArrayRedistribution::halfOfColumns));
        // The version before goes, and the next one gets its memory; not measured.
        writer.seal("field", version);
        version++;
        return new double[] {
            raw, rawShort, put, rows, columns, put / raw, rows / raw, columns / rawShort
        };
    }

    /** Prints medians. */
    public static void main(String[] arguments) throws Exception {
        int rounds = arguments.length == 0 ? 11 : Integer.parseInt(arguments[0]);
        try (TemporaryFolder folder = new TemporaryFolder("redistribution-");
                ArrayRedistribution measured = new ArrayRedistribution(folder.path)) {
            // Two touch every page: the memory of two versions takes turns.
            measured.round();
            measured.round();
            double[][] samples = new double[rounds][];
            for (int i = 0; i < rounds; i++) {
                samples[i] = measured.round();
            }
            String[] names = {
                "raw get, 64 MiB, MB/s",
                "raw get, 32 KiB, MB/s",
                "put of 4, MB/s",
                "get of 2, rows, MB/s",
                "get of 2, columns, MB/s",
                "put / raw, 64 MiB",
                "rows / raw, 64 MiB",
                "columns / raw, 32 KiB"
            };
            for (int i = 0; i < names.length; i++) {
                int column = i;
                double[] values = Arrays.stream(samples).mapToDouble(s -> s[column]).toArray();
                System.out.printf("\"%s\": %s%n", names[i], Samples.spread(values));
            }
        }
    }

    @Override
    public void close() {
        for (int i = 0; i < 2; i++) {
            on(i, readers[i]::close).join();
            threads[i].shutdown();
        }
        writer.close();
        getter.close();
        owner.close();
        server.close();
        environment.close();
    }
}
