package dev.verbena.ugni;

import dev.verbena.memory.OffHeapMemory;
import dev.verbena.ugni.bindings.ugni;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import org.agrona.BitUtil;
import org.agrona.BufferUtil;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * One NIC as a domain sees it: maker and owner of endpoints, queues, memory and descriptors. It
 * goes with its domain. C: {@code gni_nic_handle_t}.
 *
 * <p>Threads: the domain's.
 */
public final class Nic {
    /** Registration flag: peers and this process may write. */
    public static final int READ_WRITE = ugni.GNI_MEM_READWRITE;

    /** Registration flag: nobody may write. */
    public static final int READ_ONLY = ugni.GNI_MEM_READ_ONLY;

    private static final int STAGING_LENGTH = ugni.GNI_SMSG_MAX_SIZE + 1;
    private static final int NAMED_MAX = 8;

    private final CommunicationDomain domain;
    private final long handle;
    private final int address;
    private final UnsafeBuffer scratch = aligned(128);
    private UnsafeBuffer staging;
    private final Set<UgniObject> children = Collections.newSetFromMap(new IdentityHashMap<>());
    private final NicMemory memory = new NicMemory();
    private final List<PostDescriptors> pools = new ArrayList<>();

    Nic(CommunicationDomain domain, long handle, int address) {
        this.domain = domain;
        this.handle = handle;
        this.address = address;
    }

    /** Native memory, also before anything else of uGNI was used: Agrona must have been opened. */
    static UnsafeBuffer aligned(int length) {
        UgniNative.open();
        return new UnsafeBuffer(
                BufferUtil.allocateDirectAligned(length, BitUtil.CACHE_LINE_LENGTH));
    }

    /** The C handle. */
    public long handle() {
        return handle;
    }

    /** Address that peers bind endpoints to. */
    public int address() {
        return address;
    }

    /** Instance that peers bind endpoints to: the domain's. */
    public int instance() {
        return domain.instance();
    }

    /** The domain that it belongs to. */
    public CommunicationDomain domain() {
        return domain;
    }

    /**
     * An endpoint, not yet bound to a peer. C: {@code GNI_EpCreate}.
     *
     * @param source where events of its posts and messages go; null: none can be asked for
     */
    public Endpoint endpoint(CompletionQueue source) {
        checkOwner();
        long made =
                UgniNative.check(
                        "GNI_EpCreate", ugni.vgn_ep_create(handle, handleOf(source)), this);
        return new Endpoint(this, made, source);
    }

    /**
     * A completion queue. Whether it takes events of own posts (source) or of peers (destination)
     * shows in its use; one that does both is refused. C: {@code GNI_CqCreate}.
     *
     * @param entryCount events that it shall hold
     * @param modes {@link CompletionQueue#NO_BLOCK} or {@link CompletionQueue#BLOCKING}
     */
    public CompletionQueue completionQueue(int entryCount, int modes) {
        checkOwner();
        if (entryCount < 1) {
            throw new IllegalArgumentException("entry count " + entryCount + " is below 1");
        }
        long made =
                UgniNative.check(
                        "GNI_CqCreate", ugni.vgn_cq_create(handle, entryCount, modes), this);
        return new CompletionQueue(this, made, modes);
    }

    /**
     * Memory that peers map, so that a put into it is stores; zeroed, on a page. Not uGNI: with
     * Cray's library it is plain memory of the process.
     *
     * @param length bytes
     */
    public UgniMemory allocate(long length) {
        checkOwner();
        if (length < 1) {
            throw new IllegalArgumentException("length " + length + " is below 1");
        }
        long made = ugni.vgn_ext_alloc(handle, length);
        boolean isMapped = made != -UgniCode.MISSING;
        if (!isMapped) {
            made = memory.allocate(length);
        }
        return new UgniMemory(
                this, UgniNative.check("GNI_ExtMemAlloc", made, this), length, isMapped);
    }

    /**
     * Registers a whole piece of {@link #allocate allocated} memory. C: {@code GNI_MemRegister}.
     *
     * @param flags {@link #READ_WRITE} or {@link #READ_ONLY}
     * @param destination where peers' posts leave remote events, messages among them; or null
     * @throws IllegalArgumentException for memory of another NIC handle
     * @throws UgniException ERROR_RESOURCE when there are 4,096 registrations; INVALID_PARAM when
     *     the queue is a source queue
     */
    public MemoryRegistration register(UgniMemory memory, int flags, CompletionQueue destination) {
        checkOwner();
        memory.checkOpen();
        if (memory.owner != this) { // it would go with the other one's domain
            throw new IllegalArgumentException(memory + " belongs to another NIC handle");
        }
        return register(memory.address(), memory.length(), flags, destination, memory);
    }

    /**
     * Registers memory of the toolkit, which cannot be closed before the registration. C: {@code
     * GNI_MemRegister}.
     *
     * @throws UgniException PERMISSION_ERROR where the kernel forbids peers to reach it, with the
     *     remedy
     */
    public MemoryRegistration register(
            OffHeapMemory memory, int flags, CompletionQueue destination) {
        checkOwner();
        return register(memory.address(), memory.length(), flags, destination, memory);
    }

    /**
     * Registers a direct buffer, from 0 to its capacity; it is kept from the garbage collector
     * until the registration is closed. C: {@code GNI_MemRegister}.
     *
     * @throws IllegalArgumentException for a buffer on the heap, and for a read-only one unless
     *     {@link #READ_ONLY} is asked for
     */
    public MemoryRegistration register(ByteBuffer memory, int flags, CompletionQueue destination) {
        checkOwner();
        if (!memory.isDirect()) {
            throw new IllegalArgumentException("only direct buffers can be registered");
        }
        if (memory.isReadOnly() && (flags & READ_ONLY) == 0) {
            throw new IllegalArgumentException("a read-only buffer can be registered READ_ONLY");
        }
        return register(BufferUtil.address(memory), memory.capacity(), flags, destination, memory);
    }

    /**
     * Registers memory of this process. The caller keeps it until the registration is closed. Not
     * public: what is no memory, or goes away too early, would end the JVM.
     */
    MemoryRegistration register(long address, long length, int flags, CompletionQueue destination) {
        checkOwner();
        return register(address, length, flags, destination, null);
    }

    private MemoryRegistration register(
            long address, long length, int flags, CompletionQueue destination, Object memory) {
        return MemoryRegistration.of(this, address, length, flags, destination, memory);
    }

    /**
     * Registers several regions as one, whose addresses count from 0 and run on from one to the
     * next. Copied; the caller keeps the memory until the registration is closed. Not public, as
     * above. C: {@code GNI_MemRegisterSegments}.
     *
     * @param addresses of this process
     * @param lengths bytes, one for each address
     */
    MemoryRegistration registerSegments(
            long[] addresses, long[] lengths, int flags, CompletionQueue destination) {
        checkOwner();
        return MemoryRegistration.of(this, addresses, lengths, flags, destination);
    }

    /**
     * Joins the node's message queue. One for each NIC handle. C: {@code GNI_MsgqInit}.
     *
     * @param source gets an event when a message was sent; null: none does
     * @param messageLengthMax bytes, 1 to {@link SharedMessageQueue#MESSAGE_LENGTH_MAX}
     * @param slots messages under way for each connection
     * @param nodes connections at most
     * @param instances how many of this node take part
     * @throws UgniException INVALID_STATE if other instances joined with other numbers
     */
    public SharedMessageQueue sharedMessageQueue(
            CompletionQueue source, int messageLengthMax, int slots, int nodes, int instances) {
        checkOwner();
        return SharedMessageQueue.of(this, source, messageLengthMax, slots, nodes, instances);
    }

    /**
     * A channel of the collective engine. C: {@code GNI_CeCreate}.
     *
     * @throws UgniException ILLEGAL_OP on a NIC that is not Aries
     */
    public CollectiveEngine collectiveEngine() {
        checkOwner();
        return new CollectiveEngine(
                this, UgniNative.check("GNI_CeCreate", ugni.vgn_ce_create(handle), this));
    }

    /**
     * Subscribes to errors. C: {@code GNI_SubscribeErrors}.
     *
     * @param mask categories, such as {@link ErrorSubscription#ALL}
     * @param capacity errors that wait at most; 0: 64
     */
    public ErrorSubscription errors(int mask, int capacity) {
        checkOwner();
        long made = ugni.vgn_errors_subscribe(handle, 0, mask, capacity);
        return new ErrorSubscription(this, UgniNative.check("GNI_SubscribeErrors", made, this));
    }

    /**
     * Descriptors for posts, in native memory. Not uGNI, where they are the caller's structures.
     *
     * @param count how many, 1 to 11,184,810
     */
    public PostDescriptors postDescriptors(int count) {
        checkOwner();
        if (count < 1 || count > PostDescriptors.COUNT_MAX) {
            throw new IllegalArgumentException(
                    "descriptor count " + count + " is outside 1 to " + PostDescriptors.COUNT_MAX);
        }
        long made = memory.allocate((long) count * PostDescriptors.STRIDE);
        PostDescriptors pool = new PostDescriptors(this, made, count);
        pools.add(pool);
        return pool;
    }

    /** Pools that a descriptor's address may lie in. */
    List<PostDescriptors> pools() {
        return pools;
    }

    /**
     * Which peer's datagram is finished, without taking it: {@link Endpoint#testData} of an
     * endpoint bound to that peer does. C: {@code GNI_PostDataProbe}.
     *
     * @param found gets the peer's address and instance
     * @return false if none is finished
     */
    public boolean probeData(Datagram found) {
        checkOwner();
        int result = ugni.vgn_data_probe(handle, scratch.addressOffset());
        if (isNone("GNI_PostDataProbe", result)) {
            return false;
        }
        found.peer(scratch.getInt(0), scratch.getInt(Integer.BYTES));
        return true;
    }

    /**
     * Which of the datagrams that were posted with a number is finished, without taking it. C:
     * {@code GNI_PostDataProbeById}.
     *
     * @param found gets the number
     * @return false if none is finished
     */
    public boolean probeDataById(Datagram found) {
        checkOwner();
        int result = ugni.vgn_data_probe_id(handle, scratch.addressOffset());
        if (isNone("GNI_PostDataProbeById", result)) {
            return false;
        }
        found.id(scratch.getLong(0));
        return true;
    }

    /**
     * As {@link #probeDataById}, and sleeps until one is finished. C: {@code
     * GNI_PostdataProbeWaitById}.
     *
     * @param timeoutMs milliseconds, -1: no limit
     * @return false if the time was over
     */
    public boolean awaitDataById(int timeoutMs, Datagram found) {
        checkOwner();
        int result = ugni.vgn_data_probe_wait_id(handle, timeoutMs, scratch.addressOffset());
        if (isNone("GNI_PostdataProbeWaitById", result)) {
            return false;
        }
        found.id(scratch.getLong(0));
        return true;
    }

    private boolean isNone(String call, int result) {
        if (result == -UgniCode.NO_MATCH || result == -UgniCode.TIMEOUT) {
            return true;
        }
        UgniNative.check(call, result, this);
        return false;
    }

    /**
     * Takes the oldest event of the first queue that has one; sleeps until there is one. C: {@code
     * GNI_CqVectorWaitEvent}. Allocates.
     *
     * @param queues of this NIC handle, all {@link CompletionQueue#BLOCKING}
     * @param timeoutMs milliseconds; negative: no limit
     * @return index of the queue, whose {@link CompletionQueue#event} and {@link
     *     CompletionQueue#lastPoll} tell more; -1 if the time was over
     */
    public int awaitAny(CompletionQueue[] queues, long timeoutMs) {
        checkOwner();
        if (queues.length == 0) {
            throw new IllegalArgumentException("no queue to wait for");
        }
        UnsafeBuffer handles = aligned(queues.length * Long.BYTES);
        for (int i = 0; i < queues.length; i++) {
            queues[i].checkBlocking();
            handles.putLong(i * Long.BYTES, handleOf(queues[i]));
        }
        int result =
                ugni.vgn_cq_vector_wait(
                        handles.addressOffset(),
                        queues.length,
                        timeoutMs,
                        scratch.addressOffset(),
                        scratch.addressOffset() + Long.BYTES);
        Reference.reachabilityFence(handles); // C looks at them as long as it sleeps
        if (result == -UgniCode.TIMEOUT) {
            return -1;
        }
        if (!CompletionQueue.isEvent(result)) {
            throw UgniNative.failure("GNI_CqVectorWaitEvent", result, this);
        }
        int which = scratch.getInt(Long.BYTES);
        queues[which].took(result, scratch.getLong(0));
        return which;
    }

    /**
     * Number to pass to {@link #await}; read it before looking into queues. Not uGNI. No
     * allocation.
     *
     * @throws UgniException {@link UgniCode#MISSING} with Cray's library
     */
    public int doorbell() {
        checkOwner();
        return (int) UgniNative.check("GNI_ExtDoorbell", ugni.vgn_ext_doorbell(handle), this);
    }

    /**
     * Sleeps until a peer leaves an event or a datagram, {@link #ring}, or the time is over. Not
     * uGNI.
     *
     * @param seen of {@link #doorbell}
     * @param timeoutNs negative: no limit
     * @return false if the time was over
     */
    public boolean await(int seen, long timeoutNs) {
        checkOwner();
        int result = ugni.vgn_ext_wait(handle, seen, timeoutNs);
        if (result != -UgniCode.TIMEOUT) {
            UgniNative.check("GNI_ExtWait", result, this);
        }
        return result == 0;
    }

    /** Wakes {@link #await}. Any thread; does nothing after the domain was closed. Not uGNI. */
    public void ring() {
        domain.ring(handle);
    }

    /** A statistic by its number in {@code gni_statistic_t}. C: {@code GNI_GetNicStat}. */
    public long statistic(int statistic) {
        checkOwner();
        return UgniNative.check(
                "GNI_GetNicStat", ugni.vgn_statistic(handle, statistic), "statistic " + statistic);
    }

    /** Sets a statistic to 0. C: {@code GNI_ResetNicStat}. */
    public void resetStatistic(int statistic) {
        checkOwner();
        UgniNative.check(
                "GNI_ResetNicStat",
                ugni.vgn_statistic_reset(handle, statistic),
                "statistic " + statistic);
    }

    /**
     * Address of bytes that C shall read: the buffer's own if it is off the heap, else that of a
     * copy which lasts until the next call. The caller fences the buffer behind the call: nothing
     * else keeps its memory from the garbage collector.
     */
    long readable(DirectBuffer buffer, int offset, int length, int stagingOffset) {
        buffer.boundsCheck(offset, length);
        if (buffer.byteArray() == null) {
            return buffer.addressOffset() + offset;
        }
        if (staging == null) {
            staging = aligned(STAGING_LENGTH);
        }
        staging.putBytes(stagingOffset, buffer, offset, length);
        return staging.addressOffset() + stagingOffset;
    }

    NicMemory memory() {
        return memory;
    }

    UnsafeBuffer scratch() {
        return scratch;
    }

    long handleOf(CompletionQueue queue) {
        if (queue == null) {
            return 0;
        }
        queue.checkOpen();
        if (queue.owner != this) {
            throw new IllegalArgumentException(queue + " belongs to another NIC handle");
        }
        return queue.handle();
    }

    void adopt(UgniObject child) {
        children.add(child);
    }

    void disown(UgniObject child) {
        children.remove(child);
    }

    void checkOwner() {
        domain.checkOwner();
    }

    void checkNoChildren() {
        if (!children.isEmpty()) {
            List<String> open = new ArrayList<>();
            children.stream().limit(NAMED_MAX).forEach(child -> open.add(child.toString()));
            throw new IllegalStateException(
                    this + " has " + children.size() + " open objects: " + open);
        }
    }

    void retireChildren() {
        for (UgniObject child : children) {
            child.retireWithDomain();
        }
        children.clear();
    }

    @Override
    public String toString() {
        return "NIC %x.%s".formatted(address, Integer.toUnsignedString(domain.instance()));
    }
}
