package dev.verbena.examples.pic;

import dev.verbena.agent.Environment;
import dev.verbena.agent.JobIdentity;
import dev.verbena.dart.DartClient;
import dev.verbena.dart.DartMetadata;
import dev.verbena.dart.DartStatistics;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * One compute process of the demo: compares ways of output if told to, then simulates, and stages a
 * restart file every so many steps through DART.
 *
 * <p>Messages carry the variable {@code restart} (a whole file, named as {@link RestartNames}
 * says), {@code restart-item} (one item of it; properties {@code file}, {@code item} and {@code
 * last}), the same with {@code compared} for the files of the comparison, or {@code timing} at the
 * end (what output cost, one line a file, and how the transport explains itself).
 */
public final class PicProgram {
    /** Variable of a whole restart file. */
    public static final String RESTART = "restart";

    /** Variable of one item of a restart file. */
    public static final String RESTART_ITEM = "restart-item";

    /** Variable of a whole file of the comparison. */
    public static final String COMPARED = "compared";

    /** Variable of one item of a file of the comparison. */
    public static final String COMPARED_ITEM = "compared-item";

    /** Variable of the message that tells what output cost. */
    public static final String TIMING = "timing";

    /** Most files that a process writes for a comparison. */
    public static final int COMPARED_FILES_MAX = 40;

    /** Long arrays go through memory of this size, which fits into a processor's cache. */
    private static final int PIECE_LENGTH = 128 * 1024;

    private final Settings settings;
    private final Environment environment;
    private final DartClient client;
    private final Listener listener;
    private final DartMetadata metadata = new DartMetadata();
    private final StringBuilder costs = new StringBuilder();
    private final ByteBuffer items;
    private final ByteBuffer pieces = ByteBuffer.allocateDirect(PIECE_LENGTH);
    private final StagedOutput.Slot[] slots;
    private long computeNs;

    /**
     * What to run.
     *
     * @param deck the same in all processes
     * @param identity of this process, one of as many as the deck says
     * @param scheme of the transport, for the exchange and for DART
     * @param configurationFile of the DART service
     * @param restart folder with restart files, or null to begin at step 0
     * @param restartStep step to continue from
     * @param compared folder for the files of the comparison, or null for none
     * @param folder shared by all processes, in which they find each other and list the
     *     fingerprints of what they send
     * @param slotCount memories for whole files, 1 or 2
     * @param timeoutNs longest wait for another process
     */
    public record Settings(
            PicDeck deck,
            JobIdentity identity,
            String scheme,
            Path configurationFile,
            Path restart,
            long restartStep,
            Path compared,
            Path folder,
            int slotCount,
            long timeoutNs) {}

    /** Is notified of the progress. */
    public interface Listener {
        /** Another step of the comparison is done, of so many, now with this way of output. */
        void onCompared(long done, long total, OutputMode mode);

        /** The run begins. */
        void onRun();

        /** A step of the run is done, and its restart file, if there is one, handed over. */
        void onStep(long step);
    }

    private PicProgram(
            Settings settings, Environment environment, DartClient client, Listener listener) {
        this.settings = settings;
        this.environment = environment;
        this.client = client;
        this.listener = listener;
        PicDeck deck = settings.deck();
        long particles = deck.parameters().particleCount() / deck.processCount() + 1;
        this.items = RestartFile.scratch(particles, Math.min(deck.stepCount(), particles / 6));
        this.slots = new StagedOutput.Slot[settings.slotCount()];
        java.util.Arrays.setAll(slots, i -> new StagedOutput.Slot());
    }

    /** Runs to the end and closes what it opened. */
    public static void run(Settings settings, Environment environment, Listener listener) {
        int rank = settings.identity().rank();
        int processCount = settings.identity().size();
        long timeoutNs = settings.timeoutNs();
        int values = PicSimulation.sharedLength(settings.deck().parameters());
        TransportContext context =
                new TransportContext()
                        .name("compute-" + rank)
                        .peerTimeoutNs(timeoutNs)
                        .connectionsMax(2 * processCount + 2)
                        .receiveSlotCount(32 * (2 * processCount + 2));
        try (Transport transport = environment.openTransport(settings.scheme(), context);
                TransportExchange exchange =
                        TransportExchange.connect(
                                transport,
                                settings.identity(),
                                settings.folder(),
                                values,
                                timeoutNs);
                DartClient client =
                        DartClient.connect(
                                new DartClient.Context()
                                        .environment(environment)
                                        .configurationFile(settings.configurationFile().toString())
                                        .transport(settings.scheme())
                                        .rank(rank)
                                        .peerTimeoutNs(timeoutNs)
                                        .bootTimeoutNs(timeoutNs)
                                        .closeTimeoutNs(timeoutNs)
                                        .checksum(true))) {
            PicProgram program = new PicProgram(settings, environment, client, listener);
            PicSimulation simulation = program.begin(exchange);
            if (settings.compared() != null) {
                program.compare(simulation.restartFile().copy(), exchange);
            }
            listener.onRun();
            program.run(simulation);
            client.flush(timeoutNs);
        }
    }

    private PicSimulation begin(PicExchange exchange) {
        PicDeck deck = settings.deck();
        int rank = settings.identity().rank();
        int count = settings.identity().size();
        if (settings.restart() == null) {
            return PicSimulation.start(deck.parameters(), rank, count, exchange);
        }
        String name = RestartNames.of(settings.restartStep(), rank);
        RestartFile file = RestartFile.read(settings.restart().resolve(name));
        return PicSimulation.resume(deck.parameters(), rank, count, file, exchange);
    }

    private StagedOutput staged(boolean isWhole, String whole, String item) {
        long timeoutNs = settings.timeoutNs();
        return isWhole
                ? new StagedOutput(client, whole, timeoutNs, pieces, slots)
                : new StagedOutput(client, item, timeoutNs, items);
    }

    private SentHashes hashes(String what) {
        int rank = settings.identity().rank();
        return new SentHashes(settings.folder().resolve(what + "-" + rank + ".sha256"), pieces);
    }

    private void compare(RestartFile origin, PicExchange exchange) {
        int rank = settings.identity().rank();
        OutputComparison.Plan plan = OutputComparison.Plan.of(settings.deck());
        SentHashes hashes = hashes("compared");
        Map<OutputMode, RestartOutput> outputs = new EnumMap<>(OutputMode.class);
        outputs.put(OutputMode.NONE, RestartOutput.NONE);
        Path folder = settings.compared();
        outputs.put(OutputMode.CACHED, new FileOutput(folder, pieces, false));
        outputs.put(OutputMode.FILES, new FileOutput(folder, pieces, true));
        BackgroundOutput writer = new BackgroundOutput(folder, pieces, slots.length);
        outputs.put(OutputMode.WRITER, writer);
        outputs.put(OutputMode.ITEMS, staged(false, COMPARED, COMPARED_ITEM));
        outputs.put(OutputMode.WHOLE, staged(true, COMPARED, COMPARED_ITEM));
        OutputComparison comparison =
                new OutputComparison(
                        settings.deck(),
                        plan,
                        rank,
                        exchange,
                        outputs,
                        environment.nanoClock()::nanoTime,
                        new OutputComparison.Listener() {
                            @Override
                            public void onStep(long done, long total, OutputMode mode) {
                                client.progress();
                                listener.onCompared(done, total, mode);
                            }

                            @Override
                            public void onReference(RestartFile file) {
                                hashes.add(file, plan.names(file.step(), rank));
                            }
                        });
        try (writer) {
            for (StallSample sample : comparison.run(origin)) {
                costs.append("compared,").append(sample.encode()).append('\n');
            }
        }
    }

    private void run(PicSimulation simulation) {
        PicDeck deck = settings.deck();
        SentHashes hashes = hashes("sent");
        RestartOutput output = staged(deck.buffered(), RESTART, RESTART_ITEM);
        long begin = environment.nanoClock().nanoTime();
        while (simulation.step() < deck.stepCount()) {
            simulation.advance();
            client.progress();
            if (simulation.step() % deck.restartEvery() == 0) {
                RestartFile file = simulation.restartFile();
                computeNs = environment.nanoClock().nanoTime() - begin;
                // The demo's own check is no part of output: its time is not counted.
                hashes.add(file, List.of(RestartNames.of(file.step(), file.rank())));
                stage(file, output);
                begin = environment.nanoClock().nanoTime();
            }
            listener.onStep(simulation.step());
        }
        costs.append("transport,").append(client.transport().explain().replace('\n', ' ').strip());
        byte[] lines = costs.toString().getBytes(StandardCharsets.UTF_8);
        int rank = settings.identity().rank();
        metadata.clear().name(TIMING + "-" + rank).variable(TIMING).rank(rank);
        client.sendCopy(new UnsafeBuffer(lines), 0, lines.length, metadata, 0);
    }

    /** Sends a restart file and notes what that cost. */
    private void stage(RestartFile file, RestartOutput output) {
        DartStatistics statistics = client.statistics();
        long messages = statistics.messageCount();
        long headerNs = statistics.headerTime().totalNs();
        long waitNs = statistics.waitTime().totalNs();
        long totalNs = statistics.totalTime().totalNs();
        long begin = environment.nanoClock().nanoTime();
        output.write(file, RestartNames.of(file.step(), file.rank()));
        long stallNs = environment.nanoClock().nanoTime() - begin;
        costs.append("staged,").append(file.rank()).append(',').append(file.step()).append(',');
        costs.append(file.length()).append(',');
        costs.append(statistics.messageCount() - messages).append(',');
        costs.append(statistics.headerTime().totalNs() - headerNs).append(',');
        costs.append(statistics.waitTime().totalNs() - waitNs).append(',');
        costs.append(statistics.totalTime().totalNs() - totalNs).append(',');
        costs.append(stallNs).append(',').append(computeNs).append('\n');
    }
}
