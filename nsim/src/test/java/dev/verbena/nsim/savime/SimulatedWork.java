package dev.verbena.nsim.savime;

import dev.verbena.nsim.world.SimulatedProcess;
import dev.verbena.nsim.world.World;
import dev.verbena.savime.store.BackgroundWork;
import java.util.ArrayDeque;
import java.util.Random;

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
    private final ArrayDeque<Ended> untold = new ArrayDeque<>();
    private final ArrayDeque<Ended> ended = new ArrayDeque<>();
    private boolean isBusy;
    private int pending;

    private record Ended(Job job, Exception failure) {}

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
    public void submit(Job job) {
        pending++;
        jobs.add(job);
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
        untold.add(run(jobs.remove()));
        world.after(random.nextInt(longestNs), this::tellFirst);
        isBusy = false;
        begin();
    }

    private static Ended run(Job job) {
        try {
            job.run();
            return new Ended(job, null);
        } catch (Exception e) {
            return new Ended(job, e);
        }
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
            Ended one = ended.remove();
            pending--;
            one.job.ended(one.failure);
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
            untold.add(run(jobs.remove()));
        }
        ended.addAll(untold);
        untold.clear();
    }
}
