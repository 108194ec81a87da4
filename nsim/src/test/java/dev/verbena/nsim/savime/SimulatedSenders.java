package dev.verbena.nsim.savime;

import dev.verbena.nsim.world.SimulatedProcess;
import dev.verbena.nsim.world.World;
import dev.verbena.staging.forward.Senders;
import dev.verbena.staging.forward.SinkHealth;
import dev.verbena.staging.forward.SinkTask;
import dev.verbena.staging.sink.Sink;
import dev.verbena.staging.sink.SinkSession;
import dev.verbena.staging.sink.SinkWatch;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Random;
import java.util.function.Consumer;

/**
 * Senders in virtual time: a task meets the sink late, and its result comes later still, as chance
 * has it; a process that is killed between the two does not know what the sink has. World's thread.
 */
final class SimulatedSenders implements Senders {
    private final World world;
    private final SimulatedProcess process;
    private final Random random;
    private final int longestNs;
    private final Sink sink;
    private final int count;
    private final ArrayDeque<SinkTask> ended = new ArrayDeque<>();
    private final SinkHealth health = new SinkHealth(SinkWatch.NONE);
    private int inFlight;

    /**
     * Idle.
     *
     * @param sink not closed by this: it outlives the server
     */
    SimulatedSenders(
            World world,
            SimulatedProcess process,
            Random random,
            int longestNs,
            Sink sink,
            int count) {
        this.world = world;
        this.process = process;
        this.random = random;
        this.longestNs = longestNs;
        this.sink = sink;
        this.count = count;
    }

    @Override
    public void onReady(Runnable wakeup) {
        // It wakes the process itself.
    }

    @Override
    public boolean hasRoom() {
        return inFlight < count;
    }

    @Override
    public int inFlight() {
        return inFlight;
    }

    @Override
    public SinkHealth health() {
        return health;
    }

    @Override
    public void submit(SinkTask task) {
        inFlight++;
        world.after(random.nextInt(longestNs), () -> perform(task));
    }

    private void perform(SinkTask task) {
        if (process.isDead()) {
            return;
        }
        try (SinkSession session = sink.open()) {
            task.run(session);
        } catch (IOException e) {
            task.unreachable(e);
        }
        health.ended(task);
        world.after(random.nextInt(longestNs), () -> tell(task));
    }

    private void tell(SinkTask task) {
        if (!process.isDead()) {
            ended.add(task);
            process.wakeup();
        }
    }

    @Override
    public int poll(Consumer<SinkTask> handler) {
        int polled = ended.size();
        for (int i = 0; i < polled; i++) {
            inFlight--;
            handler.accept(ended.remove());
        }
        return polled;
    }

    @Override
    public void close() {
        // A task that is on its way stays undone, as in a process that ends.
    }
}
