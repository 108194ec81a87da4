package dev.verbena.nsim.savime;

import dev.verbena.staging.sink.Sink;
import dev.verbena.staging.sink.SinkDataset;
import dev.verbena.staging.sink.SinkRejectedException;
import dev.verbena.staging.sink.SinkSession;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.IntSupplier;

/**
 * A sink that remembers what reached it and in which order, and that is away, refuses, or is lost
 * within a transfer, as chance has it. World's thread.
 */
final class SimulatedSink implements Sink {
    private static final int LOST_ONE_IN = 8;
    private static final int REFUSED_ONE_IN = 10;

    private final List<Arrival> arrivals = new ArrayList<>();
    private final List<Execution> executions = new ArrayList<>();
    private final List<String> wrong = new ArrayList<>();
    private final IntSupplier place;
    private final Random random;
    private final int seed;
    private boolean isAway;

    /** What became of a transfer. */
    enum End {
        STORED,
        REFUSED,
        LOST
    }

    /**
     * A transfer.
     *
     * @param at place among all that happened
     * @param end {@code LOST}: the sender was told that the sink is gone, and nothing is stored
     * @param isTold whether the sender was told the truth
     */
    record Arrival(String name, boolean isRepeated, End end, boolean isTold, int at) {}

    /** A command that ran. */
    record Execution(String text, int at) {}

    /**
     * Reachable.
     *
     * @param place counts what happens, here and elsewhere
     */
    SimulatedSink(int seed, IntSupplier place) {
        this.seed = seed;
        this.place = place;
        random = new Random(seed);
    }

    List<Arrival> arrivals() {
        return arrivals;
    }

    List<Execution> executions() {
        return executions;
    }

    /** What no sink may be given. */
    List<String> wrong() {
        return wrong;
    }

    void away(boolean is) {
        isAway = is;
    }

    /** Whether it refuses a dataset of this name, each time. */
    boolean isRefused(String name) {
        return Math.floorMod(name.hashCode() * 31 + seed, REFUSED_ONE_IN) == 0;
    }

    @Override
    public int sessionsMax() {
        return Integer.MAX_VALUE;
    }

    @Override
    public SinkSession open() throws IOException {
        if (isAway) {
            throw new IOException("the sink is away");
        }
        return new Session();
    }

    private boolean isLost() {
        return random.nextInt(LOST_ONE_IN) == 0;
    }

    @Override
    public void close() {
        // It outlives the server.
    }

    private final class Session implements SinkSession {
        @Override
        public void transfer(SinkDataset dataset, FileChannel data) throws IOException {
            check(dataset, data);
            boolean isLost = isLost();
            boolean isThere = !isLost || random.nextBoolean();
            End end = isThere ? End.STORED : End.LOST;
            if (isThere && isRefused(dataset.name())) {
                end = End.REFUSED;
            }
            arrivals.add(
                    new Arrival(
                            dataset.name(), dataset.isRepeated(), end, !isLost, place.getAsInt()));
            if (isLost) {
                throw new IOException("the sink was lost");
            }
            if (end == End.REFUSED) {
                throw new SinkRejectedException("the sink refuses " + dataset.name());
            }
        }

        private void check(SinkDataset dataset, FileChannel data) throws IOException {
            ByteBuffer bytes = ByteBuffer.allocate((int) dataset.length());
            while (bytes.hasRemaining() && data.read(bytes, bytes.position()) >= 0) {
                continue;
            }
            if (bytes.hasRemaining() || data.size() != dataset.length()) {
                wrong.add(dataset.name() + " is not " + dataset.length() + " bytes long");
            }
            for (int i = 0; i < bytes.position(); i++) {
                if (bytes.get(i) != SimulatedClient.content(dataset.name(), i)) {
                    wrong.add("byte " + i + " of " + dataset.name() + " is of something else");
                    return;
                }
            }
        }

        @Override
        public String command(String text) throws IOException {
            boolean isLost = isLost();
            if (!isLost || random.nextBoolean()) {
                executions.add(new Execution(text, place.getAsInt()));
            }
            if (isLost) {
                throw new IOException("the sink was lost");
            }
            return "done " + text;
        }

        @Override
        public void close() {
            // Nothing is held.
        }
    }
}
