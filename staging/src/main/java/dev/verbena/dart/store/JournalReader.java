package dev.verbena.dart.store;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import dev.verbena.agent.DurableStore.ReadableFile;
import dev.verbena.dart.DartException;
import dev.verbena.dart.wire.FrameFlyweight;
import dev.verbena.dart.wire.RegisterFlyweight;
import dev.verbena.staging.Checksum;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.agrona.collections.Int2ObjectHashMap;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Reads a receiver's journal. Trusts no byte of it: reading ends at the first record that is not
 * whole or makes no sense, as the last one may be after a crash; {@link #damage} says so. What was
 * acknowledged to a server and is missing here is noticed when the server connects: a gap.
 */
public final class JournalReader {
    private static final int STREAMS_MAX = 4096;
    private static final int MESSAGES_MAX = 1 << 20;

    /** As many as a receiver remembers; the journal also has what it has forgotten meanwhile. */
    static final int PROCESSES_MAX = RankEntry.ENTRIES_MAX;

    private final Checksum crc = new Checksum();
    private final Int2ObjectHashMap<InboundStream> byIndex = new Int2ObjectHashMap<>();
    private final Map<String, InboundMessage> messages = new LinkedHashMap<>();
    private final Map<InboundMessage, InboundStream> owners = new LinkedHashMap<>();
    private final Map<String, RankEntry> processes = new LinkedHashMap<>();

    /** Of these somebody still has to be told. */
    private final Map<String, RankEntry> untold = new LinkedHashMap<>();

    private int forgottenCount;
    private String damage = "";

    /** What is wrong with the rest of the file, for people; empty if all of it was read. */
    public String damage() {
        return damage;
    }

    /** Streams in the order in which they began. */
    public List<InboundStream> streams() {
        List<Integer> indexes = new ArrayList<>(byIndex.keySet());
        indexes.sort(null);
        List<InboundStream> streams = new ArrayList<>();
        for (int index : indexes) {
            // The next journal numbers them anew.
            byIndex.get(index).indexed(0);
            streams.add(byIndex.get(index));
        }
        return streams;
    }

    /**
     * Messages of these streams that were begun and are not known to be delivered, in order; one
     * with a promise is in state PROMISING, the others in RECEIVING.
     */
    public List<InboundMessage> messages() {
        List<InboundMessage> left = new ArrayList<>();
        for (InboundMessage message : messages.values()) {
            InboundStream stream = owners.get(message);
            boolean isUseful = message.isBegunSettled || message.state == InboundMessage.PROMISING;
            if (byIndex.containsValue(stream)
                    && isUseful
                    && !stream.mayHaveDelivered(message.clientId, message.sequence)) {
                left.add(message);
            }
        }
        return left;
    }

    /** What was known of processes; last those of whose loss somebody still has to be told. */
    List<RankEntry> processes() {
        List<RankEntry> all = new ArrayList<>(processes.values());
        all.addAll(untold.values());
        return all;
    }

    /** Lost processes of which nobody was told, and which are more than can be remembered. */
    int forgottenCount() {
        return forgottenCount;
    }

    InboundStream streamOf(InboundMessage message) {
        return owners.get(message);
    }

    public void read(ReadableFile file) {
        UnsafeBuffer head = new UnsafeBuffer(new byte[JournalRecord.HEAD_LENGTH]);
        UnsafeBuffer body = new UnsafeBuffer(new byte[4096]);
        long length = file.length();
        for (long at = 0; at < length; ) {
            if (length - at < JournalRecord.HEAD_LENGTH) {
                damage = "ends within the head of a record at byte " + at;
                return;
            }
            file.read(at, head, 0, JournalRecord.HEAD_LENGTH);
            int bodyLength = head.getInt(0, LITTLE_ENDIAN);
            if (bodyLength < 8
                    || bodyLength > JournalRecord.BODY_MAX
                    || bodyLength > length - at - JournalRecord.HEAD_LENGTH) {
                damage = "record of " + bodyLength + " bytes at byte " + at;
                return;
            }
            if (body.capacity() < bodyLength) {
                body.wrap(new byte[bodyLength]);
            }
            file.read(at + JournalRecord.HEAD_LENGTH, body, 0, bodyLength);
            if (crc.of(body, 0, bodyLength) != head.getInt(4, LITTLE_ENDIAN)) {
                damage = "wrong checksum of the record at byte " + at;
                return;
            }
            if (at == 0 != (body.getInt(0, LITTLE_ENDIAN) == JournalRecord.HEADER)
                    || !apply(body, bodyLength)) {
                damage = "record that makes no sense at byte " + at;
                return;
            }
            at += JournalRecord.HEAD_LENGTH + bodyLength;
        }
    }

    /** False: makes no sense. */
    private boolean apply(UnsafeBuffer body, int length) {
        int type = body.getInt(0, LITTLE_ENDIAN);
        if (type == JournalRecord.HEADER) {
            return length == 12
                    && body.getInt(4, LITTLE_ENDIAN) == JournalRecord.MAGIC
                    && body.getInt(8, LITTLE_ENDIAN) == JournalRecord.VERSION;
        }
        if (type == JournalRecord.PROCESS) {
            return process(body, length);
        }
        int index = body.getInt(4, LITTLE_ENDIAN);
        if (type == JournalRecord.STREAM) {
            return stream(index, body, length);
        }
        InboundStream stream = byIndex.get(index);
        if (stream == null) {
            return false;
        }
        return switch (type) {
            case JournalRecord.SETTLED -> settled(stream, body, length);
            case JournalRecord.BEGIN -> begin(index, stream, body, length);
            case JournalRecord.PROGRESS, JournalRecord.STORE, JournalRecord.FORGET ->
                    message(type, index, body, length);
            case JournalRecord.RANGE -> range(stream, body, length);
            case JournalRecord.FINISHED -> {
                stream.finish();
                yield length == 8;
            }
            case JournalRecord.DROP -> {
                byIndex.remove(index);
                yield length == 8;
            }
            default -> false;
        };
    }

    private boolean stream(int index, UnsafeBuffer body, int length) {
        if (length != 36 || index < 1 || byIndex.size() >= STREAMS_MAX) {
            return false;
        }
        UUID job = new UUID(body.getLong(8, LITTLE_ENDIAN), body.getLong(16, LITTLE_ENDIAN));
        int serverId = body.getInt(24, LITTLE_ENDIAN);
        long next = body.getLong(28, LITTLE_ENDIAN);
        if (serverId < 0 || !isNextFrame(next) || byIndex.containsKey(index)) {
            return false;
        }
        InboundStream stream = new InboundStream(job, serverId, true);
        stream.indexed(index);
        stream.beginAt(next);
        stream.loseBeginnings();
        byIndex.put(index, stream);
        return true;
    }

    private static boolean settled(InboundStream stream, UnsafeBuffer body, int length) {
        if (length < 20) {
            return false;
        }
        long next = body.getLong(8, LITTLE_ENDIAN);
        int count = body.getInt(16, LITTLE_ENDIAN);
        if (next < stream.settledNext()
                || !isNextFrame(next)
                || count < 0
                || count > JournalRecord.CLIENTS_MAX
                || length != 20 + 12 * count) {
            return false;
        }
        stream.beginAt(next);
        for (int i = 0; i < count; i++) {
            int client = body.getInt(20 + 12 * i, LITTLE_ENDIAN);
            long upTo = body.getLong(24 + 12 * i, LITTLE_ENDIAN);
            if (upTo < 0 || !isRoomFor(stream, client)) {
                return false;
            }
            stream.numbersOf(client).extend(upTo);
        }
        stream.newsOf.clear();
        return true;
    }

    private static boolean isRoomFor(InboundStream stream, int client) {
        return stream.deliveredUpTo.size() < JournalRecord.CLIENTS_MAX
                || stream.deliveredUpTo.containsKey(client);
    }

    private static boolean isNextFrame(long next) {
        return next > 0 && FrameFlyweight.isNumber(next - 1);
    }

    private boolean process(UnsafeBuffer body, int length) {
        if (length != 40) {
            return false;
        }
        int state = body.getInt(4, LITTLE_ENDIAN);
        int application = body.getInt(28, LITTLE_ENDIAN);
        int rank = body.getInt(32, LITTLE_ENDIAN);
        int registration = body.getInt(36, LITTLE_ENDIAN);
        if (state < RankEntry.LOST
                || state > RankEntry.HERE
                || (application | rank | registration) < 0
                || application > RegisterFlyweight.APPLICATION_MAX) {
            return false;
        }
        UUID job = new UUID(body.getLong(8, LITTLE_ENDIAN), body.getLong(16, LITTLE_ENDIAN));
        int client = body.getInt(24, LITTLE_ENDIAN);
        // The last word about a process counts.
        String key = job + "/" + client;
        RankEntry entry = new RankEntry(job, client, application, rank, registration, state);
        boolean isUntold = state == RankEntry.LOST;
        (isUntold ? processes : untold).remove(key);
        (isUntold ? untold : processes).put(key, entry);
        if (processes.size() + untold.size() > PROCESSES_MAX) {
            forgetOldest();
        }
        return true;
    }

    private void forgetOldest() {
        forgottenCount += processes.isEmpty() ? 1 : 0;
        Iterator<RankEntry> oldest = (processes.isEmpty() ? untold : processes).values().iterator();
        oldest.next();
        oldest.remove();
    }

    private static boolean range(InboundStream stream, UnsafeBuffer body, int length) {
        if (length != 28) {
            return false;
        }
        int client = body.getInt(8, LITTLE_ENDIAN);
        long first = body.getLong(12, LITTLE_ENDIAN);
        long last = body.getLong(20, LITTLE_ENDIAN);
        if (first < 1 || last < first || !isRoomFor(stream, client)) {
            return false;
        }
        stream.numbersOf(client).restore(first, last);
        return true;
    }

    private static String key(int index, UnsafeBuffer body) {
        return index + "/" + body.getInt(8, LITTLE_ENDIAN) + "/" + body.getLong(12, LITTLE_ENDIAN);
    }

    private boolean begin(int index, InboundStream stream, UnsafeBuffer body, int length) {
        if (length < 28 || messages.size() >= MESSAGES_MAX) {
            return false;
        }
        int at = 28;
        String temporaryName = JournalRecord.text(body, at, length);
        if (temporaryName == null || !temporaryName.startsWith(MessageFiles.TEMPORARY_PREFIX)) {
            return false;
        }
        at += JournalRecord.textLength(body, at);
        String fileName = JournalRecord.text(body, at, length);
        if (fileName == null || !isPlain(fileName) || !isPlain(temporaryName)) {
            return false;
        }
        at += JournalRecord.textLength(body, at);
        if (length - at < 2) {
            return false;
        }
        InboundMessage message = new InboundMessage();
        message.begin(
                body.getInt(8, LITTLE_ENDIAN),
                stream.serverId,
                body.getInt(20, LITTLE_ENDIAN),
                body.getLong(12, LITTLE_ENDIAN));
        message.restoreFlags(body.getInt(24, LITTLE_ENDIAN));
        message.temporarilyNamed(temporaryName);
        message.named(fileName);
        try {
            message.decode(body, at + 2, length - at - 2);
        } catch (DartException e) {
            return false;
        }
        InboundMessage known = messages.get(key(index, body));
        if (known != null && known.temporaryName.equals(temporaryName)) {
            // Its name was chosen anew; all else that is known of it holds.
            known.named(fileName);
            return true;
        }
        messages.put(key(index, body), message);
        owners.put(message, stream);
        return message.sequence > 0 && message.metadata.payloadLength() >= 0;
    }

    /** One path element, and not a name of the receiver's own files. */
    private static boolean isPlain(String name) {
        return !name.isEmpty()
                && name.length() <= 255
                && !name.equals(".")
                && !name.equals("..")
                && name.indexOf('/') < 0
                && name.indexOf('\\') < 0
                && name.chars().noneMatch(Character::isISOControl);
    }

    private boolean message(int type, int index, UnsafeBuffer body, int length) {
        if (length < 20) {
            return false;
        }
        String key = key(index, body);
        InboundMessage message = messages.get(key);
        if (message == null) {
            return false;
        }
        if (type == JournalRecord.FORGET) {
            messages.remove(key);
            owners.remove(message);
            return length == 20;
        }
        if (type == JournalRecord.STORE) {
            message.restoreFlags(length >= 24 ? body.getInt(20, LITTLE_ENDIAN) : 0);
            boolean isSumKnown = length == 28;
            message.restorePromise(isSumKnown, isSumKnown ? body.getInt(24, LITTLE_ENDIAN) : 0);
            return length == 24 || length == 28;
        }
        long end = length == 28 ? body.getLong(20, LITTLE_ENDIAN) : -1;
        message.restoreProgress(end);
        return end >= 0 && end <= message.metadata.payloadLength();
    }
}
