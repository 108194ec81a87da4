package dev.verbena.savime.link;

import dev.verbena.agent.ByteStreams.ByteStream;
import dev.verbena.savime.wire.MessageCheck;
import dev.verbena.savime.wire.MessageQueue;
import dev.verbena.savime.wire.StgFlyweight;
import dev.verbena.savime.wire.StgType;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Messages over a stream. Data of a block go straight between the socket and the block's memory.
 * Never waits; allocates nothing after it was made. One thread.
 */
public final class TcpMessages implements AutoCloseable {
    private static final int READS_MAX = 64;
    private static final int PIECE_MAX = 1 << 20;

    private final ByteStream stream;
    private final MessageQueue out;
    private final Handler handler;
    private final UnsafeBuffer in = new UnsafeBuffer(new byte[StgFlyweight.LENGTH_MAX]);
    private final UnsafeBuffer unwanted = new UnsafeBuffer(new byte[64 * 1024]);
    private final StgFlyweight header = new StgFlyweight();
    private final UnsafeBuffer dataHeader = new UnsafeBuffer(new byte[StgFlyweight.DATA_OFFSET]);
    private int filled;
    private boolean isInData;
    private int targetLength;
    private int targetFilled;
    private int sentOfMessage;
    private DirectBuffer data;
    private int dataAt;
    private int dataLength;
    private int dataSent;
    private boolean isEnded;
    private String error = "";

    /** What the owner does with messages. */
    public interface Handler {
        /**
         * A message other than BLOCK_DATA.
         *
         * @throws IllegalArgumentException if it is not allowed: the stream is of no use any more
         */
        void onMessage(DirectBuffer buffer, int offset, int length);

        /**
         * Where the data go that follow. Asked again before each piece.
         *
         * @return memory of at least the announced length; null: they are of no use any more
         * @throws IllegalArgumentException if nobody expects them
         */
        MutableDirectBuffer dataTarget(StgFlyweight header);

        /** The data of the header that was announced last are there. */
        void onData(StgFlyweight header);
    }

    /** Over a stream, which this closes. */
    public TcpMessages(ByteStream stream, MessageQueue out, Handler handler) {
        this.stream = stream;
        this.out = out;
        this.handler = handler;
    }

    /** Whether the stream can be used. */
    public boolean isOpen() {
        return !isEnded && stream.state() == ByteStream.OPEN;
    }

    /** Ended by the peer, an error, or a message that was not allowed. */
    public boolean isEnded() {
        return isEnded || stream.state() >= ByteStream.FAILED;
    }

    /** Why it ended, for people. */
    public String error() {
        return error.isEmpty() ? stream.error() : error;
    }

    /** Address of the peer, for people. */
    public String peer() {
        return stream.peer();
    }

    /** Takes what has come, not without end; work done. */
    public int read() {
        int work = 0;
        for (int i = 0; i < READS_MAX && isOpen(); i++) {
            int n = isInData ? readData() : readMessage();
            if (n < 0) {
                end("it ended the connection");
            }
            if (n <= 0) {
                break;
            }
            work++;
        }
        return work;
    }

    private int readMessage() {
        int n = stream.read(in, filled, needed() - filled);
        if (n <= 0) {
            return n;
        }
        filled += n;
        try {
            if (filled == StgFlyweight.HEADER_LENGTH) {
                MessageCheck.check(in, 0, filled);
            }
            if (filled >= StgFlyweight.HEADER_LENGTH && filled == needed()) {
                complete();
            }
        } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
            end(e.getMessage());
        }
        return n;
    }

    private int needed() {
        if (filled < StgFlyweight.HEADER_LENGTH) {
            return StgFlyweight.HEADER_LENGTH;
        }
        header.wrap(in, 0);
        return header.type() == StgType.BLOCK_DATA ? StgFlyweight.DATA_OFFSET : header.length();
    }

    private void complete() {
        header.wrap(in, 0);
        if (header.type() != StgType.BLOCK_DATA) {
            filled = 0;
            handler.onMessage(in, 0, header.length());
            return;
        }
        int length = header.blockLength();
        if (length < 1 || header.length() != StgFlyweight.DATA_OFFSET + length) {
            throw new IllegalArgumentException("data of length " + length);
        }
        handler.dataTarget(header);
        isInData = true;
        targetLength = length;
        targetFilled = 0;
    }

    private int readData() {
        int want = Math.min(PIECE_MAX, targetLength - targetFilled);
        MutableDirectBuffer target = handler.dataTarget(header);
        int n =
                target == null
                        ? stream.read(unwanted, 0, Math.min(want, unwanted.capacity()))
                        : stream.read(target, targetFilled, want);
        if (n <= 0) {
            return n;
        }
        targetFilled += n;
        if (targetFilled == targetLength) {
            isInData = false;
            filled = 0;
            handler.onData(header);
        }
        return n;
    }

    /** Nothing is read or written any more. */
    public void end(String why) {
        isEnded = true;
        data = null;
        error = error.isEmpty() ? why : error;
    }

    /** A block is being written. */
    public boolean isWritingData() {
        return data != null;
    }

    /** Writes a block behind the messages that wait now; {@link #isWritingData} must not hold. */
    public void writeData(
            long session,
            long dataset,
            long offset,
            int blockNo,
            DirectBuffer from,
            int fromOffset,
            int length) {
        header.begin(dataHeader, 0, StgType.BLOCK_DATA)
                .session(session)
                .block(dataset, offset, length, blockNo)
                .length(StgFlyweight.DATA_OFFSET + length);
        data = from;
        dataAt = fromOffset;
        dataLength = length;
        dataSent = -StgFlyweight.DATA_OFFSET;
    }

    /** Writes what can be written now; work done. */
    public int write() {
        int work = 0;
        while (isOpen() && (sentOfMessage > 0 || !isMidData()) && !out.isEmpty()) {
            int n =
                    stream.write(
                            out.buffer(), out.at() + sentOfMessage, out.length() - sentOfMessage);
            if (n <= 0) {
                return work;
            }
            work++;
            sentOfMessage += n;
            if (sentOfMessage == out.length()) {
                out.remove();
                sentOfMessage = 0;
            }
        }
        return work + writeBlock();
    }

    private boolean isMidData() {
        return data != null && dataSent > -StgFlyweight.DATA_OFFSET;
    }

    private int writeBlock() {
        int work = 0;
        while (isOpen() && data != null) {
            int n;
            int left = Math.min(PIECE_MAX, dataLength - Math.max(dataSent, 0));
            if (dataSent < 0) {
                int at = StgFlyweight.DATA_OFFSET + dataSent;
                n = stream.write(dataHeader, at, -dataSent, data, dataAt, left);
            } else {
                n = stream.write(data, dataAt + dataSent, left);
            }
            if (n <= 0) {
                return work;
            }
            work++;
            dataSent += n;
            if (dataSent == dataLength) {
                data = null;
            }
        }
        return work;
    }

    @Override
    public void close() {
        end("closed");
        stream.close();
    }
}
