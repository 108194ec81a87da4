package dev.verbena.nsim.world;

import dev.verbena.nsim.engine.Engine;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.LongSupplier;

/**
 * When processes are stepped. A step is an event; a process has one time of its next step, and
 * hardly more than two events. Deadlines are far ahead and often put off: the event of an earlier
 * deadline stays in the queue and, when it is due, is scheduled again for the deadline of then. So
 * a waiting process costs nothing however often its deadline moves. Belongs to the world's thread.
 */
final class Steps {
    static final long NEVER = Long.MAX_VALUE;

    /** Steps at least this far ahead are deadlines. */
    private static final long FAR_PS = 1_000_000_000L;

    private final Engine engine;
    private final int kind;
    private final World world;
    private final List<SimulatedProcess> processes = new ArrayList<>();
    private SplittableRandom schedule;
    private long jitterPs;
    private LongSupplier wallClock;
    private long count;

    Steps(World world, int kind) {
        this.world = world;
        this.engine = world.engine;
        this.kind = kind;
        engine.handler(kind, (time, target, argument) -> onStep(time, (int) argument));
    }

    /** Steps processes in random order, and late by up to a time. */
    void random(SplittableRandom chance, long latestPs) {
        schedule = chance;
        jitterPs = latestPs;
    }

    /** What steps cost is counted by this clock. */
    void wallClock(LongSupplier nanoseconds) {
        wallClock = nanoseconds;
    }

    int add(SimulatedProcess process) {
        processes.add(process);
        return processes.size() - 1;
    }

    List<SimulatedProcess> processes() {
        return processes;
    }

    /** Steps so far. */
    long count() {
        return count;
    }

    /** Steps a process as soon as possible. */
    void wake(SimulatedProcess process) {
        long jitter = schedule == null || jitterPs == 0 ? 0 : schedule.nextLong(jitterPs);
        after(process, world.cyclePs + jitter * process.slowness());
    }

    private void after(SimulatedProcess process, long wishedPs) {
        long picoseconds = Math.max(wishedPs, process.busyPs - engine.nowPs());
        long time = engine.nowPs() + picoseconds;
        if (time < 0 || time >= process.wakePs || process.isDead) {
            return;
        }
        process.wakeAt(time);
        if (time < process.farPs) {
            if (picoseconds >= FAR_PS) {
                process.deadlineEventAt(time);
            }
            engine.schedule(time, process.host.index(), process.host.index(), kind, process.number);
        }
    }

    private void onStep(long timePs, int number) {
        SimulatedProcess process = processes.get(number);
        boolean isFar = process.farPs == timePs;
        if (isFar) {
            process.deadlineEventAt(NEVER);
        }
        if (process.isDead) {
            return;
        }
        long wishedPs = process.wakePs;
        if (wishedPs != timePs) {
            if (isFar && wishedPs != NEVER) {
                process.wakeAt(NEVER);
                after(process, wishedPs - timePs);
            }
            return;
        }
        process.wakeAt(NEVER);
        if (process.host.frozenUntilPs > timePs) {
            after(process, process.host.frozenUntilPs - timePs);
            return;
        }
        step(process, timePs);
    }

    private void step(SimulatedProcess process, long timePs) {
        count++;
        long began = wallClock == null ? 0 : wallClock.getAsLong();
        int work = process.cycle(schedule);
        long pause = process.isDead ? NEVER : process.pauseAfter(work);
        process.stepped(wallClock == null ? 0 : wallClock.getAsLong() - began);
        world.stepped(process, timePs, work);
        if (pause != NEVER) {
            after(process, pause);
        }
        world.check();
    }
}
