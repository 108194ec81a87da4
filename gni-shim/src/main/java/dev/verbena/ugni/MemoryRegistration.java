package dev.verbena.ugni;

import dev.verbena.memory.OffHeapMemory;
import dev.verbena.ugni.bindings.ugni;
import java.lang.ref.Reference;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Memory that the NIC may read and write. Its memory handle, 16 bytes, and the address are what a
 * peer needs to reach it; the peer checks every access against the registration, to the byte. C:
 * {@code gni_mem_handle_t} (specification, section on memory registration).
 *
 * <p>Threads: the domain's.
 */
public final class MemoryRegistration extends UgniObject {
    /** Bytes of a memory handle. */
    public static final int HANDLE_LENGTH = 16;

    private final UnsafeBuffer made;
    private final long address;
    private final long length;
    private final CompletionQueue destination;

    /** Kept from the garbage collector, and from being closed; null: the caller's business. */
    private final Object memory;

    /** Registered {@link Nic#READ_ONLY}: the memory may be such that a store ends the process. */
    final boolean isReadOnlyHere;

    MemoryRegistration(
            Nic owner,
            UnsafeBuffer made,
            long address,
            long length,
            int flags,
            CompletionQueue destination,
            Object memory) {
        super(owner);
        this.made = made;
        this.address = address;
        this.length = length;
        this.isReadOnlyHere = (flags & Nic.READ_ONLY) != 0;
        this.destination = destination;
        this.memory = memory;
        if (destination != null) {
            destination.use(1);
        }
        if (memory instanceof UgniMemory own) {
            own.use(1);
        } else if (memory instanceof OffHeapMemory off) {
            off.acquire(toString());
        }
    }

    static MemoryRegistration of(
            Nic owner,
            long address,
            long length,
            int flags,
            CompletionQueue destination,
            Object memory) {
        if (address == 0 || length < 1) {
            throw new IllegalArgumentException("no memory: " + length + " bytes at " + address);
        }
        UnsafeBuffer made = Nic.aligned(HANDLE_LENGTH);
        UgniNative.check(
                "GNI_MemRegister",
                ugni.vgn_mem_register(
                        owner.handle(),
                        address,
                        length,
                        owner.handleOf(destination),
                        flags,
                        made.addressOffset()),
                length + " bytes of " + owner);
        return new MemoryRegistration(owner, made, address, length, flags, destination, memory);
    }

    /** Of several regions. */
    static MemoryRegistration of(
            Nic owner, long[] addresses, long[] lengths, int flags, CompletionQueue destination) {
        if (addresses.length != lengths.length || addresses.length == 0) {
            throw new IllegalArgumentException(
                    addresses.length + " addresses and " + lengths.length + " lengths");
        }
        UnsafeBuffer segments = Nic.aligned(addresses.length * 2 * Long.BYTES);
        long total = 0;
        for (int i = 0; i < addresses.length; i++) {
            if (addresses[i] == 0 || lengths[i] < 1) {
                throw new IllegalArgumentException(
                        "no memory: " + lengths[i] + " bytes at " + addresses[i]);
            }
            segments.putLong(2 * i * Long.BYTES, addresses[i]);
            segments.putLong((2 * i + 1) * Long.BYTES, lengths[i]);
            total = Math.addExact(total, lengths[i]);
        }
        UnsafeBuffer made = Nic.aligned(HANDLE_LENGTH);
        UgniNative.check(
                "GNI_MemRegisterSegments",
                ugni.vgn_mem_register_segments(
                        owner.handle(),
                        segments.addressOffset(),
                        addresses.length,
                        owner.handleOf(destination),
                        flags,
                        made.addressOffset()),
                total + " bytes of " + owner);
        Reference.reachabilityFence(segments);
        return new MemoryRegistration(owner, made, 0, total, flags, destination, null);
    }

    /** Address of the first byte, which peers name; of several regions 0. */
    public long address() {
        checkOpen();
        return address;
    }

    /** Bytes. */
    public long length() {
        return length;
    }

    /** First half of the memory handle. */
    public long handle1() {
        checkOpen();
        return made.getLong(0);
    }

    /** Second half of the memory handle. */
    public long handle2() {
        checkOpen();
        return made.getLong(Long.BYTES);
    }

    /** Writes the memory handle, {@link #HANDLE_LENGTH} bytes in native order. */
    public void getHandle(MutableDirectBuffer buffer, int offset) {
        checkOpen();
        buffer.putBytes(offset, made, 0, HANDLE_LENGTH);
    }

    /** Address of a range that was checked. */
    long range(long offset, long length) {
        if (offset < 0 || length < 0 || offset > this.length - length) {
            throw new IndexOutOfBoundsException(
                    "offset " + offset + " length " + length + " is outside " + this);
        }
        return address + offset;
    }

    /** Of several regions: its addresses are not those of this process. */
    boolean isSegmented() {
        return address == 0;
    }

    /** Whether nobody may write. C: {@code GNI_MemHndlQueryAttr}. */
    public boolean isReadOnly() {
        checkOpen();
        return UgniNative.check(
                        "GNI_MemHndlQueryAttr",
                        ugni.vgn_mem_attribute(
                                made.addressOffset(), ugni.GNI_MEMHNDL_ATTR_READONLY),
                        this)
                != 0;
    }

    boolean holds(long start, long bytes) {
        long offset = start - address;
        return offset >= 0 && bytes >= 0 && offset <= length - bytes;
    }

    @Override
    String kindsOfUsers() {
        return "posts in flight or mailboxes";
    }

    /**
     * Revokes the handle, and waits for accesses that peers have begun: afterwards nobody touches
     * the memory. C: {@code GNI_MemDeregister}.
     */
    @Override
    void destroy() {
        UgniNative.check(
                "GNI_MemDeregister",
                ugni.vgn_mem_deregister(owner.handle(), made.addressOffset()),
                this);
        release();
        Reference.reachabilityFence(memory); // until peers are done
    }

    @Override
    void retireWithDomain() {
        super.retireWithDomain();
        // The domain is being destroyed by the same thread: the memory goes after that.
        owner.memory().afterDomain(this::release);
    }

    private void release() {
        if (destination != null) {
            destination.use(-1);
        }
        if (memory instanceof UgniMemory own) {
            own.use(-1);
        } else if (memory instanceof OffHeapMemory off) {
            off.release(toString());
        }
    }

    @Override
    public String toString() {
        return "registration of " + length + " bytes";
    }
}
