package dev.verbena.dart;

import static java.nio.ByteOrder.BIG_ENDIAN;

import dev.verbena.agent.ByteStreams.ByteStream;
import dev.verbena.dart.wire.FrameFlyweight;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * A server's stream to a receiver, made by hand: connects whenever it is not connected, says HELLO,
 * and sends its frames from where the receiver wants them, as far as the test allows. One thread.
 */
public final class ScriptedServer {
    public static final int WINDOW = 1 << 20;

    private final WireEnvironment wire;
    private final UUID job;
    private final int id;
    private final List<byte[]> frames = new ArrayList<>();
    private final UnsafeBuffer in = new UnsafeBuffer(new byte[64 * 1024]);
    private int inLength;
    private ByteStream stream;

    /** Number of the next frame to send; 0: the receiver has not said it yet. */
    private long next;

    private long highestSent;

    /** Everything before is acknowledged. */
    public long acknowledged = 1;

    /** Frames up to this one may be sent. */
    public long allowed;

    /** It does not connect. */
    public boolean isAway;

    /** Highest frame that it says it has sent; -1: the truth. */
    long claimed = -1;

    /** It does not keep to the window. */
    public boolean isBoundless;

    /** Codes of ERROR frames that came. */
    public final List<Integer> errors = new ArrayList<>();

    ScriptedServer(WireEnvironment wire, UUID job, int id) {
        this.wire = wire;
        this.job = job;
        this.id = id;
    }

    /** Adds a message, in so many frames. */
    public ScriptedServer message(
            int client, long sequence, DartMetadata metadata, int length, int count) {
        for (int i = 0; i < count; i++) {
            part(client, sequence, metadata, length, i, count);
        }
        return this;
    }

    /** Adds the frame with part {@code i} of {@code count} of a message. */
    public ScriptedServer part(
            int client, long sequence, DartMetadata metadata, int length, int i, int count) {
        UnsafeBuffer all = new UnsafeBuffer(new byte[DartMetadata.LENGTH_MAX + length]);
        int block = metadata.payload(length, false, 0).encode(all, 0);
        all.putBytes(block, DartWorld.bytes(length, sequence), 0, length);
        int from = i == 0 ? 0 : block + (int) ((long) length * i / count);
        int to = block + (int) ((long) length * (i + 1) / count);
        int flags =
                (i == 0 ? FrameFlyweight.FIRST : 0) | (i == count - 1 ? FrameFlyweight.LAST : 0);
        UnsafeBuffer payload = new UnsafeBuffer(all, from, to - from);
        return frame(frames.size() + 1L, client, sequence, from, flags, payload);
    }

    /** Adds a frame as it is told. */
    ScriptedServer frame(
            long number,
            int client,
            long sequence,
            long position,
            int flags,
            UnsafeBuffer payload) {
        int length = payload.capacity();
        UnsafeBuffer frame = new UnsafeBuffer(new byte[FrameFlyweight.LENGTH + length]);
        frame.putBytes(FrameFlyweight.LENGTH, payload, 0, length);
        new FrameFlyweight()
                .begin(frame, 0, FrameFlyweight.DATA)
                .flags(flags)
                .sequence(number)
                .message(client, sequence, (int) sequence, position)
                .end(frame, FrameFlyweight.LENGTH, length);
        frames.add(frame.byteArray());
        return this;
    }

    /** Takes the last frame away again. */
    void dropLast() {
        frames.remove(frames.size() - 1);
        allowed = Math.min(allowed, frames.size());
    }

    /** Says that it holds nothing before this frame. */
    void sayGap(long firstHeld) {
        int at = FrameFlyweight.LENGTH;
        UnsafeBuffer error = new UnsafeBuffer(new byte[at + 4]);
        error.putInt(at, FrameFlyweight.ERROR_GAP, BIG_ENDIAN);
        new FrameFlyweight()
                .begin(error, 0, FrameFlyweight.ERROR)
                .sequence(firstHeld)
                .end(error, at, 4);
        stream.write(error, 0, error.capacity());
    }

    /** Everything may be sent. */
    public ScriptedServer allowAll() {
        allowed = frames.size();
        return this;
    }

    public boolean isAllAcknowledged() {
        return acknowledged == frames.size() + 1L;
    }

    /** One cycle. */
    void step() {
        if (isAway) {
            disconnect();
            return;
        }
        if (stream == null) {
            stream = wire.connect("wire", 7000);
            inLength = 0;
            next = 0;
            hello();
        }
        int n = stream.read(in, inLength, in.capacity() - inLength);
        if (n < 0) {
            disconnect();
            return;
        }
        inLength += n;
        while (stream != null && takeFrame()) {}
        boolean isNext = stream != null && next > 0 && next <= Math.min(allowed, frames.size());
        if (isNext && (isBoundless || isWithinWindow())) {
            byte[] frame = frames.get((int) next - 1);
            stream.write(new UnsafeBuffer(frame), 0, frame.length);
            highestSent = Math.max(highestSent, next);
            next++;
        }
    }

    private boolean isWithinWindow() {
        long bytes = 0;
        for (long i = acknowledged; i <= next; i++) {
            bytes += frames.get((int) i - 1).length - FrameFlyweight.LENGTH;
        }
        return next == acknowledged || bytes <= WINDOW;
    }

    public void disconnect() {
        if (stream != null) {
            stream.close();
            stream = null;
        }
    }

    private void hello() {
        UnsafeBuffer hello =
                new UnsafeBuffer(new byte[FrameFlyweight.LENGTH + FrameFlyweight.HELLO_LENGTH]);
        int at = FrameFlyweight.LENGTH;
        hello.putLong(at, job.getMostSignificantBits(), BIG_ENDIAN);
        hello.putLong(at + 8, job.getLeastSignificantBits(), BIG_ENDIAN);
        hello.putInt(at + 16, id, BIG_ENDIAN);
        hello.putLong(at + 20, WINDOW, BIG_ENDIAN);
        hello.putLong(at + 28, claimed < 0 ? highestSent : claimed, BIG_ENDIAN);
        new FrameFlyweight()
                .begin(hello, 0, FrameFlyweight.HELLO)
                .end(hello, at, FrameFlyweight.HELLO_LENGTH);
        stream.write(hello, 0, hello.capacity());
    }

    private boolean takeFrame() {
        int at = FrameFlyweight.LENGTH;
        if (inLength < at || inLength < at + in.getInt(40, BIG_ENDIAN)) {
            return false;
        }
        int length = in.getInt(40, BIG_ENDIAN);
        switch (in.getByte(5)) {
            case FrameFlyweight.HELLO_ACK -> {
                next = in.getLong(at + 8, BIG_ENDIAN);
                acknowledged = Math.max(acknowledged, next);
            }
            case FrameFlyweight.ACK ->
                    acknowledged = Math.max(acknowledged, in.getLong(at, BIG_ENDIAN));
            case FrameFlyweight.ERROR -> {
                errors.add(in.getInt(at, BIG_ENDIAN));
                disconnect();
                return false;
            }
            default -> {}
        }
        inLength -= at + length;
        byte[] rest = new byte[inLength];
        in.getBytes(at + length, rest);
        in.putBytes(0, rest);
        return true;
    }
}
