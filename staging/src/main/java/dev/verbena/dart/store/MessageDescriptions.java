package dev.verbena.dart.store;

import dev.verbena.agent.DurableStore;
import dev.verbena.agent.Environment;
import dev.verbena.dart.DartException.Code;
import dev.verbena.dart.DartMetadata;
import dev.verbena.dart.DartReceiver;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.agrona.ExpandableArrayBuffer;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * One line of JSON for each message that was stored, appended to a file in the receiver's
 * directory: what the message's metadata say of the file. Lines are whole or, after a kill, missing
 * at the end; nothing waits for them and nothing is forced but at the end. A message that comes
 * again after a kill has one. Owned by the receiver's agent, which alone writes into the directory:
 * it holds its lock.
 */
public final class MessageDescriptions implements AutoCloseable {
    /** Lines that a device does not take are kept up to so many bytes. */
    private static final int PENDING_MAX = 4 << 20;

    /** What may come again after a kill is described in the last so many bytes. */
    private static final int PIECE = 1 << 20;

    private static final long OPEN_AGAIN_NS = 1_000_000_000L;
    private static final Pattern TIME = Pattern.compile("\"timeMs\":-?\\d+,");

    private final Environment environment;
    private final NanoClock clock;
    private final DurableStore store;
    private final StringBuilder line = new StringBuilder(512);
    private final ExpandableArrayBuffer pending = new ExpandableArrayBuffer();
    private int pendingLength;

    /** Lines of an earlier receiver, without their times; null: not read yet. */
    private Set<String> known;

    private DurableStore.DurableFile file;
    private long openAgainNs;
    private boolean isTold;

    public MessageDescriptions(Environment environment, DurableStore store) {
        this.environment = environment;
        this.clock = environment.nanoClock();
        this.store = store;
        this.openAgainNs = clock.nanoTime();
    }

    /** A message has its file, and its handler has seen it. */
    public void add(InboundMessage message) {
        String place = message.place == null ? message.fileName : message.place;
        if (place.isEmpty()) {
            return;
        }
        if (known == null) {
            open(clock.nanoTime());
        }
        describe(message, place);
        if (known != null && !known.isEmpty() && known.remove(timeless(line))) {
            return;
        }
        if (line.length() > PENDING_MAX - pendingLength) {
            tell("no room for the line of " + place);
            return;
        }
        pendingLength += pending.putStringWithoutLengthAscii(pendingLength, line);
    }

    private void describe(InboundMessage message, String place) {
        DartMetadata metadata = message.metadata;
        line.setLength(0);
        text("{\"file\":", place);
        text(",\"name\":", metadata.name());
        text(",\"variable\":", metadata.variable());
        line.append(",\"rank\":").append(metadata.rank());
        line.append(",\"step\":").append(metadata.step());
        line.append(",\"type\":\"").append(metadata.elementType()).append("\",\"shape\":[");
        for (int i = 0; i < metadata.dimensionCount(); i++) {
            line.append(i == 0 ? "" : ",").append(metadata.extent(i));
        }
        line.append("],\"bytes\":").append(message.received);
        line.append(",\"crc32c\":").append(message.crc32c() & 0xFFFFFFFFL);
        line.append(",\"isCorrupt\":").append(message.isCorrupt());
        line.append(",\"timeMs\":").append(environment.epochClock().time());
        line.append(",\"application\":").append(metadata.applicationId());
        line.append(",\"client\":").append(message.clientId);
        line.append(",\"sequence\":").append(message.sequence);
        line.append(",\"tag\":").append(message.tag);
        line.append(",\"server\":").append(message.serverId);
        line.append(",\"run\":\"").append(message.job).append("\",\"properties\":{");
        String comma = "";
        for (Map.Entry<String, String> each : metadata.properties().entrySet()) {
            text(comma, each.getKey());
            text(":", each.getValue());
            comma = ",";
        }
        line.append("}}\n");
    }

    /** ASCII only: a char is a byte, and no reader needs to know an encoding. */
    private void text(String before, String text) {
        line.append(before).append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c >= ' ' && c <= '~' && c != '"' && c != '\\') {
                line.append(c);
            } else {
                line.append("\\u").append(Character.forDigit(c >> 12, 16));
                line.append(Character.forDigit(c >> 8 & 15, 16));
                line.append(Character.forDigit(c >> 4 & 15, 16));
                line.append(Character.forDigit(c & 15, 16));
            }
        }
        line.append('"');
    }

    /** Hands lines to the store; work done. */
    public int doWork(long now) {
        if (pendingLength == 0 || file == null && !open(now)) {
            return 0;
        }
        int n = file.append(pending, 0, pendingLength);
        if (!file.error().isEmpty()) {
            tell(file.error());
            // Some of them may be written; what is whole there counts.
            pendingLength = 0;
            closeFile();
            openAgainNs = now + OPEN_AGAIN_NS;
        } else if (n > 0) {
            pendingLength -= n;
            pending.putBytes(0, pending, n, pendingLength);
            isTold &= pendingLength > 0;
        }
        return n > 0 ? 1 : 0;
    }

    private boolean open(long now) {
        if (now - openAgainNs < 0) {
            return false;
        }
        openAgainNs = now + OPEN_AGAIN_NS;
        try {
            file = store.append(DartReceiver.DESCRIPTIONS, wholeLength());
            return true;
        } catch (RuntimeException e) {
            tell(e.getMessage());
            return false;
        }
    }

    /** Bytes up to the end of the last whole line; the first time learns what the last ones say. */
    private long wholeLength() {
        Set<String> last = new HashSet<>();
        long whole = 0;
        try (DurableStore.ReadableFile read = store.read(DartReceiver.DESCRIPTIONS)) {
            long end = read == null ? 0 : read.length();
            UnsafeBuffer piece = new UnsafeBuffer(new byte[(int) Math.min(PIECE, end)]);
            for (; whole == 0 && end > 0; end -= piece.capacity()) {
                int length = (int) Math.min(piece.capacity(), end);
                read.read(end - length, piece, 0, length);
                String text = piece.getStringWithoutLengthAscii(0, length);
                int inPiece = text.lastIndexOf('\n') + 1;
                whole = inPiece == 0 ? 0 : end - length + inPiece;
                if (known == null) {
                    text.substring(0, inPiece).lines().forEach(each -> last.add(timeless(each)));
                }
            }
        }
        known = known == null ? last : known;
        return whole;
    }

    private static String timeless(CharSequence line) {
        return TIME.matcher(line).replaceFirst("").stripTrailing();
    }

    private void tell(String why) {
        if (!isTold) {
            isTold = true;
            environment
                    .errorHandler()
                    .onError(
                            Code.TRANSFER_FAILED.because(
                                    "files are stored, but not all are described in %s: %s",
                                    DartReceiver.DESCRIPTIONS, why));
        }
    }

    private void closeFile() {
        file.close();
        file = null;
    }

    @Override
    public void close() {
        doWork(clock.nanoTime());
        if (file != null) {
            file.force();
            closeFile();
        }
    }
}
