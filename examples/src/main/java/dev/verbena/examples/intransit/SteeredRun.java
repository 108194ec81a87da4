package dev.verbena.examples.intransit;

import dev.verbena.examples.pic.PicExchange;
import dev.verbena.examples.pic.PicParameters;
import dev.verbena.examples.pic.PicSimulation;
import dev.verbena.savime.CommandResult;
import dev.verbena.savime.StagingException;
import dev.verbena.savime.StagingServer;
import dev.verbena.staging.sink.TarText;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/**
 * A run that SQL steers: every few steps the database behind the staging server is asked how the
 * field grew until then. The simulation computes on meanwhile, at most until it wants to ask again,
 * and ends when the answer is that growth has ended. One thread.
 */
public final class SteeredRun {
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final int ROWS_MAX = 10_000_000;

    private final PicParameters parameters;
    private final long stepsMax;
    private final int askEvery;
    private final FieldQueries queries;

    /**
     * What a run came to.
     *
     * @param steps that were computed
     * @param isSteered the database ended it, before its last step
     * @param state the database's last word, of all steps
     * @param stateText the same as it was answered
     * @param energies rows of {@link FieldQueries#energyByStep}
     * @param values rows of {@link FieldQueries#fieldValues}
     */
    public record Outcome(
            long steps,
            boolean isSteered,
            RunState state,
            String stateText,
            String energies,
            String values) {}

    /** Is told of answers. */
    public interface Listener {
        /**
         * An answer has come.
         *
         * @param steps computed until now
         * @param state of the steps before the question
         */
        void onAnswer(long steps, RunState state);
    }

    /** Of at most so many steps; asks after every so many. */
    public SteeredRun(PicParameters parameters, long stepsMax, int askEvery) {
        this.parameters = parameters;
        this.stepsMax = stepsMax;
        this.askEvery = askEvery;
        queries = new FieldQueries(parameters);
    }

    /**
     * Runs.
     *
     * @param server before a database that answers SQL; stays open
     * @param mirror before SAVIME; null: none
     * @param listener told of each answer, on this thread
     * @throws StagingException if something did not reach the database
     */
    public Outcome run(StagingServer server, StagingServer mirror, Listener listener) {
        PicSimulation simulation = PicSimulation.start(parameters, 0, 1, PicExchange.ALONE);
        boolean isEnded = false;
        try (FieldOutput output = new FieldOutput(server, mirror, parameters)) {
            CompletableFuture<CommandResult> asked = null;
            while (!isEnded && simulation.step() < stepsMax) {
                output.step(simulation);
                boolean isTime = simulation.step() % askEvery == 0;
                // Waits only for a database that is a whole interval behind.
                if (asked != null && (isTime || asked.isDone())) {
                    RunState state = RunState.parse(answer(asked));
                    asked = null;
                    listener.onAnswer(simulation.step(), state);
                    isEnded = state.isSaturated();
                }
                if (isTime && !isEnded) {
                    asked = server.runAsync(TarText.query(queries.state(), 1));
                }
            }
            server.drain(PATIENCE);
            if (mirror != null) {
                mirror.drain(PATIENCE);
            }
        }
        String state = query(server, queries.state());
        return new Outcome(
                simulation.step(),
                isEnded,
                RunState.parse(state),
                state,
                query(server, queries.energyByStep()),
                query(server, queries.fieldValues()));
    }

    private static String query(StagingServer server, String text) {
        return server.run(TarText.query(text, ROWS_MAX)).text();
    }

    private static String answer(CompletableFuture<CommandResult> asked) {
        try {
            return asked.join().text();
        } catch (CompletionException e) {
            throw (RuntimeException) e.getCause();
        }
    }
}
