package dev.verbena.nsim.savime;

import dev.verbena.nsim.world.SimulatedProcess;
import dev.verbena.nsim.world.World;
import dev.verbena.savime.store.BackgroundWork;
import java.util.ArrayDeque;
import java.util.Random;
import java.util.function.Consumer;

/**
 * Work on files in virtual time: each job runs late, and its end is polled later still, as chance
 * has it. What was not begun when the process is killed is never done. World's thread.
 */
final class SimulatedWork implements BackgroundWork {
    private final World world;
    private final SimulatedProcess process;
    private final Random random;
    private final int longestNs;
    private final ArrayDeque<Job> jobs = new ArrayDeque<>();
    private final ArrayDeque<Runnable> untold = new ArrayDeque<>();
    private final ArrayDeque<Runnable> ended = new ArrayDeque<>();
    private boolean isBusy;
    private int pending;

    private record Job(Step step, Consumer<Exception> onEnd) {
        /** What is left to be done once it has run. */
        Runnable run() {
            Exception failure = step.failure();
            return () -> onEnd.accept(failure);
        }
    }

    /**
     * Idle.
     *
     * @param longestNs a job waits and takes less than that, and so does telling its end
     */
    SimulatedWork(World world, SimulatedProcess process, Random random, int longestNs) {
        this.world = world;
        this.process = process;
        this.random = random;
        this.longestNs = longestNs;
    }

    @Override
    public void onReady(Runnable wakeup) {
        // It wakes the process itself.
    }

    @Override
    public void submit(Step step, Consumer<Exception> onEnd) {
        pending++;
        jobs.add(new Job(step, onEnd));
        begin();
    }

    private void begin() {
        if (!isBusy && !jobs.isEmpty()) {
            isBusy = true;
            world.after(random.nextInt(longestNs), this::runFirst);
        }
    }

    private void runFirst() {
        if (process.isDead()) {
            return;
        }
        untold.add(jobs.remove().run());
        world.after(random.nextInt(longestNs), this::tellFirst);
        isBusy = false;
        begin();
    }

    private void tellFirst() {
        if (!process.isDead()) {
            ended.add(untold.remove());
            process.wakeup();
        }
    }

    @Override
    public int poll() {
        int count = ended.size();
        for (int i = 0; i < count; i++) {
            pending--;
            ended.remove().run();
        }
        return count;
    }

    @Override
    public boolean isQuiet() {
        return pending == 0;
    }

    @Override
    public boolean mayBeBypassed() {
        return pending == 0 && random.nextBoolean();
    }

    @Override
    public void close() {
        while (!jobs.isEmpty()) {
            untold.add(jobs.remove().run());
        }
        ended.addAll(untold);
        untold.clear();
    }
}
