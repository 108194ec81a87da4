package dev.verbena.verbs;

import dev.verbena.rdma.calls.VerbsLayout;
import org.agrona.DirectBuffer;
import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * View of one prepared {@code struct ibv_send_wr} and its segments, in native byte order, at the
 * offsets of the C compiler. Every local range is checked against its region when it is set.
 * Setters return this view and allocate nothing; used by another thread than the one that has the
 * requests they throw {@link IllegalStateException}.
 */
public final class SendRequestFlyweight {
    private static final int FLAGS = VerbsLayout.SEND_WR_SEND_FLAGS;
    private static final int ETHERNET_HEADER = 14;

    final MemoryRegion[] regions;
    private final SendRequests owner;
    private final UnsafeBuffer buffer;
    private final ThreadClaim claim;
    private final int index;
    private final int offset;
    private final long at;
    private final WindowBinding binding;
    private final DatagramTarget target;
    private boolean isBind;
    private long id;
    private int segments;
    private long length;
    private boolean hasOwnBytes;
    private boolean isInline;
    private SendPoster readyFor;
    private MemoryRegion only;

    SendRequestFlyweight(SendRequests owner, int index) {
        this.owner = owner;
        this.index = index;
        this.buffer = owner.buffer;
        this.offset = owner.offsetOf(index);
        this.claim = owner.claim();
        this.at = owner.addressOf(index);
        this.regions = new MemoryRegion[owner.segmentsMax];
        this.binding = new WindowBinding(owner, offset);
        this.target = new DatagramTarget(owner, offset);
        buffer.putLong(offset + VerbsLayout.SEND_WR_SG_LIST, owner.segmentsAddress(index));
        buffer.putInt(offset + VerbsLayout.SEND_WR_OPCODE, VerbsLayout.IBV_WR_SEND);
    }

    /** What its completion will say. */
    public SendRequestFlyweight id(long id) {
        mine();
        this.id = id;
        return this;
    }

    /** A message; the peer's receive takes it. */
    public SendRequestFlyweight send() {
        return opcode(VerbsLayout.IBV_WR_SEND);
    }

    /** A message with 32 bits beside. */
    public SendRequestFlyweight sendImmediate(int immediate) {
        return opcode(VerbsLayout.IBV_WR_SEND_WITH_IMM).immediate(immediate);
    }

    /** A message that invalidates a key of the peer. */
    public SendRequestFlyweight sendInvalidate(int remoteKey) {
        putInt(VerbsLayout.SEND_WR_INVALIDATE_RKEY, remoteKey);
        return opcode(VerbsLayout.IBV_WR_SEND_WITH_INV);
    }

    /** A write to the peer's memory. */
    public SendRequestFlyweight write(long remoteAddress, int remoteKey) {
        return opcode(VerbsLayout.IBV_WR_RDMA_WRITE).remote(remoteAddress, remoteKey);
    }

    /** A write that takes a receive of the peer, with 32 bits beside. */
    public SendRequestFlyweight writeImmediate(long remoteAddress, int remoteKey, int immediate) {
        return opcode(VerbsLayout.IBV_WR_RDMA_WRITE_WITH_IMM)
                .remote(remoteAddress, remoteKey)
                .immediate(immediate);
    }

    /** A read from the peer's memory. */
    public SendRequestFlyweight read(long remoteAddress, int remoteKey) {
        return opcode(VerbsLayout.IBV_WR_RDMA_READ).remote(remoteAddress, remoteKey);
    }

    /** If the peer's 8 bytes are as expected, replaces them; what was there comes here. */
    public SendRequestFlyweight compareSwap(
            long remoteAddress, int remoteKey, long expected, long replacement) {
        putLong(VerbsLayout.SEND_WR_WR_ATOMIC_REMOTE_ADDR, remoteAddress);
        putLong(VerbsLayout.SEND_WR_WR_ATOMIC_COMPARE_ADD, expected);
        putLong(VerbsLayout.SEND_WR_WR_ATOMIC_SWAP, replacement);
        putInt(VerbsLayout.SEND_WR_WR_ATOMIC_RKEY, remoteKey);
        return opcode(VerbsLayout.IBV_WR_ATOMIC_CMP_AND_SWP);
    }

    /** Adds to the peer's 8 bytes; what was there comes here. */
    public SendRequestFlyweight fetchAdd(long remoteAddress, int remoteKey, long summand) {
        putLong(VerbsLayout.SEND_WR_WR_ATOMIC_REMOTE_ADDR, remoteAddress);
        putLong(VerbsLayout.SEND_WR_WR_ATOMIC_COMPARE_ADD, summand);
        putInt(VerbsLayout.SEND_WR_WR_ATOMIC_RKEY, remoteKey);
        return opcode(VerbsLayout.IBV_WR_ATOMIC_FETCH_AND_ADD);
    }

    /**
     * Binds a window of type 2 to a part of a region, under a new key. A window is to be bound once
     * only in requests that are posted in one call; {@link #localInvalidate} takes the key back.
     *
     * @param newKey {@link MemoryWindow#nextKey}
     * @param access of {@link Access}: what peers may do, or {@link Access#ZERO_BASED} for
     *     addresses from 0 on
     * @throws IllegalArgumentException for a window of type 1, a region that may not have windows,
     *     or access that the region lacks
     * @throws IndexOutOfBoundsException for a range outside the region, or of no bytes
     */
    public SendRequestFlyweight bindWindow(
            MemoryWindow window,
            int newKey,
            MemoryRegion region,
            long from,
            long bytes,
            int access) {
        mine();
        binding.check(window, newKey, region, from, bytes, access);
        int info = VerbsLayout.SEND_WR_BIND_MW_BIND_INFO;
        putInt(VerbsLayout.SEND_WR_BIND_MW_RKEY, newKey);
        putLong(info + VerbsLayout.MW_BIND_INFO_ADDR, region.checkedAddress(from, bytes));
        putLong(info + VerbsLayout.MW_BIND_INFO_LENGTH, bytes);
        putInt(info + VerbsLayout.MW_BIND_INFO_MW_ACCESS_FLAGS, access);
        // Left over from another operation it would make Soft-RoCE refuse the bind.
        opcode(VerbsLayout.IBV_WR_BIND_MW).segments(0).immediate(0);
        changed();
        binding.set(window, region);
        isBind = true;
        return this;
    }

    /** Invalidates a key here. */
    public SendRequestFlyweight localInvalidate(int remoteKey) {
        putInt(VerbsLayout.SEND_WR_INVALIDATE_RKEY, remoteKey);
        return opcode(VerbsLayout.IBV_WR_LOCAL_INV);
    }

    /**
     * For datagrams: to whom. They carry sends only, with or without immediate data.
     *
     * @throws IllegalArgumentException for a handle of another domain
     */
    public SendRequestFlyweight to(AddressHandle target, int queuePair, int queueKey) {
        mine();
        this.target.set(target, queuePair, queueKey);
        changed();
        return this;
    }

    /**
     * On {@link QueuePairType#XRC_SEND}: which shared receive queue of the peer a message goes to.
     *
     * @param number {@link SharedReceiveQueue#number} there
     */
    public SendRequestFlyweight toShared(int number) {
        putInt(VerbsLayout.SEND_WR_QP_TYPE_XRC_REMOTE_SRQN, number);
        return this;
    }

    /** Small edit: where at the peer; of writes and reads. */
    public SendRequestFlyweight remoteAddress(long remoteAddress) {
        putLong(VerbsLayout.SEND_WR_WR_RDMA_REMOTE_ADDR, remoteAddress);
        return this;
    }

    /** Small edit: the 32 bits beside. */
    public SendRequestFlyweight immediate(int immediate) {
        putInt(VerbsLayout.SEND_WR_IMM_DATA, Integer.reverseBytes(immediate));
        return this;
    }

    /**
     * One piece of memory, and no other.
     *
     * @throws IndexOutOfBoundsException for a range outside the region
     * @throws IllegalArgumentException for a region of another domain
     */
    public SendRequestFlyweight segment(MemoryRegion region, long from, int bytes) {
        return segment(0, region, from, bytes).segments(1);
    }

    /**
     * One of several pieces of memory; {@link #segments} says how many.
     *
     * @throws IndexOutOfBoundsException for a range outside the region, or a number that the queue
     *     pair was not made for
     * @throws IllegalArgumentException for a region of another domain
     */
    public SendRequestFlyweight segment(int number, MemoryRegion region, long from, int bytes) {
        mine();
        if (hasOwnBytes) {
            segments(0);
        }
        changed();
        owner.setSegment(index, number, regions, region, from, bytes);
        if (number < segments) {
            length = owner.length(index, segments);
        }
        return this;
    }

    /** How many pieces of memory are used; 0 sends nothing but the request. */
    public SendRequestFlyweight segments(int count) {
        mine();
        changed();
        Requests.checkSegments(regions, count);
        hasOwnBytes = false;
        segments = count;
        length = owner.length(index, count);
        putInt(VerbsLayout.SEND_WR_NUM_SGE, count);
        return this;
    }

    /** Asks for a completion, or not. */
    public SendRequestFlyweight signalled(boolean isWanted) {
        return flag(VerbsLayout.IBV_SEND_SIGNALED, isWanted);
    }

    /** Waits for the reads and atomics before it. */
    public SendRequestFlyweight fenced(boolean isWanted) {
        return flag(VerbsLayout.IBV_SEND_FENCE, isWanted);
    }

    /** Wakes a peer that asked for solicited completions only. */
    public SendRequestFlyweight solicited(boolean isWanted) {
        return flag(VerbsLayout.IBV_SEND_SOLICITED, isWanted);
    }

    /** The bytes are copied when posted: the memory may be reused at once. */
    public SendRequestFlyweight inline(boolean isWanted) {
        mine();
        if (hasOwnBytes && !isWanted) {
            segments(0); // its own bytes have no key
        }
        flag(VerbsLayout.IBV_SEND_INLINE, isWanted);
        changed();
        isInline = isWanted;
        return this;
    }

    /**
     * Copies bytes that need not be registered into this request, which sends them inline instead
     * of segments.
     *
     * @throws IndexOutOfBoundsException for a range that the source lacks, or more bytes than the
     *     queue pair takes inline
     */
    SendRequestFlyweight ownBytes(DirectBuffer source, int from, int bytes) {
        mine();
        source.boundsCheck(from, bytes);
        if (bytes > owner.inlineRoom()) {
            throw new IndexOutOfBoundsException(
                    bytes + " bytes; the queue pair takes " + owner.inlineRoom() + " inline");
        }
        segments(0).inline(true);
        changed();
        regions[0] = null; // its place names memory that is no region's
        int segment = owner.segmentOffset(index, 0);
        mine().putBytes(owner.inlineOffset(index), source, from, bytes);
        mine().putLong(segment + VerbsLayout.SGE_ADDR, owner.inlineAddress(index));
        mine().putInt(segment + VerbsLayout.SGE_LENGTH, bytes);
        mine().putInt(segment + VerbsLayout.SGE_LKEY, 0);
        putInt(VerbsLayout.SEND_WR_NUM_SGE, 1);
        hasOwnBytes = true;
        length = bytes;
        return this;
    }

    /** As it was made. */
    SendRequestFlyweight reset() {
        putInt(FLAGS, 0);
        isInline = false;
        target.clear();
        return id(0).send().segments(0);
    }

    private SendRequestFlyweight flag(int flag, boolean isWanted) {
        mine();
        int flags = UnsafeApi.getInt(null, at + FLAGS);
        putInt(FLAGS, isWanted ? flags | flag : flags & ~flag);
        return this;
    }

    private SendRequestFlyweight opcode(int opcode) {
        mine();
        isBind = false;
        putInt(VerbsLayout.SEND_WR_OPCODE, opcode);
        return this;
    }

    /**
     * First in everything that changes something here: only the thread that has the requests may,
     * because another one may be posting or closing them.
     */
    private UnsafeBuffer mine() {
        claim.check();
        return buffer;
    }

    /** The field is one of the structure, whose memory stays while the claim can be had. */
    private void putLong(int field, long value) {
        claim.check();
        UnsafeApi.putLong(null, at + field, value);
    }

    private void putInt(int field, int value) {
        claim.check();
        UnsafeApi.putInt(null, at + field, value);
    }

    private SendRequestFlyweight remote(long remoteAddress, int remoteKey) {
        putLong(VerbsLayout.SEND_WR_WR_RDMA_REMOTE_ADDR, remoteAddress);
        putInt(VerbsLayout.SEND_WR_WR_RDMA_RKEY, remoteKey);
        return this;
    }

    /** Bytes of all segments. */
    public long length() {
        return length;
    }

    /** 0, or why it cannot be posted now. */
    int check(int inlineMax, QueuePairType type) {
        int refusal = isBind ? binding.prepare() : 0;
        if (refusal != 0) {
            return refusal;
        }
        if (!hasOpenRegions()) {
            return Post.REGION_CLOSED;
        }
        if (type == QueuePairType.UD && !target.isPrepared()) {
            return Post.REGION_CLOSED;
        }
        boolean isRaw = type == QueuePairType.RAW_PACKET;
        if (isRaw && !hasFrameHeader()) {
            return Post.NO_FRAME;
        }
        if (isInline && length > inlineMax) {
            return Post.TOO_LONG;
        }
        return (isInline || isRaw) && !isReadableHere() ? Post.NOT_INLINE : 0;
    }

    /** Providers read a frame's header from the first piece, without looking how long that is. */
    private boolean hasFrameHeader() {
        int first = owner.segmentOffset(index, 0);
        return buffer.getInt(offset + VerbsLayout.SEND_WR_NUM_SGE) > 0
                && buffer.getInt(first + VerbsLayout.SGE_LENGTH) >= ETHERNET_HEADER;
    }

    /** What the processor copies must be at an address of this process. */
    private boolean isReadableHere() {
        for (int i = 0; i < segments; i++) {
            if (!regions[i].isReadableHere()) {
                return false;
            }
        }
        return true;
    }

    /** True if posting itself reads the regions' memory, the address handle or the window. */
    boolean isReadWhilePosted(QueuePairType type) {
        return type == QueuePairType.UD || type == QueuePairType.RAW_PACKET || isBind || isInline;
    }

    /**
     * True if it may be posted by the calling thread, to the queue pair of this poster, as it was
     * before: one piece of memory, which the processor does not read while it posts.
     */
    boolean isReadyFor(SendPoster poster) {
        return wasPostedBy(poster) && claim.isOf(Thread.currentThread());
    }

    /** As {@link #isReadyFor}, for the thread that has it. */
    boolean wasPostedBy(SendPoster poster) {
        return readyFor == poster;
    }

    /** What was checked when it was posted holds no more. */
    private void changed() {
        readyFor = null;
    }

    /** It was posted, to a connected queue pair. */
    void postedBy(SendPoster poster) {
        if (segments == 1 && target.handle() == null) {
            only = regions[0];
            readyFor = poster;
        }
    }

    /** Of one that is ready. */
    boolean hasOpenRegion() {
        return only.addressOrZero() != 0;
    }

    /** As {@link #note}, of one that is ready. */
    void noteReady(WorkLog log) {
        UnsafeApi.putLong(null, at + VerbsLayout.SEND_WR_WR_ID, log.nextId());
        log.noteOne(id, only);
    }

    /** It is posted alone. */
    void unchain() {
        UnsafeApi.putLong(null, at + VerbsLayout.SEND_WR_NEXT, 0L);
    }

    boolean hasOpenRegions() {
        for (int i = 0; i < segments; i++) {
            if (regions[i].addressOrZero() == 0) {
                return false;
            }
        }
        return true;
    }

    /** Nobody has begun to close what it uses. */
    boolean isUsable(QueuePairType type) {
        for (int i = 0; i < segments; i++) {
            if (!regions[i].isUsable()) {
                return false;
            }
        }
        if (isBind && !binding.isUsable()) {
            return false;
        }
        return type != QueuePairType.UD || target.handle().isUsable();
    }

    /** Gives it its place in the log, just before it is posted. */
    void note(WorkLog log) {
        buffer.putLong(offset + VerbsLayout.SEND_WR_WR_ID, log.nextId());
        if (isBind) {
            binding.note(log, id);
        } else {
            log.note(id, regions, segments, target.handle());
        }
    }

    /** True if it binds a window: {@link #bindTaken} or {@link #bindRefused} follows. */
    boolean isBind() {
        return isBind;
    }

    /** The library has taken it. */
    void bindTaken() {
        binding.taken();
    }

    /** The library has not taken it; the latest first. */
    void bindRefused() {
        binding.refused();
    }

    long address() {
        return at;
    }

    SendRequests owner() {
        return owner;
    }

    int index() {
        return index;
    }
}
