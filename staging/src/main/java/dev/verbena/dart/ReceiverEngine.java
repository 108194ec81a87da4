package dev.verbena.dart;

import dev.verbena.agent.AgentThread;
import dev.verbena.agent.ByteStreams.Listener;
import dev.verbena.agent.Environment;
import dev.verbena.agent.ProtocolAgent;
import dev.verbena.agent.internal.PlantedFaults;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import org.agrona.collections.IntHashSet;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.UnsafeBuffer;

/** The receiver's agent: accepts, reads, puts together, stores, delivers, acknowledges. */
final class ReceiverEngine implements ProtocolAgent {
    private static final int POOL_MAX = 16;
    private static final int STREAMS_MAX = 1024;
    private static final int POOLED_MEMORY_MAX = 64 * 1024 * 1024;

    private final DartReceiver.Context context;
    private final Environment environment;
    private final NanoClock clock;
    private final InboundConnections connections;
    private final HalfMessages halves;
    private final List<InboundStream> streams = new ArrayList<>();
    private final ArrayDeque<InboundMessage> pool = new ArrayDeque<>();
    private final MessageFiles files;
    private final StepAssembler steps;
    private final ReverseOutlet reverse;
    private final RankWatch ranks;
    private final boolean isAssembling;
    private final ReceiverJournal journal;
    private final CounterMirror mirror;
    private final Object monitor = new Object();
    private AgentThread thread;
    private boolean isClosed;
    private volatile Throwable failure;

    final AtomicLong messages = new AtomicLong();
    final AtomicLong payloadBytes = new AtomicLong();
    final AtomicLong corrupt = new AtomicLong();
    final AtomicLong abandoned = new AtomicLong();
    final AtomicLong duplicateFrames = new AtomicLong();
    final AtomicLong corruptFrames = new AtomicLong();
    final AtomicLong protocolErrors = new AtomicLong();
    final AtomicLong handlerErrors = new AtomicLong();
    final AtomicLong finished = new AtomicLong();

    ReceiverEngine(DartReceiver.Context context) {
        this.context = context;
        this.environment = context.environment;
        this.clock = environment.nanoClock();
        this.files = context.directory.isEmpty() ? null : new MessageFiles(context);
        this.steps =
                context.steps == null
                        ? null
                        : new StepAssembler(
                                context.steps,
                                clock,
                                environment.errorHandler(),
                                this::letGo,
                                this::stopBy);
        this.reverse =
                new ReverseOutlet(context.reverseBytesMax, clock, environment.errorHandler());
        this.ranks = new RankWatch(environment, context.lostHandler, steps, streams);
        this.isAssembling = context.handler != null || steps != null;
        this.journal = files == null ? null : recover();
        this.halves = new HalfMessages(this, files, context, clock.nanoTime());
        this.connections = new InboundConnections(this, context, listen());
        this.mirror =
                new CounterMirror(environment, "dart receiver")
                        .show("connections open", connections.open)
                        .show("messages", messages)
                        .show("bytes", payloadBytes)
                        .show("messages corrupt", corrupt)
                        .show("frames corrupt", corruptFrames)
                        .show("frames duplicate", duplicateFrames)
                        .show("half messages put aside", halves.putAside)
                        .show("strangers dropped", connections.strangersDropped)
                        .show("protocol errors", protocolErrors)
                        .show("handler errors", handlerErrors)
                        .show("processes lost", ranks.lostCount);
        if (steps != null) {
            mirror.show("steps complete", steps.complete)
                    .show("steps incomplete", steps.incomplete)
                    .show("steps dropped", steps.dropped)
                    .show("steps open", steps.open);
        }
    }

    private Listener listen() {
        try {
            return environment.streams().listen(context.host, context.port);
        } catch (RuntimeException e) {
            if (files != null) {
                files.close();
            }
            throw e;
        }
    }

    /** Takes up what a receiver of the same directory that did not end in order has left. */
    private ReceiverJournal recover() {
        ReceiverRecovery recovery = new ReceiverRecovery(files, environment.errorHandler());
        streams.addAll(recovery.recover());
        for (InboundStream stream : streams) {
            finished.lazySet(finished.get() + (stream.isFinished ? 1 : 0));
            stream.open.values().forEach(message -> joinStep(stream, message));
            stream.storing.forEach(message -> joinStep(stream, message));
        }
        abandoned.lazySet(recovery.lostCount());
        return recovery.journal(clock.nanoTime());
    }

    private void joinStep(InboundStream stream, InboundMessage message) {
        message.job = stream.job;
        if (steps != null) {
            steps.admit(stream, message);
        }
    }

    void startThread() {
        thread =
                AgentThread.builder("dart-receiver", environment)
                        .agent(this)
                        .wakeOnStreams()
                        .start();
        onReady(thread::wakeup);
    }

    void onReady(Runnable wakeup) {
        reverse.onSend(wakeup);
        if (files != null) {
            files.onReady(wakeup);
        }
    }

    int port() {
        return connections.port();
    }

    Throwable failure() {
        return failure;
    }

    ReceiverStatistics statistics() {
        return new ReceiverStatistics(
                messages.get(),
                payloadBytes.get(),
                corrupt.get(),
                abandoned.get(),
                duplicateFrames.get(),
                corruptFrames.get(),
                protocolErrors.get(),
                handlerErrors.get(),
                connections.accepted.get(),
                (int) connections.open.get(),
                finished.get(),
                connections.strangersDropped.get());
    }

    /** Half messages whose memory was given back since the start. */
    long putAsideCount() {
        return halves.putAside.get();
    }

    ReverseOutlet reverse() {
        return reverse;
    }

    StepStatistics stepStatistics() {
        if (steps == null) {
            throw new IllegalStateException("this receiver puts no steps together");
        }
        return steps.statistics();
    }

    boolean awaitFinished(int serverCount, long timeoutNs) {
        Monitors.await(
                monitor, clock, () -> finished.get() >= serverCount || failure != null, timeoutNs);
        return finished.get() >= serverCount;
    }

    @Override
    public int doWork() {
        try {
            return cycle();
        } catch (VirtualMachineError e) {
            // Nothing can be relied on now, and this thread will end: whoever waits must hear it.
            boolean isSilent =
                    PlantedFaults.ENABLED && PlantedFaults.isOn("dart-receiver-vanishes");
            if (!isSilent) {
                failed(e);
            }
            throw e;
        }
    }

    private int cycle() {
        long now = clock.nanoTime();
        reverse.checkQuiet(now);
        int work = files == null ? 0 : store(now);
        work += connections.doWork(now);
        work += halves.doWork(now, streams);
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
            recycle(streams.get(i));
        }
        return work;
    }

    /** A step has no more use for this message. */
    private void letGo(InboundMessage message) {
        message.isHeld = false;
        message.state = InboundMessage.SETTLED;
        if (message.isForgotten) {
            toPool(message);
        }
    }

    /** Nothing more is taken or acknowledged; what is not acknowledged stays with the servers. */
    private void stopBy(Throwable cause) {
        connections.stop(cause.getMessage());
        failed(cause);
    }

    private void failed(Throwable cause) {
        synchronized (monitor) {
            failure = cause;
            monitor.notifyAll();
        }
    }

    /** Brings messages that are being stored on; order of a stream is kept. */
    private int store(long now) {
        int work = 0;
        for (int i = 0; i < streams.size(); i++) {
            InboundStream stream = streams.get(i);
            InboundMessage message;
            while ((message = stream.storing.peek()) != null) {
                if (isDroppedDuplicate(stream, message)) {
                    work++;
                    continue;
                }
                try {
                    if (!files.step(message, stream, journal)) {
                        break;
                    }
                } catch (DartException e) {
                    storeFailed(stream, e);
                    break;
                }
                stream.storing.poll();
                if (isDeliveredElsewhere(stream, message.clientId, message.sequence)) {
                    settleDuplicate(stream, message);
                } else {
                    deliver(stream, message);
                }
                work++;
            }
            work += stream.settle();
            work += files.forceUnfinished(stream.needsForce(now));
            recycle(stream);
        }
        return work;
    }

    // ---- for sessions

    long helloTimeoutNs() {
        return context.helloTimeoutNs;
    }

    InboundGreeting greeting() {
        return new InboundGreeting(context.secret, environment);
    }

    long windowMax() {
        return context.windowMax;
    }

    InboundStream attach(InboundSession session, UUID job, int serverId, long lastSent) {
        InboundStream found = null;
        for (InboundStream stream : streams) {
            if (stream.serverId == serverId && stream.job.equals(job)) {
                found = stream;
            }
        }
        connections.admit(session, found == null ? null : found.session);
        if (found != null && lastSent + 1 < found.nextWanted()) {
            // The server begins anew: what was open from it will never be completed.
            drop(found);
            found = null;
        }
        if (found != null && found.isHalfLost) {
            goOnWithoutHalves(found);
        }
        if (found == null) {
            makeRoom();
            found = new InboundStream(job, serverId, journal != null);
            streams.add(found);
        }
        if (found.session != null) {
            found.session.end();
        }
        found.session = session;
        return found;
    }

    /** What is left of messages that were given up can be taken only if that is accepted. */
    private void goOnWithoutHalves(InboundStream stream) {
        if (!context.isAcceptingGaps) {
            throw new DartException(
                    DartException.Code.RECEIVER_UNREACHABLE,
                    "messages that were half received from server "
                            + stream.serverId
                            + " of job "
                            + stream.job
                            + " were given up while it was away (unfinishedBytesMax). Tell the"
                            + " receiver to accept the gap, or give it a directory");
        }
        stream.isHalfLost = false;
        stream.isAfterGap = true;
    }

    /** The acknowledged beginning of a message is gone: it cannot be delivered any more. */
    void loseHalf(InboundStream stream, InboundMessage message, String why) {
        if (steps != null) {
            steps.gaveUp(message);
        }
        forget(stream, message);
        stream.isHalfLost = true;
        report(
                new DartException(
                        DartException.Code.TRANSFER_FAILED,
                        "message "
                                + message.sequence
                                + " of client "
                                + message.clientId
                                + ", of which "
                                + message.received
                                + " of "
                                + message.metadata.payloadLength()
                                + " bytes had come, is lost: "
                                + why));
        ServerShared.add(abandoned, 1);
    }

    /** Streams of servers that are long gone do not stay for ever. */
    private void makeRoom() {
        for (int i = 0; i < streams.size() && streams.size() >= STREAMS_MAX; i++) {
            if (streams.get(i).session == null) {
                drop(streams.get(i));
                return;
            }
        }
    }

    /**
     * A server does not hold the frames any more that are wanted next: they were acknowledged by a
     * receiver of which this one knows nothing.
     */
    void gap(InboundStream stream, long firstHeld) {
        String what =
                "server "
                        + stream.serverId
                        + " of job "
                        + stream.job
                        + " holds nothing before frame "
                        + firstHeld
                        + ", but frame "
                        + stream.acknowledgedNext()
                        + " is wanted: what an earlier receiver got is not known here. ";
        if (context.isAcceptingGaps && firstHeld > stream.nextWanted()) {
            report(
                    new DartException(
                            DartException.Code.RECEIVER_UNREACHABLE,
                            what + "Going on behind the gap, as told"));
            abandonOpen(stream);
            stream.rewind();
            stream.beginAt(firstHeld);
            stream.isAfterGap = true;
            return;
        }
        ServerShared.add(protocolErrors, 1);
        report(
                new DartException(
                        DartException.Code.RECEIVER_UNREACHABLE,
                        what
                                + "Start this receiver on the directory of the earlier one, or"
                                + " tell it to accept the gap"));
    }

    /** Memory for a message that may begin; goes back by {@link #spareUnused}. */
    InboundMessage spare() {
        InboundMessage message = pool.poll();
        message = message == null ? new InboundMessage() : message;
        message.isSpare = true;
        return message;
    }

    void spareUnused(InboundMessage message) {
        toPool(message);
    }

    /**
     * The message into whose memory the payload of this frame can be read, each byte to its
     * position: it is the next one, or begins one. The header is not checked yet: nothing but bytes
     * behind the message's end may change before it is.
     *
     * @param spare for a message that begins
     * @return null if the payload must be read elsewhere
     */
    InboundMessage destination(InboundStream stream, FrameFlyweight frame, InboundMessage spare) {
        boolean isUnusual =
                frame.sequence() != stream.nextWanted()
                        || (frame.flags() & FrameFlyweight.GIVEN_UP) != 0;
        if (!isAssembling || isUnusual) {
            return null;
        }
        InboundMessage message = stream.find(frame.clientId(), frame.messageSequence());
        if (message == null && frame.position() == 0) {
            spare.position = 0;
            spare.makeRoom(frame.payloadLength());
            return spare;
        }
        boolean isAstray = PlantedFaults.ENABLED && PlantedFaults.isOn("dart-read-astray");
        if (message == null
                || frame.position() == 0
                || !message.isAt(frame) && !isAstray
                || message.positionMax() - message.position < frame.payloadLength()) {
            return null;
        }
        message.makeRoom((int) message.position + frame.payloadLength());
        return message;
    }

    /**
     * Takes the next frame of a stream.
     *
     * @param payload holds its payload from offset on
     * @param inPlace the message in whose memory the payload is already; null: none. If it is not
     *     yet in the stream and this frame begins it, it is now
     * @return false if it cannot be taken now; come again with the same frame
     */
    boolean take(
            InboundStream stream,
            FrameFlyweight frame,
            UnsafeBuffer payload,
            int offset,
            InboundMessage inPlace) {
        if (stream.isFull()) {
            return false;
        }
        if ((frame.flags() & FrameFlyweight.NOTICES) != 0) {
            ranks.onNotice(stream, frame, payload, clock.nanoTime());
            stream.taken(null, 0, 0, true);
            stream.settle();
            return true;
        }
        InboundMessage message = stream.find(frame.clientId(), frame.messageSequence());
        boolean isLast = (frame.flags() & FrameFlyweight.LAST) != 0;
        if (takeKnown(stream, frame, message, isLast)) {
            return true;
        }
        if (message == null && !stream.hasRoomFor(frame.clientId())) {
            throw malformed(frame, "more clients than a server can have");
        }
        if (message != null && message.isAside) {
            return false;
        }
        boolean isNew = frame.position() == 0;
        if (isNew && message == null) {
            if ((frame.flags() & FrameFlyweight.FIRST) == 0) {
                throw malformed(frame, "begins a message without saying so");
            }
            message = begin(stream, frame, payload, offset, inPlace);
            if (message == null) {
                return false;
            }
        }
        if (message == null && stream.isAfterGap) {
            lostItsBeginning(stream, frame);
            return true;
        }
        if (message == null) {
            throw malformed(frame, "belongs to no message that was begun");
        }
        int skip = isNew ? message.metadataLength : 0;
        if (frame.position() != message.position) {
            throw malformed(frame, "position " + frame.position() + ", not " + message.position);
        }
        int length = frame.payloadLength() - skip;
        long left = message.metadata.payloadLength() - message.received;
        if (length > left || isLast && length < left) {
            throw malformed(frame, length + " bytes of payload where " + left + " are left");
        }
        if (message.file != null && !files.hasRoom(message, payload, offset + skip, length)) {
            return false;
        }
        if (skip == 0) {
            message.crc.append(frame.payloadChecksum(), length);
        } else {
            message.crc.update(payload, offset + skip, length);
        }
        if (isAssembling && message != inPlace) {
            message.assemble(payload, offset + skip, length);
        }
        message.received += length;
        message.position = frame.position() + frame.payloadLength();
        message.flags |= frame.flags();
        stream.taken(message, message.received, length, isLast);
        if (isLast) {
            complete(stream, message);
        }
        stream.settle();
        recycle(stream);
        return true;
    }

    /**
     * Whether a message came through another server of the same run before: its process was moved
     * to this one, and could not know that it had got through.
     */
    private boolean isDeliveredElsewhere(InboundStream stream, int clientId, long sequence) {
        if (PlantedFaults.ENABLED && PlantedFaults.isOn("dart-moved-message-twice")) {
            return false;
        }
        for (int i = 0; i < streams.size(); i++) {
            InboundStream other = streams.get(i);
            if (other != stream
                    && other.isDelivered(clientId, sequence)
                    && other.job.equals(stream.job)) {
                return true;
            }
        }
        return false;
    }

    /** A message that waits for its file, and came through another server meanwhile. */
    private boolean isDroppedDuplicate(InboundStream stream, InboundMessage message) {
        if (message.state != InboundMessage.FORCING
                || !isDeliveredElsewhere(stream, message.clientId, message.sequence)) {
            return false;
        }
        stream.storing.poll();
        files.discard(message);
        settleDuplicate(stream, message);
        return true;
    }

    private void settleDuplicate(InboundStream stream, InboundMessage message) {
        if (steps != null) {
            steps.droppedDuplicate(message);
        }
        message.state = InboundMessage.SETTLED;
        stream.delivered(message);
    }

    /** The rest of a message whose first parts are behind a gap is of no use. */
    private void lostItsBeginning(InboundStream stream, FrameFlyweight frame) {
        ServerShared.add(abandoned, 1);
        stream.neverAgain(frame.clientId(), frame.messageSequence());
        stream.taken(null, 0, 0, true);
        stream.settle();
        report(
                new DartException(
                        DartException.Code.TRANSFER_FAILED,
                        "message "
                                + frame.messageSequence()
                                + " of client "
                                + frame.clientId()
                                + " is lost: its beginning is behind the gap"));
    }

    /** Frames that need no work: of a message given up, delivered, or received up to here. */
    private boolean takeKnown(
            InboundStream stream, FrameFlyweight frame, InboundMessage message, boolean isLast) {
        if ((frame.flags() & FrameFlyweight.GIVEN_UP) != 0) {
            if (message != null && message.state == InboundMessage.RECEIVING) {
                giveUp(stream, message);
            }
            stream.taken(null, 0, 0, true);
        } else if (stream.isDelivered(frame.clientId(), frame.messageSequence())) {
            stream.taken(stream.findHeld(frame.clientId(), frame.messageSequence()), 0, 0, isLast);
        } else if (isDeliveredElsewhere(stream, frame.clientId(), frame.messageSequence())
                && (message == null || message.state == InboundMessage.RECEIVING)) {
            if (message != null) {
                if (steps != null) {
                    steps.droppedDuplicate(message);
                }
                forget(stream, message);
            }
            stream.taken(null, 0, 0, true);
        } else if (message != null
                && frame.position() + frame.payloadLength() <= message.position) {
            long end = frame.position() + frame.payloadLength() - message.metadataLength;
            stream.taken(message, end, frame.payloadLength(), isLast);
        } else {
            return false;
        }
        stream.settle();
        return true;
    }

    private InboundMessage begin(
            InboundStream stream,
            FrameFlyweight frame,
            UnsafeBuffer payload,
            int offset,
            InboundMessage inPlace) {
        InboundMessage unfinished = stream.open.get(frame.clientId());
        if (unfinished != null) {
            giveUp(stream, unfinished);
        }
        InboundMessage message = inPlace == null ? spare() : inPlace;
        boolean isBegun = false;
        try {
            message.begin(frame.clientId(), stream.serverId, frame.tag(), frame.messageSequence());
            message.decode(payload, offset, frame.payloadLength());
            if (isAssembling && message.metadata.payloadLength() > context.messageLengthMax) {
                throw malformed(
                        frame,
                        "message of "
                                + message.metadata.payloadLength()
                                + " bytes, messageLengthMax is "
                                + context.messageLengthMax);
            }
            message.job = stream.job;
            if (steps != null && !steps.admit(stream, message)) {
                return null;
            }
            if (files != null) {
                files.begin(message);
            }
            isBegun = true;
        } finally {
            if (!isBegun && inPlace == null) {
                spareUnused(message);
            }
        }
        message.isSpare = false;
        stream.open.put(message.clientId, message);
        return message;
    }

    private void complete(InboundStream stream, InboundMessage message) {
        stream.open.remove(message.clientId);
        message.checksum = message.crc.value();
        if (isAssembling) {
            message.assembled();
        }
        if (files != null) {
            files.complete(message);
            stream.storing.add(message);
        } else {
            deliver(stream, message);
        }
    }

    private void deliver(InboundStream stream, InboundMessage message) {
        if (message.isCorrupt()) {
            ServerShared.add(corrupt, 1);
        }
        if (context.handler != null) {
            try {
                context.handler.onMessage(message);
            } catch (RuntimeException e) {
                ServerShared.add(handlerErrors, 1);
                report(e);
            }
        }
        message.isHeld = steps != null && steps.take(message);
        boolean isToWait = message.isHeld && steps.isAcknowledgedWhenHandled();
        message.state = isToWait ? InboundMessage.HELD : InboundMessage.SETTLED;
        stream.delivered(message);
        ServerShared.add(messages, 1);
        ServerShared.add(payloadBytes, message.received);
        environment.events().received(message.clientId, message.sequence, message.received);
    }

    /** Messages are used again once no frame depends on them. */
    private void recycle(InboundStream stream) {
        for (int i = stream.delivered.size() - 1; i >= 0; i--) {
            InboundMessage message = stream.delivered.get(i);
            if (!stream.dependsOn(message)) {
                stream.delivered.remove(i);
                toPool(message);
            }
        }
    }

    private void toPool(InboundMessage message) {
        message.isForgotten = true;
        if (!message.isHeld
                && pool.size() < POOL_MAX
                && message.memoryLength() <= POOLED_MEMORY_MAX) {
            // The memory that was used last is the most likely to be in a cache.
            pool.push(message);
        }
    }

    private void giveUp(InboundStream stream, InboundMessage message) {
        if (steps != null) {
            steps.gaveUp(message);
        }
        forget(stream, message);
        ServerShared.add(abandoned, 1);
        report(
                new DartException(
                        DartException.Code.TRANSFER_FAILED,
                        "message "
                                + message.sequence
                                + " of client "
                                + message.clientId
                                + " was given up by its server after "
                                + message.received
                                + " of "
                                + message.metadata.payloadLength()
                                + " bytes"));
    }

    /** Nothing more will come of this message here. */
    private void forget(InboundStream stream, InboundMessage message) {
        stream.open.remove(message.clientId);
        stream.forget(message);
        if (journal != null) {
            journal.forget(stream, message);
        }
        if (message.file != null) {
            files.discard(message);
        }
        toPool(message);
    }

    private void drop(InboundStream stream) {
        if (stream.session != null) {
            // What it is reading would go into the memory of a message that is given up.
            stream.session.end();
        }
        abandonOpen(stream);
        streams.remove(stream);
        if (journal != null) {
            journal.drop(stream);
        }
    }

    private void abandonOpen(InboundStream stream) {
        for (InboundMessage message : new ArrayList<>(stream.open.values())) {
            giveUp(stream, message);
        }
    }

    /** A file failed: its message is forgotten and will come again, over the next connection. */
    void storeFailed(InboundStream stream, DartException e) {
        report(e);
        InboundSession session = stream.session;
        if (session != null) {
            session.fail(FrameFlyweight.ERROR_STORE, e.getMessage());
        }
        stream.rewind();
        if (journal != null) {
            journal.rewriteSoon(clock.nanoTime());
        }
        forgetFailed(stream.open.values().iterator(), new IntHashSet());
        forgetFailed(stream.storing.iterator(), new IntHashSet());
    }

    /**
     * With a message go those of its client behind it, which come again too: one that needs no room
     * on the device would overtake it, and it would then count as delivered.
     */
    private void forgetFailed(Iterator<InboundMessage> messages, IntHashSet clients) {
        boolean isHasty =
                PlantedFaults.ENABLED && PlantedFaults.isOn("dart-failed-message-overtaken");
        while (messages.hasNext()) {
            InboundMessage message = messages.next();
            boolean isBehind =
                    clients.contains(message.clientId) && message.file != null && !isHasty;
            if (isBehind || files.hasFailed(message)) {
                clients.add(message.clientId);
                messages.remove();
                files.discard(message);
                if (steps != null) {
                    // It takes its room again when it comes again.
                    steps.droppedDuplicate(message);
                }
            }
        }
    }

    void finished(InboundStream stream) {
        reverse.finished(stream.session);
        if (stream.isFinished) {
            // Its farewell was answered before, and the answer got lost.
            return;
        }
        stream.isFinished = true;
        abandonOpen(stream);
        if (journal != null) {
            journal.finished(stream);
        }
        synchronized (monitor) {
            ServerShared.add(finished, 1);
            monitor.notifyAll();
        }
    }

    void protocolError(InboundSession session, DartException e) {
        ServerShared.add(protocolErrors, 1);
        DartException error =
                new DartException(
                        e.code(),
                        "connection from " + session.peer() + " ended: " + e.getMessage());
        if (session.isKnown()) {
            report(error);
        } else {
            connections.reportStranger(clock.nanoTime(), error);
        }
    }

    void helloIsLate(InboundSession session, long now) {
        connections.dropped(
                session, now, "it took longer than " + context.helloTimeoutNs / 1_000_000 + " ms");
    }

    void duplicateFrame() {
        ServerShared.add(duplicateFrames, 1);
    }

    void corruptFrame() {
        ServerShared.add(corruptFrames, 1);
    }

    private void report(Throwable e) {
        environment.errorHandler().onError(e);
    }

    private static DartException malformed(FrameFlyweight frame, String what) {
        return new DartException(
                DartException.Code.MALFORMED,
                "frame "
                        + frame.sequence()
                        + ", message "
                        + frame.messageSequence()
                        + " of client "
                        + frame.clientId()
                        + ": "
                        + what);
    }

    @Override
    public long nextDeadlineNs() {
        long deadline = connections.nextDeadlineNs();
        for (int i = 0; i < streams.size(); i++) {
            deadline = Math.min(deadline, streams.get(i).nextDeadlineNs());
        }
        deadline = Math.min(deadline, reverse.nextDeadlineNs());
        deadline = Math.min(deadline, ranks.nextDeadlineNs(clock.nanoTime()));
        if (journal != null) {
            deadline = Math.min(deadline, journal.nextDeadlineNs(streams));
        }
        return steps == null ? deadline : Math.min(deadline, steps.nextDeadlineNs());
    }

    void close() {
        if (thread != null) {
            thread.close();
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
        if (files != null) {
            boolean isNeeded = false;
            for (InboundStream stream : streams) {
                isNeeded |= !stream.isFinished;
            }
            journal.close(isNeeded);
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
