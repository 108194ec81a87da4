package dev.verbena.dart.store;

import dev.verbena.agent.DurableStore;
import dev.verbena.agent.ProtocolAgent;
import dev.verbena.dart.DartException;
import dev.verbena.dart.DartException.Code;
import dev.verbena.dart.config.ReceiverSettings;
import java.util.List;

/**
 * Gives complete files their final names, each at the moment when it gets it: forced to the device,
 * promised in the journal where the name must outlive a crash, then renamed. What a message must
 * not replace is looked for at that moment too, and once more behind the promise, because others
 * get their names meanwhile. Owned by the receiver's agent.
 */
public final class MessageNaming {
    private static final int TRIES_PER_CYCLE = 16;

    /** So many cycles are spent on it before it is said, and done with less haste. */
    private static final int PATIENCE = 64;

    private static final long LOOK_AGAIN_NS = 100_000_000;

    private final ReceiverSettings settings;
    private final MessageFiles files;
    private final List<InboundStream> streams;
    private long copies;
    private long nowNs;

    /** Cycles in which no free name was found, one after the other. */
    private int failures;

    private long nextTryNs;
    private boolean isLooking;

    public MessageNaming(
            ReceiverSettings settings, MessageFiles files, List<InboundStream> streams) {
        this.settings = settings;
        this.files = files;
        this.streams = streams;
    }

    /** Of this cycle nothing is known yet. */
    public void beginCycle(long now) {
        nowNs = now;
        isLooking = false;
    }

    /** When a message that has found no free name looks on. */
    public long nextDeadlineNs() {
        return isLooking ? nextTryNs : ProtocolAgent.NO_DEADLINE;
    }

    /**
     * Brings a complete message on.
     *
     * @return true when it is stored under its final name
     * @throws DartException naming the file and why it cannot be stored
     */
    public boolean step(InboundStream stream, InboundMessage message) {
        if (message.state == InboundMessage.RENAMED) {
            return true;
        }
        MessageFiles.check(message);
        if (message.state == InboundMessage.FORCING && files.isSafe(message)) {
            forced(stream, message);
        }
        if (message.state == InboundMessage.PROMISING
                && files.journal().isDurable(message.promiseRound)) {
            message.promised();
        }
        if (message.state != InboundMessage.RENAMING
                || message.rename == null && !beginRename(stream, message)
                || !message.rename.isDone()) {
            return false;
        }
        if (!message.rename.error().isEmpty()) {
            throw MessageFiles.failed(message, message.rename.error());
        }
        message.renamed();
        return true;
    }

    /**
     * Without a promise the whole message would come again after a crash. That does no harm unless
     * its beginning was acknowledged, or it would get a second name.
     */
    private void forced(InboundStream stream, InboundMessage message) {
        boolean isKept = isReplacingNothing(stream, message);
        boolean isInTheWay = isInTheWay(isKept, message);
        if (isInTheWay) {
            if (!findName(stream, message)) {
                return;
            }
            // The journal may know it by the other name.
            message.journalAnew();
        }
        boolean needsPromise = message.isBegunSettled || isKept || isInTheWay;
        message.forced(needsPromise);
        if (needsPromise) {
            stream.changed();
        }
    }

    private boolean beginRename(InboundStream stream, InboundMessage message) {
        if (isBeingNamedElsewhere(stream, message)) {
            return false;
        }
        if (isInTheWay(isReplacingNothing(stream, message), message)) {
            if (!findName(stream, message)) {
                return false;
            }
            promiseAnew(stream, message);
            return false;
        }
        // In this order: the store need not force again what an open file has just forced.
        message.beginRename(files.store().rename(message.temporaryName, message.fileName));
        message.file.close();
        return true;
    }

    /** The name that was promised has gone to another message meanwhile. */
    private static void promiseAnew(InboundStream stream, InboundMessage message) {
        message.promiseAnew();
        stream.changed();
    }

    /**
     * Whether a file has its name that it must not replace. The same bytes may be its own, stored
     * before a crash; nothing is lost with them.
     */
    private boolean isInTheWay(boolean isReplacingNothing, InboundMessage message) {
        String name = message.fileName;
        if (isReplacingNothing) {
            return isTaken(message, name);
        }
        return !settings.isReplacing()
                && isTaken(message, name)
                && !files.isSame(name, message.temporaryName);
    }

    /** What comes late must not replace what came after it. */
    private boolean isReplacingNothing(InboundStream stream, InboundMessage message) {
        return settings.isKeepingBoth() || isOvertaken(stream, message);
    }

    /**
     * Whether later messages of this client came before it, and have their names or are getting
     * them: over another stream, while this one waited in the files of a server that died; or over
     * this one, which it was sent through a second time.
     */
    private boolean isOvertaken(InboundStream stream, InboundMessage message) {
        if (stream.isDelivered(message.clientId, message.sequence)) {
            return true;
        }
        for (int i = 0; i < streams.size(); i++) {
            InboundStream other = streams.get(i);
            if (other == stream || !other.job.equals(stream.job)) {
                continue;
            }
            InboundMessage naming = other.storing.peek();
            boolean isNaming =
                    naming != null
                            && naming.clientId == message.clientId
                            && naming.sequence > message.sequence
                            && isBeingNamed(naming);
            if (isNaming || other.isDelivered(message.clientId, message.sequence)) {
                return true;
            }
        }
        return false;
    }

    /**
     * The same message through another server: soon this one is known to be a duplicate. Or one of
     * the same name: it is delivered before its file is replaced.
     */
    private boolean isBeingNamedElsewhere(InboundStream stream, InboundMessage message) {
        for (int i = 0; i < streams.size(); i++) {
            InboundStream other = streams.get(i);
            InboundMessage naming = other.storing.peek();
            if (other == stream || naming == null || !isBeingNamed(naming)) {
                continue;
            }
            boolean isSame =
                    naming.clientId == message.clientId
                            && naming.sequence == message.sequence
                            && other.job.equals(stream.job);
            if (isSame || naming.fileName.equals(message.fileName)) {
                return true;
            }
        }
        return false;
    }

    private static boolean isBeingNamed(InboundMessage message) {
        return message.rename != null || message.state == InboundMessage.RENAMED;
    }

    /** Whether a file has this name, or another message is just getting it. */
    private boolean isTaken(InboundMessage message, String name) {
        for (int i = 0; i < streams.size(); i++) {
            InboundMessage naming = streams.get(i).storing.peek();
            if (naming != null
                    && naming != message
                    && naming.rename != null
                    && naming.fileName.equals(name)) {
                return true;
            }
        }
        try (DurableStore.ReadableFile file = files.store().read(name)) {
            return file != null;
        } catch (java.io.UncheckedIOException e) {
            // It is there, and cannot be read.
            return true;
        }
    }

    /**
     * The sender's name, and whose message it is behind it: told from those of earlier jobs, and in
     * the end by a number. Whoever sends the same again and again cannot hold others up.
     *
     * @return false if none was found yet; come again
     */
    private boolean findName(InboundStream stream, InboundMessage message) {
        boolean isTried = failures < PATIENCE || nowNs - nextTryNs >= 0;
        if (isTried && lookForName(stream, message)) {
            failures = 0;
            return true;
        }
        isLooking = true;
        if (isTried) {
            failures++;
            nextTryNs = failures < PATIENCE ? nowNs : nowNs + LOOK_AGAIN_NS;
        }
        if (isTried && failures == PATIENCE) {
            report(
                    Code.TRANSFER_FAILED.because(
                            "no free name for '%s' after %s tries; looking on. Are there so many "
                                    + "files whose names begin so, or can none be opened?",
                            files.plainName(message), PATIENCE * TRIES_PER_CYCLE));
        }
        return false;
    }

    private boolean lookForName(InboundStream stream, InboundMessage message) {
        String name = files.plainName(message);
        String number = "." + message.clientId + "-" + message.sequence;
        String job = number + "." + stream.job.toString().substring(0, 8);
        for (int i = 0; i < TRIES_PER_CYCLE; i++) {
            String behind = i == 0 ? "" : i == 1 ? number : i == 2 ? job : job + "." + ++copies;
            int length = Math.min(name.length(), MessageFiles.NAME_LENGTH_MAX - behind.length());
            String candidate = name.substring(0, length) + behind;
            if (!isTaken(message, candidate)) {
                if (!settings.isKeepingBoth() && !settings.isReplacing()) {
                    report(
                            Code.NAME_TAKEN.because(
                                    "there is a file '%s' with other bytes: %s is stored as '%s'",
                                    name, message, candidate));
                }
                message.named(candidate);
                return true;
            }
        }
        return false;
    }

    private void report(DartException e) {
        settings.environment().errorHandler().onError(e);
    }
}
