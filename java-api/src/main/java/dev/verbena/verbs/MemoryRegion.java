package dev.verbena.verbs;

import dev.verbena.agent.internal.PlantedFaults;
import dev.verbena.memory.MemoryWindows;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.rdma.calls.VerbsLayout;
import dev.verbena.rdma.calls.verbscalls;
import java.util.List;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Memory that a device may touch: {@code struct ibv_mr}. Offsets have 63 bits and count from the
 * region's beginning.
 *
 * <p>It holds its memory: that cannot be closed before. It cannot itself be closed while a posted
 * request uses it.
 */
public final class MemoryRegion extends VerbsObject {
    private final ProtectionDomain domain;
    private final OffHeapMemory memory;
    private final String user;
    private final MemoryWindows windows = new MemoryWindows();
    private final long start;
    private final long base;
    private final long length;
    private volatile int localKey;
    private volatile int remoteKey;
    private volatile int access;

    MemoryRegion(
            ProtectionDomain domain,
            long address,
            OffHeapMemory memory,
            String user,
            long start,
            long base,
            long length,
            int access) {
        super(
                "memory region with key 0x"
                        + Integer.toHexString(CallMemory.getInt(address + VerbsLayout.MR_LKEY))
                        + " of "
                        + domain.device().info().name(),
                address,
                List.of(domain));
        this.domain = domain;
        this.memory = memory;
        this.user = user;
        this.start = start;
        this.base = base;
        this.length = length;
        this.access = access;
        this.localKey = CallMemory.getInt(address + VerbsLayout.MR_LKEY);
        this.remoteKey = CallMemory.getInt(address + VerbsLayout.MR_RKEY);
    }

    /** Bytes. */
    public long length() {
        return length;
    }

    /** Of {@link Access}. */
    public int access() {
        return access;
    }

    /** Key that requests here name it by. */
    public int localKey() {
        return localKey;
    }

    /**
     * Key that peers' requests name it by.
     *
     * @throws IllegalStateException after close
     */
    public int remoteKey() {
        address();
        return remoteKey;
    }

    /**
     * The address that peers' requests name an offset by: the address here, or what was asked for
     * when it was registered, or the offset itself if the region is {@link Access#ZERO_BASED}.
     *
     * @throws IndexOutOfBoundsException for an offset outside
     * @throws IllegalStateException after close
     */
    public long remoteAddress(long offset) {
        address();
        checkRange(offset, 0);
        return base + offset;
    }

    /**
     * A window of up to 2 GiB, of length 0 after close. Allocates: keep the window.
     *
     * @throws IndexOutOfBoundsException naming the range
     * @throws IllegalStateException after close, or if the region has no memory here
     */
    public UnsafeBuffer buffer(long offset, int length) {
        address();
        if (memory == null) {
            throw new IllegalStateException(this + " has no memory of this process");
        }
        return windows.window(toString(), start, this.length, offset, length);
    }

    /**
     * Changes what may be done to it ({@code ibv_rereg_mr}); keys stay or change as the device
     * likes. Segments that were set before name it by the old key: set them anew.
     *
     * @throws IllegalArgumentException for another way of addressing than it was registered with
     * @throws IllegalStateException while a request uses it
     * @throws VerbsException if the device cannot; if that left no region, the message says so
     */
    public void changeAccess(int access) {
        Access.check(access);
        if (((access ^ this.access) & Access.ZERO_BASED) != 0) {
            throw new IllegalArgumentException(
                    this + " keeps its way of addressing; ZERO_BASED cannot be changed");
        }
        synchronized (lock()) {
            checkIdle();
            int result =
                    verbscalls.vv_rereg_mr(
                            address(), VerbsLayout.IBV_REREG_MR_CHANGE_ACCESS, 0, 0, 0, access);
            if (result < -verbscalls.VV_REREG_LOST) {
                throw failure(
                        "ibv_rereg_mr",
                        result + verbscalls.VV_REREG_LOST,
                        "the region cannot be used any more: close it");
            }
            if (result < 0) {
                throw failure("ibv_rereg_mr", result, "the region is as before");
            }
            this.access = access;
            localKey = CallMemory.getInt(address() + VerbsLayout.MR_LKEY);
            remoteKey = CallMemory.getInt(address() + VerbsLayout.MR_RKEY);
        }
    }

    /** True if its local address is one of this process. */
    boolean isReadableHere() {
        return memory != null && base == start;
    }

    /** Address of a checked range, as the device knows it locally. */
    long checkedAddress(long offset, long length) {
        checkRange(offset, length);
        return base + offset;
    }

    private void checkRange(long offset, long length) {
        if (PlantedFaults.ENABLED && PlantedFaults.isOn("verbs-range-unchecked")) {
            return;
        }
        if (offset < 0 || length < 0 || offset > this.length - length) {
            throw new IndexOutOfBoundsException(
                    "offset "
                            + offset
                            + " length "
                            + length
                            + " is outside "
                            + this
                            + " of "
                            + this.length
                            + " bytes");
        }
    }

    ProtectionDomain domain() {
        return domain;
    }

    private void checkIdle() {
        VerbsObject queue = domain.userOf(this);
        if (PlantedFaults.ENABLED && PlantedFaults.isOn("verbs-close-in-flight")) {
            queue = null;
        }
        if (queue instanceof MemoryWindow) {
            throw new IllegalStateException(
                    this + " has bound to it " + queue + "; close that, or bind it elsewhere");
        }
        if (queue != null) {
            throw new IllegalStateException(
                    this
                            + " is in use by requests of "
                            + queue
                            + "; poll their completions, or close that first");
        }
    }

    /**
     * Tells the device that a range of a region with {@link Access#ON_DEMAND} will be used soon
     * ({@code ibv_advise_mr}). A hint: 0 bytes may have been brought in.
     *
     * @param isForWriting the device will write there
     * @param isWaiting returns when the pages are there; otherwise at once
     * @throws IndexOutOfBoundsException for a range outside
     * @throws VerbsException where the device cannot ({@link VerbsException#isUnsupported()})
     */
    public void prefetch(long offset, int length, boolean isForWriting, boolean isWaiting) {
        synchronized (lock()) {
            long region = address();
            long at = domain.device().memory().argument();
            CallMemory.putLong(at + VerbsLayout.SGE_ADDR, checkedAddress(offset, length));
            CallMemory.putInt(at + VerbsLayout.SGE_LENGTH, length);
            CallMemory.putInt(
                    at + VerbsLayout.SGE_LKEY, CallMemory.getInt(region + VerbsLayout.MR_LKEY));
            int result =
                    verbscalls.vv_advise_mr(
                            domain.address(),
                            isForWriting
                                    ? VerbsLayout.IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE
                                    : VerbsLayout.IBV_ADVISE_MR_ADVICE_PREFETCH,
                            isWaiting ? VerbsLayout.IBV_ADVISE_MR_FLAG_FLUSH : 0,
                            at,
                            1);
            if (result < 0) {
                throw failure("ibv_advise_mr", result, "");
            }
        }
    }

    @Override
    void checkMayClose() {
        checkIdle();
    }

    @Override
    Object lock() {
        return domain.lock();
    }

    @Override
    String destroyCall() {
        return "ibv_dereg_mr";
    }

    @Override
    int destroy(long address) {
        return verbscalls.vv_dereg_mr(address);
    }

    @Override
    void onClosed() {
        windows.close();
        if (memory != null) {
            memory.release(user);
        }
    }
}
