package dev.verbena.dart.receiver;

import dev.verbena.agent.AgentThread;
import dev.verbena.agent.ByteStreams;
import dev.verbena.agent.ByteStreams.Listener;
import dev.verbena.agent.Environment;
import dev.verbena.agent.ProtocolAgent;
import dev.verbena.dart.DartException;
import dev.verbena.dart.ReceiverStatistics;
import dev.verbena.dart.SinkStatistics;
import dev.verbena.dart.StepStatistics;
import dev.verbena.dart.config.ReceiverSettings;
import dev.verbena.dart.step.StepAssembler;
import dev.verbena.dart.step.StepPart;
import dev.verbena.dart.store.InboundMessage;
import dev.verbena.dart.store.InboundStream;
import dev.verbena.dart.store.MessageFiles;
import dev.verbena.dart.store.ReceiverJournal;
import dev.verbena.dart.store.ReceiverRecovery;
import dev.verbena.staging.CounterMirror;
import dev.verbena.staging.Counters;
import dev.verbena.staging.carrier.TransportStreams;
import dev.verbena.staging.host.AgentHost;
import java.net.URI;
import java.util.List;
import java.util.UUID;
import org.agrona.concurrent.NanoClock;

/** The receiver's agent: accepts, reads, puts together, stores, delivers, acknowledges. */
public final class ReceiverEngine implements ProtocolAgent {
    /** Streams, links, files and sinks wake it; deadlines end a sleep before. */
    private static final long WOKEN_SLEEP_MAX_NS = 200_000_000L;

    private final ReceiverSettings settings;
    private final Environment environment;
    private final NanoClock clock;

    /** Null: servers come by TCP. */
    private final TransportStreams carrier;

    private final InboundConnections connections;
    private final PartialMessages halves;
    private final ReceiverShared shared;
    private final MessageDelivery delivery;

    /** Null: none. */
    private final SinkOutlet sink;

    private final MessageTaker taker;
    private final StreamTable table;
    private final List<InboundStream> streams;
    private final MessageFiles files;
    private final StepAssembler steps;
    private final ReverseOutlet reverse;
    private final RankWatch ranks;
    private final ReceiverJournal journal;
    private final CounterMirror mirror;
    private final AgentHost host;
    private boolean isClosed;

    public ReceiverEngine(ReceiverSettings settings) {
        this.settings = settings;
        this.environment = settings.environment();
        this.host = new AgentHost(environment, DartException::interrupted);
        this.clock = environment.nanoClock();
        this.files = settings.directory().isEmpty() ? null : new MessageFiles(settings);
        this.steps =
                settings.steps() == null
                        ? null
                        : new StepAssembler(
                                settings.steps(),
                                clock,
                                environment.errorHandler(),
                                this::letGo,
                                this::stopBy);
        this.shared = new ReceiverShared(settings, files, steps);
        this.streams = shared.streams;
        this.reverse = new ReverseOutlet(settings, clock, environment.errorHandler());
        this.ranks = new RankWatch(environment, settings.lostHandler(), steps, streams);
        this.delivery = new MessageDelivery(shared);
        this.sink = delivery.sink;
        this.taker = new MessageTaker(shared, delivery, ranks);
        this.table = new StreamTable(shared, reverse::ended);
        this.journal = files == null ? null : recover();
        shared.rememberIn(journal);
        if (files != null) {
            files.journal(journal);
        }
        this.halves = new PartialMessages(shared, table, clock.nanoTime());
        this.carrier = settings.address() == null ? null : open();
        this.connections = new InboundConnections(this, settings, listen());
        this.mirror =
                new CounterMirror(environment, "dart receiver")
                        .show("connections open", connections.open)
                        .show("messages", shared.messages)
                        .show("bytes", shared.payloadBytes)
                        .show("messages corrupt", shared.corrupt)
                        .show("frames corrupt", shared.corruptFrames)
                        .show("frames duplicate", shared.duplicateFrames)
                        .show("half messages", halves.unfinished)
                        .show("half messages put aside", halves.putAside)
                        .show("waits for memory", halves.memoryWaits)
                        .show("strangers dropped", connections.strangersDropped)
                        .show("protocol errors", shared.protocolErrors)
                        .show("handler errors", shared.handlerErrors)
                        .show("processes lost", ranks.lostCount);
        if (sink != null) {
            sink.show(mirror);
        }
        if (steps != null) {
            steps.show(mirror);
        }
    }

    private TransportStreams open() {
        try {
            return TransportStreams.listening(environment, settings.address());
        } catch (RuntimeException e) {
            closeFiles();
            throw e;
        }
    }

    private Listener listen() {
        try {
            ByteStreams byteStreams = carrier == null ? environment.streams() : carrier;
            return byteStreams.listen(settings.host(), settings.port());
        } catch (RuntimeException e) {
            closeFiles();
            throw e;
        }
    }

    /** It cannot start. */
    private void closeFiles() {
        if (sink != null) {
            sink.close();
        }
        if (files != null) {
            files.close();
        }
    }

    /** Takes up what a receiver of the same directory that did not end in order has left. */
    private ReceiverJournal recover() {
        ReceiverRecovery recovery = new ReceiverRecovery(files, environment.errorHandler());
        try {
            streams.addAll(recovery.recover());
        } catch (RuntimeException e) {
            closeFiles();
            throw e;
        }
        for (InboundStream stream : streams) {
            shared.finished.lazySet(shared.finished.get() + (stream.isFinished() ? 1 : 0));
            stream.open().values().forEach(message -> joinStep(stream, message));
            stream.storing().forEach(message -> joinStep(stream, message));
        }
        shared.abandoned.lazySet(recovery.lostCount());
        long now = clock.nanoTime();
        ReceiverJournal recovered = recovery.journal(now, ranks.entries());
        ranks.restore(recovery.processes(), now);
        ranks.journal(recovered::process);
        return recovered;
    }

    private void joinStep(InboundStream stream, InboundMessage message) {
        message.job(stream.job());
        if (steps != null) {
            steps.admit(stream, message);
        }
    }

    public void startThread() {
        AgentThread.Builder thread = AgentThread.builder("dart-receiver", environment);
        thread.agent(this).transport(() -> carrier == null ? null : carrier.transport());
        thread.wakeOnStreams().sleepMaxNs(WOKEN_SLEEP_MAX_NS);
        onReady(host.start(thread)::wakeup);
    }

    public void onReady(Runnable wakeup) {
        reverse.onSend(wakeup);
        if (files != null) {
            files.onReady(wakeup);
        }
        if (sink != null) {
            sink.onReady(wakeup);
        }
    }

    /** The address of its transport; null: it listens by TCP. */
    public URI address() {
        return carrier == null ? null : carrier.uri();
    }

    public int port() {
        return connections.port();
    }

    public Throwable failure() {
        return host.failure();
    }

    public ReceiverStatistics statistics() {
        return new ReceiverStatistics(
                shared.messages.get(),
                shared.payloadBytes.get(),
                shared.corrupt.get(),
                shared.abandoned.get(),
                shared.duplicateFrames.get(),
                shared.corruptFrames.get(),
                shared.protocolErrors.get(),
                shared.handlerErrors.get(),
                connections.accepted.get(),
                (int) connections.open.get(),
                shared.finished.get(),
                connections.strangersDropped.get());
    }

    /** What is known of servers, for tests. */
    ReceiverShared shared() {
        return shared;
    }

    public ReverseOutlet reverse() {
        return reverse;
    }

    public StepStatistics stepStatistics() {
        if (steps == null) {
            throw new IllegalStateException("this receiver puts no steps together");
        }
        return steps.statistics();
    }

    public SinkStatistics sinkStatistics() {
        if (sink == null) {
            throw new IllegalStateException("this receiver has no sink");
        }
        return sink.statistics();
    }

    public boolean awaitFinished(int serverCount, long timeoutNs) {
        host.await(() -> shared.finished.get() >= serverCount || host.failure() != null, timeoutNs);
        return shared.finished.get() >= serverCount;
    }

    @Override
    public int doWork() {
        try {
            return cycle();
        } catch (AssertionError | LinkageError e) {
            throw e; // This thread goes on.
        } catch (Error e) {
            // Nothing can be relied on now, and this thread will end: whoever waits must hear it.
            host.failed(e);
            throw e;
        }
    }

    private int cycle() {
        long now = clock.nanoTime();
        reverse.checkQuiet(now);
        int work = carrier == null ? 0 : carrier.poll();
        work += files == null ? 0 : delivery.store(now);
        if (journal == null || journal.isEarlierSafe()) {
            work += connections.doWork(now);
        }
        work += halves.doWork(now);
        if (journal != null) {
            work += journal.doWork(now, streams);
        }
        work += ranks.doWork(now);
        if (steps != null) {
            work += handleSteps(now);
        }
        mirror.publish(now);
        return work;
    }

    private int handleSteps(long now) {
        int work = steps.doWork(now);
        for (int i = 0; work > 0 && i < streams.size(); i++) {
            streams.get(i).settle();
            shared.recycle(streams.get(i));
        }
        return work;
    }

    /** A step has no more use for this message. */
    private void letGo(StepPart part) {
        InboundMessage message = (InboundMessage) part;
        if (sink == null) {
            shared.letGo(message);
        } else {
            sink.addOfStep(message);
        }
    }

    /** Nothing more is taken or acknowledged; what is not acknowledged stays with the servers. */
    private void stopBy(Throwable cause) {
        connections.stop(cause.getMessage());
        host.failed(cause);
    }

    // ---- for sessions

    InboundGreeting greeting() {
        return new InboundGreeting(settings.secret(), environment);
    }

    /** Payload of the longest message that servers may stream. */
    long messageLengthMax() {
        return shared.isAssembling ? settings.messageLengthMax() : Long.MAX_VALUE;
    }

    MessageTaker taker() {
        return taker;
    }

    InboundStream attach(InboundSession session, UUID job, int serverId, long lastSent) {
        InboundStream known = table.find(job, serverId);
        connections.admit(session, known == null ? null : known.session());
        return table.attach(known, session, job, serverId, lastSent);
    }

    /** See {@link StreamTable#gap}. */
    void gap(InboundStream stream, long firstHeld) {
        table.gap(stream, firstHeld);
    }

    /** See {@link MessageDelivery#storeFailed}. */
    void storeFailed(InboundStream stream, DartException e) {
        delivery.storeFailed(stream, e);
    }

    void finished(InboundStream stream) {
        reverse.finished(stream.session());
        boolean wasFinished = stream.isFinished();
        stream.finish();
        if (!table.isAnyServing(stream.job())) {
            reverse.ended(stream.job());
        }
        if (wasFinished) {
            // Its farewell was answered before, and the answer got lost.
            return;
        }
        shared.abandonOpen(stream);
        if (journal != null) {
            journal.finished(stream);
        }
        Counters.add(shared.finished, 1);
        host.changed();
    }

    void protocolError(InboundSession session, DartException e) {
        Counters.add(shared.protocolErrors, 1);
        DartException error =
                new DartException(
                        e.code(),
                        "connection from " + session.peer() + " ended: " + e.getMessage());
        if (session.isKnown()) {
            shared.report(error);
        } else {
            connections.reportStranger(clock.nanoTime(), error);
        }
    }

    void helloIsLate(InboundSession session, long now) {
        connections.dropped(
                session,
                now,
                "it took longer than " + settings.helloTimeoutNs() / 1_000_000 + " ms");
    }

    @Override
    public long nextDeadlineNs() {
        long deadline = connections.nextDeadlineNs();
        for (int i = 0; i < streams.size(); i++) {
            deadline = Math.min(deadline, streams.get(i).frames().nextDeadlineNs());
        }
        deadline = Math.min(deadline, reverse.nextDeadlineNs());
        deadline = Math.min(deadline, halves.nextDeadlineNs());
        deadline = Math.min(deadline, delivery.nextDeadlineNs());
        deadline = Math.min(deadline, ranks.nextDeadlineNs(clock.nanoTime()));
        if (journal != null) {
            deadline = Math.min(deadline, journal.nextDeadlineNs(streams));
        }
        return steps == null ? deadline : Math.min(deadline, steps.nextDeadlineNs());
    }

    public void close() {
        if (host.hasThreads()) {
            host.close();
        } else {
            onClose();
        }
    }

    @Override
    public void onClose() {
        if (isClosed) {
            return;
        }
        isClosed = true;
        mirror.close();
        connections.close();
        if (carrier != null) {
            carrier.close();
        }
        halves.close();
        if (sink != null) {
            sink.close();
        }
        if (files != null) {
            boolean isNeeded = ranks.isAnyUntold();
            for (InboundStream stream : streams) {
                isNeeded |= !stream.isFinished();
            }
            journal.close(isNeeded);
            delivery.close();
            if (!isNeeded) {
                files.forgetDenials();
            }
            files.close();
        }
        if (steps != null) {
            steps.close();
        }
        reverse.close();
    }

    @Override
    public String roleName() {
        return "dart-receiver";
    }
}
