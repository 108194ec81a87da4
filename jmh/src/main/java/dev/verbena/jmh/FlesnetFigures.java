package dev.verbena.jmh;

import dev.verbena.agent.RealEnvironment;
import dev.verbena.flesnet.ComponentFlyweight;
import dev.verbena.flesnet.FlesnetCompute;
import dev.verbena.flesnet.FlesnetContext;
import dev.verbena.flesnet.FlesnetInput;
import dev.verbena.flesnet.InputStatistics;
import dev.verbena.flesnet.MicrosliceFlyweight;
import dev.verbena.flesnet.MicrosliceSink;
import dev.verbena.flesnet.MicrosliceSource;
import dev.verbena.flesnet.Timeslice;
import dev.verbena.transport.Transports;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Components of 64 KiB from an input process to a compute process over shm://, and beside them raw
 * puts of that length out of the same memory into a ring of the same length. The input's ring is
 * full when the time begins, contents have no checksum, the consumer does not look at them. Prints
 * one median in MB/s. Arguments: {@code built} or {@code put}; the rest is for the other process.
 */
public final class FlesnetFigures {
    static final int COMPONENT = 64 << 10;
    static final int RING_EXPONENT = 20;
    static final int SOURCE_EXPONENT = 26;

    /** Components of a round; with their descriptors they are as long as the source's ring. */
    static final int ROUND = 1 << SOURCE_EXPONENT >>> 16;

    private static final int MICROSLICES = 4;
    private static final int CONTENT = COMPONENT / MICROSLICES - MicrosliceFlyweight.LENGTH;
    private static final int SOURCE_DESCRIPTORS_EXPONENT = 13;

    /**
     * Rounds before the measured ones. Each process has one processor, so its compilers take it
     * from the engine: that lasted 120 rounds of timeslices on one machine, and above 200 on
     * another.
     */
    private static final int WARM_UPS = 600;

    private static final int ROUNDS = 21;
    private static final double OTHER_BYTES_MAX = 0.01;
    private static final long LOOK_AGAIN_MS = 100;
    private static final long PATIENCE_NS = 60_000_000_000L;

    private FlesnetFigures() {}

    /** A round; nanoseconds. */
    interface Round {
        long run();
    }

    /** Fills an empty ring at once, and looks how long it takes until it is empty again. */
    private static final class FilledRing implements MicrosliceSource {
        private final UnsafeBuffer content = new UnsafeBuffer(new byte[CONTENT]);
        private final long[] times = new long[WARM_UPS + ROUNDS];
        private int roundsBegun;
        private long index;
        private long beginNs;
        private volatile boolean isEnded;

        @Override
        public int poll(MicrosliceSink sink, long nowNs) {
            if (isEnded || !sink.hasRoom(sink.contentMax())) {
                return 0;
            }
            long endNs = System.nanoTime();
            if (roundsBegun > 0) {
                times[roundsBegun - 1] = endNs - beginNs;
            }
            if (roundsBegun == times.length) {
                isEnded = true;
                return 0;
            }
            roundsBegun++;
            for (int i = 0; i < ROUND * MICROSLICES; i++) {
                add(sink);
            }
            beginNs = System.nanoTime();
            return ROUND * MICROSLICES;
        }

        private void add(MicrosliceSink sink) {
            boolean isKept =
                    sink.add(
                            0,
                            0,
                            MicrosliceFlyweight.SYSTEM_FLES,
                            MicrosliceFlyweight.FORMAT_RAMP,
                            index++,
                            0,
                            content,
                            0,
                            CONTENT);
            if (!isKept) {
                throw new IllegalStateException("the input's ring has no room for a round");
            }
        }

        @Override
        public boolean isEnded() {
            return isEnded;
        }

        @Override
        public long nextDueNs() {
            return NEVER;
        }
    }

    /** Median over the rounds behind the warm-up. */
    static double megabytesPerSecond(Round round) {
        long[] times = new long[WARM_UPS + ROUNDS];
        for (int i = 0; i < times.length; i++) {
            times[i] = round.run();
        }
        return megabytesPerSecond(times);
    }

    private static double megabytesPerSecond(long[] times) {
        long[] measured = Arrays.copyOfRange(times, WARM_UPS, times.length);
        Arrays.sort(measured);
        return 1e3 * ROUND * COMPONENT / measured[ROUNDS / 2];
    }

    private static FlesnetContext context(RealEnvironment environment, String job, Path folder) {
        return new FlesnetContext()
                .environment(environment)
                .job(job)
                .directory(folder.toString())
                .timeslice(MICROSLICES, 0)
                .rings(RING_EXPONENT, 6)
                .sourceRing(SOURCE_EXPONENT, SOURCE_DESCRIPTORS_EXPONENT);
    }

    private static RealEnvironment environment(String job) {
        return RealEnvironment.builder().job(job).build();
    }

    private static double built(Path folder) throws Exception {
        String job = "flesnet-figures" + ProcessHandle.current().pid();
        FilledRing source = new FilledRing();
        try (OtherProcess compute =
                        OtherProcess.start(
                                FlesnetFigures.class, "compute", job, folder.toString());
                RealEnvironment environment = environment(job);
                FlesnetInput input =
                        FlesnetInput.launch(context(environment, job, folder), 0, source)) {
            long endNs = System.nanoTime() + PATIENCE_NS;
            while (!input.isDone()) {
                if (input.failure() != null || System.nanoTime() - endNs > 0) {
                    throw new IllegalStateException("the run does not end", input.failure());
                }
                // Each look takes the engine's processor from it.
                Thread.sleep(LOOK_AGAIN_MS);
            }
            requireFewOtherBytes(input.statistics(), Long.parseLong(compute.end()));
        }
        return megabytesPerSecond(source.times);
    }

    /** The other bytes are messages of both sides, and descriptors of components. */
    private static void requireFewOtherBytes(InputStatistics input, long answerBytes) {
        long descriptors = input.components() * ComponentFlyweight.LENGTH;
        double share = (double) (input.syncBytes() + answerBytes + descriptors);
        share /= input.payloadBytes();
        System.out.printf(Locale.ROOT, "\"other bytes, share\": %.5f%n", share);
        if (share >= OTHER_BYTES_MAX || input.droppedMicroslices() > 0) {
            throw new IllegalStateException(
                    "%s of the payload are other bytes, %s microslices dropped"
                            .formatted(share, input.droppedMicroslices()));
        }
    }

    /** The compute node, until its input closes; prints the bytes of its messages. */
    private static void compute(String job, Path folder) throws Exception {
        try (RealEnvironment environment = environment(job);
                FlesnetCompute compute =
                        FlesnetCompute.launch(
                                context(environment, job, folder), 0, Timeslice::release)) {
            OtherProcess.awaitEndOfInput();
            System.out.println(compute.statistics().syncBytes());
        }
    }

    /** Prints one number: MB/s. */
    public static void main(String[] arguments) throws Exception {
        Transports.prepare();
        switch (arguments[0]) {
            case "compute" -> compute(arguments[1], Path.of(arguments[2]));
            case "target" -> RawRing.target(arguments[1]);
            case "put" -> Samples.print(RawRing.put());
            case "built" -> {
                try (TemporaryFolder folder = new TemporaryFolder("flesnet-figures-")) {
                    Samples.print(built(folder.path));
                }
            }
            default -> throw new IllegalArgumentException(arguments[0]);
        }
    }
}
