package dev.verbena.dart.store;

import dev.verbena.agent.DurableStore;
import dev.verbena.dart.AckMode;
import dev.verbena.dart.DartException;
import dev.verbena.dart.DartException.Code;
import dev.verbena.dart.config.ReceiverSettings;
import java.util.ArrayDeque;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Writes messages to files under temporary names and forces them to the device; what gets its final
 * name is the matter of {@link MessageNaming}. Owned by the receiver's agent.
 */
public final class MessageFiles implements AutoCloseable {
    /** Files with such names are the receiver's own, as long as they are not complete. */
    public static final String TEMPORARY_PREFIX = ".receiving-";

    private static final String LOCK_NAME = ".receiving-lock";
    private static final int PIECE = 256 * 1024;
    static final int NAME_LENGTH_MAX = 255;

    private final DurableStore store;
    private final AutoCloseable lock;
    private final boolean isAssembling;
    private final int messageLengthMax;
    private final boolean isDurable;
    private final boolean isNamingClients;
    private final boolean isForSink;
    private long nextTemporary;
    private ReceiverJournal journal;

    /**
     * Files that say of a promised message that it has not got its name: to be deleted when the
     * journal does not promise it any more, and for each the rewrite of which that is not certain.
     */
    private final ArrayDeque<String> denials = new ArrayDeque<>();

    private final ArrayDeque<Long> deniedAt = new ArrayDeque<>();

    public MessageFiles(ReceiverSettings settings) {
        this.store = settings.environment().store(settings.directory());
        this.isNamingClients = settings.isNamingClients();
        this.isForSink = settings.sink() != null;
        this.isDurable = settings.ack() == AckMode.DURABLE;
        this.isAssembling = settings.handler() != null || settings.steps() != null;
        this.messageLengthMax = settings.messageLengthMax();
        lock = store.tryLock(LOCK_NAME, 0);
        if (lock == null) {
            store.close();
            throw new IllegalStateException(
                    "another receiver stores into %s; end it, or choose another directory"
                            .formatted(settings.directory()));
        }
    }

    public DurableStore store() {
        return store;
    }

    /** What promises names from now on. */
    public void journal(ReceiverJournal promising) {
        journal = promising;
    }

    /** Null: none yet. */
    ReceiverJournal journal() {
        return journal;
    }

    /** An earlier journal promises a message whose file says that it has not got its name. */
    void denied(String temporaryName) {
        denials.add(temporaryName);
        deniedAt.add(journal == null ? 0 : journal.rewritesBegun());
    }

    /** Deletes what need not deny a promise any more. */
    public int deleteDenials() {
        int work = 0;
        while (!denials.isEmpty() && journal.rewritesDone() > deniedAt.peek()) {
            deniedAt.poll();
            store.delete(denials.poll());
            work++;
        }
        return work;
    }

    /** Deletes what a receiver before this one left half-written and nobody will go on with. */
    void deleteLeftovers(java.util.Set<String> stillWanted) {
        for (String name : store.list()) {
            if (name.startsWith(TEMPORARY_PREFIX)
                    && !name.equals(LOCK_NAME)
                    && !name.equals(ReceiverJournal.NAME)
                    && !stillWanted.contains(name)) {
                store.delete(name);
                isBehind(name);
            }
        }
    }

    /** No later file gets this temporary name, which may still be about to be deleted. */
    private void isBehind(String name) {
        String number = name.substring(name.lastIndexOf('-') + 1);
        if (number.matches("[0-9]{1,17}")) {
            nextTemporary = Math.max(nextTemporary, Long.parseLong(number) + 1);
        }
    }

    /** Whether it cannot be put together in memory, as somebody wants. */
    boolean isTooLong(InboundMessage message) {
        return isAssembling && message.metadata.payloadLength() > messageLengthMax;
    }

    /**
     * Goes on with a message of which an earlier receiver's journal tells.
     *
     * @return empty, or why it cannot be gone on with
     */
    String resume(InboundMessage message) {
        boolean isComplete = message.state == InboundMessage.PROMISING;
        long settled = message.settledEnd;
        long length = isComplete ? message.metadata.payloadLength() : settled;
        message.resume(length);
        isBehind(message.temporaryName);
        try {
            if (!isComplete) {
                return goOnBehind(message, settled);
            }
            if (readAgain(message, message.temporaryName, length)) {
                message.goOnIn(store.append(message.temporaryName, length), length);
                return message.file.error();
            }
            if (isStillTemporary(message)) {
                return goOnBehind(message, settled);
            }
            // The file got its name; whether anybody was told is not known: it is told again.
            message.foundRenamed();
            boolean isThere = readAgain(message, message.fileName, length);
            boolean isOther = message.isSumPromised && message.crc.value() != message.promisedSum;
            return isThere && !isOther
                    ? ""
                    : "its file " + message.fileName + " has been taken away or replaced";
        } catch (java.io.UncheckedIOException e) {
            return e.getMessage();
        }
    }

    /**
     * Whether nothing of a message was acknowledged whose name was promised, and it was then taken
     * back: it comes again, whole.
     */
    boolean isToComeAgain(InboundMessage message) {
        return message.state == InboundMessage.PROMISING
                && !message.isBegunSettled
                && isStillTemporary(message)
                && !hasLength(message.temporaryName, message.metadata.payloadLength());
    }

    /** A file that got its name has no temporary one. */
    private boolean isStillTemporary(InboundMessage message) {
        return exists(message.temporaryName);
    }

    private boolean hasLength(String name, long length) {
        try (DurableStore.ReadableFile file = store.read(name)) {
            return file != null && file.length() >= length;
        }
    }

    /** What is there is read again when the next frame comes, and not before. */
    private String goOnBehind(InboundMessage message, long length) {
        if (length > 0 && !hasLength(message.temporaryName, length)) {
            return "its file " + message.temporaryName + " is gone or too short";
        }
        message.goBackTo(length);
        message.goOnIn(store.append(message.temporaryName, length), length);
        return message.file.error();
    }

    /**
     * Goes back, after a failure, to the part of a message that is settled.
     *
     * @return empty, or why it cannot be gone on with
     */
    public String goBack(InboundMessage message) {
        message.file.close();
        try {
            return goOnBehind(message, message.settledEnd);
        } catch (java.io.UncheckedIOException e) {
            return e.getMessage();
        }
    }

    /** Reads the beginning of a file for the checksum and the handler; false if it is too short. */
    private boolean readAgain(InboundMessage message, String name, long length) {
        UnsafeBuffer piece = new UnsafeBuffer(new byte[PIECE]);
        try (DurableStore.ReadableFile file = store.read(name)) {
            if (file == null || file.length() < length) {
                return false;
            }
            message.beginReadingAgain();
            while (message.received < length) {
                int wanted = (int) Math.min(PIECE, length - message.received);
                if (file.read(message.received, piece, 0, wanted) < wanted) {
                    return false;
                }
                message.readAgain(piece, wanted, isAssembling);
            }
            if (isAssembling) {
                message.assembled();
            }
            return true;
        }
    }

    /**
     * Reads again a piece of what was put aside.
     *
     * @param file null: it is gone
     * @throws DartException TRANSFER_FAILED if it is not there any more
     */
    public void bringBack(
            InboundMessage message, DurableStore.ReadableFile file, UnsafeBuffer piece) {
        long at = message.broughtBack();
        int wanted = (int) Math.min(piece.capacity(), message.received - at);
        if (file == null || file.read(at, piece, 0, wanted) < wanted) {
            throw Code.TRANSFER_FAILED.because(
                    "its file " + message.temporaryName + " is gone or too short");
        }
        message.bringBack(piece, wanted, isAssembling);
    }

    public void onReady(Runnable wakeup) {
        store.onReady(wakeup);
    }

    /** The name that a file gets if it is free. */
    String plainName(InboundMessage message) {
        return isForSink
                ? "%ssink-%s-%s-%s.data"
                        .formatted(
                                TEMPORARY_PREFIX,
                                message.serverId,
                                identity(message),
                                jobOf(message))
                : senderName(message);
    }

    private static String identity(InboundMessage message) {
        return message.clientId + "-" + message.sequence;
    }

    private static String jobOf(InboundMessage message) {
        return message.job.toString().substring(0, 8);
    }

    /** The name of a file that a sink has refused: that of the sender, and whose message it is. */
    public String refusedName(InboundMessage message) {
        String name = senderName(message);
        String behind = "." + identity(message) + "." + jobOf(message);
        return name.substring(0, Math.min(name.length(), NAME_LENGTH_MAX - behind.length()))
                + behind;
    }

    /** The name that the sender gave, made harmless; or one that says whose message it is. */
    private String senderName(InboundMessage message) {
        String name = message.metadata.safeName();
        if (name.isEmpty()) {
            name = "message-" + (isNamingClients ? "" + message.sequence : identity(message));
        }
        return isNamingClients ? "client-" + message.clientId + "." + name : name;
    }

    /** A message begins; its metadata are there. */
    public void begin(InboundMessage message) {
        message.named(plainName(message));
        String name = message.serverId + "-" + identity(message) + "-" + nextTemporary++;
        message.temporarilyNamed(TEMPORARY_PREFIX + name);
        message.openFile(store.create(message.temporaryName));
        check(message);
    }

    /** Whether the directory itself can be read: its lock is there. */
    public boolean isThere() {
        try {
            return exists(LOCK_NAME);
        } catch (java.io.UncheckedIOException e) {
            return false;
        }
    }

    private boolean exists(String name) {
        try (DurableStore.ReadableFile file = store.read(name)) {
            return file != null;
        }
    }

    /**
     * Appends as much of the part as the writer takes. What is in the message's own memory is
     * borrowed: the memory stays as it is until the file has its name, or is given up.
     *
     * @return true when the whole part was taken; otherwise come again with the same part
     */
    public boolean hasRoom(InboundMessage message, DirectBuffer from, int offset, int length) {
        long done = message.file.position() - message.received;
        while (done < length) {
            int at = offset + (int) done;
            int left = length - (int) done;
            int n =
                    from == message.memory
                            ? message.file.appendStable(from, at, left)
                            : message.file.append(from, at, left);
            check(message);
            if (n <= 0) {
                return false;
            }
            done += n;
        }
        return true;
    }

    /** Forces what has come of a message that is not complete; null: nothing to do. */
    public int forceUnfinished(InboundMessage message) {
        if (message == null) {
            return 0;
        }
        message.force(message.received);
        return 1;
    }

    /** Whether two files have the same bytes; false if one cannot be read. */
    boolean isSame(String one, String other) {
        try (DurableStore.ReadableFile a = store.read(one);
                DurableStore.ReadableFile b = store.read(other)) {
            if (a == null || b == null || a.length() != b.length()) {
                return false;
            }
            UnsafeBuffer[] pieces = {
                new UnsafeBuffer(new byte[PIECE]), new UnsafeBuffer(new byte[PIECE])
            };
            for (long at = 0; at < a.length(); at += PIECE) {
                int length = (int) Math.min(PIECE, a.length() - at);
                boolean isRead =
                        a.read(at, pieces[0], 0, length) == length
                                && b.read(at, pieces[1], 0, length) == length;
                if (!isRead || !pieces[0].equals(pieces[1])) {
                    return false;
                }
            }
            return true;
        } catch (java.io.UncheckedIOException e) {
            return false;
        }
    }

    /** All parts are appended. */
    public void complete(InboundMessage message) {
        message.forceComplete();
    }

    /** Whether all of a complete message is on the device, as far as that is wanted. */
    boolean isSafe(InboundMessage message) {
        return message.file.forcedPosition() >= message.received || !isDurable;
    }

    public boolean hasFailed(InboundMessage message) {
        return message.file != null && !message.file.error().isEmpty()
                || message.rename != null
                        && message.rename.isDone()
                        && !message.rename.error().isEmpty();
    }

    public void discard(InboundMessage message) {
        message.giveUpFile();
        if (message.promiseRound != 0 && message.state < InboundMessage.RENAMED) {
            // The journal still says that it gets its name: without any file it would count as
            // stored.
            store.append(message.temporaryName, 0).close();
            denied(message.temporaryName);
            return;
        }
        store.delete(message.temporaryName);
    }

    /**
     * @throws DartException TRANSFER_FAILED if its file has failed
     */
    static void check(InboundMessage message) {
        if (!message.file.error().isEmpty()) {
            throw failed(message, message.file.error());
        }
    }

    /** By the name that its sender knows, not by the one that the file has until it is complete. */
    public static DartException failed(InboundMessage message, String why) {
        return Code.TRANSFER_FAILED.because(
                "file %s cannot be stored: %s",
                message.fileName, why.replace(message.temporaryName, message.fileName));
    }

    /** Nobody will go on: no journal is left either. */
    public void forgetDenials() {
        denials.forEach(store::delete);
        denials.clear();
    }

    @Override
    public void close() {
        store.delete(LOCK_NAME);
        store.close();
        try {
            lock.close();
        } catch (Exception e) {
            throw new IllegalStateException("cannot release " + LOCK_NAME, e);
        }
    }
}
