package dev.verbena.flesnet.input;

import dev.verbena.flesnet.ComponentFlyweight;
import dev.verbena.flesnet.DescriptorMode;
import dev.verbena.flesnet.FlesnetContext;
import dev.verbena.flesnet.dfs.IntervalMetadata;
import dev.verbena.flesnet.dfs.IntervalPacer;
import dev.verbena.flesnet.wire.Decision;
import dev.verbena.flesnet.wire.SyncFlyweight;
import dev.verbena.flesnet.wire.SyncSender;
import dev.verbena.transport.Transport;

/** Messages of an input to its compute nodes. One thread; allocates nothing in steady state. */
final class InputSender extends SyncSender<InputLink> {
    private static final int INTERVALS = 16;

    private final InputEngine engine;
    private final FlesnetContext context;
    private final InputLink[] links;
    private final IntervalMetadata[] measured = new IntervalMetadata[INTERVALS];
    private long measuredCount;
    private boolean isEnding;

    InputSender(
            InputEngine engine, FlesnetContext context, Transport transport, InputLink[] links) {
        super(transport, links.length);
        this.engine = engine;
        this.context = context;
        this.links = links;
        for (int i = 0; i < INTERVALS; i++) {
            measured[i] = new IntervalMetadata();
        }
    }

    /** Sends at most one message on each connection. */
    int flush(long now) {
        takeMeasured();
        boolean wasEnding = isEnding;
        isEnding = engine.isEnding() && !engine.recovery().isBusy();
        if (isEnding != wasEnding) {
            happened();
        }
        int work = flushAll(now);
        if (work > 0) {
            engine.counts().sent(messageCount(), byteCount());
        }
        return work;
    }

    private void takeMeasured() {
        IntervalPacer pacer = engine.pacer();
        IntervalMetadata one = measured[(int) (measuredCount % INTERVALS)];
        if (pacer != null && pacer.takeReport(one)) {
            long plannedNs = pacer.plannedDurationNs(one.interval());
            one.durationNs(context.intervals().onInterval(engine.input(), one, plannedNs));
            measuredCount++;
            happened();
        }
    }

    @Override
    protected InputLink sendable(int compute) {
        InputLink link = links[compute];
        boolean isUp = link.isReady() || link.state() == InputLink.State.GREETING;
        return isUp && link.control().isFree() ? link : null;
    }

    @Override
    protected boolean flush(InputLink link) {
        if (link.isHello()) {
            return hello(link);
        }
        if (!link.isReady()) {
            return false;
        }
        if (link.isAnswerDue()) {
            return answer(link);
        }
        if (engine.recovery().isAckDue(link)) {
            Decision decision = engine.recovery().applied(link.ackedEpoch());
            decision.write(link.control().begin(SyncFlyweight.DECISION_ACK));
            return send(link, InputLink::decisionAckSent);
        }
        if (link.isReport()) {
            engine.recovery().writeReport(link.control().begin(SyncFlyweight.FAILURE_REPORT));
            return send(link, InputLink::reportSent);
        }
        if (link.isScheduler() && link.nextInterval < measuredCount) {
            return report(link);
        }
        if (link.hasUnreported()) {
            return written(link);
        }
        if (link.watch().isDue(nowNs())) {
            return ask(link);
        }
        if (isEnding && !link.isFinalSent()) {
            link.control().begin(SyncFlyweight.FINAL).i64(0, engine.total());
            return send(link, InputLink::finalSent);
        }
        return false;
    }

    private boolean hello(InputLink link) {
        link.control()
                .begin(SyncFlyweight.HELLO)
                .i32(0, context.inputs())
                .i32(4, context.computes())
                .i32(8, link.compute)
                .i32(12, context.microslicesPerComponent())
                .i64(16, nowNs());
        return send(link, InputLink::helloSent);
    }

    private boolean report(InputLink link) {
        while (measuredCount - link.nextInterval > INTERVALS) {
            link.intervalSent();
        }
        IntervalMetadata one = measured[(int) (link.nextInterval % INTERVALS)];
        link.control()
                .begin(SyncFlyweight.INTERVAL_ACTUAL)
                .interval(one)
                .i64(44, one.interval() + 2)
                .i64(52, nowNs())
                .i64(60, link.watch().latencyNs());
        return send(link, InputLink::intervalSent);
    }

    private boolean written(InputLink link) {
        boolean isInSync = context.descriptorMode() == DescriptorMode.IN_SYNC;
        long upTo = link.done();
        if (isInSync) {
            upTo = Math.min(upTo, link.reported() + SyncFlyweight.DESCRIPTORS_MAX);
        }
        int n = isInSync ? (int) (upTo - link.reported()) : 0;
        SyncFlyweight out = link.control().begin(SyncFlyweight.WRITTEN);
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
        boolean isSent = send(link);
        if (isSent) {
            link.reportedTo(upTo);
        }
        return isSent;
    }
}
