package dev.verbena.flesnet.input;

import dev.verbena.flesnet.ComponentFlyweight;
import dev.verbena.flesnet.DescriptorMode;
import dev.verbena.flesnet.FlesnetContext;
import dev.verbena.flesnet.dfs.IntervalMetadata;
import dev.verbena.flesnet.dfs.IntervalPacer;
import dev.verbena.flesnet.wire.LookTable;
import dev.verbena.flesnet.wire.SyncFlyweight;
import dev.verbena.transport.Transport;

/**
 * Messages of an input to its compute nodes: one at a time on each connection, the most urgent of
 * what is due (section 3.6). One thread; allocates nothing in steady state.
 */
final class InputSender {
    private static final int INTERVALS = 16;

    private final InputEngine engine;
    private final FlesnetContext context;
    private final Transport transport;
    private final InputLink[] links;
    private final LookTable looks;
    private final IntervalMetadata[] measured = new IntervalMetadata[INTERVALS];
    private long measuredCount;
    private long nowNs;
    private boolean isEnding;
    private boolean isRefused;
    private boolean isAsked;

    InputSender(
            InputEngine engine, FlesnetContext context, Transport transport, InputLink[] links) {
        this.engine = engine;
        this.context = context;
        this.transport = transport;
        this.links = links;
        looks = new LookTable(links.length);
        for (int i = 0; i < INTERVALS; i++) {
            measured[i] = new IntervalMetadata();
        }
    }

    /** Sends at most one message on each connection, the most urgent of what is due. */
    int flush(long now) {
        nowNs = now;
        takeMeasured();
        boolean wasEnding = isEnding;
        isEnding = engine.isEnding() && !engine.recovery().isBusy();
        if (isEnding != wasEnding) {
            looks.lookAll();
        }
        looks.expire(now);
        int work = 0;
        for (int i = looks.next(0); i >= 0; i = looks.next(i + 1)) {
            work += look(links[i]);
        }
        return work;
    }

    private int look(InputLink link) {
        looks.rest(link.compute);
        boolean isUp = link.isReady() || link.state() == InputLink.State.GREETING;
        if (!isUp || !link.control.isFree()) {
            return 0;
        }
        isRefused = false;
        int work = flush(link);
        if (isRefused) {
            looks.look(link.compute);
        } else if (work == 0) {
            looks.lookAt(link.compute, link.watch().dueNs());
        }
        return work;
    }

    /** Whether a peer was asked since the last call, so that it may be found lost. */
    boolean takeAsked() {
        boolean wasAsked = isAsked;
        isAsked = false;
        return wasAsked;
    }

    /** Something happened on a connection. */
    void happened(InputLink link) {
        looks.look(link.compute);
    }

    /** Something happened that may concern every connection. */
    void happened() {
        looks.lookAll();
    }

    private void takeMeasured() {
        IntervalPacer pacer = engine.pacer();
        IntervalMetadata one = measured[(int) (measuredCount % INTERVALS)];
        if (pacer != null && pacer.takeReport(one)) {
            long plannedNs = pacer.plannedDurationNs(one.interval());
            one.durationNs(context.intervals().onInterval(engine.input(), one, plannedNs));
            measuredCount++;
            looks.lookAll();
        }
    }

    private int flush(InputLink link) {
        if (link.isHello()) {
            return hello(link);
        }
        if (!link.isReady()) {
            return 0;
        }
        if (link.isHeartbeatAck()) {
            link.control.begin(SyncFlyweight.HEARTBEAT_ACK).i64(0, link.heartbeatTime());
            if (!send(link)) {
                return 0;
            }
            link.heartbeatAckSent();
            return 1;
        }
        if (link.isReport() || engine.recovery().isAckDue(link)) {
            return flushFailure(link);
        }
        if (link.isScheduler() && link.nextInterval < measuredCount) {
            return report(link);
        }
        if (link.hasUnreported()) {
            return written(link);
        }
        if (link.watch().isDue(nowNs)) {
            link.control.begin(SyncFlyweight.HEARTBEAT).i64(0, nowNs);
            if (!send(link)) {
                return 0;
            }
            link.watch().asked(nowNs);
            isAsked = true;
            return 1;
        }
        return finish(link);
    }

    private boolean send(InputLink link) {
        boolean isSent = link.control.send(transport, link.connection());
        isRefused |= !isSent;
        return isSent;
    }

    private int hello(InputLink link) {
        link.control
                .begin(SyncFlyweight.HELLO)
                .i32(0, context.inputs())
                .i32(4, context.computes())
                .i32(8, link.compute)
                .i32(12, context.microslicesPerComponent())
                .i64(16, nowNs);
        if (!send(link)) {
            return 0;
        }
        link.helloSent();
        return 1;
    }

    private int flushFailure(InputLink link) {
        if (engine.recovery().isAckDue(link)) {
            SyncFlyweight out = link.control.begin(SyncFlyweight.DECISION_ACK);
            engine.recovery().writeDecisionAck(out, link.ackedEpoch());
            if (!send(link)) {
                return 0;
            }
            link.decisionAckSent();
        } else {
            engine.recovery().writeReport(link.control.begin(SyncFlyweight.FAILURE_REPORT));
            if (!send(link)) {
                return 0;
            }
            link.needReport(false);
        }
        return 1;
    }

    private int report(InputLink link) {
        while (measuredCount - link.nextInterval > INTERVALS) {
            link.intervalSent();
        }
        IntervalMetadata one = measured[(int) (link.nextInterval % INTERVALS)];
        link.control
                .begin(SyncFlyweight.INTERVAL_ACTUAL)
                .interval(one)
                .i64(44, one.interval() + 2)
                .i64(52, nowNs)
                .i64(60, link.watch().latencyNs());
        if (!send(link)) {
            return 0;
        }
        link.intervalSent();
        return 1;
    }

    private int written(InputLink link) {
        boolean isInSync = context.descriptorMode() == DescriptorMode.IN_SYNC;
        long upTo = link.done();
        if (isInSync) {
            upTo = Math.min(upTo, link.reported() + SyncFlyweight.DESCRIPTORS_MAX);
        }
        int n = isInSync ? (int) (upTo - link.reported()) : 0;
        SyncFlyweight out = link.control.begin(SyncFlyweight.WRITTEN);
        out.i64(0, link.dataPosition(upTo)).i64(8, context.startPosition() + upTo).i32(16, n);
        int slotMask = (1 << context.descriptorExponent()) - 1;
        for (int i = 0; i < n; i++) {
            int slot = (int) (link.reported() + i) & slotMask;
            out.buffer()
                    .putBytes(
                            out.body() + 20 + i * ComponentFlyweight.LENGTH,
                            engine.staging(),
                            engine.stagingOffset(link, slot),
                            ComponentFlyweight.LENGTH);
        }
        out.extend(n * ComponentFlyweight.LENGTH);
        if (!send(link)) {
            return 0;
        }
        link.reportedTo(upTo);
        return 1;
    }

    private int finish(InputLink link) {
        if (!isEnding || link.isFinalSent()) {
            return 0;
        }
        link.control.begin(SyncFlyweight.FINAL).i64(0, engine.total());
        if (!send(link)) {
            return 0;
        }
        link.finalSent();
        return 1;
    }
}
