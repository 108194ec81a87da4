package dev.verbena.staging.transfer;

import dev.verbena.transport.Status;
import dev.verbena.transport.Transport;
import java.util.ArrayDeque;
import org.agrona.DirectBuffer;
import org.agrona.ErrorHandler;
import org.agrona.MutableDirectBuffer;

/**
 * Pulls and puts data of peers through {@link PartBuffers}: transfers wait in order, and the first
 * is posted part by part while a buffer is free. So memory is bounded by the buffers, however much
 * is asked for, and a consumer that keeps buffers slows pulling down. Never waits, allocates
 * nothing once the queue has grown. Owned by the transport's thread.
 *
 * @param <T> the protocol's transfers
 */
public final class TransferEngine<T extends Transfer> implements AutoCloseable {
    private final Transport transport;
    private final PartBuffers buffers;
    private final Handler<T> handler;
    private final ErrorHandler errorHandler;
    private final long contextBase;
    private final int waitingMax;
    private final ArrayDeque<T> waiting = new ArrayDeque<>();

    /** By buffer: what is being moved through it. */
    private final Transfer[] moved;

    private final long[] positions;
    private final int[] lengths;
    private int outstandingCount;

    /**
     * What becomes of transfers. Called on the transport's thread.
     *
     * @param <T> the protocol's transfers
     */
    public interface Handler<T extends Transfer> {
        /**
         * A part was pulled. It stays in its buffer until {@link #release}; parts of a transfer may
         * come in any order.
         *
         * @param window the buffer's memory
         * @param position of the part in the transfer
         */
        void onPulled(T transfer, int buffer, DirectBuffer window, long position, int length);

        /**
         * Fills a buffer with a part that is to be put; may be asked for the same part again.
         *
         * @param position of the part in the transfer
         */
        default void fill(T transfer, MutableDirectBuffer window, long position, int length) {
            throw new UnsupportedOperationException("this protocol puts nothing");
        }

        /**
         * A transfer has ended, once: none of its parts is under way. Its parts' buffers may still
         * be held.
         *
         * @param status {@code Status.OK}: all of it was moved; otherwise how the first part failed
         */
        void onEnded(T transfer, int status);
    }

    /**
     * Makes and registers its buffers.
     *
     * @param bufferSize most bytes of a part
     * @param waitingMax most transfers that wait to be posted
     * @param contextBase contexts of its operations begin here, one for each buffer
     * @param errorHandler gets what a transport throws when it is asked to move a part
     */
    public TransferEngine(
            Transport transport,
            int bufferCount,
            int bufferSize,
            int waitingMax,
            long contextBase,
            Handler<T> handler,
            ErrorHandler errorHandler) {
        this.transport = transport;
        this.buffers = new PartBuffers(transport, bufferCount, bufferSize);
        this.waitingMax = waitingMax;
        this.contextBase = contextBase;
        this.handler = handler;
        this.errorHandler = errorHandler;
        this.moved = new Transfer[buffers.count()];
        this.positions = new long[buffers.count()];
        this.lengths = new int[buffers.count()];
    }

    /** Whether another transfer may wait. */
    public boolean hasRoom() {
        return waiting.size() < waitingMax;
    }

    /** Reads the peer's memory; {@link #hasRoom} must hold. */
    public void pull(T transfer) {
        begin(transfer, false);
    }

    /** Writes to the peer's memory; {@link #hasRoom} must hold. */
    public void put(T transfer) {
        begin(transfer, true);
    }

    private void begin(T transfer, boolean isToPeer) {
        if (!hasRoom()) {
            throw new IllegalStateException("more than " + waitingMax + " transfers would wait");
        }
        transfer.begin(isToPeer);
        waiting.add(transfer);
    }

    /** Posts what can be posted now, at most as many parts as there are buffers; work done. */
    public int doWork() {
        int work = 0;
        T transfer;
        while (work < buffers.count() && (transfer = waiting.peek()) != null) {
            if (transfer.needsMore() && !post(transfer)) {
                break;
            }
            if (!transfer.needsMore()) {
                waiting.remove();
                transfer.allPosted();
                endIfDone(transfer);
            }
            work++;
        }
        return work;
    }

    /** The next part; false: not now. */
    private boolean post(T transfer) {
        int buffer = buffers.acquire();
        if (buffer < 0) {
            return false;
        }
        int answer = Transport.NOT_CONNECTED;
        int status = Status.PEER_DEAD;
        long position = transfer.posted();
        int length = (int) Math.min(transfer.length() - position, buffers.size());
        try {
            answer = ask(transfer, buffer, length);
        } catch (RuntimeException e) {
            // It costs this transfer, not the buffer, nor those that wait behind it.
            errorHandler.onError(e);
            status = Status.INTERNAL;
        }
        if (answer == Transport.ACCEPTED) {
            moved[buffer] = transfer;
            positions[buffer] = position;
            lengths[buffer] = length;
            outstandingCount++;
            transfer.partPosted(length);
            return true;
        }
        buffers.release(buffer);
        if (answer != Transport.BACK_PRESSURED) {
            transfer.fail(status);
        }
        return answer != Transport.BACK_PRESSURED;
    }

    private int ask(T transfer, int buffer, int length) {
        if (transfer.isPut()) {
            handler.fill(transfer, buffers.window(buffer), transfer.posted(), length);
            return transport.put(
                    transfer.connection(),
                    buffers.region(),
                    buffers.offset(buffer),
                    transfer.descriptor(),
                    transfer.nextRemoteOffset(),
                    length,
                    contextBase + buffer,
                    0);
        }
        return transport.get(
                transfer.connection(),
                buffers.region(),
                buffers.offset(buffer),
                transfer.descriptor(),
                transfer.nextRemoteOffset(),
                length,
                contextBase + buffer,
                0);
    }

    /** An operation has completed; false: it is not of this engine. */
    public boolean onCompletion(long context, int status) {
        long index = context - contextBase;
        if (index < 0 || index >= moved.length) {
            return false;
        }
        int buffer = (int) index;
        // Only transfers that were given to begin() are ever stored here.
        @SuppressWarnings("unchecked")
        T transfer = (T) moved[buffer];
        moved[buffer] = null;
        outstandingCount--;
        transfer.partEnded(status);
        if (transfer.isPut() || transfer.status() != Status.OK) {
            buffers.release(buffer);
        } else {
            handler.onPulled(
                    transfer, buffer, buffers.window(buffer), positions[buffer], lengths[buffer]);
        }
        endIfDone(transfer);
        return true;
    }

    private void endIfDone(T transfer) {
        if (transfer.hasEnded()) {
            handler.onEnded(transfer, transfer.status());
        }
    }

    /** The consumer is done with a part: its buffer may be filled again. */
    public void release(int buffer) {
        buffers.release(buffer);
    }

    /** Nothing waits, and nothing is outstanding. */
    public boolean isIdle() {
        return waiting.isEmpty() && outstandingCount == 0;
    }

    /** Every operation has completed; transfers may still wait. */
    public boolean isQuiet() {
        return outstandingCount == 0;
    }

    /** Gives the memory back; nothing may be outstanding. What still waits is forgotten. */
    @Override
    public void close() {
        waiting.clear();
        buffers.close();
    }
}
