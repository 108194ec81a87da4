package dev.verbena.dart;

import dev.verbena.agent.Await;
import dev.verbena.agent.Environment;
import dev.verbena.agent.HeldPort;
import dev.verbena.agent.RealEnvironment;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * A whole service in one JVM, for tests: an environment, a receiver that keeps what it gets, a
 * master, slaves and clients, over the transport of the suite. Closes everything it made.
 */
public final class DartWorld implements AutoCloseable {
    static {
        dev.verbena.softnic.NativeAccess.open();
    }

    public static final long LIMIT_NS = 60_000_000_000L;

    /** Shorter, so that a test that waited in vain fails by what it says, not by its time limit. */
    private static final long CLOSE_NS = 20_000_000_000L;

    private static final String APART = ":apart";
    private static final int PORTALS_PID = 20_000;
    private static final AtomicInteger COUNT = new AtomicInteger();

    /** A message as it came. */
    public record Received(
            int clientId,
            long sequence,
            int tag,
            String name,
            long step,
            byte[] payload,
            boolean isCorrupt,
            String fileName) {}

    final String scheme;
    private final String streamScheme;

    /** Its other processes have shared memory of their own, as on another host. */
    final boolean isApart;

    private final int number;
    public final Path directory;
    final RealEnvironment environment;
    public final List<Throwable> errors = new CopyOnWriteArrayList<>();
    public final List<Received> received = new CopyOnWriteArrayList<>();
    final List<DartServer> servers = new ArrayList<>();
    final List<DartClient> clients = new ArrayList<>();
    final String job;
    public DartReceiver receiver;

    /** Where its receivers listen, one after the other. */
    final HeldPort heldPort = new HeldPort();

    public int receiverPort = heldPort.port();
    private boolean isClosed;
    public volatile Runnable onMessage = () -> {};

    /**
     * Nothing runs yet.
     *
     * @param scheme of the transport between processes and servers; behind a {@code >} follows that
     *     between servers and receiver, if it is not TCP; {@code auto:apart}: other processes have
     *     shared memory of their own
     */
    public DartWorld(String scheme) {
        int arrow = scheme.indexOf('>');
        String first = arrow < 0 ? scheme : scheme.substring(0, arrow);
        this.isApart = first.endsWith(APART);
        this.scheme = isApart ? first.substring(0, first.length() - APART.length()) : first;
        this.streamScheme = arrow < 0 ? "tcp" : scheme.substring(arrow + 1);
        this.number = COUNT.incrementAndGet();
        this.job = "t" + ProcessHandle.current().pid() + "-" + number;
        try {
            directory = Files.createTempDirectory("dart-test");
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
        environment =
                RealEnvironment.builder()
                        .job(job)
                        .application("dart-test")
                        .errorHandler(errors::add)
                        .build();
    }

    public String configurationFile() {
        return directory.resolve("dart.conf").toString();
    }

    /** Where receivers listen, and servers find them. */
    public URI receiverAt() {
        String place =
                switch (streamScheme) {
                    case "tcp", "gni" -> "127.0.0.1:" + receiverPort;
                    case "verbs" -> "127.0.0.1:" + receiverPort + "/" + job + "/receiver";
                    case "ofi" -> "127.0.0.1:" + receiverPort + "/?provider=tcp";
                    case "portals" -> job + "/1." + (PORTALS_PID + number);
                    default -> job + "/receiver";
                };
        return URI.create(streamScheme + "://" + place);
    }

    public DartReceiver.Context receiverContext() {
        return new DartReceiver.Context()
                .environment(environment)
                .listen(receiverAt())
                .handler(
                        message -> {
                            byte[] payload = new byte[message.length()];
                            message.buffer().getBytes(message.offset(), payload);
                            received.add(
                                    new Received(
                                            message.clientId(),
                                            message.sequence(),
                                            message.tag(),
                                            message.metadata().name(),
                                            message.metadata().step(),
                                            payload,
                                            message.isCorrupt(),
                                            message.fileName()));
                            onMessage.run();
                        });
    }

    public DartWorld receive() {
        return receive(receiverContext());
    }

    public DartWorld receive(DartReceiver.Context context) {
        receiver = DartReceiver.launch(context);
        receiverPort = receiver.port() == 0 ? receiverPort : receiver.port();
        return this;
    }

    public DartServer.Context serverContext() {
        DartServer.Context context =
                new DartServer.Context()
                        .environment(environment)
                        .configurationFile(configurationFile())
                        .transport(scheme)
                        .transportJob(job)
                        .receiver(receiverAt())
                        .bufferSize(64 * 1024)
                        .bufferCount(4)
                        .closeTimeoutNs(10_000_000_000L);
        // Most buffers are filled in several pieces.
        context.pieceLength = 16 * 1024;
        return context;
    }

    public DartServer master(Consumer<DartServer.Context> change) {
        DartServer.Context context = serverContext().master();
        change.accept(context);
        return launch(context);
    }

    public DartServer master() {
        return master(context -> {});
    }

    public DartServer slave(Consumer<DartServer.Context> change) {
        DartServer.Context context = serverContext().slave();
        change.accept(context);
        return launch(context);
    }

    public DartServer slave() {
        return slave(context -> {});
    }

    private DartServer launch(DartServer.Context context) {
        DartServer server = DartServer.launch(context);
        servers.add(server);
        return server;
    }

    public DartClient.Context clientContext(int rank) {
        return new DartClient.Context()
                .environment(environment)
                .configurationFile(configurationFile())
                .transport(scheme)
                .transportJob(job)
                .rank(rank)
                .closeTimeoutNs(10_000_000_000L);
    }

    public DartClient client(int rank) {
        return client(rank, context -> {});
    }

    public DartClient client(int rank, Consumer<DartClient.Context> change) {
        DartClient.Context context = clientContext(rank);
        change.accept(context);
        DartClient client = DartClient.connect(context);
        clients.add(client);
        return client;
    }

    public static UnsafeBuffer bytes(int length, long seed) {
        byte[] bytes = new byte[length];
        new java.util.SplittableRandom(seed).nextBytes(bytes);
        return new UnsafeBuffer(bytes);
    }

    /** What a receiver shows under this label. */
    public static long counter(Environment of, String label) {
        long[] value = {0};
        of.counters()
                .forEach(
                        (id, text) -> {
                            if (text.equals("dart receiver " + label)) {
                                value[0] = of.counters().getCounterValue(id);
                            }
                        });
        return value[0];
    }

    void awaitReceived(int count) {
        Await.until(
                () ->
                        count
                                + " messages; there are "
                                + received.size()
                                + ", errors "
                                + errors
                                + ", servers "
                                + servers.stream().map(DartServer::statistics).toList(),
                () -> received.size() >= count);
    }

    /** Errors that tell of something else than an end of a connection at shut-down. */
    public List<Throwable> errors() {
        return List.copyOf(errors);
    }

    @Override
    public void close() throws IOException {
        if (isClosed) {
            return;
        }
        isClosed = true;
        try {
            for (DartClient client : clients) {
                client.close(CLOSE_NS);
            }
        } finally {
            for (int i = servers.size() - 1; i >= 0; i--) {
                servers.get(i).close();
            }
            if (receiver != null) {
                receiver.close();
            }
            environment.close();
            heldPort.close();
            try (Stream<Path> paths = Files.walk(directory)) {
                for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(path);
                }
            }
        }
    }
}
