package dev.verbena.examples;

import dev.verbena.agent.RealEnvironment;
import dev.verbena.dart.DartClient;
import dev.verbena.dart.DartMessage;
import dev.verbena.dart.DartMetadata;
import dev.verbena.dart.DartReceiver;
import dev.verbena.dart.DartServer;
import dev.verbena.dart.DartTicket;
import dev.verbena.dart.TicketState;
import dev.verbena.memory.RegisteredRegion;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * The staging service in one process: a receiver, a master server, and a compute process that hands
 * over a message and goes on. In real life these are three processes on three machines.
 *
 * <p>Run: {@code java -cp 'cli/target/dist/lib/*' dev.verbena.examples.DartHello [shm|portals]}
 */
public final class DartHello {
    private static final long TIMEOUT_NS = 10_000_000_000L;

    private DartHello() {}

    /** Runs it; the argument is the scheme of the transport. */
    public static void main(String[] arguments) throws Exception {
        String scheme = arguments.length == 0 ? "shm" : arguments[0];
        System.out.println("received: " + run(scheme, "hello, receiver"));
    }

    private static String text(DartMessage message) {
        String payload =
                message.buffer().getStringWithoutLengthUtf8(message.offset(), message.length());
        return message.metadata().name() + ": " + payload;
    }

    /** Sends a text through a server; returns what the receiver got. */
    static String run(String scheme, String text) throws Exception {
        CompletableFuture<String> received = new CompletableFuture<>();
        Path folder = Files.createTempDirectory("dart-hello");
        Path configuration = folder.resolve("job.conf");
        try (RealEnvironment environment = RealEnvironment.create();
                DartReceiver receiver =
                        DartReceiver.launch(
                                new DartReceiver.Context()
                                        .environment(environment)
                                        .handler(m -> received.complete(text(m))));
                DartServer master =
                        DartServer.launch(
                                new DartServer.Context()
                                        .environment(environment)
                                        .transport(scheme)
                                        .configurationFile(configuration.toString())
                                        .receiver("127.0.0.1", receiver.port()))) {
            master.awaitReady(TIMEOUT_NS);
            try (DartClient client =
                    DartClient.connect(
                            new DartClient.Context()
                                    .environment(environment)
                                    .transport(scheme)
                                    .configurationFile(configuration.toString()))) {
                RegisteredRegion region = client.allocate(1024);
                int length = region.buffer(0, 1024).putStringWithoutLengthUtf8(0, text);
                DartMetadata metadata = new DartMetadata().name("greeting").step(1);
                DartTicket ticket = client.send(region, 0, length, metadata, 0);
                // Here a simulation computes; the region stays untouched until TRANSFERRED.
                ticket.await(TicketState.STREAMED, TIMEOUT_NS);
            }
            return received.get(10, TimeUnit.SECONDS);
        } finally {
            Files.deleteIfExists(configuration);
            Files.deleteIfExists(folder.resolve("job.conf.lock"));
            Files.delete(folder);
        }
    }
}
