package dev.verbena.portals;

import dev.verbena.memory.MemoryWindows;
import dev.verbena.portals.bindings.portals;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Memory that peers map, so that puts and gets are plain copies; made by {@link
 * PortalsInterface#allocate}. Zeroed, page aligned.
 */
public final class PortalsMemory extends PortalsObject {
    private final long address;
    private final long length;
    private final MemoryWindows windows = new MemoryWindows();

    PortalsMemory(PortalsInterface owner, long address, long length) {
        super(owner);
        this.address = address;
        this.length = length;
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

    /** A window; of length 0 after close. Allocates: keep it. */
    public UnsafeBuffer buffer(long offset, int length) {
        checkOpen();
        return windows.window(toString(), address, this.length, offset, length);
    }

    /**
     * Frees. Idempotent.
     *
     * @throws PortalsException PTL_MD_IN_USE while a descriptor covers any of it
     */
    @Override
    public void close() {
        if (isClosed()) {
            return;
        }
        owner.checkOwner();
        long result = portals.vpn_memory_free(owner.handle(), address);
        PortalsNative.check("PtlExtMemoryFree", result, this);
        windows.close();
        retire();
    }

    @Override
    void retireWithInterface() {
        windows.close();
        super.retireWithInterface();
    }

    @Override
    public String toString() {
        return "memory of " + length + " bytes";
    }
}
