package dev.verbena.examples.pic;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * Measures, in one process of a run, how long each way of output holds up the simulation. The same
 * steps are computed again and again from the same state, so every way gets the same bytes.
 *
 * <p>A round computes the steps once for each way; the next round takes the ways in the opposite
 * order. Before the next way begins, everything of the one before is safely stored, so that none
 * pays for another's work. What runs first is not counted: it warms up the Java virtual machine and
 * takes the fingerprints of the files.
 */
final class OutputComparison {
    /** Steps before anything is counted, each with a file. */
    private static final int WARM_UP_STEPS = 2;

    private final PicDeck deck;
    private final Plan plan;
    private final int rank;
    private final PicExchange exchange;
    private final Map<OutputMode, RestartOutput> outputs;
    private final LongSupplier clock;
    private final Listener listener;
    private final List<StallSample> samples = new ArrayList<>();
    private long stepsDone;

    /**
     * How much is compared.
     *
     * @param rounds times that each way is measured
     * @param filesPerRound restart files of a process in each
     */
    record Plan(int rounds, int filesPerRound) {
        private static final int STEPS_MAX = 192;

        /** Two rounds of three files; less where that would outlast the run itself. */
        static Plan of(PicDeck deck) {
            long most = Math.max(STEPS_MAX, deck.stepCount());
            Plan full = new Plan(2, 3);
            Plan less = new Plan(1, 3);
            return full.steps(deck) <= most ? full : less.steps(deck) <= most ? less : LEAST;
        }

        private static final Plan LEAST = new Plan(1, 2);

        /** Names of all files that will be written of a step. */
        List<String> names(long step, int rank) {
            List<String> names = new ArrayList<>();
            for (int round = 0; round < rounds; round++) {
                for (OutputMode mode : OutputMode.values()) {
                    if (mode != OutputMode.NONE) {
                        names.add(name(mode, round, step, rank));
                    }
                }
            }
            return names;
        }

        /** Steps that it computes, warming up included. */
        long steps(PicDeck deck) {
            int modes = OutputMode.values().length;
            long each = (long) filesPerRound * deck.restartEvery();
            return each + modes * WARM_UP_STEPS + rounds * modes * each;
        }
    }

    /** Is notified of the progress. */
    interface Listener {
        /** Another step is done, of so many, now with this way of output. */
        void onStep(long done, long total, OutputMode mode);

        /** The state after a step, of which every way of output will write a file. */
        void onReference(RestartFile file);
    }

    OutputComparison(
            PicDeck deck,
            Plan plan,
            int rank,
            PicExchange exchange,
            Map<OutputMode, RestartOutput> outputs,
            LongSupplier clock,
            Listener listener) {
        this.deck = deck;
        this.plan = plan;
        this.rank = rank;
        this.exchange = exchange;
        this.outputs = outputs;
        this.clock = clock;
        this.listener = listener;
    }

    /** Name of a compared file. */
    static String name(OutputMode mode, int round, long step, int rank) {
        return "compare-" + mode.word() + "-" + round + "-" + RestartNames.of(step, rank);
    }

    /**
     * Runs. All processes call this.
     *
     * @param origin state to begin from, not changed
     * @return what was measured
     */
    List<StallSample> run(RestartFile origin) {
        reference(origin);
        for (OutputMode mode : OutputMode.values()) {
            warmUp(origin, mode);
        }
        for (int round = 0; round < plan.rounds(); round++) {
            OutputMode[] modes = OutputMode.values();
            for (int i = 0; i < modes.length; i++) {
                measure(origin, modes[round % 2 == 0 ? i : modes.length - 1 - i], round);
            }
        }
        return samples;
    }

    private PicSimulation begin(RestartFile origin) {
        return PicSimulation.resume(deck.parameters(), rank, deck.processCount(), origin, exchange);
    }

    private void advance(PicSimulation simulation, long steps, OutputMode mode) {
        for (long i = 0; i < steps; i++) {
            simulation.advance();
            listener.onStep(++stepsDone, plan.steps(deck), mode);
        }
    }

    private void reference(RestartFile origin) {
        PicSimulation simulation = begin(origin);
        for (int i = 0; i < plan.filesPerRound(); i++) {
            advance(simulation, deck.restartEvery(), OutputMode.NONE);
            listener.onReference(simulation.restartFile());
        }
    }

    private void warmUp(RestartFile origin, OutputMode mode) {
        PicSimulation simulation = begin(origin);
        for (int i = 0; i < WARM_UP_STEPS; i++) {
            advance(simulation, 1, mode);
            String name = "warm-up-" + name(mode, 0, simulation.step(), rank);
            outputs.get(mode).write(simulation.restartFile(), name);
        }
        outputs.get(mode).drain();
    }

    private void measure(RestartFile origin, OutputMode mode, int round) {
        PicSimulation simulation = begin(origin);
        RestartOutput output = outputs.get(mode);
        for (int i = 0; i < plan.filesPerRound(); i++) {
            long begin = clock.getAsLong();
            advance(simulation, deck.restartEvery(), mode);
            long turned = clock.getAsLong();
            RestartFile file = simulation.restartFile();
            output.write(file, name(mode, round, file.step(), rank));
            long free = clock.getAsLong();
            boolean isLast = i == plan.filesPerRound() - 1;
            if (isLast) {
                output.drain();
            }
            long drained = isLast ? clock.getAsLong() - free : 0;
            samples.add(
                    new StallSample(
                            mode,
                            round,
                            rank,
                            file.step(),
                            file.length(),
                            free - turned,
                            turned - begin,
                            drained));
        }
    }
}
