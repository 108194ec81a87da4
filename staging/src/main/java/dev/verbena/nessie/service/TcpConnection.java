package dev.verbena.nessie.service;

import static java.nio.ByteOrder.BIG_ENDIAN;

import dev.verbena.agent.ByteStreams.ByteStream;
import dev.verbena.nessie.nnti.NntiBuffer;
import dev.verbena.nessie.rpc.RpcCall.TransferListener;
import dev.verbena.nessie.rpc.RpcResult;
import dev.verbena.nessie.service.wire.ArrayReply;
import dev.verbena.nessie.service.wire.ArrayRequest;
import dev.verbena.nessie.xdr.XdrException;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * A client over TCP: one request at a time. Numbers are big-endian.
 *
 * <pre>
 * client: 0:4 "NSA1"   once
 * client: 0:4 operation, 1 to 6   4:4 length of the request   8:8 bytes of the client's memory
 *         then the request, an array_request
 * server: 0:4 kind   4:4 length of what follows
 *         16: an array_reply, the end of the request
 *         17: 8:8 offset  16:8 length   the client sends these bytes of its memory, and nothing else
 *         18: 8:8 offset  then bytes for the client's memory
 * </pre>
 *
 * <p>A client that sends anything else, or nothing for half a minute while it should, is cut off.
 * One thread.
 */
final class TcpConnection implements Caller, AutoCloseable {
    static final int MAGIC = 0x4E534131;
    static final int ANSWER = 16;
    static final int PULL = 17;
    static final int DATA = 18;
    static final int REQUEST_MAX = 4096;

    private static final int HEADER_LENGTH = 16;
    private static final long STALL_NS = 30_000_000_000L;
    private static final int STEPS_MAX = 64;

    private final ByteStream stream;
    private final ArrayEngine engine;
    private final ArrayRequest request = new ArrayRequest();
    private final UnsafeBuffer in = new UnsafeBuffer(new byte[HEADER_LENGTH + REQUEST_MAX]);
    private final UnsafeBuffer head = new UnsafeBuffer(new byte[24]);
    private boolean isGreeted;
    private boolean isBusy;
    private boolean isEnded;
    private int filled;
    private DirectBuffer out = head;
    private int outAt;
    private int outLength;
    private NntiBuffer memory;
    private boolean isPulling;
    private int at;
    private int left;
    private TransferListener listener;
    private long activeNs;

    TcpConnection(ByteStream stream, ArrayEngine engine, long nowNs) {
        this.stream = stream;
        this.engine = engine;
        this.activeNs = nowNs;
    }

    boolean isEnded() {
        return isEnded;
    }

    /** Does what can be done now; work done. */
    int doWork(long nowNs) {
        int work = 0;
        int done = 1;
        while (done > 0 && work < STEPS_MAX && !isEnded) {
            done = step();
            work += Math.max(done, 0);
        }
        boolean isOwed = outLength > 0 || listener != null || !isBusy && filled > 0;
        if (work > 0 || !isOwed) {
            activeNs = nowNs;
        }
        if (done < 0 || nowNs - activeNs > STALL_NS) {
            end();
        }
        return work;
    }

    /** Negative: the stream has ended. */
    private int step() {
        if (outLength > 0) {
            return writeHead();
        }
        if (listener != null) {
            return moveData();
        }
        return isBusy ? 0 : read();
    }

    private int writeHead() {
        int n = stream.write(out, outAt, outLength);
        outAt += Math.max(n, 0);
        outLength -= Math.max(n, 0);
        return n;
    }

    private int moveData() {
        MutableDirectBuffer bytes = memory.window();
        int n = isPulling ? stream.read(bytes, at, left) : stream.write(bytes, at, left);
        if (n <= 0) {
            return n;
        }
        at += n;
        left -= n;
        if (left == 0) {
            TransferListener told = listener;
            listener = null;
            told.onTransferred(RpcResult.OK);
        }
        return n;
    }

    private int read() {
        int n = stream.read(in, filled, needed() - filled);
        if (n <= 0) {
            return n;
        }
        filled += n;
        if (!isGreeted && filled == Integer.BYTES) {
            isGreeted = in.getInt(0, BIG_ENDIAN) == MAGIC;
            filled = 0;
            return isGreeted ? n : -1;
        }
        if (filled >= HEADER_LENGTH) {
            int length = in.getInt(4, BIG_ENDIAN);
            if (length < 0 || length > REQUEST_MAX) {
                return -1;
            }
            if (filled == HEADER_LENGTH + length) {
                return take(length) ? n : -1;
            }
        }
        return n;
    }

    private int needed() {
        if (!isGreeted) {
            return Integer.BYTES;
        }
        return filled < HEADER_LENGTH ? HEADER_LENGTH : HEADER_LENGTH + in.getInt(4, BIG_ENDIAN);
    }

    private boolean take(int length) {
        try {
            request.decode(in, HEADER_LENGTH, HEADER_LENGTH + length);
        } catch (XdrException | IndexOutOfBoundsException e) {
            return false;
        }
        filled = 0;
        isBusy = true;
        engine.onRequest(in.getInt(0, BIG_ENDIAN), request, this);
        return true;
    }

    // ---- for the request

    @Override
    public long memoryLength() {
        return in.getLong(8, BIG_ENDIAN);
    }

    @Override
    public boolean pull(
            NntiBuffer into, long from, long length, long fromOffset, TransferListener to) {
        head.putInt(0, PULL, BIG_ENDIAN);
        head.putInt(4, 16, BIG_ENDIAN);
        head.putLong(8, fromOffset, BIG_ENDIAN);
        head.putLong(16, length, BIG_ENDIAN);
        return start(true, into, from, length, 24, to);
    }

    @Override
    public boolean push(
            NntiBuffer from, long begin, long length, long toOffset, TransferListener to) {
        head.putInt(0, DATA, BIG_ENDIAN);
        head.putInt(4, (int) length + 8, BIG_ENDIAN);
        head.putLong(8, toOffset, BIG_ENDIAN);
        return start(false, from, begin, length, 16, to);
    }

    private boolean start(
            boolean isPull,
            NntiBuffer buffer,
            long begin,
            long length,
            int headLength,
            TransferListener to) {
        if (isEnded) {
            return false;
        }
        send(head, headLength);
        isPulling = isPull;
        memory = buffer;
        at = (int) begin;
        left = (int) length;
        listener = to;
        return true;
    }

    private void send(DirectBuffer bytes, int length) {
        out = bytes;
        outAt = 0;
        outLength = length;
    }

    @Override
    public void reply(ArrayReply reply) {
        int length = reply.encodedLength();
        UnsafeBuffer bytes = new UnsafeBuffer(new byte[8 + length]);
        bytes.putInt(0, ANSWER, BIG_ENDIAN);
        bytes.putInt(4, length, BIG_ENDIAN);
        reply.encode(bytes, 8);
        send(bytes, 8 + length);
        isBusy = false;
    }

    private void end() {
        isEnded = true;
        TransferListener told = listener;
        listener = null;
        if (told != null) {
            told.onTransferred(RpcResult.EIO);
        }
    }

    @Override
    public void close() {
        if (!isEnded) {
            end();
        }
        stream.close();
    }
}
