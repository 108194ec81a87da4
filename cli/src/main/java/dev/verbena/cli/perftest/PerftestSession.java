package dev.verbena.cli.perftest;

import dev.verbena.cli.terminal.Messages;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * The steps of one measurement, as perftest 4.5 makes them: when keys are exchanged, and where both
 * sides wait for each other. perftest waits by exchanging the keys again.
 */
final class PerftestSession {
    private final PerftestWire wire;
    private final BootstrapLink link;
    private final PerftestEndpoint endpoint;
    private final PerftestTool tool;
    private final PerftestOptions options;
    private final boolean isVerbena;
    private final List<Integer> sizes;

    PerftestSession(
            PerftestWire wire,
            PerftestEndpoint endpoint,
            PerftestOptions options,
            boolean isVerbena,
            List<Integer> sizes) {
        this.wire = wire;
        this.link = wire.link;
        this.endpoint = endpoint;
        this.tool = options.tool;
        this.options = options;
        this.isVerbena = isVerbena;
        this.sizes = sizes;
    }

    /** Connects, measures, ends. */
    void run(Consumer<PerftestReport> reports) throws IOException {
        meet();
        if (!tool.isOneSided() || !link.isClient() || options.isBidirectional) {
            // The other side measures meanwhile; only a one-sided client's server has nothing to
            // do.
            link.waitIndefinitely();
        }
        if (tool.isPingPong()) {
            pingPong(reports);
        } else if (tool == PerftestTool.SEND_BW) {
            stream(reports);
        } else if (options.isBidirectional) {
            bothSided(reports);
        } else if (link.isClient()) {
            oneSided(reports);
        } else {
            serve(reports);
        }
        part();
    }

    /** Keys of every queue pair, and where the programs tell them once more. */
    private void meet() {
        if (link instanceof BootstrapQueue manager) {
            // Once before and once after connecting; the keys that count come later.
            manager.listen();
            step();
            endpoint.join(manager);
            step();
        }
        if (tool.isLatency() && !tool.isSend()) {
            step();
        }
        List<PerftestKeys> theirs = tellAll();
        for (int q = 0; q < theirs.size(); q++) {
            endpoint.places.fillTarget(q);
        }
        endpoint.connect(theirs);
        if (tool.isSend()) {
            step();
        }
        tellAll();
        if (!tool.isSend()) {
            step();
        }
    }

    private List<PerftestKeys> tellAll() {
        List<PerftestKeys> theirs = new ArrayList<>();
        for (int q = 0; q < endpoint.queues.size(); q++) {
            theirs.add(wire.exchange(endpoint.keys(q)));
        }
        return theirs;
    }

    /**
     * ib_write_lat only hangs up; a server waits for that, so that its last answer is heard, and
     * with a duration so does the client, whose time may be over first.
     */
    private void part() {
        if (tool == PerftestTool.WRITE_LAT) {
            if (!link.isClient() || options.hasDuration()) {
                link.awaitEnd();
            }
            return;
        }
        step();
        link.part();
    }

    private void step() {
        wire.exchange(endpoint.keys(0));
    }

    private void pingPong(Consumer<PerftestReport> reports) {
        PerftestLatency latency = latency();
        for (int size : sizes) {
            endpoint.places.fillMessages(0, size);
            if (tool.isSend()) {
                endpoint.postReceives(size);
                step();
            }
            reports.accept(latency.measure(size));
            if (isVerbena) {
                int marked = tool.isWrite() ? 1 : 0;
                endpoint.places.verify(endpoint.places.payloadOffset(0), 0, size - marked);
            }
        }
    }

    private PerftestLatency latency() {
        return new PerftestLatency(endpoint, link.isClient(), options);
    }

    private void fillMessages(int size) {
        for (int q = 0; q < endpoint.queues.size(); q++) {
            endpoint.places.fillMessages(q, size);
        }
    }

    /** Writes, reads, atomics of both sides at once. */
    private void bothSided(Consumer<PerftestReport> reports) {
        PerftestBandwidth bandwidth = new PerftestBandwidth(endpoint, options);
        for (int size : sizes) {
            if (tool.isWrite()) {
                fillMessages(size);
            }
            bandwidth.warmUp(size);
            step();
            PerftestReport mine = bandwidth.measure(size);
            if (options.isAll) {
                step();
            }
            reports.accept(mine.plus(mine.exchange(wire)));
            if (tool.isRead() && isVerbena) {
                verifyRead(size);
            }
        }
        verifyTarget();
    }

    /** Sends, in one direction or both. */
    private void stream(Consumer<PerftestReport> reports) {
        PerftestBandwidth bandwidth = new PerftestBandwidth(endpoint, options);
        for (int size : sizes) {
            boolean isBoth = options.isBidirectional;
            if (link.isClient() || isBoth) {
                fillMessages(size);
            }
            if (!link.isClient() || isBoth) {
                endpoint.postReceives(size);
            }
            step();
            PerftestReport mine = bandwidth.stream(size, link.isClient());
            reports.accept(
                    isBoth && !options.hasDuration() ? mine.plus(mine.exchange(wire)) : mine);
            if ((!link.isClient() || isBoth) && isVerbena) {
                for (int q = 0; q < endpoint.queues.size(); q++) {
                    endpoint.places.verify(endpoint.places.payloadOffset(q), 0, size);
                }
            }
            if (options.isAll) {
                step();
            }
        }
    }

    /** Writes, reads, atomics: the client measures, the server only waits. */
    private void oneSided(Consumer<PerftestReport> reports) {
        PerftestReport last = null;
        PerftestLatency latency = tool.isLatency() ? latency() : null;
        PerftestBandwidth bandwidth =
                tool.isLatency() ? null : new PerftestBandwidth(endpoint, options);
        for (int size : sizes) {
            if (tool.isWrite()) {
                fillMessages(size);
            }
            if (bandwidth != null) {
                bandwidth.warmUp(size);
            }
            last = latency == null ? bandwidth.measure(size) : latency.measure(size);
            reports.accept(last);
            if (tool.isRead() && isVerbena) {
                verifyRead(size);
            }
        }
        if (!tool.isLatency()) {
            step();
            last.exchange(wire);
        }
    }

    private void verifyRead(int size) {
        for (int q = 0; q < endpoint.queues.size(); q++) {
            verify(endpoint.places.sendOffset(q), size, true);
        }
    }

    /**
     * Every place that messages of the last length took turns in.
     *
     * @param isOnePattern it goes on from place to place; else it begins anew in each
     */
    private void verify(long offset, int size, boolean isOnePattern) {
        long used = Math.min(endpoint.places.slots(size), options.iterations());
        for (int slot = 0; slot < used; slot++) {
            int at = slot * endpoint.places.turn(size);
            endpoint.places.verify(offset + at, isOnePattern ? at : 0, size);
        }
    }

    private void serve(Consumer<PerftestReport> reports) {
        if (!tool.isLatency()) {
            step();
            reports.accept(PerftestReport.none(options.isGigabits).exchange(wire));
        }
        verifyTarget();
    }

    /** What the other side was to write is there. */
    private void verifyTarget() {
        if (!tool.isWrite()) {
            return;
        }
        int size = sizes.get(sizes.size() - 1);
        for (int q = 0; q < endpoint.queues.size(); q++) {
            if (isVerbena) {
                verify(endpoint.places.receiveOffset(q), size, false);
            } else if (!endpoint.places.isTargetTouched(q, size)) {
                throw new Messages.Failure("nothing was written to the memory of queue pair " + q);
            }
        }
    }
}
