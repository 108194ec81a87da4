package dev.verbena.nsim.flesnet;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.verbena.flesnet.FlesnetCompute;
import dev.verbena.flesnet.MicrosliceFlyweight;
import dev.verbena.flesnet.PatternSource;
import dev.verbena.flesnet.dfs.DfsParameters;
import dev.verbena.nsim.Machine;
import dev.verbena.nsim.network.Level;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.BitSet;
import java.util.SplittableRandom;

/**
 * One run for the paper's figures 6 to 9: so many inputs and as many compute nodes of {@code
 * aries.machine}, best effort or paced, with components of 64 KiB and rings of 1 MiB. Inputs and
 * compute nodes alternate on the machine's nodes. The file has the seeded noise, too. One thread.
 */
public final class FlesnetExperiment {
    /** Bytes of a component. */
    public static final int COMPONENT = 64 << 10;

    private static final int MICROSLICES = 4;
    private static final int RING_EXPONENT = 20;
    private static final int TICKETS = (1 << RING_EXPONENT) / COMPONENT;
    private static final long SAMPLE_NS = 1_000_000;
    private static final long LIMIT_NS = 600_000_000_000L;
    private static final String MACHINE = "aries.machine";

    /** The first interval that is disturbed, and the first one after them, as in figure 8. */
    public static final int DISTURBED_FROM = 15;

    /** See {@link #DISTURBED_FROM}. */
    public static final int DISTURBED_TO = 25;

    /** Others take so many times their tenth of the cables then; 70 instead of 90 % are left. */
    private static final int OTHERS_TIMES = 3;

    /** What is wrong in the intervals from {@link #DISTURBED_FROM} on. */
    public enum Disturbance {
        /** Nothing. */
        NONE,
        /** Inputs report durations that are a quarter longer than measured. */
        REPORTS,
        /** Others take 30 % of the cables instead of 10 %. */
        LINKS
    }

    private final int pairs;
    private final int perInterval;
    private final int intervals;
    private int history = 3;
    private boolean isPaced;
    private long seed = 1;
    private Disturbance disturbance = Disturbance.NONE;
    private final FlesnetNoise noise = new FlesnetNoise(machineText());

    /**
     * What a run has shown.
     *
     * @param spreadsNs first to last arrival of each timeslice, by number
     * @param bytesPerSecond payload that arrived at all compute nodes, once half of it had: before
     *     lies the time in which nodes find one another
     * @param fills used share of each connection's ring, at each millisecond of the later half of
     *     the run, sorted
     * @param timeslices delivered
     * @param isOnce whether each timeslice was delivered exactly once
     * @param virtualNs how long the run was
     * @param eventCount of the simulator
     * @param plannedNs median over inputs of the planned duration of each interval; best effort has
     *     none
     * @param measuredNs the same of the measured duration
     */
    public record Outcome(
            long[] spreadsNs,
            double bytesPerSecond,
            float[] fills,
            long timeslices,
            boolean isOnce,
            long virtualNs,
            long eventCount,
            long[] plannedNs,
            long[] measuredNs) {
        /** The spread that {@code percent} of the later half of timeslices do not exceed. */
        public long spreadNs(int percent) {
            long[] late = Arrays.copyOfRange(spreadsNs, spreadsNs.length / 2, spreadsNs.length);
            Arrays.sort(late);
            return late[Math.min(late.length - 1, late.length * percent / 100)];
        }

        /** As {@link #spreadNs}, of the fill of rings. */
        public double fill(int percent) {
            return fills[(int) Math.min(fills.length - 1, (long) fills.length * percent / 100)];
        }
    }

    /**
     * A run.
     *
     * @param pairs inputs, and compute nodes
     * @param perInterval timeslices of an interval, at most
     * @param intervals of the run
     */
    public FlesnetExperiment(int pairs, int perInterval, int intervals) {
        this.pairs = pairs;
        this.perInterval = perInterval;
        this.intervals = intervals;
    }

    /** Whether the scheduler paces inputs. */
    public FlesnetExperiment paced(boolean value) {
        isPaced = value;
        return this;
    }

    /** Intervals that the scheduler looks back; 3. */
    public FlesnetExperiment history(int value) {
        history = value;
        return this;
    }

    /** Of the noise; 1. */
    public FlesnetExperiment seed(long value) {
        seed = value;
        return this;
    }

    /** What goes wrong for a while; nothing by default. */
    public FlesnetExperiment disturbance(Disturbance value) {
        disturbance = value;
        return this;
    }

    /** The machine's file. */
    public static String machineText() {
        try (InputStream in = FlesnetExperiment.class.getResourceAsStream(MACHINE)) {
            return new String(in.readAllBytes(), UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The machine, with a topology of at least so many nodes. */
    private static Machine machine(int nodes) {
        Machine machine = new Machine();
        machineText()
                .lines()
                .filter(line -> !line.isBlank() && !line.startsWith("#"))
                .filter(line -> !FlesnetNoise.isNoise(line))
                .forEach(machine::set);
        if (nodes > 384) {
            int rows = (nodes + 63) / 64;
            return machine.set("topology", "hyperx(16," + rows + ";nodes=4,routing=ugal)");
        }
        // Less of the same group.
        int routers = (nodes + 3) / 4;
        int columns = Math.min(16, Math.max(2, (int) Math.ceil(Math.sqrt(routers))));
        int rows = Math.max(2, (routers + columns - 1) / columns);
        return nodes > 256
                ? machine
                : machine.set(
                        "topology", "hyperx(%s,%s;nodes=4,routing=ugal)".formatted(columns, rows));
    }

    /** Of a ring that has what all receive rings together can hold. */
    private int exponent(int perComponent) {
        long needed = (long) TICKETS * pairs * perComponent;
        return Long.SIZE - Long.numberOfLeadingZeros(needed - 1);
    }

    /** Runs it. */
    public Outcome run() {
        int timeslices = intervals * Math.max(1, perInterval / pairs) * pairs;
        Machine machine = machine(2 * pairs);
        machine.network().level(Level.PACKET);
        IntervalLog log = new IntervalLog(pairs, intervals);
        DfsParameters dfs = isPaced ? DfsParameters.PAPER.intervals(perInterval, history) : null;
        try (FlesnetSimulation simulation =
                new FlesnetSimulation(
                        seed,
                        machine.topology(),
                        machine.network(),
                        c ->
                                c.nodes(pairs, pairs)
                                        .timeslice(MICROSLICES, 0)
                                        .rings(RING_EXPONENT, 5)
                                        .sourceRing(exponent(COMPONENT), exponent(MICROSLICES) + 1)
                                        .heartbeatNs(60_000_000_000L)
                                        .peerTimeoutNs(60_000_000_000L)
                                        .intervals(log)
                                        .dfs(dfs, isPaced ? 1 : 0))) {
            return new Run(simulation, timeslices, log).run();
        }
    }

    /** What one run collects. */
    private final class Run {
        private final FlesnetSimulation simulation;
        private final int timeslices;
        private final IntervalLog log;
        private final SplittableRandom random = new SplittableRandom(seed);
        private final long[] spreads;
        private final BitSet seen = new BitSet();
        private float[] fills = new float[1 << 16];
        private int fillCount;
        private long delivered;
        private long beginNs;
        private long halfNs;
        private long halfBytes;
        private long lastNs;

        Run(FlesnetSimulation simulation, int timeslices, IntervalLog log) {
            this.simulation = simulation;
            this.timeslices = timeslices;
            this.log = log;
            this.spreads = new long[timeslices];
            log.onReport(this::reported);
        }

        /** The duration to report of an interval that an input has measured. */
        private long reported(int input, long interval, long measuredNs) {
            boolean isDisturbed = interval >= DISTURBED_FROM && interval < DISTURBED_TO;
            if (disturbance == Disturbance.LINKS && input == 0) {
                boolean isNext = interval + 1 >= DISTURBED_FROM && interval + 1 < DISTURBED_TO;
                noise.others(simulation.world(), isNext ? OTHERS_TIMES : 1);
            }
            return disturbance == Disturbance.REPORTS && isDisturbed
                    ? measuredNs + measuredNs / 4
                    : measuredNs;
        }

        Outcome run() {
            simulation.world().sizeOnlyAbove(4096);
            noise.apply(simulation.world());
            for (int i = 0; i < pairs; i++) {
                simulation.world().host("input" + i);
                simulation.world().host("compute" + i);
            }
            for (int c = 0; c < pairs; c++) {
                startCompute(c, noise.holdNs(random));
            }
            beginNs = simulation.world().nowNs();
            startInputs();
            simulation.world().after(SAMPLE_NS, this::sample);
            if (!simulation.run(LIMIT_NS)) {
                throw new IllegalStateException("the run has not ended: " + simulation.failure());
            }
            long lateBytes = allBytes() - halfBytes;
            return new Outcome(
                    spreads,
                    lateBytes / ((lastNs - halfNs) / 1e9),
                    lateFills(),
                    delivered,
                    delivered == timeslices && seen.cardinality() == timeslices,
                    lastNs - beginNs,
                    simulation.world().eventCount(),
                    log.plannedNs(),
                    log.measuredNs());
        }

        private void startCompute(int c, long holdNs) {
            simulation
                    .compute(
                            t -> {
                                delivered++;
                                seen.set((int) t.index());
                                spreads[(int) t.index()] = t.arrivalSpreadNs();
                                lastNs = simulation.world().nowNs();
                                simulation
                                        .world()
                                        .after(
                                                holdNs,
                                                () -> {
                                                    t.release();
                                                    simulation.computes().get(c).process().wakeup();
                                                });
                            })
                    .process()
                    .slowness(noise.slowness(random));
        }

        private void startInputs() {
            long[] startsNs = noise.startsNs(random, pairs);
            for (int i = 0; i < pairs; i++) {
                long untilNs = beginNs + startsNs[i];
                simulation.world().run(Math.max(0, untilNs - simulation.world().nowNs()));
                simulation.input(source(i)).process().slowness(noise.slowness(random));
            }
        }

        private PatternSource source(int input) {
            int content = COMPONENT / MICROSLICES - MicrosliceFlyweight.LENGTH;
            return new PatternSource(input, (long) MICROSLICES * timeslices, content, 0, 0);
        }

        private void addFill(float share) {
            if (fillCount == fills.length) {
                fills = Arrays.copyOf(fills, 2 * fillCount);
            }
            fills[fillCount++] = share;
        }

        private float[] lateFills() {
            float[] late = Arrays.copyOfRange(fills, fillCount / 2, fillCount);
            Arrays.sort(late);
            return late;
        }

        private long allBytes() {
            return (long) timeslices * pairs * COMPONENT;
        }

        /** Arrivals count, not deliveries: rings may hold more than the rest of a short run. */
        private void lookForHalf() {
            long bytes = 0;
            for (FlesnetSimulation.Node<FlesnetCompute> compute : simulation.computes()) {
                bytes += compute.node().statistics().bytes();
            }
            if (bytes <= allBytes() / 2) {
                halfNs = simulation.world().nowNs();
                halfBytes = bytes;
            }
        }

        private void sample() {
            lookForHalf();
            for (FlesnetSimulation.Node<FlesnetCompute> compute : simulation.computes()) {
                for (int i = 0; i < pairs && !compute.node().isDone(); i++) {
                    addFill((float) compute.node().ringUsed(i) / (1 << RING_EXPONENT));
                }
            }
            if (delivered < timeslices) {
                simulation.world().after(SAMPLE_NS, this::sample);
            }
        }
    }
}
