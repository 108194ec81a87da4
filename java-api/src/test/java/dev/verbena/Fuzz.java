package dev.verbena;

import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Feeds a decoder with valid inputs that were changed at random, for a bounded time. What may come
 * out is a value, or what the target itself lets pass; any other exception, an input that takes
 * seconds of processor time and one that makes it allocate much fail, naming seed and round. {@code
 * -Dverbena.seed=N -Dverbena.fuzz.round=R} repeats one round, {@code -Dverbena.long=true} takes a
 * minute for each decoder.
 */
public final class Fuzz {
    /** What gets the bytes. */
    @FunctionalInterface
    public interface Target {
        /** Takes an input, which is its own; throws what is a finding. */
        void take(byte[] input) throws Exception;
    }

    private static final int ROUNDS_MIN = 2000;
    private static final long SHORT_NS = 500_000_000L;
    private static final long LONG_NS = 60_000_000_000L;
    private static final long CPU_MAX_NS = 5_000_000_000L;
    private static final int MUTATIONS_MAX = 8;
    private static final int GROWTH_MAX = 4096;
    private static final int WARM_UP_ROUNDS = 50;
    private static final long[] EDGES = {
        0,
        1,
        -1,
        2,
        7,
        8,
        127,
        128,
        255,
        256,
        0x7FFF,
        0x8000,
        0xFFFF,
        0x7FFFFFFFL,
        0x80000000L,
        0xFFFFFFFFL,
        Long.MAX_VALUE,
        Long.MIN_VALUE,
        1L << 40
    };

    private final String name;
    private final List<byte[]> corpus;
    private final long allocationMax;
    private final long seed = Long.getLong("verbena.seed", System.nanoTime() % 1_000_000_007);

    /**
     * @param corpus valid inputs
     * @param allocationMax bytes that one input may make the target allocate
     */
    public Fuzz(String name, List<byte[]> corpus, long allocationMax) {
        this.name = name;
        this.corpus = corpus;
        this.allocationMax = allocationMax;
    }

    /** Runs; inputs tried. */
    public long run(Target target) {
        long only = Long.getLong("verbena.fuzz.round", -1);
        if (only >= 0) {
            round(target, only, false);
            return 1;
        }
        // --long: a minute of fuzzing for each decoder instead of 2,000 inputs or half a second
        long end = System.nanoTime() + (Boolean.getBoolean("verbena.long") ? LONG_NS : SHORT_NS);
        long round = 0;
        while (round < ROUNDS_MIN || System.nanoTime() - end < 0) {
            round(target, round, round >= WARM_UP_ROUNDS);
            round++;
        }
        System.out.println("fuzz " + name + ": " + round + " inputs, -Dverbena.seed=" + seed);
        return round;
    }

    /** What the seed makes of this round: for those who feed a process instead of a target. */
    public byte[] input(long round) {
        return mutate(new SplittableRandom(seed * 0x9E3779B97F4A7C15L + round));
    }

    private void round(Target target, long round, boolean isMeasured) {
        byte[] input = input(round);
        var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        long cpu = threads.getCurrentThreadCpuTime();
        long allocated = threads.getCurrentThreadAllocatedBytes();
        try {
            target.take(input.clone());
        } catch (Throwable e) {
            throw new AssertionError(what(round, input) + " leads to " + e, e);
        }
        allocated = threads.getCurrentThreadAllocatedBytes() - allocated;
        cpu = threads.getCurrentThreadCpuTime() - cpu;
        if (isMeasured && allocated > allocationMax) {
            throw new AssertionError(what(round, input) + " makes it allocate " + allocated);
        }
        if (cpu > CPU_MAX_NS) {
            throw new AssertionError(what(round, input) + " takes it " + cpu + " ns");
        }
    }

    private String what(long round, byte[] input) {
        byte[] shown = Arrays.copyOf(input, Math.min(input.length, 2048));
        return "fuzz "
                + name
                + " -Dverbena.seed="
                + seed
                + " -Dverbena.fuzz.round="
                + round
                + ": input of "
                + input.length
                + " bytes "
                + HexFormat.of().formatHex(shown);
    }

    private byte[] mutate(SplittableRandom random) {
        byte[] input = corpus.get(random.nextInt(corpus.size())).clone();
        for (int i = random.nextInt(MUTATIONS_MAX); i >= 0; i--) {
            input = mutateOnce(input, random);
        }
        return input;
    }

    private byte[] mutateOnce(byte[] input, SplittableRandom random) {
        int length = input.length;
        if (length == 0) {
            return new byte[1 + random.nextInt(64)];
        }
        int at = random.nextInt(length);
        switch (random.nextInt(10)) {
            case 0, 1 -> input[at] ^= (byte) (1 << random.nextInt(8));
            case 2 -> input[at] = (byte) random.nextInt();
            case 3, 4, 5 -> edge(input, random);
            case 6 -> input = Arrays.copyOf(input, at);
            case 7 -> input = Arrays.copyOf(input, length + random.nextInt(GROWTH_MAX));
            case 8 -> {
                int n = random.nextInt(length - at) + 1;
                System.arraycopy(input.clone(), at, input, random.nextInt(length - n + 1), n);
            }
            default -> {
                byte[] other = corpus.get(random.nextInt(corpus.size()));
                int from = other.length == 0 ? 0 : random.nextInt(other.length);
                byte[] joined = Arrays.copyOf(input, at + other.length - from);
                System.arraycopy(other, from, joined, at, other.length - from);
                input = joined;
            }
        }
        return input;
    }

    /** A word that is at the edge of something, in either byte order. */
    private static void edge(byte[] input, SplittableRandom random) {
        long value = EDGES[random.nextInt(EDGES.length)] + random.nextInt(3) - 1;
        ByteBuffer bytes = ByteBuffer.wrap(input);
        bytes.order(random.nextBoolean() ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN);
        int size = 1 << random.nextInt(4);
        if (input.length < size) {
            return;
        }
        int at = random.nextInt(input.length - size + 1) & (random.nextBoolean() ? -size : -1);
        switch (size) {
            case 1 -> bytes.put(at, (byte) value);
            case 2 -> bytes.putShort(at, (short) value);
            case 4 -> bytes.putInt(at, (int) value);
            default -> bytes.putLong(at, value);
        }
    }
}
