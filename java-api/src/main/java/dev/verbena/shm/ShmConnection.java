package dev.verbena.shm;

import dev.verbena.agent.internal.PlantedFaults;
import dev.verbena.softnic.bindings.Layout;
import dev.verbena.softnic.bindings.softnic;
import dev.verbena.transport.RemoteDescriptor;
import dev.verbena.transport.Status;
import dev.verbena.transport.TransportHandler;
import java.util.Arrays;
import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * One connection: the ring that we read, the ring that we write, and the peer's registrations. The
 * protocol is that of {@code shm_layout.h}; this is its second implementation beside {@code shm.c}.
 * Owned by the transport's thread.
 *
 * <p>Rings and words are reached at raw addresses, which are valid from {@link #open} until softnic
 * is told that the handle is finished. Every slot number and length that a peer can write is
 * checked before it becomes an address.
 */
final class ShmConnection {
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

    /** Answers of {@link #post}. */
    static final int POSTED = 0;

    static final int NO_CREDIT = 1;
    static final int CORRUPT = 2;

    /** Copies up to this length are made in Java. */
    private static final long COPY_MAX = 8 * 1024;

    private static final int TRANSLATIONS = 64;
    private static final int PIN_OFFSET = Layout.INITIATOR_PINS + 8;

    final int index;
    final long handle;
    final long nativeHandle;
    final String peerName;
    final long peerIncarnation;
    long context;
    int state;
    boolean isPeerDone;

    /** Why the peer is lost, an errno; 0: it ended the connection in order. */
    int lostErrno;

    boolean isDelivering;

    /** {@code disconnect} was called from the handler of this connection's message. */
    boolean isDisconnectWanted;

    private final NativeScratch scratch;
    private final Translation[] translations = new Translation[TRANSLATIONS];

    /** The descriptor that was used last and lies inside its registration, as it was then. */
    private RemoteDescriptor lastTarget;

    private long lastVersion;
    private Translation lastTranslation;
    private int lastRights;
    private long lastBase;
    private long lastLength;

    private long peer;
    private long pin;

    /** The owner of the memory makes the barrier for both: see {@code struct snic_initiator}. */
    private boolean isOwnerFencing;

    private long registrations;
    private long registrationsMax;
    private long doorbell;
    private long waiters;

    private long writeSlots;
    private long writeCredit;
    private int writeCredits;
    private int writeSlotBytes;
    private int writeMax;
    private long writePosition;
    private long consumed;

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

    /** A registration of the peer as it was when its generation was checked. */
    private static final class Translation {
        int slot = -1;
        int generation;

        /** What stands in our pin while we are at it. */
        long pinWord;

        /** Where the owner says which generation is live. */
        long generationAt;

        int rights;
        long secret;
        long length;

        /** Where it is mapped here; 0: reach it through softnic. */
        long address;
    }

    ShmConnection(
            int index,
            long handle,
            long nativeHandle,
            String peerName,
            long peerIncarnation,
            NativeScratch scratch) {
        this.index = index;
        this.handle = handle;
        this.nativeHandle = nativeHandle;
        this.peerName = peerName;
        this.peerIncarnation = peerIncarnation;
        this.scratch = scratch;
    }

    /**
     * Learns the addresses of an open connection.
     *
     * @return null, or what is wrong with the geometry that the peer's segment claims
     */
    String open(long shm) {
        long view = scratch.view;
        int result = softnic.shm_view(shm, nativeHandle, view);
        peer = softnic.shm_peer(shm, nativeHandle);
        if (result < 0 || peer == 0) {
            return "shm_view: " + Errno.name(-result);
        }
        long snicView = view + Layout.VIEW_PEER;
        long header = UnsafeApi.getLong(null, snicView + Layout.SNIC_VIEW_HEADER);
        doorbell = header + Layout.HEADER_DOORBELL;
        waiters = header + Layout.HEADER_WAITERS;
        pin = UnsafeApi.getLong(null, snicView + Layout.SNIC_VIEW_INITIATOR) + PIN_OFFSET;
        isOwnerFencing = UnsafeApi.getLong(null, snicView + Layout.SNIC_VIEW_OWNER_FENCES) == 1;
        registrations = UnsafeApi.getLong(null, snicView + Layout.SNIC_VIEW_REGISTRATIONS);
        registrationsMax = UnsafeApi.getLong(null, snicView + Layout.SNIC_VIEW_REGISTRATIONS_MAX);

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
            return "its segment claims "
                    + writeCredits
                    + " credits of "
                    + writeSlotBytes
                    + " bytes for messages of up to "
                    + writeMax;
        }
        returned = new short[readCredits];
        out = new long[readCredits];
        readBuffer = new UnsafeBuffer(readSlots, readCredits * readSlotBytes);
        return null;
    }

    /** After this no address is used any more. */
    void forget() {
        peer = 0;
        writePosition = consumed = 0;
        writeCredits = 0;
        if (readBuffer != null) {
            readBuffer.wrap(0L, 0);
        }
        Arrays.fill(translations, null);
    }

    int messageLengthMax() {
        return writeMax;
    }

    /** Messages that the handler kept; not the one being delivered. */
    int retainedCount() {
        return isDelivering ? outCount - 1 : outCount;
    }

    // ---- messages to the peer ----

    /** Whether a message can be posted: {@link #POSTED}, {@link #NO_CREDIT}, {@link #CORRUPT}. */
    int credit() {
        if (writePosition - consumed < writeCredits) {
            return POSTED;
        }
        // Pairs with the reader's release store when it gives a slot back.
        long seen = UnsafeApi.getLongAcquire(null, writeCredit + Layout.CREDIT_CONSUMED);
        if (seen < consumed || seen > writePosition) {
            return CORRUPT;
        }
        consumed = seen;
        return writePosition - seen < writeCredits ? POSTED : NO_CREDIT;
    }

    /** Writes a message; {@link #credit} answered POSTED before. */
    int post(int kind, int tag, long from, int length) {
        long position = writePosition;
        int slot = (int) position;
        if (position >= writeCredits) {
            slot =
                    UnsafeApi.getShort(
                                    null,
                                    writeCredit
                                            + Layout.CREDIT_RETURNED
                                            + 2L * (position & (writeCredits - 1)))
                            & 0xFFFF;
            if (slot >= writeCredits) {
                return CORRUPT;
            }
        }
        long at = writeSlots + (long) slot * writeSlotBytes;
        UnsafeApi.putInt(null, at + Layout.SLOT_KIND, kind);
        UnsafeApi.putInt(null, at + Layout.SLOT_LENGTH, length);
        UnsafeApi.putInt(null, at + Layout.SLOT_TAG, tag);
        copy(from, at + Layout.SLOT_PAYLOAD, length);
        if (PlantedFaults.ENABLED) {
            PlantedFaults.step("java.send.filled");
        }
        // Publishes the slot; pairs with the reader's acquire load of the flag.
        UnsafeApi.putIntRelease(null, at + Layout.SLOT_FLAG, (int) (position + 1));
        writePosition = position + 1;
        if (PlantedFaults.ENABLED) {
            PlantedFaults.step("java.send.published");
        }
        // Doorbell before waiters, both sequentially consistent: the sleeper does the reverse.
        UnsafeApi.getAndAddInt(null, doorbell, 1);
        if (UnsafeApi.getIntVolatile(null, waiters) != 0) {
            softnic.snic_ring(peer);
        }
        return POSTED;
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
    boolean deliver(ShmTransport transport, TransportHandler handler) {
        long position = readPosition;
        int slot = slotOf(position);
        long at = slotAddress(slot);
        // Read once: a peer that goes on writing cannot change what was checked.
        int kind = UnsafeApi.getInt(null, at + Layout.SLOT_KIND);
        int length = UnsafeApi.getInt(null, at + Layout.SLOT_LENGTH);
        int tag = UnsafeApi.getInt(null, at + Layout.SLOT_TAG);
        if (kind == Layout.SHM_KIND_MESSAGE) {
            if ((length < 0 || length > readMax)
                    && !(PlantedFaults.ENABLED
                            && PlantedFaults.isOn("shm-message-length-unchecked"))) {
                return false;
            }
            readPosition = position + 1;
            long serial = transport.nextSerial();
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
                        transport.currentToken(this, slot, serial));
            } finally {
                isDelivering = false;
                if (!transport.isCurrentRetained()
                        || PlantedFaults.ENABLED
                                && PlantedFaults.isOn("shm-retained-slot-reused")) {
                    giveBack(slot, serial);
                }
            }
            return true;
        }
        if (kind == Layout.SHM_KIND_NOTIFY && length == Layout.NOTIFY_SIZE) {
            long payload = at + Layout.SLOT_PAYLOAD;
            int keySlot = UnsafeApi.getInt(null, payload + Layout.NOTIFY_SLOT);
            int generation = UnsafeApi.getInt(null, payload + Layout.NOTIFY_GENERATION);
            long offset = UnsafeApi.getLong(null, payload + Layout.NOTIFY_OFFSET);
            long bytes = UnsafeApi.getLong(null, payload + Layout.NOTIFY_LENGTH);
            readPosition = position + 1;
            returnSlot(slot);
            return transport.notified(this, handler, tag, keySlot, generation, offset, bytes);
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

    boolean isOut(int slot, long serial) {
        return slot < out.length && out[slot] == serial;
    }

    private void returnSlot(int slot) {
        int at = (int) returnedCount & (readCredits - 1);
        returned[at] = (short) slot;
        UnsafeApi.putShort(null, readCredit + Layout.CREDIT_RETURNED + 2L * at, (short) slot);
        // Pairs with the writer's acquire load in credit().
        UnsafeApi.putLongRelease(null, readCredit + Layout.CREDIT_CONSUMED, ++returnedCount);
        if (PlantedFaults.ENABLED) {
            PlantedFaults.step("java.release.returned");
        }
    }

    // ---- one-sided operations ----

    /**
     * Moves bytes to or from the peer's memory. The checks of a descriptor are not made again while
     * the same unchanged descriptor is used; whether its key is still good is looked at each time.
     *
     * @return a {@link Status}
     */
    int transfer(
            boolean isPut, long local, RemoteDescriptor target, long targetOffset, long length) {
        int right = isPut ? RemoteDescriptor.REMOTE_WRITE : RemoteDescriptor.REMOTE_READ;
        boolean isKnown =
                target == lastTarget
                        && target.version() == lastVersion
                        && (lastRights & right) != 0
                        && (targetOffset | (lastLength - targetOffset - length)) >= 0
                        && length <= COPY_MAX;
        return isKnown
                ? move(isPut, local, lastTranslation, lastBase + targetOffset, length)
                : transferChecked(isPut, right, local, target, targetOffset, length);
    }

    private int transferChecked(
            boolean isPut,
            int right,
            long local,
            RemoteDescriptor target,
            long targetOffset,
            long length) {
        long version = target.version();
        long base = target.base();
        long granted = target.length();
        int rights = target.rights();
        int status = check(target, right, targetOffset, length);
        if (status != Status.OK) {
            return status;
        }
        Translation translation = translation(target);
        if (translation == null) {
            return Status.STALE_KEY;
        }
        if ((translation.rights & right) == 0) {
            return Status.ACCESS;
        }
        long offset = base + targetOffset;
        long slack = PlantedFaults.ENABLED && PlantedFaults.isOn("shm-bounds-off-by-one") ? 1 : 0;
        if ((offset | (translation.length + slack - offset - length)) < 0) {
            return Status.BOUNDS;
        }
        if (length > COPY_MAX || translation.address == 0) {
            return transferNative(isPut, local, target, offset, length);
        }
        if ((base | granted | (translation.length - base - granted)) >= 0) {
            lastTarget = target;
            lastVersion = version;
            lastTranslation = translation;
            lastRights = rights & translation.rights;
            lastBase = base;
            lastLength = granted;
        }
        return move(isPut, local, translation, offset, length);
    }

    /** Announces, then looks: the owner sets the generation, then looks at the pins. */
    private int move(boolean isPut, long local, Translation translation, long offset, long length) {
        pin(translation.pinWord);
        if (!isCurrent(translation)) {
            UnsafeApi.putLongRelease(null, pin, 0);
            return Status.STALE_KEY;
        }
        if (PlantedFaults.ENABLED) {
            PlantedFaults.step("java.pin.stored");
        }
        if (isPut) {
            copy(local, translation.address + offset, length);
        } else {
            copy(translation.address + offset, local, length);
        }
        if (PlantedFaults.ENABLED) {
            PlantedFaults.step("java.put.copied");
        }
        UnsafeApi.putLongRelease(null, pin, 0);
        if (PlantedFaults.ENABLED) {
            PlantedFaults.step("java.put.unpinned");
        }
        return Status.OK;
    }

    /** Rights and range that the descriptor itself grants. */
    private static int check(RemoteDescriptor target, int right, long targetOffset, long length) {
        if (target.kind() != RemoteDescriptor.KIND_SHM) {
            return Status.STALE_KEY;
        }
        if ((target.rights() & right) == 0) {
            return Status.ACCESS;
        }
        return (targetOffset | (target.length() - targetOffset - length)) < 0
                ? Status.BOUNDS
                : Status.OK;
    }

    private int transferNative(
            boolean isPut, long local, RemoteDescriptor target, long offset, long length) {
        writeKey(target);
        return Errno.status(
                isPut
                        ? softnic.snic_put(peer, scratch.key, offset, local, length)
                        : softnic.snic_get(peer, scratch.key, offset, local, length));
    }

    /**
     * Fetch-add or compare-and-swap; the former value is left in the scratch's result.
     *
     * @return a {@link Status}
     */
    int atomic(
            boolean isAdd, RemoteDescriptor target, long targetOffset, long operand, long update) {
        long offset = target.base() + targetOffset;
        int status = check(target, RemoteDescriptor.REMOTE_ATOMIC, targetOffset, Long.BYTES);
        if (status != Status.OK) {
            return status;
        }
        Translation translation = translation(target);
        if (translation == null) {
            return Status.STALE_KEY;
        }
        if ((translation.rights & RemoteDescriptor.REMOTE_ATOMIC) == 0) {
            return Status.ACCESS;
        }
        if ((offset | (translation.length - offset - Long.BYTES)) < 0) {
            return Status.BOUNDS;
        }
        if (translation.address == 0 || (translation.address + offset & 7) != 0) {
            writeKey(target);
            return Errno.status(
                    isAdd
                            ? softnic.snic_fetch_add(
                                    peer, scratch.key, offset, operand, scratch.result)
                            : softnic.snic_compare_swap(
                                    peer, scratch.key, offset, operand, update, scratch.result));
        }
        pin(translation.pinWord);
        if (!isCurrent(translation)) {
            UnsafeApi.putLongRelease(null, pin, 0);
            return Status.STALE_KEY;
        }
        long at = translation.address + offset;
        long before =
                isAdd
                        ? UnsafeApi.getAndAddLong(null, at, operand)
                        : UnsafeApi.compareAndExchangeLong(null, at, operand, update);
        UnsafeApi.putLongRelease(null, pin, 0);
        UnsafeApi.putLong(null, scratch.result, before);
        return Status.OK;
    }

    private void writeKey(RemoteDescriptor target) {
        UnsafeApi.putInt(null, scratch.key + Layout.KEY_SLOT, (int) target.keyLow());
        UnsafeApi.putInt(null, scratch.key + Layout.KEY_GENERATION, target.generation());
        UnsafeApi.putLong(null, scratch.key + Layout.KEY_SECRET, target.keyHigh());
    }

    /** Announces an access, before the look at whether the key is still good. */
    private void pin(long word) {
        if (isOwnerFencing) {
            UnsafeApi.putLongOpaque(null, pin, word);
            UnsafeApi.loadFence(); // no instruction on x86: keeps the compiler from reordering
        } else {
            UnsafeApi.putLongVolatile(null, pin, word);
        }
    }

    private boolean isCurrent(Translation translation) {
        if (PlantedFaults.ENABLED && PlantedFaults.isOn("shm-generation-unchecked")) {
            return true;
        }
        return UnsafeApi.getIntVolatile(null, translation.generationAt) == translation.generation;
    }

    private Translation translation(RemoteDescriptor target) {
        int slot = (int) target.keyLow();
        Translation known = translations[slot & (TRANSLATIONS - 1)];
        if (known != null
                && known.slot == target.keyLow()
                && known.generation == target.generation()
                && known.secret == target.keyHigh()) {
            return known;
        }
        return translate(target);
    }

    /**
     * Reads the peer's registration under a pin; null if the descriptor does not name a live one.
     */
    private Translation translate(RemoteDescriptor target) {
        long slot = target.keyLow();
        if (slot < 0 || slot >= registrationsMax || (target.generation() & 1) == 0) {
            return null;
        }
        int at = (int) slot & (TRANSLATIONS - 1);
        lastTarget = null; // what it refers to may be overwritten now
        if (translations[at] == null) {
            translations[at] = new Translation();
        }
        Translation translation = translations[at];
        translation.slot = (int) slot;
        translation.generation = target.generation();
        long entry = registrations + slot * Layout.REGISTRATION_SIZE;
        translation.generationAt = entry + Layout.REGISTRATION_GENERATION;
        translation.pinWord = (slot + 1) << 32 | Integer.toUnsignedLong(target.generation());
        pin(translation.pinWord);
        boolean isLive =
                isCurrent(translation)
                        && UnsafeApi.getLong(null, entry + Layout.REGISTRATION_SECRET)
                                == target.keyHigh();
        if (isLive) {
            UnsafeApi.copyMemory(
                    entry + Layout.REGISTRATION_LOCATION, scratch.location, Layout.LOCATION_SIZE);
            translation.rights = UnsafeApi.getInt(null, entry + Layout.REGISTRATION_RIGHTS);
            translation.secret = target.keyHigh();
            translation.length = UnsafeApi.getLong(null, scratch.location + Layout.LOCATION_LENGTH);
            translation.address =
                    translation.length < 0
                            ? 0
                            : softnic.snic_map(peer, scratch.location, 0, translation.length);
        }
        UnsafeApi.putLongRelease(null, pin, 0);
        if (!isLive) {
            translation.slot = -1;
            return null;
        }
        return translation;
    }

    /** 8 aligned bytes are one store, so that a peer that polls them sees all or nothing. */
    private static void copy(long from, long to, long length) {
        if (length == Long.BYTES) {
            UnsafeApi.putLong(null, to, UnsafeApi.getLong(null, from));
        } else if (length <= 64) {
            copyShort(from, to, (int) length);
        } else {
            UnsafeApi.copyMemory(from, to, length);
        }
    }

    private static void copyShort(long from, long to, int length) {
        int i = 0;
        for (; i <= length - Long.BYTES; i += Long.BYTES) {
            UnsafeApi.putLong(null, to + i, UnsafeApi.getLong(null, from + i));
        }
        for (; i < length; i++) {
            UnsafeApi.putByte(null, to + i, UnsafeApi.getByte(null, from + i));
        }
    }
}
