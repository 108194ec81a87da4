package dev.verbena.nessie.service;

import static java.nio.ByteOrder.BIG_ENDIAN;

import dev.verbena.agent.ByteStreams.ByteStream;
import dev.verbena.nessie.nnti.NntiBuffer;
import dev.verbena.nessie.rpc.RpcCall.TransferListener;
import dev.verbena.nessie.rpc.RpcResult;
import dev.verbena.nessie.service.wire.ArrayConstants;
import dev.verbena.nessie.service.wire.ArrayReply;
import dev.verbena.nessie.service.wire.ArrayRequest;
import dev.verbena.nessie.xdr.XdrException;
import dev.verbena.staging.metadata.Runs;
import org.agrona.ExpandableArrayBuffer;
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
 * <p>A client that sends anything else, or nothing for half a minute while it should, is cut off;
 * between requests it may be idle, unless its place is needed. One thread.
 */
final class TcpConnection implements Caller, AutoCloseable {
    private static final int GREETING_LENGTH = 4;
    private static final int HEADER_LENGTH = 16;
    private static final int STEPS_MAX = 64;

    /** For so long a server waits for clients. */
    static final long STALL_NS = 30_000_000_000L;

    private final ByteStream stream;
    private final ArrayEngine engine;
    private final ArrayRequest request = new ArrayRequest();
    private final UnsafeBuffer in =
            new UnsafeBuffer(new byte[HEADER_LENGTH + ArrayConstants.TCP_REQUEST_MAX]);
    private final ExpandableArrayBuffer out = new ExpandableArrayBuffer(24);
    private boolean isBusy;
    boolean isEnded;
    private int filled;

    /** Bytes of what is awaited: the greeting, a header, or that with its request. */
    private int needed = GREETING_LENGTH;

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

    /** Does what can be done now; work done. */
    int doWork(long nowNs) {
        int work = 0;
        int done = 1;
        while (done > 0 && work < STEPS_MAX && !isEnded) {
            done = step();
            work += Math.max(done, 0);
        }
        if (work > 0 || isBusy && !isOwed()) {
            activeNs = nowNs;
        }
        if (done < 0 || isOwed() && nowNs - activeNs > STALL_NS) {
            close();
        }
        return work;
    }

    /** Whether the client should send or read now. */
    private boolean isOwed() {
        boolean isWithin = !isBusy && (filled > 0 || needed == GREETING_LENGTH);
        return outLength > 0 || listener != null || isWithin;
    }

    /** Whether it has a request, or an answer is on its way. */
    boolean isServed() {
        return isBusy || outLength > 0;
    }

    /** For how long it has had no request; -1: it has one, or is about to. */
    long idleNs(long nowNs) {
        return isBusy || isOwed() ? -1 : nowNs - activeNs;
    }

    /** Negative: the stream has ended. */
    private int step() {
        if (outLength > 0) {
            return writeHead();
        }
        if (listener != null) {
            return moveData();
        }
        // A client that waits sends nothing: a byte ends the connection as its end does.
        return isBusy ? -Math.abs(stream.read(in, HEADER_LENGTH, 1)) : read();
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
        int n = stream.read(in, filled, needed - filled);
        filled += Math.max(n, 0);
        return filled < needed || take() ? n : -1;
    }

    /** What was awaited is there; false: it is not allowed. */
    private boolean take() {
        if (needed == GREETING_LENGTH) {
            await(HEADER_LENGTH);
            return in.getInt(0, BIG_ENDIAN) == ArrayConstants.TCP_MAGIC;
        }
        int length = in.getInt(4, BIG_ENDIAN);
        if (needed == HEADER_LENGTH) {
            needed += length;
            return length > 0 && length <= ArrayConstants.TCP_REQUEST_MAX;
        }
        try {
            request.decode(in, HEADER_LENGTH, needed);
        } catch (XdrException e) {
            return false;
        }
        await(HEADER_LENGTH);
        isBusy = true;
        engine.onRequest(in.getInt(0, BIG_ENDIAN), request, this);
        return true;
    }

    private void await(int length) {
        filled = 0;
        needed = length;
    }

    // ---- for the request

    @Override
    public long memoryLength() {
        return in.getLong(8, BIG_ENDIAN);
    }

    @Override
    public boolean move(boolean isPull, NntiBuffer buffer, Runs run, TransferListener to) {
        if (isEnded) {
            return false;
        }
        isPulling = isPull;
        memory = buffer;
        at = (int) (isPull ? run.toOffset() : run.fromOffset());
        left = (int) run.length();
        listener = to;
        out.putInt(0, isPull ? ArrayConstants.TCP_PULL : ArrayConstants.TCP_DATA, BIG_ENDIAN);
        out.putInt(4, isPull ? 16 : left + 8, BIG_ENDIAN);
        out.putLong(8, isPull ? run.fromOffset() : run.toOffset(), BIG_ENDIAN);
        out.putLong(16, left, BIG_ENDIAN);
        send(isPull ? 24 : 16);
        return true;
    }

    private void send(int length) {
        outAt = 0;
        outLength = length;
    }

    @Override
    public boolean isGone() {
        return isEnded;
    }

    @Override
    public void reply(ArrayReply reply) {
        int length = reply.encode(out, 8);
        out.putInt(0, ArrayConstants.TCP_ANSWER, BIG_ENDIAN);
        out.putInt(4, length, BIG_ENDIAN);
        send(8 + length);
        isBusy = false;
    }

    /** Ends a transfer that is under way, too. Idempotent. */
    @Override
    public void close() {
        isEnded = true;
        stream.close();
        TransferListener told = listener;
        listener = null;
        if (told != null) {
            told.onTransferred(RpcResult.EIO);
        }
    }
}
