package dev.verbena.portals.transport;

import dev.verbena.agent.AgentStepper;
import dev.verbena.agent.Await;
import dev.verbena.agent.Environment;
import dev.verbena.agent.RealEnvironment;
import dev.verbena.dart.DartClient;
import dev.verbena.dart.DartReceiver;
import dev.verbena.dart.DartServer;
import dev.verbena.portals.PortalsRegister;
import dev.verbena.portals.PortalsTrace;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * One DART server, receiver and clients over the Portals provider, all stepped by the test's
 * thread; the test sees the server's and the first client's transport and may stop the server, or
 * let it take so many events only.
 */
final class DartOnList implements AutoCloseable {
    private static final AtomicInteger SERIAL = new AtomicInteger();

    /** One Portals call. */
    record Call(String who, String name, String arguments, String result) {}

    final List<Call> calls = new ArrayList<>();
    final List<Integer> receivedTags = new ArrayList<>();
    final List<Throwable> errors = new CopyOnWriteArrayList<>();
    final String job = "list-" + ProcessHandle.current().pid() + "-" + SERIAL.getAndIncrement();
    final RealEnvironment environment =
            RealEnvironment.builder()
                    .job(job)
                    .application("dart-list")
                    .errorHandler(errors::add)
                    .build();
    final Path directory;
    final List<DartClient> clients = new ArrayList<>();
    PortalsTransport serverTransport;
    PortalsTransport clientTransport;
    DartServer server;
    boolean isTracing;
    boolean isServerStopped;

    /** Events that the server may still take; negative: any number. */
    int serverBudget = -1;

    private DartReceiver receiver;
    private AgentStepper serverStepper;
    private AgentStepper receiverStepper;

    DartOnList() throws IOException {
        directory = Files.createTempDirectory("dart-list");
    }

    /** Starts server and receiver; {@code sizes} changes how the server's transport is opened. */
    DartOnList start(Consumer<TransportContext> sizes, Consumer<DartServer.Context> change) {
        receiver =
                DartReceiver.embed(
                        new DartReceiver.Context()
                                .environment(environment)
                                .handler(message -> receivedTags.add(message.tag())));
        receiverStepper =
                new AgentStepper(List.of(receiver.agent()), null, environment.errorHandler());
        DartServer.Context context =
                new DartServer.Context()
                        .environment(probe("server", sizes, true))
                        .configurationFile(directory.resolve("dart.conf").toString())
                        .transport("portals")
                        .transportJob(job)
                        .receiver("127.0.0.1", receiver.port())
                        .bufferSize(4096)
                        .bufferCount(4)
                        .clientsMax(8)
                        .creditsPerClient(64)
                        .master();
        change.accept(context);
        server = DartServer.embed(context);
        serverStepper = new AgentStepper(server.agents(), null, environment.errorHandler());
        until("server ready", server::isReady);
        return this;
    }

    DartClient client(int rank) {
        DartClient client =
                DartClient.start(
                        new DartClient.Context()
                                .environment(probe("client", context -> {}, false))
                                .configurationFile(directory.resolve("dart.conf").toString())
                                .transport("portals")
                                .transportJob(job)
                                .rank(rank)
                                .maxInFlight(64)
                                .unconfirmedMax(256)
                                .headerTimeoutNs(100_000_000_000L));
        clients.add(client);
        until("client connected", client::isConnected);
        return client;
    }

    private Environment probe(String who, Consumer<TransportContext> sizes, boolean isServer) {
        return proxy(
                Environment.class,
                environment,
                (name, arguments) -> {
                    if (!name.equals("openTransport")) {
                        return null;
                    }
                    TransportContext context = (TransportContext) arguments[1];
                    sizes.accept(context);
                    PortalsTrace trace =
                            (call, text, result) -> {
                                if (isTracing) {
                                    calls.add(new Call(who, call, text, result));
                                }
                            };
                    PortalsTransport opened = PortalsTransportProvider.open(context, trace);
                    if (isServer) {
                        serverTransport = opened;
                        return limited(opened);
                    }
                    clientTransport = opened;
                    return opened;
                });
    }

    private Transport limited(Transport transport) {
        return proxy(
                Transport.class,
                transport,
                (name, arguments) -> {
                    if (!name.equals("poll") || serverBudget < 0) {
                        return null;
                    }
                    int limit = Math.min((Integer) arguments[1], serverBudget);
                    int count =
                            transport.poll(
                                    (dev.verbena.transport.TransportHandler) arguments[0], limit);
                    serverBudget -= Math.max(0, count);
                    return count;
                });
    }

    private interface Answer {
        Object answer(String name, Object[] arguments) throws Throwable;
    }

    private static <T> T proxy(Class<T> type, T inner, Answer answer) {
        return type.cast(
                Proxy.newProxyInstance(
                        type.getClassLoader(),
                        new Class<?>[] {type},
                        (self, method, arguments) -> {
                            Object given = answer.answer(method.getName(), arguments);
                            try {
                                return given != null ? given : method.invoke(inner, arguments);
                            } catch (InvocationTargetException e) {
                                throw e.getCause();
                            }
                        }));
    }

    int step() {
        int work = isServerStopped ? 0 : serverStepper.step();
        work += receiverStepper.step();
        for (DartClient client : clients) {
            work += client.progress();
        }
        return work;
    }

    void until(String what, BooleanSupplier condition) {
        Await.until(
                () -> what + "; received " + receivedTags.size() + ", errors " + errors,
                this::step,
                condition);
    }

    void settle() {
        for (int idle = 0; idle < 1000; ) {
            idle = step() == 0 ? idle + 1 : 0;
        }
    }

    long serverDescriptors() {
        return serverTransport.register(PortalsRegister.DESCRIPTORS);
    }

    long serverEntries() {
        return serverTransport.register(PortalsRegister.MATCH_ENTRIES);
    }

    /** Buffers of the list in its order, as the server's Java side knows it. */
    List<ReceiveBuffer> list() {
        ReceiveQueue queue = serverTransport.resources().messages;
        List<ReceiveBuffer> list = new ArrayList<>();
        for (int i = 0; queue.buffer(i) != null; i++) {
            if (queue.buffer(i).state == ReceiveBuffer.LINKED) {
                list.add(queue.buffer(i));
            }
        }
        list.sort(Comparator.comparingLong(buffer -> buffer.turn));
        return list;
    }

    /** Numbers of the messages in a buffer that nobody has taken, by offset. */
    static List<Integer> waiting(ReceiveBuffer buffer) {
        List<Integer> numbers = new ArrayList<>();
        int at = 0;
        while (at + MessageHeader.LENGTH <= buffer.bytes.capacity()) {
            int state = buffer.bytes.getInt(at + MessageHeader.STATE_OFFSET);
            if (state == MessageHeader.FRESH) {
                numbers.add(buffer.bytes.getInt(at + MessageHeader.NUMBER_OFFSET));
            } else if (state != MessageHeader.TAKEN) {
                break;
            }
            at += MessageHeader.space(buffer.bytes.getInt(at + MessageHeader.LENGTH_OFFSET));
        }
        return numbers;
    }

    @Override
    public void close() throws IOException {
        isServerStopped = false;
        serverBudget = -1;
        try {
            for (DartClient client : clients) {
                until("all confirmed", () -> client.unconfirmed().isEmpty());
                client.close(0);
            }
        } finally {
            serverStepper.close();
            receiverStepper.close();
            environment.close();
            try (Stream<Path> paths = Files.walk(directory)) {
                for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(path);
                }
            }
        }
    }
}
