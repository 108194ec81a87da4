package dev.verbena.cli.chaos;

import dev.verbena.agent.RealEnvironment;
import dev.verbena.dart.DartClient;
import dev.verbena.dart.DartException;
import dev.verbena.dart.DartMetadata;
import dev.verbena.dart.DartTicket;
import dev.verbena.dart.TicketState;
import dev.verbena.memory.RegisteredRegion;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * A sender of the chaos test: {@code CONFIG SCHEME CLIENT LIFE SEED}. Sends until its standard
 * input ends, connects again when its server is lost, and writes down what became of every message;
 * each line is in the kernel before the next step, so that a kill loses none.
 */
final class ChaosClient {
    private static final int COPIED_MAX = 100_000;
    private static final int PAUSE_MAX_MS = 160;

    /** Connections of one life at most. */
    private static final int CONNECTIONS_MAX = 1000;

    private static final long CLOSE_NS = TimeUnit.SECONDS.toNanos(60);

    private final String config;
    private final String scheme;
    private final int number;
    private final int life;
    private final long seed;
    private final SplittableRandom random;
    private final Deque<Sent> pending = new ArrayDeque<>();
    private final DartMetadata metadata = new DartMetadata();
    private volatile boolean isEnding;
    private int index;

    /** Each connection is another client to the service, and orders its own messages only. */
    private int connections;

    private record Sent(Payload.Name name, DartTicket ticket) {}

    private ChaosClient(String[] arguments) {
        config = arguments[0];
        scheme = arguments[1];
        number = Integer.parseInt(arguments[2]);
        life = Integer.parseInt(arguments[3]);
        seed = Long.parseLong(arguments[4]);
        random = new SplittableRandom(seed + number * 77L + life);
    }

    public static void main(String[] arguments) throws Exception {
        ChaosClient client = new ChaosClient(arguments);
        Thread watch = new Thread(client::awaitEnd, "end-of-input");
        watch.setDaemon(true);
        watch.start();
        try (RealEnvironment environment =
                RealEnvironment.builder().application("chaos client").build()) {
            client.run(environment);
        }
        say("end");
    }

    private void awaitEnd() {
        try {
            while (System.in.read() >= 0) {
                continue;
            }
        } catch (IOException e) {
            say("standard input: " + e.getMessage());
        }
        isEnding = true;
    }

    private static void say(String line) {
        System.out.println(line);
    }

    private void run(RealEnvironment environment) throws InterruptedException {
        while (!isEnding) {
            DartClient client = connect(environment);
            if (client == null) {
                TimeUnit.MILLISECONDS.sleep(100);
                continue;
            }
            connections++;
            say("connected " + client.clientId() + " to server " + client.serverId());
            try {
                sendUntilEnd(client);
            } catch (DartException e) {
                say("broken " + e.getMessage());
            }
            try {
                client.close(isEnding ? CLOSE_NS : TimeUnit.SECONDS.toNanos(1));
            } catch (DartException e) {
                say("closed " + e.getMessage());
            }
            writeDown();
            if (!pending.isEmpty()) {
                say("error: after close not final: " + pending.peek().ticket());
                pending.clear();
            }
        }
    }

    private DartClient connect(RealEnvironment environment) {
        try {
            return DartClient.connect(
                    new DartClient.Context()
                            .environment(environment)
                            .transport(scheme)
                            .configurationFile(config)
                            .rank(number)
                            .maxInFlight(2)
                            .reassign(number > 0)
                            .checksum(true)
                            .bootTimeoutNs(TimeUnit.SECONDS.toNanos(5)));
        } catch (DartException e) {
            say("refused " + e.getMessage());
            return null;
        }
    }

    private void sendUntilEnd(DartClient client) throws InterruptedException {
        RegisteredRegion region = client.allocate(Payload.LENGTH_MAX);
        DartTicket referring = null;
        while (!isEnding) {
            Payload.Name name =
                    new Payload.Name(number, life * CONNECTIONS_MAX + connections, index++);
            byte[] bytes = Payload.bytes(seed, name);
            metadata.clear().name(name.toString()).rank(number).step(name.index());
            DartTicket ticket;
            if (bytes.length <= COPIED_MAX) {
                ticket =
                        client.sendCopy(
                                new UnsafeBuffer(bytes), 0, bytes.length, metadata, name.index());
            } else {
                if (referring != null) {
                    referring.await(TicketState.TRANSFERRED, CLOSE_NS);
                }
                region.buffer(0, bytes.length).putBytes(0, bytes);
                ticket = client.send(region, 0, bytes.length, metadata, name.index());
                referring = ticket;
            }
            say("sent " + name);
            pending.add(new Sent(name, ticket));
            writeDown();
            TimeUnit.MILLISECONDS.sleep(random.nextInt(PAUSE_MAX_MS));
        }
    }

    /** What is known of the oldest messages. */
    private void writeDown() {
        while (!pending.isEmpty() && pending.peek().ticket().state().isFinal()) {
            Sent sent = pending.poll();
            say(
                    switch (sent.ticket().state()) {
                        case STREAMED -> "streamed " + sent.name();
                        case SPILLED -> "spilled " + sent.name();
                        default -> "failed " + sent.name() + " " + sent.ticket().failure();
                    });
        }
    }
}
