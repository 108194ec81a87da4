package dev.verbena.flesnet.input;

import dev.verbena.flesnet.FlesnetContext;
import dev.verbena.flesnet.FlesnetException;
import dev.verbena.flesnet.dfs.IntervalMetadata;
import dev.verbena.flesnet.wire.ControlMemory;
import dev.verbena.flesnet.wire.SyncFlyweight;
import dev.verbena.staging.bootstrap.ServiceAddress;
import dev.verbena.staging.bootstrap.ServiceFile;
import dev.verbena.staging.control.ConnectionEnds;
import dev.verbena.transport.Operation;
import dev.verbena.transport.Status;
import dev.verbena.transport.Transport;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/** Connections of an input, and the messages on them (section 3.4). One thread. */
final class InputProtocol implements AutoCloseable, InputRecovery.Engine {
    private static final int POLL_LIMIT = 256;
    private static final long RETRY_NS = 5_000_000L;
    private static final long CONNECT_NS = 5_000_000_000L;
    private static final int DRAIN_POLLS = 1000;
    private static final long DRAIN_PAUSE_NS = 1_000_000L;
    private static final long CONTROL = 1L << 62;
    private static final int SLOT_BITS = 20;
    private static final int SLOT_MASK = (1 << SLOT_BITS) - 1;

    private final InputEngine engine;
    private final FlesnetContext context;
    private final int input;
    private final Transport transport;
    private final InputLink[] links;
    private final ServiceFile[] files;
    private final ControlMemory controlMemory;
    private final Events events = new Events();
    private final SyncFlyweight message = new SyncFlyweight();
    private final UnsafeBuffer view = new UnsafeBuffer(0, 0);
    private final IntervalMetadata interval = new IntervalMetadata();
    private final InputSender sender;
    private int readyCount;
    private int writesOnWay;
    private boolean hasLeft;

    /** One of the peers was asked, and has not answered. */
    private boolean isWatching;

    private long nowNs;

    InputProtocol(InputEngine engine, FlesnetContext context, int input, Transport transport) {
        this.engine = engine;
        this.context = context;
        this.input = input;
        this.transport = transport;
        int n = context.computes();
        controlMemory = new ControlMemory(transport, n);
        links = new InputLink[n];
        files = new ServiceFile[n];
        long now = context.environment().nanoClock().nanoTime();
        for (int c = 0; c < n; c++) {
            links[c] = new InputLink(context, c, controlMemory.slot(c, input, CONTROL | c), now);
            files[c] =
                    new ServiceFile(
                            context.environment(),
                            context.serviceFile(c),
                            ServiceAddress.LENGTH_MAX);
        }
        sender = new InputSender(engine, context, transport, links);
    }

    /** Context of a write of the component that a link posts next. */
    static long dataContext(InputLink link) {
        return (long) link.compute << SLOT_BITS | link.slotOfNext();
    }

    /** A write was accepted. */
    void posted(InputLink link) {
        writesOnWay++;
        link.posted();
    }

    InputLink[] links() {
        return links;
    }

    /** Whether every compute node has greeted once. */
    boolean isReady() {
        return readyCount == links.length;
    }

    // ---- connecting

    int connect(long now) {
        int work = 0;
        for (InputLink link : links) {
            if (link.state() == InputLink.State.LOOKING && now - link.retryNs() >= 0) {
                link.retryAt(now + RETRY_NS);
                work += connect(link);
            }
        }
        return work + flush(now);
    }

    private int connect(InputLink link) {
        String text = files[link.compute].readCurrent();
        if (text == null) {
            return 0;
        }
        try {
            ServiceAddress found = ServiceAddress.parse(text, SyncFlyweight.PROTOCOL);
            long handle = transport.connect(found.url(), view, 0, 0, link.compute, CONNECT_NS);
            if (handle > 0) {
                link.connecting(handle);
            }
        } catch (IllegalArgumentException e) {
            engine.end(
                    new FlesnetException(
                            context.serviceFile(link.compute) + ": " + e.getMessage(), e));
        }
        return 1;
    }

    // ---- receiving

    int poll(long now) {
        nowNs = now;
        int work = Math.max(0, transport.poll(events, POLL_LIMIT));
        isWatching |= sender.takeAsked();
        if (isWatching) {
            watch(now);
        }
        return work;
    }

    private void watch(long now) {
        isWatching = false;
        for (InputLink link : links) {
            isWatching |= link.isReady() && link.watch().isAsked();
            if (link.isReady() && link.watch().isLost(now)) {
                gone(link, "it does not answer");
            }
        }
    }

    private void onMessage(InputLink link) {
        switch (message.type()) {
            case SyncFlyweight.HELLO_ACK -> onGreeting(link);
            case SyncFlyweight.ACK -> {
                if (requireReady(link).onAck(message)) {
                    engine.onAcked(link, nowNs);
                }
            }
            case SyncFlyweight.INTERVAL_PROPOSED -> {
                if (engine.pacer() != null) {
                    engine.pacer().onProposal(message.readInterval(interval));
                }
            }
            case SyncFlyweight.HEARTBEAT -> link.onHeartbeat(message.i64(0));
            case SyncFlyweight.HEARTBEAT_ACK -> link.watch().answered(message.i64(0), nowNs);
            case SyncFlyweight.FINAL -> onFinal(link);
            case SyncFlyweight.ABORT ->
                    engine.end(
                            new FlesnetException(
                                    "compute node %s aborted".formatted(link.compute)));
            case SyncFlyweight.FAILURE_ASK -> engine.recovery().onAsk(message);
            case SyncFlyweight.DECISION -> {
                engine.recovery().onDecision(message);
                link.onDecision(message.i32(0));
                engine.happened(link);
            }
            default ->
                    throw new IllegalArgumentException("sync type " + message.type() + " to input");
        }
    }

    private static InputLink requireReady(InputLink link) {
        if (!link.isReady()) {
            throw new IllegalArgumentException("acknowledges before its greeting");
        }
        return link;
    }

    /** An end before this side's would leave what it has not acknowledged to nobody. */
    private static void onFinal(InputLink link) {
        if (!link.isFinalSent()) {
            throw new IllegalArgumentException("ends before this input has");
        }
        link.onFinal();
    }

    private void onGreeting(InputLink link) {
        int dataExponent = message.i32(96);
        int descriptorExponent = message.i32(100);
        boolean isSame =
                dataExponent == context.dataExponent()
                        && descriptorExponent == context.descriptorExponent()
                        && message.i64(104) == context.startPosition();
        if (!isSame || link.state() != InputLink.State.GREETING) {
            throw new IllegalArgumentException(
                    "greets with rings of 2^%s bytes and 2^%s components"
                            .formatted(dataExponent, descriptorExponent));
        }
        link.dataRing.decode(message.buffer(), message.body());
        link.descriptorRing.decode(message.buffer(), message.body() + 48);
        link.greeted(dataExponent, descriptorExponent, message.i32(112) != 0);
        engine.happened(link);
        readyCount++;
    }

    @Override
    public void lose(InputLink link, String reason) {
        boolean wasNeeded = !link.isFinal();
        transport.disconnect(link.connection());
        link.lose();
        if (!isReady()) {
            engine.end(
                    new FlesnetException(
                            "compute node %s was lost before the run: %s"
                                    .formatted(link.compute, reason)));
        } else if (wasNeeded && isAllLost()) {
            engine.end(new FlesnetException("no compute node is left: " + reason));
        }
    }

    @Override
    public boolean isEnding() {
        return engine.isEnding();
    }

    private void gone(InputLink link, String reason) {
        if (link.isLost() || hasLeft) {
            return;
        }
        if (link.isFinal()) {
            lose(link, reason);
            return;
        }
        context.environment()
                .errorHandler()
                .onError(
                        new FlesnetException(
                                "input %s lost compute node %s: %s"
                                        .formatted(input, link.compute, reason)));
        lose(link, reason);
        if (!hasLeft && !engine.isEnding()) {
            engine.recovery().suspect(link.compute);
        }
    }

    private boolean isAllLost() {
        for (InputLink link : links) {
            if (!link.isLost()) {
                return false;
            }
        }
        return true;
    }

    /** Sends at most one message on each connection. */
    int flush(long now) {
        return sender.flush(now);
    }

    /** A failure is handled, which may concern the messages on every connection. */
    void happened() {
        sender.happened();
    }

    /** Whether every live compute node has confirmed the end, and was sent every decision. */
    boolean isFinished() {
        for (InputLink link : links) {
            boolean isOver = link.isFinal() && !engine.recovery().isAckDue(link);
            if (!link.isLost() && !isOver) {
                return false;
            }
        }
        return !engine.recovery().isBusy();
    }

    // ---- the end

    /** Says so if this is no orderly end, and disconnects. */
    void leave(boolean isAbort) {
        if (hasLeft) {
            return;
        }
        hasLeft = true;
        for (InputLink link : links) {
            if (link.isLost() || link.state() == InputLink.State.LOOKING) {
                continue;
            }
            if (isAbort && link.isReady() && link.control().isFree()) {
                link.control().begin(SyncFlyweight.ABORT);
                link.control().send(transport, link.connection());
            }
            transport.disconnect(link.connection());
        }
    }

    /** Takes the last events; work done. */
    int finish() {
        return Math.max(0, transport.poll(events, POLL_LIMIT));
    }

    /** Takes events until nothing is on its way, at most a second. */
    void drain() {
        for (int i = 0; i < DRAIN_POLLS && events.outstanding(); i++) {
            if (finish() == 0) {
                transport.await(transport.nanoTime() + DRAIN_PAUSE_NS);
            }
        }
    }

    @Override
    public void close() {
        for (ServiceFile file : files) {
            file.close();
        }
        controlMemory.close();
    }

    private final class Events implements ConnectionEnds {
        private InputLink link(long connection, long linkContext) {
            InputLink link = links[(int) linkContext];
            return link.connection() == connection && !link.isLost() ? link : null;
        }

        boolean outstanding() {
            for (InputLink link : links) {
                if (!link.control().isFree()) {
                    return true;
                }
            }
            return writesOnWay > 0;
        }

        @Override
        public void onCompletion(
                long connection, int operation, long opContext, int status, long value) {
            if (operation == Operation.SEND) {
                InputLink sent = links[(int) (opContext & ~CONTROL)];
                sent.control().onSent();
                sender.happened(sent.compute);
                return;
            }
            writesOnWay--;
            InputLink link = link(connection, opContext >>> SLOT_BITS);
            if (link == null) {
                return;
            }
            link.onWritten((int) opContext & SLOT_MASK);
            sender.happened(link.compute);
            if (status != Status.OK) {
                gone(link, "a write ended with " + Status.name(status));
            }
        }

        @Override
        public void onMessage(
                long connection,
                long linkContext,
                DirectBuffer buffer,
                int offset,
                int length,
                long token) {
            InputLink link = link(connection, linkContext);
            if (link == null) {
                return;
            }
            try {
                view.wrap(buffer, offset, length);
                message.wrap(view, 0, length);
                link.watch().heard(nowNs);
                sender.happened(link.compute);
                InputProtocol.this.onMessage(link);
            } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
                gone(link, e.getMessage());
            }
        }

        @Override
        public void onConnected(long connection, long linkContext) {
            links[(int) linkContext].connected(nowNs);
            sender.happened((int) linkContext);
        }

        @Override
        public void onConnectFailed(long connection, long linkContext, int status, String reason) {
            InputLink link = links[(int) linkContext];
            if (link.state() == InputLink.State.CONNECTING) {
                link.retryAt(nowNs + RETRY_NS);
            }
        }

        @Override
        public void onGone(long connection, long linkContext, String reason) {
            InputLink link = link(connection, linkContext);
            if (link != null) {
                gone(link, reason);
            }
        }
    }
}
