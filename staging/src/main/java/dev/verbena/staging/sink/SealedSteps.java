package dev.verbena.staging.sink;

import java.nio.channels.FileChannel;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/**
 * A sink that says when another one has all pieces of a step of a variable: as many elements as the
 * global array has. What that one had before this was made is not known to it. Thread-safe.
 */
public final class SealedSteps extends ForwardingSink {
    /** Steps of which pieces are missing, at most: the oldest are forgotten. */
    private static final int OPEN_MAX = 65_536;

    private final Listener listener;
    private final Map<String, Open> open = new LinkedHashMap<>();

    /** Called on a thread that hands datasets over; returns soon and throws nothing. */
    public interface Listener {
        /** The sink has all pieces of a step. */
        void sealed(String variable, long step, long elements);
    }

    private static final class Open {
        private final Set<Integer> ranks = new HashSet<>();
        private long count;

        /** Whether the pieces are now as many elements as there are. */
        boolean add(StagedPiece piece) {
            count += ranks.add(piece.rank()) ? piece.count() : 0;
            return count >= piece.globalCount();
        }
    }

    /**
     * Before a sink.
     *
     * @param sink closed by this
     */
    public SealedSteps(Sink sink, Listener listener) {
        super(sink);
        this.listener = listener;
    }

    @Override
    protected void taken(SinkDataset dataset, FileChannel data) {
        if (dataset.piece() == null) {
            return;
        }
        StagedPiece piece;
        try {
            piece = StagedPiece.of(dataset);
        } catch (SinkRejectedException e) {
            return; // A sink that takes anything has it; it is a piece of nothing.
        }
        if (isSealed(piece)) {
            listener.sealed(piece.variable(), piece.step(), piece.globalCount());
        }
    }

    private synchronized boolean isSealed(StagedPiece piece) {
        String key = piece.variable() + " " + piece.step();
        if (!open.computeIfAbsent(key, any -> new Open()).add(piece)) {
            if (open.size() > OPEN_MAX) {
                open.remove(open.keySet().iterator().next());
            }
            return false;
        }
        open.remove(key);
        return true;
    }
}
