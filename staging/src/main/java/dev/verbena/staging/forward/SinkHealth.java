package dev.verbena.staging.forward;

import dev.verbena.staging.sink.SinkWatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/** How a sink is, as those see it who hand data over. Thread-safe. */
public final class SinkHealth implements SinkWatch {
    private final SinkWatch told;
    private final AtomicBoolean isAway = new AtomicBoolean();
    private final AtomicLong losses = new AtomicLong();
    private final AtomicLong wedges = new AtomicLong();
    private final AtomicLong restarts = new AtomicLong();

    /**
     * Of a sink that was not tried yet.
     *
     * @param told of each change
     */
    public SinkHealth(SinkWatch told) {
        this.told = told;
    }

    /** A try has ended; one that was not begun says nothing of the sink. */
    public void ended(SinkTask task) {
        if (task.result() == SinkTask.Result.NOT_BEGUN) {
            return;
        }
        boolean isReached =
                task.result() == SinkTask.Result.OK || task.result() == SinkTask.Result.REJECTED;
        if (isReached) {
            back();
        } else {
            away(task.text());
        }
    }

    @Override
    public void away(String why) {
        if (isAway.compareAndSet(false, true)) {
            losses.incrementAndGet();
            told.away(why);
        }
    }

    @Override
    public void back() {
        if (isAway.compareAndSet(true, false)) {
            told.back();
        }
    }

    @Override
    public void wedged() {
        wedges.incrementAndGet();
        told.wedged();
    }

    @Override
    public void restarted() {
        restarts.incrementAndGet();
        told.restarted();
    }

    /** The last try has not reached it. */
    public boolean isAway() {
        return isAway.get();
    }

    /** Times that it went away. */
    public long losses() {
        return losses.get();
    }

    /** Times that it was told of as wedged. */
    public long wedges() {
        return wedges.get();
    }

    /** Times that it was found started again. */
    public long restarts() {
        return restarts.get();
    }
}
