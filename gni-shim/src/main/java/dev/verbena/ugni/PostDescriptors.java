package dev.verbena.ugni;

import dev.verbena.ugni.bindings.ugni;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * A pool of post descriptors in native memory, which must outlive their posts: from a successful
 * post until its last event was {@link CompletionQueue#completed asked for} a descriptor belongs to
 * the library. It is then as it was, and can be posted again. Not uGNI.
 *
 * <p>{@link #claim} and {@link #release} keep account of free ones; {@link #wrap} takes any. No
 * allocation in either. Threads: the domain's.
 */
public final class PostDescriptors extends UgniObject {
    /** Bytes from one descriptor to the next: whole cache lines. */
    static final int STRIDE = 192;

    /** Descriptors of a pool at most: one buffer shows them all. */
    static final int COUNT_MAX = Integer.MAX_VALUE / STRIDE;

    private final long address;
    private final UnsafeBuffer buffer;
    private final byte[] pending;
    private final MemoryRegistration[] registrations;
    private final UgniMemory[] memories;
    private final CompletionQueue[] sources;
    private final Endpoint[] endpoints;
    private final int[] free;
    private final boolean[] isFree;
    private int freeCount;
    private int inFlightCount;

    PostDescriptors(Nic owner, long address, int count) {
        super(owner);
        this.address = address;
        this.buffer = new UnsafeBuffer(address, Math.multiplyExact(count, STRIDE));
        this.pending = new byte[count];
        this.registrations = new MemoryRegistration[count];
        this.memories = new UgniMemory[count];
        this.sources = new CompletionQueue[count];
        this.endpoints = new Endpoint[count];
        this.free = new int[count];
        this.isFree = new boolean[count];
        while (freeCount < count) {
            isFree[count - 1 - freeCount] = true;
            free[freeCount] = count - 1 - freeCount;
            freeCount++;
        }
    }

    /** How many there are. */
    public int count() {
        return pending.length;
    }

    /** How many belong to the library. */
    public int inFlightCount() {
        return inFlightCount;
    }

    /**
     * Takes a free descriptor, all zeros.
     *
     * @return false if none is free
     */
    public boolean claim(PostDescriptorFlyweight descriptor) {
        checkOpen();
        int index = takeFree();
        if (index < 0) {
            return false;
        }
        isFree[index] = false;
        descriptor.wrap(this, buffer, index);
        clear(index);
        return true;
    }

    /** One that nobody claimed, nor posted without claiming it; -1: there is none. */
    private int takeFree() {
        for (int i = freeCount - 1; i >= 0; i--) {
            int index = free[i];
            if (pending[index] == 0) {
                free[i] = free[--freeCount];
                return index;
            }
        }
        return -1;
    }

    /**
     * Gives a claimed descriptor back.
     *
     * @throws IllegalStateException while it is in flight, or if it is free already
     */
    public void release(PostDescriptorFlyweight descriptor) {
        checkOpen();
        int index = descriptor.indexIn(this);
        if (pending[index] != 0 || isFree[index]) {
            throw new IllegalStateException(
                    "descriptor " + index + (isFree[index] ? " is free" : " is in flight"));
        }
        isFree[index] = true;
        free[freeCount++] = index;
    }

    /** Looks at a descriptor by its number, 0 to {@link #count} - 1. */
    public void wrap(PostDescriptorFlyweight descriptor, int index) {
        checkOpen();
        if (index < 0 || index >= pending.length) {
            throw new IndexOutOfBoundsException(
                    "descriptor " + index + " is outside 0 to " + (pending.length - 1));
        }
        descriptor.wrap(this, buffer, index);
    }

    private void clear(int index) {
        buffer.setMemory(index * STRIDE, STRIDE, (byte) 0);
        registrations[index] = null;
        memories[index] = null;
        sources[index] = null;
    }

    boolean isInFlight(int index) {
        return pending[index] != 0;
    }

    /** Refuses to change what the library may be reading. */
    void checkIdle(int index) {
        if (pending[index] != 0) {
            throw new IllegalStateException("descriptor " + index + " is in flight");
        }
    }

    void local(int index, MemoryRegistration registration, UgniMemory memory) {
        registrations[index] = registration;
        memories[index] = memory;
    }

    void source(int index, CompletionQueue queue) {
        sources[index] = queue;
    }

    /**
     * What must hold before C sees it: 0 or a negated code. The queue's handle is written here,
     * because a post leaves its endpoint's behind.
     */
    int prepare(PostDescriptorFlyweight descriptor, Endpoint endpoint) {
        checkOpen();
        int index = descriptor.indexIn(this);
        if (owner != endpoint.owner || pending[index] != 0) {
            return owner != endpoint.owner ? -UgniCode.INVALID_PARAM : -UgniCode.INVALID_STATE;
        }
        CompletionQueue queue = sources[index];
        descriptor.queueHandle(queue == null ? 0 : owner.handleOf(queue));
        int type = descriptor.type();
        if (type == ugni.GNI_POST_CE
                && (descriptor.cqMode() & PostDescriptorFlyweight.GLOBAL_EVENT) == 0) {
            return -UgniCode.INVALID_PARAM; // nothing would tell when the library lets go of it
        }
        if (registrations[index] != null
                && registrations[index].isReadOnlyHere
                && writesHere(type, descriptor)) {
            return -UgniCode.PERMISSION_ERROR;
        }
        if (type != ugni.GNI_POST_FMA_PUT && type != ugni.GNI_POST_FMA_PUT_W_SYNCFLAG) {
            return isOpen(registrations[index]) ? 0 : -UgniCode.INVALID_PARAM;
        }
        // Of these C takes the address as it is: registered memory is not asked for.
        return descriptor.length() == 0 || isReadable(index, descriptor)
                ? 0
                : -UgniCode.INVALID_PARAM;
    }

    /** Whether C stores to local memory, which ends the process where it may only be read. */
    private static boolean writesHere(int type, PostDescriptorFlyweight descriptor) {
        return switch (type) {
            case ugni.GNI_POST_RDMA_GET,
                    ugni.GNI_POST_FMA_GET,
                    ugni.GNI_POST_FMA_GET_W_FLAG,
                    ugni.GNI_POST_CE ->
                    true;
            case ugni.GNI_POST_AMO, ugni.GNI_POST_AMO_W_FLAG ->
                    AtomicCommand.isFetching(descriptor.atomicCommand());
            default -> false;
        };
    }

    private static boolean isOpen(MemoryRegistration registration) {
        return registration == null || !registration.isClosed();
    }

    private boolean isReadable(int index, PostDescriptorFlyweight descriptor) {
        MemoryRegistration registration = registrations[index];
        UgniMemory memory = memories[index];
        long start = descriptor.localAddress();
        long length = descriptor.length();
        if (registration != null) {
            return !registration.isClosed()
                    && !registration.isSegmented()
                    && registration.holds(start, length);
        }
        return memory != null && !memory.isClosed() && memory.holds(start, length);
    }

    /** A post was accepted that yields so many events. */
    void posted(int index, int events, Endpoint endpoint) {
        if (events == 0) {
            return;
        }
        pending[index] = (byte) events;
        endpoints[index] = endpoint;
        inFlightCount++;
        useAll(index, 1);
    }

    private void useAll(int index, int by) {
        if (registrations[index] != null) {
            registrations[index].use(by);
        }
        if (memories[index] != null) {
            memories[index].use(by);
        }
        if (sources[index] != null) {
            sources[index].use(by);
        }
        endpoints[index].use(by);
    }

    /** C handed this descriptor back: one event less to come. */
    static void completed(Nic nic, long address, PostDescriptorFlyweight descriptor) {
        for (int i = 0; i < nic.pools().size(); i++) {
            PostDescriptors pool = nic.pools().get(i);
            long offset = address - pool.address;
            if (offset >= 0 && offset < (long) pool.pending.length * STRIDE) {
                pool.completed((int) (offset / STRIDE), descriptor);
                return;
            }
        }
        throw new IllegalStateException(
                "the library answers a descriptor at 0x%s that is not Java's"
                        .formatted(Long.toHexString(address)));
    }

    private void completed(int index, PostDescriptorFlyweight descriptor) {
        descriptor.wrap(this, buffer, index);
        if (pending[index] > 0 && --pending[index] == 0) {
            inFlightCount--;
            useAll(index, -1);
            endpoints[index] = null;
        }
    }

    @Override
    void destroy() {
        if (inFlightCount > 0) {
            throw new IllegalStateException(this + ": " + inFlightCount + " are in flight");
        }
        forget();
        // A real NIC may still be reading what was posted without an event.
        if (UgniNative.IS_BUILT_IN) {
            owner.memory().free(address);
        }
    }

    @Override
    void retireWithDomain() {
        forget();
        super.retireWithDomain();
    }

    private void forget() {
        owner.pools().remove(this);
        buffer.wrap(0L, 0);
    }

    @Override
    public String toString() {
        return pending.length + " post descriptors";
    }
}
