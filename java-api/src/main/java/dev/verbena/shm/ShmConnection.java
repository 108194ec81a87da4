package dev.verbena.shm;

import dev.verbena.agent.internal.KillSteps;
import dev.verbena.softnic.bindings.Layout;
import dev.verbena.softnic.bindings.softnic;
import dev.verbena.transport.TransportHandler;
import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * One connection: its state, the ring that we read and the ring that we write. The protocol is that
 * of {@code shm_layout.h}; this is its second implementation beside {@code shm.c}. Others read the
 * fields; the methods write them. Owned by the transport's thread.
 *
 * <p>Rings and words are reached at raw addresses, which are valid from {@link #open} until softnic
 * is told that the handle is finished. Every slot number and length that a peer can write is
 * checked before it becomes an address.
 */
final class ShmConnection extends ShmPeerMemory {
    static final int OFFERED = 1;
    static final int CONNECTING = 2;

    /** softnic's connection is open, {@code onConnected} was not delivered yet. */
    static final int ACCEPTED = 3;

    static final int OPEN = 4;

    /** The peer is done; its last messages are being delivered. */
    static final int DRAINING = 5;

    /** {@code disconnect} waits for the handler to return. */
    static final int DISCONNECTING = 6;

    /** No more operations; {@code onPeerLost} or {@code onDisconnected} waits to be delivered. */
    static final int ENDED = 7;

    /** Gone for the user; kept until the last retained message is released. */
    static final int GONE = 8;

    /** Gone for softnic as well; only retained messages, now empty, have to be released. */
    static final int LEFT = 9;

    /** Answers of {@link #credit}. */
    static final int AVAILABLE = 0;

    static final int NO_CREDIT = 1;
    static final int CORRUPT = 2;

    final long nativeHandle;
    final String peerName;
    final long peerIncarnation;
    long context;
    int state;
    private boolean isPeerDone;

    /** Why the peer is lost, an errno; 0: it ended the connection in order. */
    int lostErrno;

    boolean isDelivering;

    /** {@code disconnect} was called from the handler of this connection's message. */
    boolean isDisconnectWanted;

    private long doorbell;
    private long waiters;

    private long writeSlots;
    private long writeCredit;
    private int writeCredits;
    private int writeSlotBytes;
    private int writeMax;
    private long writePosition;
    private long consumed;

    /** Which slot each of the next messages goes into, by position; what the peer gave back. */
    private short[] free;

    private long readSlots;
    private long readCredit;
    private int readCredits;
    private int readSlotBytes;
    private int readMax;
    private long readPosition;
    private long returnedCount;
    private short[] returned;
    private long[] out;
    private int outCount;
    private UnsafeBuffer readBuffer;

    ShmConnection(
            long handle,
            long nativeHandle,
            String peerName,
            long peerIncarnation,
            NativeScratch scratch) {
        super(handle, scratch);
        this.nativeHandle = nativeHandle;
        this.peerName = peerName;
        this.peerIncarnation = peerIncarnation;
    }

    /**
     * Learns the addresses of an open connection.
     *
     * @return null, or what is wrong with the geometry that the peer's segment claims
     */
    String open(long shm) {
        long view = scratch.view;
        int result = softnic.shm_view(shm, nativeHandle, view);
        long attached = softnic.shm_peer(shm, nativeHandle);
        if (result < 0 || attached == 0) {
            return "shm_view: " + Errno.name(-result);
        }
        long snicView = view + Layout.VIEW_PEER;
        long header = UnsafeApi.getLong(null, snicView + Layout.SNIC_VIEW_HEADER);
        doorbell = header + Layout.HEADER_DOORBELL;
        waiters = header + Layout.HEADER_WAITERS;
        openMemory(attached, snicView);

        writeCredit = UnsafeApi.getLong(null, view + Layout.VIEW_PEER_RING);
        writeSlots = writeCredit + UnsafeApi.getInt(null, view + Layout.VIEW_PEER_CREDIT_BYTES);
        writeCredits = UnsafeApi.getInt(null, view + Layout.VIEW_PEER_CREDITS);
        writeSlotBytes = UnsafeApi.getInt(null, view + Layout.VIEW_PEER_SLOT_BYTES);
        writeMax = UnsafeApi.getInt(null, view + Layout.VIEW_PEER_MESSAGE_MAX);

        readCredit = UnsafeApi.getLong(null, view + Layout.VIEW_OWN_RING);
        readSlots = readCredit + UnsafeApi.getInt(null, view + Layout.VIEW_OWN_CREDIT_BYTES);
        readCredits = UnsafeApi.getInt(null, view + Layout.VIEW_OWN_CREDITS);
        readSlotBytes = UnsafeApi.getInt(null, view + Layout.VIEW_OWN_SLOT_BYTES);
        readMax = UnsafeApi.getInt(null, view + Layout.VIEW_OWN_MESSAGE_MAX);
        if (Integer.bitCount(writeCredits) != 1
                || writeCredits > Layout.SHM_CREDITS_LIMIT
                || writeMax < Layout.NOTIFY_SIZE
                || writeMax > Layout.SHM_MESSAGE_LIMIT
                || writeSlotBytes < writeMax + Layout.SHM_SLOT_HEADER) {
            return "its segment claims %s credits of %s bytes for messages of up to %s"
                    .formatted(writeCredits, writeSlotBytes, writeMax);
        }
        free = new short[writeCredits];
        for (int slot = 0; slot < writeCredits; slot++) {
            free[slot] = (short) slot;
        }
        returned = new short[readCredits];
        out = new long[readCredits];
        readBuffer = new UnsafeBuffer(readSlots, readCredits * readSlotBytes);
        return null;
    }

    // ---- its life ----

    /** It is in this state now. */
    void become(int next) {
        state = next;
    }

    /** We have asked. */
    void connecting(long context) {
        state = CONNECTING;
        this.context = context;
    }

    /** The user accepts. */
    void accepting(long context) {
        this.context = context;
    }

    /** Whether an attempt of the user has not ended for him: it is under way, or he is to learn. */
    boolean isUntold() {
        return state == CONNECTING || state == ACCEPTED;
    }

    /** The user is about to learn that it is connected, if it still is; true if it was. */
    boolean opened() {
        boolean isFirst = state == ACCEPTED;
        if (isFirst) {
            state = isPeerDone ? DRAINING : OPEN;
        }
        return isFirst;
    }

    /** The peer will send no more: 0, it ended the connection; else an errno. */
    void peerDone(int errno) {
        isPeerDone = true;
        lostErrno = errno;
        if (state == OPEN) {
            state = DRAINING;
        }
    }

    /** The user asked for the end from the handler; it comes when that returns. */
    void disconnectLater() {
        isDisconnectWanted = true;
        state = DISCONNECTING;
    }

    /** After this no address is used any more. */
    void forget() {
        forgetMemory();
        writePosition = consumed = 0;
        writeCredits = 0;
        if (readBuffer != null) {
            readBuffer.wrap(0L, 0);
        }
    }

    int messageLengthMax() {
        return writeMax;
    }

    /** Messages that the handler kept; not the one being delivered. */
    int retainedCount() {
        return isDelivering ? outCount - 1 : outCount;
    }

    /** What an errno of softnic says about the peer, in words. */
    String reason(int errno, long peerTimeoutNs) {
        String peer = "peer '" + peerName + "' ";
        return switch (errno) {
            case Errno.ESRCH -> peer + "died";
            case Errno.EIO -> peer + "lost its memory: somebody cut a file of it";
            case Errno.EHOSTDOWN -> peer + "was stopped for longer than " + peerTimeoutNs + " ns";
            case Errno.ECONNREFUSED -> peer + "refused";
            case Errno.ETIMEDOUT -> peer + "did not answer in time";
            case Errno.ESTALE -> peer + "is another incarnation";
            default -> peer + "is gone: " + Errno.name(errno) + " (" + errno + ")";
        };
    }

    // ---- messages to the peer ----

    /**
     * Whether a message can be posted: {@link #AVAILABLE}, {@link #NO_CREDIT}, {@link #CORRUPT}.
     */
    int credit() {
        if (writePosition - consumed < writeCredits) {
            return AVAILABLE;
        }
        // Pairs with the reader's release store when it gives a slot back.
        long seen = UnsafeApi.getLongAcquire(null, writeCredit + Layout.CREDIT_CONSUMED);
        if (seen < consumed || seen > writePosition || !takeBack(seen)) {
            return CORRUPT;
        }
        return writePosition - seen < writeCredits ? AVAILABLE : NO_CREDIT;
    }

    /**
     * Copies the numbers of the slots that came back, once for all of them: the peer writes beside
     * the next one with every message, so that a look at each post would miss the cache each time.
     */
    private boolean takeBack(long seen) {
        for (long i = consumed; i < seen; i++) {
            int at = (int) i & (writeCredits - 1);
            short slot = UnsafeApi.getShort(null, writeCredit + Layout.CREDIT_RETURNED + 2L * at);
            if (slot < 0 || slot >= writeCredits) {
                return false;
            }
            free[at] = slot;
        }
        consumed = seen;
        return true;
    }

    /** Writes a message; {@link #credit} answered AVAILABLE before. */
    void post(int kind, int tag, long from, int length) {
        long position = writePosition;
        int slot = free[(int) position & (writeCredits - 1)];
        long at = writeSlots + (long) slot * writeSlotBytes;
        UnsafeApi.putInt(null, at + Layout.SLOT_KIND, kind);
        UnsafeApi.putInt(null, at + Layout.SLOT_LENGTH, length);
        UnsafeApi.putInt(null, at + Layout.SLOT_TAG, tag);
        copy(from, at + Layout.SLOT_PAYLOAD, length);
        if (KillSteps.ENABLED) {
            KillSteps.step("java.send.filled");
        }
        // Publishes the slot; pairs with the reader's acquire load of the flag.
        UnsafeApi.putIntRelease(null, at + Layout.SLOT_FLAG, (int) (position + 1));
        writePosition = position + 1;
        if (KillSteps.ENABLED) {
            KillSteps.step("java.send.published");
        }
        // Doorbell before waiters, both sequentially consistent: the sleeper does the reverse.
        UnsafeApi.getAndAddInt(null, doorbell, 1);
        if (UnsafeApi.getIntVolatile(null, waiters) != 0) {
            softnic.snic_ring(peer);
        }
    }

    // ---- messages from the peer ----

    /** Whether a message waits in the ring. */
    boolean hasMessage() {
        long position = readPosition;
        if (position - returnedCount >= readCredits) {
            return false;
        }
        // Pairs with the writer's release store of the flag.
        return UnsafeApi.getIntAcquire(null, slotAddress(slotOf(position)) + Layout.SLOT_FLAG)
                == (int) (position + 1);
    }

    private int slotOf(long position) {
        return position < readCredits
                ? (int) position
                : returned[(int) position & (readCredits - 1)];
    }

    private long slotAddress(int slot) {
        return readSlots + (long) slot * readSlotBytes;
    }

    /**
     * Delivers the message that {@link #hasMessage} saw.
     *
     * @return false if the slot's contents make no sense
     */
    boolean deliver(ShmInbox inbox, TransportHandler handler) {
        long position = readPosition;
        int slot = slotOf(position);
        long at = slotAddress(slot);
        // Opaque: read once, so that a peer that goes on writing cannot change what was checked.
        int kind = UnsafeApi.getIntOpaque(null, at + Layout.SLOT_KIND);
        int length = UnsafeApi.getIntOpaque(null, at + Layout.SLOT_LENGTH);
        int tag = UnsafeApi.getIntOpaque(null, at + Layout.SLOT_TAG);
        if (kind == Layout.SHM_KIND_MESSAGE) {
            if (length < 0 || length > readMax) {
                return false;
            }
            readPosition = position + 1;
            long serial = inbox.nextSerial();
            out[slot] = serial;
            outCount++;
            isDelivering = true;
            try {
                handler.onMessage(
                        handle,
                        context,
                        readBuffer,
                        slot * readSlotBytes + Layout.SLOT_PAYLOAD,
                        length,
                        inbox.currentToken(this, slot, serial));
            } finally {
                isDelivering = false;
                if (!inbox.isCurrentRetained()) {
                    giveBack(slot, serial);
                }
            }
            return true;
        }
        if (kind == Layout.SHM_KIND_NOTIFY && length == Layout.NOTIFY_SIZE) {
            long payload = at + Layout.SLOT_PAYLOAD;
            int keySlot = UnsafeApi.getIntOpaque(null, payload + Layout.NOTIFY_SLOT);
            int generation = UnsafeApi.getIntOpaque(null, payload + Layout.NOTIFY_GENERATION);
            long offset = UnsafeApi.getLongOpaque(null, payload + Layout.NOTIFY_OFFSET);
            long bytes = UnsafeApi.getLongOpaque(null, payload + Layout.NOTIFY_LENGTH);
            readPosition = position + 1;
            returnSlot(slot);
            return inbox.notified(this, handler, tag, keySlot, generation, offset, bytes);
        }
        return false;
    }

    /** Gives a message's slot back to the peer; false if it is not out under this serial. */
    boolean giveBack(int slot, long serial) {
        if (slot >= out.length || out[slot] != serial) {
            return false;
        }
        out[slot] = 0;
        outCount--;
        if (state < ENDED) {
            returnSlot(slot);
        }
        return true;
    }

    private void returnSlot(int slot) {
        int at = (int) returnedCount & (readCredits - 1);
        returned[at] = (short) slot;
        UnsafeApi.putShort(null, readCredit + Layout.CREDIT_RETURNED + 2L * at, (short) slot);
        // Pairs with the writer's acquire load in credit().
        UnsafeApi.putLongRelease(null, readCredit + Layout.CREDIT_CONSUMED, ++returnedCount);
        if (KillSteps.ENABLED) {
            KillSteps.step("java.release.returned");
        }
    }
}
