package dev.verbena.cli.report;

import dev.verbena.agent.FieldPictures;
import dev.verbena.agent.RealEnvironment;
import dev.verbena.staging.sink.ForwardingSink;
import dev.verbena.staging.sink.Sink;
import dev.verbena.staging.sink.SinkDataset;
import dev.verbena.staging.sink.SinkRejectedException;
import dev.verbena.staging.sink.StagedPiece;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.util.LinkedHashMap;
import java.util.Map;
import org.agrona.concurrent.NanoClock;

/**
 * A sink that draws what another one takes, for {@code verbena watch}: of each variable a step that
 * is whole, at most once a second. A dataset is read after the other sink has it, by the thread
 * that handed it over; a picture that cannot be made or shown is reported, once until one can, and
 * holds up nothing. Datasets that are no piece of an array are not drawn. Thread-safe.
 */
public final class PicturedSink extends ForwardingSink {
    /** Between two pictures of a variable. */
    private static final long PAUSE_NS = 1_000_000_000L;

    /** How long pieces of a step are waited for before a newer step is drawn. */
    private static final long WAIT_NS = 5_000_000_000L;

    /** Variables that are remembered; the one that came longest ago is forgotten. */
    private static final int VARIABLES_MAX = 64;

    private final RealEnvironment environment;
    private final NanoClock clock;
    private final Map<String, Variable> variables = new RecentVariables();
    private boolean isFailing;

    /** What is drawn of a variable. */
    private static final class Variable {
        private FieldImage image;
        private long step = -1;
        private long begunNs;
        private long leftOut = -1;

        /** The image of this step; null: it is left out, also as a whole if a piece was before. */
        FieldImage image(StagedPiece piece, long now) {
            if (image != null && piece.step() == step) {
                return image;
            }
            boolean isWaiting = image != null && now - begunNs < WAIT_NS;
            boolean isSoon = step >= 0 && now - begunNs < PAUSE_NS;
            if (isWaiting || isSoon || piece.step() <= Math.max(step, leftOut)) {
                leftOut = Math.max(leftOut, piece.step());
                return null;
            }
            image = new FieldImage(piece);
            step = piece.step();
            begunNs = now;
            return image;
        }

        void drawn() {
            image = null;
        }
    }

    private static final class RecentVariables extends LinkedHashMap<String, Variable> {
        private static final long serialVersionUID = 1L;

        RecentVariables() {
            super(16, 0.75f, true);
        }

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Variable> eldest) {
            return size() > VARIABLES_MAX;
        }
    }

    /**
     * Before a sink.
     *
     * @param sink closed by this
     * @param environment whose {@link FieldPictures} get the pictures; not closed by this
     */
    public PicturedSink(Sink sink, RealEnvironment environment) {
        super(sink);
        this.environment = environment;
        this.clock = environment.nanoClock();
    }

    @Override
    protected synchronized void taken(SinkDataset dataset, FileChannel data) {
        if (dataset.piece() == null) {
            return;
        }
        try {
            StagedPiece piece = StagedPiece.of(dataset);
            Variable variable = variables.computeIfAbsent(piece.variable(), name -> new Variable());
            FieldImage image = variable.image(piece, clock.nanoTime());
            if (image != null && image.add(piece, data)) {
                variable.drawn();
                environment.pictures().show(piece.variable(), piece.step(), image.png());
                isFailing = false;
            }
        } catch (SinkRejectedException e) {
            return; // A sink that takes anything has it; it is no piece.
        } catch (IOException | RuntimeException e) {
            report(dataset, e);
        }
    }

    private void report(SinkDataset dataset, Exception e) {
        if (!isFailing) {
            isFailing = true;
            environment
                    .errorHandler()
                    .onError(new IOException("no picture of " + dataset.name() + ": " + e, e));
        }
    }
}
