package dev.verbena.verbs;

import dev.verbena.memory.OffHeapMemory;
import dev.verbena.rdma.calls.verbscalls;
import java.util.List;
import java.util.function.LongFunction;
import java.util.function.LongToIntFunction;
import java.util.function.Supplier;
import org.agrona.UnsafeApi;

/** The part of a protection domain that makes regions and windows. Thread-safe. */
abstract class MemoryDomain extends VerbsObject {
    private static final long OWN_ADDRESS = -1;
    private static final long PAGE_MASK = UnsafeApi.pageSize() - 1L;

    MemoryDomain(String what, long address, DestroyCall destroyCall, List<VerbsObject> parents) {
        super(what, address, destroyCall, parents);
    }

    /** The device. */
    @Override
    public final RdmaDevice device() {
        return super.device();
    }

    /**
     * Makes a memory window, bound to nothing yet.
     *
     * @throws VerbsException where the device has none ({@link VerbsException#isUnsupported()}), or
     *     no more
     */
    public final MemoryWindow allocateMemoryWindow(MemoryWindowType type) {
        if (type == null) {
            throw new IllegalArgumentException("a memory window needs its type");
        }
        return create(
                "ibv_alloc_mw",
                out -> verbscalls.vv_alloc_mw(address(), type.code(), out),
                DestroyCall.MEMORY_WINDOW,
                made -> new MemoryWindow((ProtectionDomain) this, type, made));
    }

    /**
     * Registers all of a piece of memory.
     *
     * @param access of {@link Access}, by or
     * @throws VerbsException if the device refuses, with what to do about the usual cause
     */
    public final MemoryRegion register(OffHeapMemory memory, int access) {
        return register(memory, 0, memory.length(), access);
    }

    /**
     * Registers a part of a piece of memory, which cannot be closed until the region is. Nothing is
     * copied; any address and length will do.
     *
     * @throws IndexOutOfBoundsException for a part that the memory does not have
     * @throws IllegalArgumentException for access that contradicts itself
     * @throws VerbsException if the device refuses, with what to do about the usual cause
     */
    public final MemoryRegion register(OffHeapMemory memory, long offset, long length, int access) {
        return register(memory, offset, length, OWN_ADDRESS, access);
    }

    /**
     * As above, and requests name the region by another address than the one here. An address that
     * is never used again makes what is left of an old key worthless, even if the device gives the
     * same key once more.
     *
     * @param base address of the first byte in requests, here and at peers; it lies as the memory
     *     does within a page. Requests of such a region cannot be inline
     * @throws IllegalArgumentException for a base that lies otherwise, or is negative
     */
    public final MemoryRegion register(
            OffHeapMemory memory, long offset, long length, long base, int access) {
        Access.check(access);
        checkPart(memory, offset, length);
        String user = "a registration of " + device().info().name();
        return holding(
                memory, user, () -> registerHeld(memory, user, offset, length, base, access));
    }

    private MemoryRegion registerHeld(
            OffHeapMemory memory, String user, long offset, long length, long base, int access) {
        synchronized (lock()) {
            long start = memory.address() + offset;
            long iova = base(start, base, length, access);
            long out = device().memory().out();
            int result = verbscalls.vv_reg_mr(address(), start, length, iova, access, out);
            if (result < 0) {
                throw new VerbsException(
                        "ibv_reg_mr", -result, length + " bytes of " + memory, remedy(result));
            }
            return adoptRegion(
                    device().memory().made(),
                    new MemoryRegion.Extent(memory, user, start, iova, length, access, null));
        }
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

    /** The object of a region that C has just made. Under the lock. */
    final MemoryRegion adoptRegion(long address, MemoryRegion.Extent extent) {
        return adopt(
                this,
                address,
                extent.destroyCall(),
                made -> new MemoryRegion((ProtectionDomain) this, made, extent));
    }

    private MemoryRegion createRegion(
            String call, LongToIntFunction creation, LongFunction<MemoryRegion.Extent> extent) {
        synchronized (lock()) {
            device().check(call, creation.applyAsInt(device().memory().out()));
            long made = device().memory().made();
            return adoptRegion(made, extent.apply(made));
        }
    }

    /**
     * Registers all memory that this process has or will have, by on-demand paging ({@code
     * ibv_reg_mr} of address 0 and the greatest length). Requests name what they use of it by
     * {@link MemoryRegion#part}. Peers get no access: any process with the key could change
     * anything in this process.
     *
     * @throws VerbsException where the device cannot
     */
    public final MemoryRegion registerImplicit() {
        int access = Access.LOCAL_WRITE | Access.ON_DEMAND;
        return createRegion(
                "ibv_reg_mr",
                out -> verbscalls.vv_reg_mr(address(), 0, -1, 0, access, out),
                made -> MemoryRegion.Extent.everything(access));
    }

    /**
     * Registers a part of a device's own memory. Requests, here and at peers, name offsets in the
     * region: it is {@link Access#ZERO_BASED} always, and no request of it can be inline.
     *
     * @throws IllegalArgumentException for memory of another device
     * @throws IndexOutOfBoundsException for a part that the memory does not have
     * @throws VerbsException if the device refuses
     */
    public final MemoryRegion register(DeviceMemory memory, long offset, long length, int access) {
        int all = access | Access.ZERO_BASED;
        Access.check(all);
        memory.checkRange(offset, length);
        memory.checkOf(device());
        return createRegion(
                "ibv_reg_dm_mr",
                out ->
                        verbscalls.vv_reg_dm_mr(
                                address(), memory.address(), offset, length, all, out),
                made -> new MemoryRegion.Extent(null, "", 0, 0, length, all, memory));
    }

    private static long base(long start, long base, long length, int access) {
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

    private static String remedy(int result) {
        return switch (-result) {
            case VerbsErrno.ENOMEM ->
                    "registered memory is locked: raise the limit (ulimit -l unlimited, or memlock"
                            + " in /etc/security/limits.conf); verbena doctor shows it";
            case 22 -> "the device refuses this range or access";
            case VerbsErrno.EOPNOTSUPP -> "the device has no such kind of access";
            default -> "";
        };
    }

    /**
     * A region that swallows what is written and reads as anything: for parts of a message that
     * nobody wants.
     *
     * @throws VerbsException where the device has none ({@link VerbsException#isUnsupported()})
     */
    public final MemoryRegion allocateNullRegion() {
        return createRegion(
                "ibv_alloc_null_mr",
                out -> verbscalls.vv_alloc_null_mr(address(), out),
                made -> MemoryRegion.Extent.foreign(0, 0, Long.MAX_VALUE, Access.LOCAL_WRITE));
    }

    /**
     * Registers memory of another device by its dma-buf file.
     *
     * @param file number of an open file
     * @throws VerbsException where that is not possible
     */
    public final MemoryRegion registerDmaBuf(
            int file, long offset, long length, long remoteBase, int access) {
        Access.check(access);
        long base = (access & Access.ZERO_BASED) == 0 ? remoteBase : 0;
        return createRegion(
                "ibv_reg_dmabuf_mr",
                out ->
                        verbscalls.vv_reg_dmabuf_mr(
                                address(), offset, length, remoteBase, file, access, out),
                made -> MemoryRegion.Extent.foreign(remoteBase, base, length, access));
    }

    /**
     * Takes part in a region that was registered in another context of the same device, in another
     * process as a rule ({@code ibv_import_mr}): requests of this domain's queue pairs may name it.
     * Its memory need not be there in this process. Closing gives it back; the region itself is
     * closed by the process that registered it, after all others.
     *
     * @param handle {@link MemoryRegion#handle} there
     * @param base {@link MemoryRegion#remoteAddress} of 0 there
     * @param access {@link MemoryRegion#access} there
     * @throws IllegalArgumentException for access that contradicts itself, or a negative base
     * @throws VerbsException if there is no such region; {@link VerbsException#isUnsupported()}
     *     where the driver cannot
     */
    public final MemoryRegion importRegion(int handle, long base, int access) {
        Access.check(access);
        if (base < 0) {
            throw new IllegalArgumentException("base 0x" + Long.toHexString(base));
        }
        return createRegion(
                "ibv_import_mr",
                out -> verbscalls.vv_import_mr(address(), handle, out),
                made -> MemoryRegion.Extent.imported(made, base, access));
    }
}
