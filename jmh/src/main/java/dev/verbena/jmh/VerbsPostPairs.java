package dev.verbena.jmh;

import java.io.IOException;
import java.util.Locale;
import java.util.function.IntSupplier;

/**
 * The loops of {@link VerbsPostBenchmark} in Java and in C taking turns in one process, so that
 * both see the same load: medians of many pairs, and the least of each.
 *
 * <p>Run by {@code ./verbena jmh pairs [PAIRS]}.
 */
public final class VerbsPostPairs {
    private static final int WARM_UP = 300;
    private static final int LOOPS = 40;
    private static final int PAIRS = 40;

    private final int pairs;
    private final VerbsPostBenchmark loops = new VerbsPostBenchmark();
    private long sink;

    private VerbsPostPairs(int pairs) {
        this.pairs = pairs;
    }

    /** Argument: how many pairs. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        String pairs = arguments.length > 0 ? arguments[0] : Integer.toString(PAIRS);
        if (!pairs.matches("[0-9]{2,6}")) {
            System.err.println(pairs + " is no number of pairs from 10 to 999999");
            System.exit(2);
        }
        new VerbsPostPairs(Math.max(10, Integer.parseInt(pairs))).run();
    }

    private void run() throws IOException, InterruptedException {
        loops.open();
        System.out.printf(
                "Java %s, %d interleaved pairs of %,d rounds: ns for one, medians (least)%n",
                System.getProperty("java.version"), pairs, LOOPS * VerbsPostBenchmark.ROUNDS);
        System.out.println("| loop | C | Java | more in Java |\n|---|---|---|---|");
        pair("edit, post, poll: one call", loops::editPostPollInC, loops::editPostAndPoll);
        pair("edit, post, poll: two calls", loops::editPostPollInC, loops::editPostPoll);
        pair("the same, 16 posted at once", loops::editPostPollInC, loops::batchOf16);
        pair("post", loops::postInC, loops::post);
        pair("fill, post", loops::fillPostInC, loops::fillPost);
        pair("a native call that does nothing", () -> 0, loops::nativeCall);
        VerbsPostBenchmark.Full full = new VerbsPostBenchmark.Full();
        full.fill(loops);
        pair("poll 16 and read them", () -> loops.poll16InC(full), () -> (int) loops.poll16(full));
        full.empty();
        loops.close();
        if (sink == 1) {
            System.out.println();
        }
    }

    private void pair(String what, IntSupplier c, IntSupplier java) {
        for (int i = 0; i < WARM_UP; i++) {
            sink += c.getAsInt() + java.getAsInt();
        }
        double[] inC = new double[pairs];
        double[] inJava = new double[pairs];
        double[] more = new double[pairs];
        for (int i = 0; i < pairs; i++) {
            boolean isCFirst = i % 2 == 0;
            inC[i] = isCFirst ? nanos(c) : 0;
            inJava[i] = nanos(java);
            inC[i] = isCFirst ? inC[i] : nanos(c);
            more[i] = inJava[i] - inC[i];
        }
        System.out.printf(
                Locale.ROOT,
                "| %s | %s | %s | %s |%n",
                what,
                Samples.medianAndLeast(inC),
                Samples.medianAndLeast(inJava),
                Samples.medianAndLeast(more));
    }

    /** For one round: the least of some loops, which is what a busy machine disturbs least. */
    private double nanos(IntSupplier loop) {
        long best = Long.MAX_VALUE;
        for (int i = 0; i < LOOPS; i++) {
            long begin = System.nanoTime();
            sink += loop.getAsInt();
            best = Math.min(best, System.nanoTime() - begin);
        }
        return (double) best / VerbsPostBenchmark.ROUNDS;
    }
}
