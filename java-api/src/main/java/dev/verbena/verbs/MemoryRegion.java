package dev.verbena.verbs;

import dev.verbena.memory.MemoryWindows;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.rdma.calls.VerbsLayout;
import dev.verbena.rdma.calls.verbscalls;
import java.util.Arrays;
import java.util.function.Supplier;
import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Memory that a device may touch: {@code struct ibv_mr}. Offsets have 63 bits and count from the
 * region's beginning.
 *
 * <p>It holds its memory: that cannot be closed before. It cannot itself be closed while a posted
 * request uses it.
 */
public final class MemoryRegion extends DomainObject {
    /** Base of a region that requests name by its address here. */
    static final long OWN_ADDRESS = -1;

    private static final long PAGE_MASK = UnsafeApi.pageSize() - 1L;
    private static final String IMPLICIT = "all memory of this process";
    private static final String IMPORTED = "a region of another context";

    private final Extent extent;
    private final OffHeapMemory memory;
    private final MemoryWindows windows = new MemoryWindows();
    private final long start;
    private final long base;
    private final long length;
    private volatile int localKey;
    private volatile int remoteKey;
    private volatile int access;

    /**
     * What a region is of.
     *
     * @param memory null: none of this process, or all of it
     * @param user what memory is acquired and released by
     * @param start address here
     * @param base address in requests
     * @param of the device memory, or the implicit region that it is a part of; null for neither
     */
    record Extent(
            OffHeapMemory memory,
            String user,
            long start,
            long base,
            long length,
            int access,
            VerbsObject of) {
        static Extent foreign(long start, long base, long length, int access) {
            return new Extent(null, "", start, base, length, access, null);
        }

        /** What another context registered: {@code struct ibv_mr} tells its length. */
        static Extent imported(long made, long base, int access) {
            long length = CallMemory.getLong(made + VerbsLayout.MR_LENGTH);
            return new Extent(null, IMPORTED, 0, base, length, access, null);
        }

        boolean isImported() {
            return user.equals(IMPORTED);
        }

        boolean isPart() {
            return of instanceof MemoryRegion;
        }

        DestroyCall destroyCall() {
            if (isPart()) {
                return DestroyCall.PART_OF_REGION;
            }
            boolean isOthers = isImported();
            return isOthers ? DestroyCall.IMPORTED_MEMORY_REGION : DestroyCall.MEMORY_REGION;
        }

        /** All that this process has. */
        static Extent everything(int access) {
            return new Extent(null, IMPLICIT, 0, 0, Long.MAX_VALUE, access, null);
        }
    }

    MemoryRegion(ProtectionDomain domain, long address, Extent extent) {
        super(
                "%smemory region with key 0x%x of %s"
                        .formatted(
                                extent.isPart() ? "part of the " : "",
                                CallMemory.getInt(address + VerbsLayout.MR_LKEY),
                                domain.device().info().name()),
                address,
                extent.destroyCall(),
                domain,
                Arrays.asList(domain, extent.of));
        this.extent = extent;
        this.memory = extent.memory;
        this.start = extent.start;
        this.base = extent.base;
        this.length = extent.length;
        this.access = extent.access;
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
     * Number that another context of the device, in another process as a rule, imports it by.
     *
     * @throws IllegalStateException after close
     */
    public int handle() {
        return field(VerbsLayout.MR_HANDLE);
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
     * A part of an implicit region: what a request may name of it. Holds the memory, makes no call.
     *
     * @throws IndexOutOfBoundsException for a range that the memory does not have
     * @throws IllegalStateException for another region, or after close
     */
    public MemoryRegion part(OffHeapMemory memory, long offset, long length) {
        checkPart(memory, offset, length);
        if (!isImplicit()) {
            throw new IllegalStateException(this + " is not of registerImplicit");
        }
        String user = "a part of an implicit region of " + device().info().name();
        return holding(
                memory,
                user,
                () -> {
                    synchronized (lock()) {
                        long at = memory.address() + offset;
                        return new MemoryRegion(
                                domain(),
                                address(),
                                new Extent(memory, user, at, at, length, access, this));
                    }
                });
    }

    /** The address by which requests name its first byte. */
    static long base(long start, long base, long length, int access) {
        if ((access & Access.ZERO_BASED) != 0) {
            return 0;
        }
        if (base == OWN_ADDRESS) {
            return start;
        }
        if (base < 0 || base > Long.MAX_VALUE - length || (base - start & PAGE_MASK) != 0) {
            throw new IllegalArgumentException(
                    "base 0x%x lies otherwise in its page than the memory at 0x%x"
                            .formatted(base, start));
        }
        return base;
    }

    /** What to do about a refused registration. */
    static String remedy(int result) {
        return switch (-result) {
            case VerbsErrno.ENOMEM ->
                    "registered memory is locked: raise the limit (ulimit -l unlimited, or memlock"
                            + " in /etc/security/limits.conf); verbena doctor shows it";
            case 22 -> "the device refuses this range or access";
            case VerbsErrno.EOPNOTSUPP -> "the device has no such kind of access";
            default -> "";
        };
    }

    /** Holds the memory for what is made of it; lets it go if that fails. */
    static <T> T holding(OffHeapMemory memory, String user, Supplier<T> maker) {
        memory.acquire(user);
        try {
            return maker.get();
        } catch (RuntimeException | Error e) {
            memory.release(user);
            throw e;
        }
    }

    static void checkPart(OffHeapMemory memory, long offset, long length) {
        if (offset < 0 || length < 1 || offset > memory.length() - length) {
            throw new IndexOutOfBoundsException(
                    "offset " + offset + " length " + length + " is outside " + memory);
        }
    }

    private boolean isImplicit() {
        return extent.user.equals(IMPLICIT);
    }

    /**
     * Changes what may be done to it ({@code ibv_rereg_mr}); keys stay or change as the device
     * likes. Segments that were set before name it by the old key: set them anew.
     *
     * @throws IllegalArgumentException for another way of addressing than it was registered with
     * @throws IllegalStateException while a request uses it
     * @throws VerbsException if the device cannot; if that left no region, it is closed and the
     *     message says so
     */
    public void changeAccess(int access) {
        Access.check(access);
        checkAddressing(access);
        synchronized (lock()) {
            address();
            checkWhole();
            keepFromUse(
                    () -> {
                        reregister(VerbsLayout.IBV_REREG_MR_CHANGE_ACCESS, 0, 0, 0, access);
                        this.access = access;
                        localKey = CallMemory.getInt(address() + VerbsLayout.MR_LKEY);
                        remoteKey = CallMemory.getInt(address() + VerbsLayout.MR_RKEY);
                    });
        }
    }

    /**
     * Registers it anew: for other memory, in another domain, with other access, or any of these at
     * once ({@code ibv_rereg_mr}), which some NICs do faster than closing and registering. What is
     * not named in the context stays. This object is closed then and another takes its place, so
     * that no request of before can touch what it no longer is of.
     *
     * @return the region as it is now, to be closed in place of this one
     * @throws IllegalArgumentException for a domain of another device, another way of addressing,
     *     or other memory for a region with addresses of its own
     * @throws IllegalStateException while a request or a window uses it, or for a region that is
     *     not of memory of this process
     * @throws VerbsException if the device cannot. The message says what is left: the region as it
     *     was, or none, and this object is closed then
     */
    public MemoryRegion reregister(ReregistrationContext context) {
        ReregistrationContext change = context.copy();
        int newAccess = change.hasAccess ? change.access : access;
        checkAddressing(newAccess);
        if (memory == null || extent.isPart()) {
            throw new IllegalStateException(this + " is not of registered memory of this process");
        }
        if (change.memory != null && base != start) {
            throw new IllegalArgumentException(
                    this + " has addresses of its own, which other memory cannot have");
        }
        ProtectionDomain newDomain = change.domain == null ? domain() : change.domain;
        newDomain.checkOf(device());
        OffHeapMemory held = change.memory == null ? memory : change.memory;
        return holding(held, extent.user, () -> reregisterHeld(change, newDomain, held, newAccess));
    }

    private MemoryRegion reregisterHeld(
            ReregistrationContext change,
            ProtectionDomain newDomain,
            OffHeapMemory held,
            int newAccess) {
        synchronized (lock()) {
            long now = address();
            newDomain.address();
            long newStart = change.memory == null ? start : held.address() + change.offset;
            long newLength = change.memory == null ? length : change.length;
            long newBase = change.memory == null ? base : newStart;
            keepFromUse(
                    () -> {
                        reregister(
                                change.flags(),
                                newDomain.address(),
                                newStart,
                                newLength,
                                newAccess);
                        abandon(); // before anybody can post it again
                    });
            return newDomain.adoptRegion(
                    now,
                    new Extent(held, extent.user, newStart, newBase, newLength, newAccess, null));
        }
    }

    private void checkAddressing(int newAccess) {
        if (((newAccess ^ access) & Access.ZERO_BASED) != 0) {
            throw new IllegalArgumentException(
                    this + " keeps its way of addressing; ZERO_BASED cannot be changed");
        }
    }

    /** An implicit region, a part of one and device memory stay as they were made. */
    private void checkWhole() {
        if (isImplicit() || extent.isImported() || extent.of != null) {
            throw new IllegalStateException(this + " is not of registered memory of this process");
        }
    }

    /** Under the lock, kept from use. Throws, and then it is as before, or closed. */
    private void reregister(int flags, long newDomain, long from, long bytes, int newAccess) {
        checkNotUsed();
        boolean isMoved = (flags & VerbsLayout.IBV_REREG_MR_CHANGE_TRANSLATION) != 0;
        boolean isElsewhere = (flags & VerbsLayout.IBV_REREG_MR_CHANGE_PD) != 0;
        int result =
                verbscalls.vv_rereg_mr(
                        address(),
                        flags,
                        isElsewhere ? newDomain : 0,
                        isMoved ? from : 0,
                        isMoved ? bytes : 0,
                        newAccess);
        if (result < -verbscalls.VV_REREG_LOST) {
            throw lost(result + verbscalls.VV_REREG_LOST);
        }
        check("ibv_rereg_mr", result, "the region is as before");
    }

    private VerbsException lost(int result) {
        if (verbscalls.vv_dereg_mr(address()) < 0) {
            return failure("ibv_rereg_mr", result, "the region cannot be used any more: close it");
        }
        abandon();
        return failure(
                "ibv_rereg_mr", result, "there is no region any more; it was closed, make another");
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
        if (isImplicit()) {
            throw new IllegalStateException(
                    this + " is of everything: requests name what they use by part()");
        }
        if (offset < 0 || length < 0 || offset > this.length - length) {
            throw new IndexOutOfBoundsException(
                    "offset %s length %s is outside %s of %s bytes"
                            .formatted(offset, length, this, this.length));
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
            long at = device().memory().argument();
            CallMemory.putLong(at + VerbsLayout.SGE_ADDR, checkedAddress(offset, length));
            CallMemory.putInt(at + VerbsLayout.SGE_LENGTH, length);
            CallMemory.putInt(
                    at + VerbsLayout.SGE_LKEY, CallMemory.getInt(region + VerbsLayout.MR_LKEY));
            int result =
                    verbscalls.vv_advise_mr(
                            domain().address(),
                            isForWriting
                                    ? VerbsLayout.IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE
                                    : VerbsLayout.IBV_ADVISE_MR_ADVICE_PREFETCH,
                            isWaiting ? VerbsLayout.IBV_ADVISE_MR_FLAG_FLUSH : 0,
                            at,
                            1);
            check("ibv_advise_mr", result);
        }
    }

    @Override
    void checkMayClose() {
        checkNotUsed();
    }

    @Override
    void onClosed(long formerAddress) {
        windows.close();
        if (memory != null) {
            memory.release(extent.user);
        }
    }
}
