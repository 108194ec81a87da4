package dev.verbena.dart.receiver;

import dev.verbena.dart.DartException;
import dev.verbena.dart.store.InboundMessage;
import dev.verbena.dart.store.InboundStream;
import dev.verbena.dart.store.MessageDescriptions;
import dev.verbena.dart.store.MessageFiles;
import dev.verbena.dart.store.MessageNaming;
import dev.verbena.dart.store.StreamSession;
import dev.verbena.dart.wire.FrameFlyweight;
import dev.verbena.staging.Counters;
import dev.verbena.staging.HandlerFailure;
import java.util.ArrayList;
import org.agrona.collections.IntHashSet;

/**
 * What happens to a message that is complete: it is stored, if it is to be, delivered, and settled;
 * or dropped, if it came through another server before.
 */
final class MessageDelivery {
    private final ReceiverShared shared;
    private final MessageNaming naming;

    /** Null: none are kept. */
    private final MessageDescriptions descriptions;

    /** Null: none. */
    final SinkOutlet sink;

    MessageDelivery(ReceiverShared shared) {
        this.shared = shared;
        this.naming = new MessageNaming(shared.settings, shared.files, shared.streams);
        this.descriptions =
                shared.files != null && shared.settings.isDescribing()
                        ? new MessageDescriptions(shared.environment, shared.files.store())
                        : null;
        this.sink = shared.settings.sink() == null ? null : new SinkOutlet(shared, this::stays);
    }

    /** The sink has refused this message. */
    private void stays(InboundMessage message) {
        if (descriptions != null) {
            descriptions.add(message);
        }
    }

    /** Its last frame was taken. */
    void complete(InboundStream stream, InboundMessage message) {
        stream.open().remove(message.clientId());
        shared.isHalfNoMore(message);
        message.takeChecksum();
        if (shared.isAssembling) {
            message.assembled();
        }
        if (shared.files != null) {
            shared.files.complete(message);
            stream.storing(message);
        } else {
            deliver(stream, message);
        }
    }

    /** When a message that looks for a free name looks on. */
    long nextDeadlineNs() {
        long deadline = naming.nextDeadlineNs();
        return sink == null ? deadline : Math.min(deadline, sink.nextDeadlineNs());
    }

    /** Brings messages that are being stored on; order of a stream is kept. */
    int store(long now) {
        naming.beginCycle(now);
        int work = sink == null ? 0 : sink.doWork(now);
        for (int i = 0; i < shared.streams.size(); i++) {
            InboundStream stream = shared.streams.get(i);
            InboundMessage message;
            while ((message = stream.storing().peek()) != null) {
                if (isDroppedDuplicate(stream, message)) {
                    work++;
                    continue;
                }
                try {
                    if (!naming.step(stream, message)) {
                        break;
                    }
                } catch (DartException e) {
                    storeFailed(stream, e);
                    break;
                }
                stream.stored(message);
                if (isDeliveredElsewhere(stream, message.clientId(), message.sequence())) {
                    settleDuplicate(stream, message);
                } else {
                    deliver(stream, message);
                }
                work++;
            }
            work += stream.settle();
            work += shared.files.forceUnfinished(stream.needsForce(now));
            InboundMessage first = stream.frames().firstUnsettled();
            if (first != null && shared.files.hasFailed(first)) {
                // No frame of it need ever come that would find that out.
                storeFailed(stream, MessageFiles.failed(first, first.file().error()));
                work++;
            }
            shared.recycle(stream);
        }
        work += shared.files.deleteDenials();
        return work + (descriptions == null ? 0 : descriptions.doWork(now));
    }

    /** No message comes any more. */
    void close() {
        if (descriptions != null) {
            descriptions.close();
        }
    }

    private void deliver(InboundStream stream, InboundMessage message) {
        if (message.isCorrupt()) {
            Counters.add(shared.corrupt, 1);
        }
        if (shared.settings.handler() != null) {
            hand(message);
        }
        if (descriptions != null && sink == null) {
            descriptions.add(message);
        }
        boolean isHeld = shared.steps != null && shared.steps.take(message);
        message.held(isHeld || sink != null);
        message.delivered(sink != null || isHeld && shared.steps.isAcknowledgedWhenHandled());
        if (sink != null && !isHeld) {
            sink.add(message);
        }
        stream.delivered(message);
        Counters.add(shared.messages, 1);
        Counters.add(shared.payloadBytes, message.received());
        shared.environment
                .events()
                .received(message.clientId(), message.sequence(), message.received());
    }

    /**
     * Whatever a handler throws: the message counts as delivered, or nothing behind it ever would.
     */
    private void hand(InboundMessage message) {
        try {
            shared.settings.handler().onMessage(message);
        } catch (Throwable e) {
            HandlerFailure.check(e);
            Counters.add(shared.handlerErrors, 1);
            shared.report(e);
        }
    }

    /**
     * Whether a message came through another server of the same run before: its process was moved
     * to this one, and could not know that it had got through.
     */
    boolean isDeliveredElsewhere(InboundStream stream, int clientId, long sequence) {
        for (int i = 0; i < shared.streams.size(); i++) {
            InboundStream other = shared.streams.get(i);
            if (other != stream
                    && other.hasDelivered(clientId, sequence)
                    && other.job().equals(stream.job())) {
                return true;
            }
        }
        return false;
    }

    /** The same message, which came through another server and is not settled; null: none. */
    InboundMessage heldElsewhere(InboundStream stream, int clientId, long sequence) {
        for (int i = 0; i < shared.streams.size(); i++) {
            InboundStream other = shared.streams.get(i);
            InboundMessage held = other.findHeld(clientId, sequence);
            if (other != stream && held != null && other.job().equals(stream.job())) {
                return held;
            }
        }
        return null;
    }

    /** A message that waits for its file, and came through another server meanwhile. */
    private boolean isDroppedDuplicate(InboundStream stream, InboundMessage message) {
        if (message.rename() != null
                || message.state() >= InboundMessage.RENAMED
                || !isDeliveredElsewhere(stream, message.clientId(), message.sequence())) {
            return false;
        }
        stream.stored(message);
        shared.files.discard(message);
        settleDuplicate(stream, message);
        return true;
    }

    private void settleDuplicate(InboundStream stream, InboundMessage message) {
        shared.leaveStep(message);
        InboundMessage first =
                sink == null ? null : heldElsewhere(stream, message.clientId(), message.sequence());
        if (first == null) {
            message.settle();
        } else {
            message.held(true);
            message.delivered(true);
            sink.follow(first, message);
        }
        if (sink != null && message.file() == null) {
            shared.files.store().delete(message.fileName());
        }
        stream.delivered(message);
    }

    /** A file failed: its message is forgotten and will come again, over the next connection. */
    void storeFailed(InboundStream stream, DartException e) {
        shared.report(e);
        StreamSession session = stream.session();
        if (session != null) {
            session.fail(FrameFlyweight.ERROR_STORE, e.getMessage());
        }
        stream.frames().rewind();
        if (shared.journal != null) {
            shared.journal.rewriteSoon(shared.clock.nanoTime());
        }
        for (InboundMessage message : new ArrayList<>(stream.open().values())) {
            if (shared.files.hasFailed(message)) {
                takeBack(stream, message);
            }
        }
        forgetStoring(stream);
    }

    /**
     * With a message go those of its client behind it, which come again too: one that needs no room
     * on the device would overtake it, and it would then count as delivered.
     */
    private void forgetStoring(InboundStream stream) {
        IntHashSet clients = new IntHashSet();
        for (InboundMessage message : new ArrayList<>(stream.storing())) {
            boolean isBehind = clients.contains(message.clientId()) && message.file() != null;
            if (isBehind || shared.files.hasFailed(message)) {
                clients.add(message.clientId());
                stream.stored(message);
                takeBack(stream, message);
            }
        }
    }

    /**
     * The rest of a message comes again. Of its beginning that may have been acknowledged: nobody
     * else has that, so it stays, and the message goes on behind it.
     */
    private void takeBack(InboundStream stream, InboundMessage message) {
        InboundMessage later = stream.open().get(message.clientId());
        if (later != null && later != message) {
            // It would be taken for one that its server gave up.
            takeBack(stream, later);
        }
        if (!message.isBegunSettled()) {
            stream.open().remove(message.clientId(), message);
            shared.files.discard(message);
            shared.leaveStep(message);
            return;
        }
        String whyNot = shared.files.goBack(message);
        if (whyNot.isEmpty()) {
            stream.open().put(message.clientId(), message);
            return;
        }
        stream.open().remove(message.clientId(), message);
        shared.files.discard(message);
        stream.loseBeginnings();
        shared.abandon(message, "%s, half received before, is lost: %s", message, whyNot);
    }
}
