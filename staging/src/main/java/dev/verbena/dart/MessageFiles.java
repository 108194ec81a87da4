package dev.verbena.dart;

import dev.verbena.agent.DurableStore;
import org.agrona.DirectBuffer;

/**
 * Stores messages as files: written under a temporary name, forced to the device, then renamed to
 * the name that the sender gave, made harmless. Owned by the receiver's agent.
 */
final class MessageFiles implements AutoCloseable {
    private final DurableStore store;
    private final boolean isKeepingBoth;
    private final boolean isDurable;
    private long nextTemporary;

    MessageFiles(DartReceiver.Context context) {
        this.store = context.environment.store(context.directory);
        this.isKeepingBoth = context.isKeepingBoth;
        this.isDurable = context.ack == AckMode.DURABLE;
    }

    void onReady(Runnable wakeup) {
        store.onReady(wakeup);
    }

    /** A message begins; its metadata are there. */
    void begin(InboundMessage message) {
        String name = message.metadata.safeName();
        String suffix = message.clientId + "-" + message.sequence;
        if (name.isEmpty()) {
            name = "message-" + suffix;
        } else if (isKeepingBoth && exists(name)) {
            name = name + "." + suffix;
        }
        message.fileName = name;
        message.temporaryName =
                ".receiving-" + message.serverId + "-" + suffix + "-" + nextTemporary++;
        message.file = store.append(message.temporaryName);
        check(message);
        if (message.file.position() > 0) {
            throw new DartException(
                    DartException.Code.TRANSFER_FAILED,
                    "the temporary file " + message.temporaryName + " has content already");
        }
    }

    private boolean exists(String name) {
        try (DurableStore.ReadableFile file = store.read(name)) {
            return file != null;
        }
    }

    /**
     * Appends as much of the part as the writer takes.
     *
     * @return true when the whole part was taken; otherwise come again with the same part
     */
    boolean hasRoom(InboundMessage message, DirectBuffer from, int offset, int length) {
        long done = message.file.position() - message.received;
        while (done < length) {
            int n = message.file.append(from, offset + (int) done, length - (int) done);
            check(message);
            if (n <= 0) {
                return false;
            }
            done += n;
        }
        return true;
    }

    /** Forces what has come of a message that is not complete; null: nothing to do. */
    int forceUnfinished(InboundMessage message) {
        if (message == null) {
            return 0;
        }
        message.forceAsked = message.received;
        message.file.force();
        return 1;
    }

    /** All parts are appended. */
    void complete(InboundMessage message) {
        message.file.force();
        message.state = InboundMessage.FORCING;
    }

    /**
     * Brings a complete message on.
     *
     * @return true when it is stored under its final name
     * @throws DartException naming the file and why it cannot be stored
     */
    boolean step(InboundMessage message) {
        check(message);
        if (message.state == InboundMessage.FORCING) {
            boolean isForced = message.file.forcedPosition() >= message.received;
            if (isForced || !isDurable) {
                message.file.close();
                message.rename = store.rename(message.temporaryName, message.fileName);
                message.state = InboundMessage.RENAMING;
            }
        }
        if (message.state != InboundMessage.RENAMING || !message.rename.isDone()) {
            return false;
        }
        if (!message.rename.error().isEmpty()) {
            throw new DartException(DartException.Code.TRANSFER_FAILED, message.rename.error());
        }
        message.file = null;
        return true;
    }

    boolean hasFailed(InboundMessage message) {
        return !message.file.error().isEmpty()
                || message.rename != null
                        && message.rename.isDone()
                        && !message.rename.error().isEmpty();
    }

    void discard(InboundMessage message) {
        message.file.close();
        message.file = null;
        store.delete(message.temporaryName);
    }

    private static void check(InboundMessage message) {
        if (!message.file.error().isEmpty()) {
            throw new DartException(DartException.Code.TRANSFER_FAILED, message.file.error());
        }
    }

    @Override
    public void close() {
        store.close();
    }
}
