package dev.verbena.verbs;

import dev.verbena.memory.OffHeapMemory;
import dev.verbena.rdma.calls.VerbsLayout;
import dev.verbena.rdma.calls.verbscalls;
import java.util.List;

/**
 * Memory on the NIC: {@code struct ibv_dm}. What lies there is sent, and written by peers, without
 * a way over the bus. This process reaches it by copies only; {@link ProtectionDomain#register(
 * DeviceMemory, long, long, int)} makes a region of it. Thread-safe.
 */
public final class DeviceMemory extends VerbsObject {
    private final long length;

    DeviceMemory(RdmaDevice device, long address, long length, boolean isImported) {
        super(
                length + " bytes of memory of " + device.info().name(),
                address,
                isImported ? DestroyCall.IMPORTED_DEVICE_MEMORY : DestroyCall.DEVICE_MEMORY,
                List.of(device));
        this.length = length;
    }

    /**
     * Number that another context of the device, in another process as a rule, imports it by.
     *
     * @throws IllegalStateException after close
     */
    public int handle() {
        return field(VerbsLayout.DM_HANDLE);
    }

    /** Bytes. */
    public long length() {
        return length;
    }

    /**
     * Copies to the NIC ({@code ibv_memcpy_to_dm}).
     *
     * @param offset where to, in device memory; many NICs want multiples of 4, of the length too
     * @throws IndexOutOfBoundsException for a range that either does not have
     * @throws IllegalStateException after close, of either
     * @throws VerbsException if the device refuses
     */
    public void write(long offset, OffHeapMemory from, long fromOffset, long length) {
        copy(true, offset, from, fromOffset, length);
    }

    /**
     * Copies from the NIC ({@code ibv_memcpy_from_dm}); otherwise as {@link #write}.
     *
     * @throws IndexOutOfBoundsException for a range that either does not have
     * @throws IllegalStateException after close, of either
     * @throws VerbsException if the device refuses
     */
    public void read(long offset, OffHeapMemory to, long toOffset, long length) {
        copy(false, offset, to, toOffset, length);
    }

    private void copy(boolean isWrite, long offset, OffHeapMemory host, long at, long bytes) {
        checkRange(offset, bytes);
        MemoryRegion.checkPart(host, at, bytes);
        String user = "a copy of " + this;
        host.acquire(user);
        try {
            synchronized (lock()) {
                long hostAt = host.address() + at;
                int result =
                        isWrite
                                ? verbscalls.vv_memcpy_to_dm(address(), offset, hostAt, bytes)
                                : verbscalls.vv_memcpy_from_dm(hostAt, address(), offset, bytes);
                check(
                        isWrite ? "ibv_memcpy_to_dm" : "ibv_memcpy_from_dm",
                        result,
                        "offset " + offset + ", length " + bytes + "; multiples of 4?");
            }
        } finally {
            host.release(user);
        }
    }

    void checkRange(long offset, long bytes) {
        if (offset < 0 || bytes < 1 || offset > length - bytes) {
            throw new IndexOutOfBoundsException(
                    "offset " + offset + " length " + bytes + " is outside " + this);
        }
    }
}
