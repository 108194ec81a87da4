package dev.verbena.ugni;

import dev.verbena.memory.MemoryWindows;
import dev.verbena.ugni.bindings.ugni;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Memory that peers map, so that puts and gets are plain copies; made by {@link Nic#allocate}.
 * Zeroed. With Cray's library it is plain memory, which its NIC reaches all the same. C: {@code
 * GNI_ExtMemAlloc}.
 */
public final class UgniMemory extends UgniObject {
    private final long address;
    private final long length;
    private final boolean isMapped;
    private final MemoryWindows windows = new MemoryWindows();

    UgniMemory(Nic owner, long address, long length, boolean isMapped) {
        super(owner);
        this.address = address;
        this.length = length;
        this.isMapped = isMapped;
    }

    /** Address of the first byte. */
    public long address() {
        checkOpen();
        return address;
    }

    /** Bytes. */
    public long length() {
        return length;
    }

    /** Whether peers map it. */
    public boolean isMapped() {
        return isMapped;
    }

    /** A window; of length 0 after close. Allocates: keep it. */
    public UnsafeBuffer buffer(long offset, int length) {
        checkOpen();
        return windows.window(toString(), address, this.length, offset, length);
    }

    long range(long offset) {
        checkOpen();
        if (offset < 0 || offset > length) {
            throw new IndexOutOfBoundsException("offset " + offset + " is outside " + this);
        }
        return address + offset;
    }

    boolean holds(long start, long bytes) {
        long offset = start - address;
        return offset >= 0 && bytes >= 0 && offset <= length - bytes;
    }

    @Override
    String kindsOfUsers() {
        return "registrations or posts in flight";
    }

    /** C: {@code GNI_ExtMemFree}. */
    @Override
    void destroy() {
        if (isMapped) {
            UgniNative.check("GNI_ExtMemFree", ugni.vgn_ext_free(owner.handle(), address), this);
        } else {
            owner.memory().free(address);
        }
        windows.close();
    }

    @Override
    void retireWithDomain() {
        windows.close();
        super.retireWithDomain();
    }

    @Override
    public String toString() {
        return "memory of " + length + " bytes";
    }
}
