package dev.verbena.nessie.xfer;

import dev.verbena.staging.Arguments;
import java.util.ArrayList;
import java.util.List;
import org.agrona.concurrent.BackoffIdleStrategy;
import org.agrona.concurrent.IdleStrategy;
import org.agrona.concurrent.NanoClock;

/** Trials of several clients, which one thread runs in turn; that is also their barrier. */
public final class XferRun {
    /** A client in a trial. */
    private static final class Lane {
        final XferClient client;
        final List<XferRequest> requests = new ArrayList<>();
        int started;
        int ended;

        Lane(XferClient client) {
            this.client = client;
        }
    }

    private final List<Lane> lanes = new ArrayList<>();
    private final XferPlan plan;
    private final NanoClock clock;
    private final IdleStrategy idle = new BackoffIdleStrategy(200, 100, 1_000, 100_000);

    /**
     * Makes the requests and their memory.
     *
     * @param clients at least one; not closed by this
     */
    public XferRun(List<XferClient> clients, XferPlan plan, NanoClock clock) {
        Arguments.range("clients", clients.size(), 1, Integer.MAX_VALUE);
        this.plan = plan;
        this.clock = clock;
        for (XferClient client : clients) {
            Lane lane = new Lane(client);
            for (int i = 0; i < (plan.isAsync() ? plan.requests() : 1); i++) {
                lane.requests.add(client.request(plan.method(), plan.count(), plan.check()));
            }
            lanes.add(lane);
        }
    }

    /**
     * Runs trials that do not count, for at least so long, at this pace of its own.
     *
     * @throws XferException if a transfer failed, or bytes were damaged
     */
    public void warmUp(long ns) {
        long begin = clock.nanoTime();
        while (clock.nanoTime() - begin < ns) {
            trial();
        }
    }

    /**
     * Runs all trials, with a barrier before and after each, whose time is not counted.
     *
     * @param barrier waits for the other processes that run trials
     * @throws XferException if a transfer failed, or bytes were damaged
     */
    public XferReport run(Runnable barrier) {
        long ns = 0;
        for (int trial = 0; trial < plan.trials(); trial++) {
            barrier.run();
            long begin = clock.nanoTime();
            trial();
            ns += clock.nanoTime() - begin;
            barrier.run();
        }
        long operations = (long) lanes.size() * plan.requests() * plan.trials();
        Lane first = lanes.get(0);
        long bytes = operations * plan.count() * DataArray.ELEMENT_LENGTH;
        long wireBytes = operations * first.client.wireLength(first.requests.get(0));
        double seconds = Math.max(1, ns) / 1e9;
        return new XferReport(lanes.size(), operations, plan.count(), bytes, wireBytes, seconds);
    }

    private void trial() {
        for (Lane lane : lanes) {
            lane.started = 0;
            lane.ended = 0;
        }
        int left = lanes.size();
        while (left > 0) {
            int work = 0;
            left = 0;
            for (Lane lane : lanes) {
                work += step(lane);
                left += lane.ended < plan.requests() ? 1 : 0;
            }
            idle.idle(work);
        }
    }

    private int step(Lane lane) {
        int work = 0;
        while (lane.started < plan.requests() && lane.started - lane.ended < lane.requests.size()) {
            lane.client.start(request(lane, lane.started), lane.started);
            lane.started++;
            work++;
        }
        work += lane.client.doWork();
        while (lane.ended < lane.started && request(lane, lane.ended).isDone()) {
            request(lane, lane.ended).check();
            lane.ended++;
            work++;
        }
        return work;
    }

    private static XferRequest request(Lane lane, int number) {
        return lane.requests.get(number % lane.requests.size());
    }
}
