package dev.verbena.examples.pic;

import dev.verbena.agent.Environment;
import dev.verbena.dart.DartClient;
import dev.verbena.dart.DartMetadata;
import dev.verbena.dart.DartStatistics;
import dev.verbena.dart.ElementType;
import dev.verbena.dart.Packer;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.function.LongConsumer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * One compute process of the demo: simulates, and stages a restart file every so many steps through
 * DART.
 *
 * <p>Messages carry the variable {@code restart} (a whole file, named as {@link RestartNames}
 * says), {@code restart-item} (one item of it; properties {@code item} and {@code last}), or {@code
 * timing} at the end (what staging cost, one line a file).
 */
public final class PicProgram {
    /** Variable of a whole restart file. */
    public static final String RESTART = "restart";

    /** Variable of one item of a restart file. */
    public static final String RESTART_ITEM = "restart-item";

    /** Variable of the message that tells what staging cost. */
    public static final String TIMING = "timing";

    private static final int MESSAGE_LENGTH_MAX = Integer.MAX_VALUE - 8192;

    private final PicDeck deck;
    private final Rendezvous group;
    private final Environment environment;
    private final DartClient client;
    private final DartMetadata metadata = new DartMetadata();
    private final Packer packer = new Packer(MESSAGE_LENGTH_MAX);
    private final StringBuilder costs = new StringBuilder();
    private long computeNs;

    private PicProgram(PicDeck deck, Rendezvous group, Environment environment, DartClient client) {
        this.deck = deck;
        this.group = group;
        this.environment = environment;
        this.client = client;
    }

    /**
     * Runs to the end and closes what it opened.
     *
     * @param deck the same in all processes
     * @param group this process and the others
     * @param scheme of the transport, for the exchange and for DART
     * @param configurationFile of the DART service
     * @param restart folder with restart files, or null to begin at step 0
     * @param restartStep step to continue from
     * @param timeoutNs longest wait for another process
     * @param progress gets the number of each step done
     */
    public static void run(
            PicDeck deck,
            Rendezvous group,
            Environment environment,
            String scheme,
            Path configurationFile,
            Path restart,
            long restartStep,
            long timeoutNs,
            LongConsumer progress) {
        int values = PicSimulation.sharedLength(deck.parameters());
        TransportContext context =
                new TransportContext()
                        .name("compute-" + group.rank())
                        .peerTimeoutNs(timeoutNs)
                        .connectionsMax(2 * group.processCount() + 2)
                        .receiveSlotCount(32 * (2 * group.processCount() + 2));
        try (Transport transport = environment.openTransport(scheme, context);
                TransportExchange exchange =
                        TransportExchange.connect(transport, group, values, timeoutNs);
                DartClient client =
                        DartClient.connect(
                                new DartClient.Context()
                                        .environment(environment)
                                        .configurationFile(configurationFile.toString())
                                        .transport(scheme)
                                        .rank(group.rank())
                                        .peerTimeoutNs(timeoutNs)
                                        .bootTimeoutNs(timeoutNs)
                                        .closeTimeoutNs(timeoutNs)
                                        .checksum(true))) {
            PicProgram program = new PicProgram(deck, group, environment, client);
            program.run(program.begin(restart, restartStep, exchange), progress);
            client.flush(timeoutNs);
        }
    }

    private PicSimulation begin(Path restart, long restartStep, PicExchange exchange) {
        int rank = group.rank();
        int count = group.processCount();
        if (restart == null) {
            return PicSimulation.start(deck.parameters(), rank, count, exchange);
        }
        RestartFile file = RestartFile.read(restart.resolve(RestartNames.of(restartStep, rank)));
        return PicSimulation.resume(deck.parameters(), rank, count, file, exchange);
    }

    private void run(PicSimulation simulation, LongConsumer progress) {
        long begin = environment.nanoClock().nanoTime();
        while (simulation.step() < deck.stepCount()) {
            simulation.advance();
            client.progress();
            if (simulation.step() % deck.restartEvery() == 0) {
                long now = environment.nanoClock().nanoTime();
                computeNs = now - begin;
                stage(simulation.restartFile());
                begin = environment.nanoClock().nanoTime();
            }
            progress.accept(simulation.step());
        }
        byte[] lines = costs.toString().getBytes(StandardCharsets.UTF_8);
        metadata.clear().name(TIMING + "-" + group.rank()).variable(TIMING).rank(group.rank());
        metadata.property("transport", shorten(client.transport().explain()));
        client.sendCopy(new UnsafeBuffer(lines), 0, lines.length, metadata, 0);
    }

    private static String shorten(String text) {
        String line = text.replace('\n', ' ').strip();
        int limit = DartMetadata.TEXT_LENGTH_MAX;
        while (line.getBytes(StandardCharsets.UTF_8).length > limit) {
            line = line.substring(0, line.length() - 1);
        }
        return line;
    }

    /** Sends a restart file: packed, or item by item. */
    private void stage(RestartFile file) {
        DartStatistics statistics = client.statistics();
        long messages = statistics.messageCount();
        long headerNs = statistics.headerTime().totalNs();
        long waitNs = statistics.waitTime().totalNs();
        long totalNs = statistics.totalTime().totalNs();
        String name = RestartNames.of(file.step(), file.rank());
        metadata.clear().name(name).step(file.step()).rank(file.rank());
        if (deck.buffered()) {
            metadata.variable(RESTART).elementType(ElementType.PACKED);
            file.write(
                    (item, bytes) ->
                            packer.putBytes(new UnsafeBuffer(bytes), 0, bytes.remaining()));
            packer.commit(client, metadata, 0);
        } else {
            metadata.variable(RESTART_ITEM);
            int[] number = {0};
            file.write(
                    (item, bytes) -> {
                        metadata.name(name + "." + number[0]);
                        metadata.property("file", name);
                        metadata.property("item", Integer.toString(number[0]++));
                        metadata.property("last", Boolean.toString(item.equals("crc")));
                        UnsafeBuffer buffer = new UnsafeBuffer(bytes);
                        client.sendCopy(buffer, 0, bytes.remaining(), metadata, number[0]);
                    });
        }
        costs.append(file.rank()).append(',').append(file.step()).append(',');
        costs.append(file.length()).append(',');
        costs.append(statistics.messageCount() - messages).append(',');
        costs.append(statistics.headerTime().totalNs() - headerNs).append(',');
        costs.append(statistics.waitTime().totalNs() - waitNs).append(',');
        costs.append(statistics.totalTime().totalNs() - totalNs).append(',');
        costs.append(computeNs).append('\n');
    }
}
