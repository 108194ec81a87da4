package dev.verbena.shm;

import dev.verbena.agent.internal.KillSteps;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.softnic.bindings.Layout;
import dev.verbena.softnic.bindings.softnic;
import dev.verbena.transport.Status;
import dev.verbena.transport.core.NumberedConnection;
import dev.verbena.transport.core.Ranges;
import java.util.Arrays;
import org.agrona.UnsafeApi;

/**
 * The peer's registered memory as one connection sees it: one-sided operations under a pin. A
 * superclass of {@link ShmConnection} and not a part that it holds, so that a put finds what it
 * needs one load away. Owned by the transport's thread.
 */
abstract class ShmPeerMemory extends NumberedConnection {
    /** Copies up to this length are made in Java. */
    static final long COPY_MAX = 8 * 1024;

    private static final long STREAMED_MIN = 64 * 1024;

    /** How softnic is to copy: past the caches; with a checksum, into the scratch's result. */
    private static final int PAST_CACHES = 1;

    private static final int SUMMED = 2;

    private static final int TRANSLATIONS = 64;
    private static final int PIN_OFFSET = Layout.INITIATOR_PINS + 8;

    final NativeScratch scratch;

    /** softnic's handle of the peer; 0: none. */
    long peer;

    private final Translation[] translations = new Translation[TRANSLATIONS];

    /** The descriptor that was used last and lies inside its registration, as it was then. */
    private RemoteDescriptor lastTarget;

    private long lastVersion;
    private Translation lastTranslation;
    private int lastRights;
    private long lastBase;
    private long lastLength;

    private long pin;

    /** The owner of the memory makes the barrier for both: see {@code struct snic_initiator}. */
    private boolean isOwnerFencing;

    private long registrations;
    private long registrationsMax;

    /** A word that softnic sets when it finds that somebody cut one of the peer's files. */
    private long damage;

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

    ShmPeerMemory(long handle, NativeScratch scratch) {
        super(handle);
        this.scratch = scratch;
    }

    /** Learns where the registrations of an attached peer are; {@code view}: snic_view_t. */
    final void openMemory(long attachedPeer, long view) {
        peer = attachedPeer;
        pin = UnsafeApi.getLong(null, view + Layout.SNIC_VIEW_INITIATOR) + PIN_OFFSET;
        isOwnerFencing = UnsafeApi.getLong(null, view + Layout.SNIC_VIEW_OWNER_FENCES) == 1;
        registrations = UnsafeApi.getLong(null, view + Layout.SNIC_VIEW_REGISTRATIONS);
        registrationsMax = UnsafeApi.getLong(null, view + Layout.SNIC_VIEW_REGISTRATIONS_MAX);
        damage = UnsafeApi.getLong(null, view + Layout.SNIC_VIEW_DAMAGE);
    }

    /** After this no address is used any more. */
    final void forgetMemory() {
        peer = 0;
        Arrays.fill(translations, null);
    }

    /**
     * Moves bytes to or from the peer's memory. The checks of a descriptor are not made again while
     * the same unchanged descriptor is used; whether its key is still good is looked at each time.
     *
     * @return a {@link Status}
     */
    final int transfer(
            boolean isPut, long local, RemoteDescriptor target, long targetOffset, long length) {
        int right = isPut ? RemoteDescriptor.REMOTE_WRITE : RemoteDescriptor.REMOTE_READ;
        boolean isKnown =
                target == lastTarget
                        && target.version() == lastVersion
                        && (lastRights & right) != 0
                        && Ranges.isInside(targetOffset, length, lastLength)
                        && length <= COPY_MAX;
        return isKnown
                ? move(isPut, local, lastTranslation, lastBase + targetOffset, length)
                : transferChecked(isPut, right, local, target, targetOffset, length, 0);
    }

    /** As {@link #transfer} of a put, past the caches if that pays. */
    final int putStreamed(long local, RemoteDescriptor target, long targetOffset, long length) {
        return length < STREAMED_MIN
                ? transfer(true, local, target, targetOffset, length)
                : transferChecked(
                        true,
                        RemoteDescriptor.REMOTE_WRITE,
                        local,
                        target,
                        targetOffset,
                        length,
                        PAST_CACHES);
    }

    /**
     * As {@link #transfer} or {@link #putStreamed} of more than {@link #COPY_MAX} bytes; their
     * checksum is left in the scratch's result.
     */
    final int transferSummed(
            boolean isPut,
            boolean isStreamed,
            long local,
            RemoteDescriptor target,
            long targetOffset,
            long length) {
        return transferChecked(
                isPut,
                isPut ? RemoteDescriptor.REMOTE_WRITE : RemoteDescriptor.REMOTE_READ,
                local,
                target,
                targetOffset,
                length,
                isPut && isStreamed && length >= STREAMED_MIN ? SUMMED | PAST_CACHES : SUMMED);
    }

    private int transferChecked(
            boolean isPut,
            int right,
            long local,
            RemoteDescriptor target,
            long targetOffset,
            long length,
            int how) {
        long version = target.version();
        long base = target.base();
        long granted = target.length();
        int rights = target.rights();
        int status = Ranges.check(target, RemoteDescriptor.KIND_SHM, right, targetOffset, length);
        if (status != Status.OK) {
            return status;
        }
        Translation translation = translation(target);
        if (translation == null) {
            return unlessCut(Status.STALE_KEY);
        }
        if ((translation.rights & right) == 0) {
            return Status.ACCESS;
        }
        long offset = base + targetOffset;
        if (!Ranges.isInside(offset, length, translation.length)) {
            return Status.BOUNDS;
        }
        if (length > COPY_MAX || translation.address == 0) {
            return transferNative(isPut, how, local, target, offset, length);
        }
        if (Ranges.isInside(base, granted, translation.length)) {
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
            return unlessCut(Status.STALE_KEY);
        }
        if (KillSteps.ENABLED) {
            KillSteps.step("java.pin.stored");
        }
        if (isPut) {
            copy(local, translation.address + offset, length);
        } else {
            copy(translation.address + offset, local, length);
        }
        if (KillSteps.ENABLED) {
            KillSteps.step("java.put.copied");
        }
        UnsafeApi.putLongRelease(null, pin, 0);
        if (KillSteps.ENABLED) {
            KillSteps.step("java.put.unpinned");
        }
        return unlessCut(Status.OK);
    }

    private int transferNative(
            boolean isPut, int how, long local, RemoteDescriptor target, long offset, long length) {
        writeKey(target);
        if ((how & SUMMED) != 0) {
            return Errno.status(transferSummed(isPut, how & PAST_CACHES, local, offset, length));
        }
        if (how == PAST_CACHES) {
            return Errno.status(
                    softnic.snic_put_streamed(peer, scratch.key, offset, local, length));
        }
        return Errno.status(
                isPut
                        ? softnic.snic_put(peer, scratch.key, offset, local, length)
                        : softnic.snic_get(peer, scratch.key, offset, local, length));
    }

    private int transferSummed(
            boolean isPut, int isPastCaches, long local, long offset, long length) {
        return isPut
                ? softnic.snic_put_summed(
                        peer, scratch.key, offset, local, length, isPastCaches, scratch.result)
                : softnic.snic_get_summed(peer, scratch.key, offset, local, length, scratch.result);
    }

    /**
     * Fetch-add or compare-and-swap; the former value is left in the scratch's result.
     *
     * @return a {@link Status}
     */
    final int atomic(
            boolean isAdd, RemoteDescriptor target, long targetOffset, long operand, long update) {
        long offset = target.base() + targetOffset;
        int status =
                Ranges.check(
                        target,
                        RemoteDescriptor.KIND_SHM,
                        RemoteDescriptor.REMOTE_ATOMIC,
                        targetOffset,
                        Long.BYTES);
        if (status != Status.OK) {
            return status;
        }
        Translation translation = translation(target);
        if (translation == null) {
            return unlessCut(Status.STALE_KEY);
        }
        if ((translation.rights & RemoteDescriptor.REMOTE_ATOMIC) == 0) {
            return Status.ACCESS;
        }
        if (!Ranges.isInside(offset, Long.BYTES, translation.length)) {
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
            return unlessCut(Status.STALE_KEY);
        }
        long at = translation.address + offset;
        long before =
                isAdd
                        ? UnsafeApi.getAndAddLong(null, at, operand)
                        : UnsafeApi.compareAndExchangeLong(null, at, operand, update);
        UnsafeApi.putLongRelease(null, pin, 0);
        UnsafeApi.putLong(null, scratch.result, before);
        return unlessCut(Status.OK);
    }

    /** After an access: what it touched may have been missing from the file, and went nowhere. */
    private int unlessCut(int status) {
        return UnsafeApi.getIntVolatile(null, damage) == 0 ? status : Status.PEER_DEAD;
    }

    private void writeKey(RemoteDescriptor target) {
        UnsafeApi.putInt(null, scratch.key + Layout.KEY_SLOT, (int) target.keyLow());
        UnsafeApi.putInt(null, scratch.key + Layout.KEY_GENERATION, target.generation());
        UnsafeApi.putLong(null, scratch.key + Layout.KEY_SECRET, target.keyHigh());
    }

    /** Announces an access, before the look at whether the key is still good. */
    private void pin(long word) {
        if (isOwnerFencing) {
            // No instruction on x86-64, which has the order anyway. What we did before is done when
            // our bytes appear; and the compiler does not look at the key before the pin.
            UnsafeApi.storeFence();
            UnsafeApi.putLongOpaque(null, pin, word);
            UnsafeApi.loadFence();
        } else {
            UnsafeApi.putLongVolatile(null, pin, word);
        }
    }

    private boolean isCurrent(Translation translation) {
        return UnsafeApi.getIntVolatile(null, translation.generationAt) == translation.generation;
    }

    /**
     * Where a registration of the peer begins, in the peer's process, as it says; 0 if there is
     * none in this slot. Unchecked: whether the slot still has the registration is looked at later.
     */
    final long addressOf(long slot) {
        return peer == 0 || slot < 0 || slot >= registrationsMax
                ? 0
                : UnsafeApi.getLong(
                        null,
                        registrations
                                + slot * Layout.REGISTRATION_SIZE
                                + Layout.REGISTRATION_ADDRESS);
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
    static void copy(long from, long to, long length) {
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
