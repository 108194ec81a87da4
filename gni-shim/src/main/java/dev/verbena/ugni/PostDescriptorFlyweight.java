package dev.verbena.ugni;

import dev.verbena.ugni.bindings.ugni;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * One transaction, in native memory and native order (specification, section on posts; C: {@code
 * gni_post_descriptor_t}, 184 bytes):
 *
 * <pre>
 *  16:8 postId        24:8 status        32:2 completedModes   36:4 type     40:2 cqMode
 *  42:2 deliveryMode  48:8 localAddress  56:16 local handle    72:8 remoteAddress
 *  80:16 remote handle  96:8 length     104:2 rdmaMode        112:8 source queue
 * 120:8 syncFlagValue 128:8 syncFlagAddress 136:4 atomic command 144:8 first operand
 * 152:8 second operand 160:8 cqWriteValue 168:4, 172:4, 176:8 of the collective engine
 * </pre>
 *
 * <p>A view of a slot of {@link PostDescriptors}; not thread-safe. While the descriptor is in
 * flight every setter throws {@link IllegalStateException}. No allocation.
 */
public final class PostDescriptorFlyweight {
    /** Type: bytes to the peer, by the block transfer engine. */
    public static final int RDMA_PUT = ugni.GNI_POST_RDMA_PUT;

    /** Type: bytes from the peer, by the block transfer engine; addresses and length in fours. */
    public static final int RDMA_GET = ugni.GNI_POST_RDMA_GET;

    /** Type: bytes to the peer, by the processor's stores into the NIC. */
    public static final int FMA_PUT = ugni.GNI_POST_FMA_PUT;

    /** Type: as {@link #FMA_PUT}, and behind the bytes a flag of 8 bytes. */
    public static final int FMA_PUT_W_SYNCFLAG = ugni.GNI_POST_FMA_PUT_W_SYNCFLAG;

    /** Type: bytes from the peer; addresses and length in fours. */
    public static final int FMA_GET = ugni.GNI_POST_FMA_GET;

    /** Type: as {@link #FMA_GET}, up to 60 bytes, and 4 bytes of flag behind them, here. */
    public static final int FMA_GET_W_FLAG = ugni.GNI_POST_FMA_GET_W_FLAG;

    /** Type: an {@link AtomicCommand} on the peer's memory. */
    public static final int AMO = ugni.GNI_POST_AMO;

    /** Type: as {@link #AMO}, and a flag behind the fetched value, here. */
    public static final int AMO_W_FLAG = ugni.GNI_POST_AMO_W_FLAG;

    /** Type: a value into the peer's destination queue. */
    public static final int CQWRITE = ugni.GNI_POST_CQWRITE;

    /** Type: joins a reduction of the {@link CollectiveEngine}. */
    public static final int CE = ugni.GNI_POST_CE;

    /** Event mode: none. */
    public static final int SILENT = ugni.GNI_CQMODE_SILENT;

    /** Event mode: here, when the source bytes were read; RDMA only. */
    public static final int LOCAL_EVENT = ugni.GNI_CQMODE_LOCAL_EVENT;

    /** Event mode: here, when the peer has answered. */
    public static final int GLOBAL_EVENT = ugni.GNI_CQMODE_GLOBAL_EVENT;

    /** Event mode: in the queue of the peer's registration. */
    public static final int REMOTE_EVENT = ugni.GNI_CQMODE_REMOTE_EVENT;

    /** RDMA mode: after every earlier post of the endpoint. */
    public static final int FENCE = ugni.GNI_RDMAMODE_FENCE;

    /** Delivery mode: whatever way is fastest; order is not kept. */
    public static final int PERFORMANCE = ugni.GNI_DLVMODE_PERFORMANCE;

    /** Delivery mode: in the order of posting. */
    public static final int IN_ORDER = ugni.GNI_DLVMODE_NO_ADAPT | ugni.GNI_DLVMODE_NO_HASH;

    private PostDescriptors pool;
    private UnsafeBuffer buffer;
    private int index;
    private int at;

    /** Looks at nothing before {@link PostDescriptors#claim} or {@link PostDescriptors#wrap}. */
    public PostDescriptorFlyweight() {}

    void wrap(PostDescriptors pool, UnsafeBuffer buffer, int index) {
        this.pool = pool;
        this.buffer = buffer;
        this.index = index;
        this.at = index * PostDescriptors.STRIDE;
    }

    int indexIn(PostDescriptors asked) {
        if (pool != asked) {
            throw new IllegalArgumentException("the descriptor is of another pool");
        }
        return index;
    }

    PostDescriptors pool() {
        if (pool == null) {
            throw new IllegalStateException("the flyweight looks at no descriptor");
        }
        return pool;
    }

    /** Number in its pool. */
    public int index() {
        return index;
    }

    /** Address in this process. */
    public long address() {
        return buffer.addressOffset() + at;
    }

    /** Whether it belongs to the library. */
    public boolean isInFlight() {
        return pool().isInFlight(index);
    }

    /** The caller's number, which comes back with the event. */
    public PostDescriptorFlyweight postId(long postId) {
        return putLong(ugni.VGN_POST_ID, postId);
    }

    /** The caller's number. */
    public long postId() {
        return buffer.getLong(at + ugni.VGN_POST_ID);
    }

    /** After an event: {@link UgniCode#SUCCESS} or {@link UgniCode#TRANSACTION_ERROR}. */
    public int status() {
        return (int) buffer.getLong(at + ugni.VGN_POST_STATUS);
    }

    /** Which of the events have been fetched. */
    public int completedModes() {
        return buffer.getShort(at + ugni.VGN_POST_COMPLETE) & 0xffff;
    }

    /** What to do. */
    public PostDescriptorFlyweight type(int type) {
        return putInt(ugni.VGN_POST_TYPE, type);
    }

    /** What to do. */
    public int type() {
        return buffer.getInt(at + ugni.VGN_POST_TYPE);
    }

    /** Sum of the events wanted. */
    public PostDescriptorFlyweight cqMode(int cqMode) {
        return putShort(ugni.VGN_POST_CQ_MODE, cqMode);
    }

    /** Sum of the events wanted. */
    public int cqMode() {
        return buffer.getShort(at + ugni.VGN_POST_CQ_MODE) & 0xffff;
    }

    /** {@link #PERFORMANCE} or {@link #IN_ORDER}. */
    public PostDescriptorFlyweight deliveryMode(int deliveryMode) {
        return putShort(ugni.VGN_POST_DLVR_MODE, deliveryMode);
    }

    /** 0 or {@link #FENCE}. */
    public PostDescriptorFlyweight rdmaMode(int rdmaMode) {
        return putShort(ugni.VGN_POST_RDMA_MODE, rdmaMode);
    }

    /**
     * Where the bytes are, or go, here. The registration cannot be closed while the descriptor is
     * in flight.
     *
     * @param offset from the registration's first byte
     * @throws IndexOutOfBoundsException for an offset outside
     */
    public PostDescriptorFlyweight local(MemoryRegistration registration, long offset) {
        long start = registration.range(offset, 0);
        putLong(ugni.VGN_POST_LOCAL_ADDR, start);
        putLong(ugni.VGN_POST_LOCAL_HNDL, registration.handle1());
        putLong(ugni.VGN_POST_LOCAL_HNDL + Long.BYTES, registration.handle2());
        pool.local(index, registration, null);
        return this;
    }

    /** As above, for FMA puts, which need no registration. */
    public PostDescriptorFlyweight local(UgniMemory memory, long offset) {
        putLong(ugni.VGN_POST_LOCAL_ADDR, memory.range(offset));
        putLong(ugni.VGN_POST_LOCAL_HNDL, 0);
        putLong(ugni.VGN_POST_LOCAL_HNDL + Long.BYTES, 0);
        pool.local(index, null, memory);
        return this;
    }

    long localAddress() {
        return buffer.getLong(at + ugni.VGN_POST_LOCAL_ADDR);
    }

    /**
     * Where the bytes are, or go, at the peer.
     *
     * @param address as the peer's {@link MemoryRegistration#address}, and so on
     * @param handle1 of the peer's registration
     * @param handle2 of the peer's registration
     */
    public PostDescriptorFlyweight remote(long address, long handle1, long handle2) {
        putLong(ugni.VGN_POST_REMOTE_ADDR, address);
        putLong(ugni.VGN_POST_REMOTE_HNDL, handle1);
        return putLong(ugni.VGN_POST_REMOTE_HNDL + Long.BYTES, handle2);
    }

    /** Address at the peer; the handle stays. */
    public PostDescriptorFlyweight remoteAddress(long address) {
        return putLong(ugni.VGN_POST_REMOTE_ADDR, address);
    }

    /** Bytes. */
    public PostDescriptorFlyweight length(long length) {
        return putLong(ugni.VGN_POST_LENGTH, length);
    }

    /** Bytes. */
    public long length() {
        return buffer.getLong(at + ugni.VGN_POST_LENGTH);
    }

    /**
     * The flag that follows the bytes.
     *
     * @param value 8 bytes of a put, the lower 4 of a get or an atomic command
     * @param address at the peer, in the registration of the put; of other types not looked at
     */
    public PostDescriptorFlyweight syncFlag(long value, long address) {
        putLong(ugni.VGN_POST_SYNC_VALUE, value);
        return putLong(ugni.VGN_POST_SYNC_ADDR, address);
    }

    /** An {@link AtomicCommand} with its operands. */
    public PostDescriptorFlyweight atomic(int command, long first, long second) {
        putInt(ugni.VGN_POST_AMO_CMD, command);
        putLong(ugni.VGN_POST_FIRST, first);
        return putLong(ugni.VGN_POST_SECOND, second);
    }

    int atomicCommand() {
        return buffer.getInt(at + ugni.VGN_POST_AMO_CMD);
    }

    /**
     * What a leaf gives to a reduction.
     *
     * @param command {@code GNI_FMA_CE_...}, the same for all leaves
     * @param reductionId compared among leaves
     */
    public PostDescriptorFlyweight collective(
            int command, int mode, long reductionId, long first, long second) {
        putInt(ugni.VGN_POST_CE_CMD, command);
        putInt(ugni.VGN_POST_CE_MODE, mode);
        putLong(ugni.VGN_POST_CE_ID, reductionId);
        putLong(ugni.VGN_POST_FIRST, first);
        return putLong(ugni.VGN_POST_SECOND, second);
    }

    /** The lower 48 bits go into the peer's queue. */
    public PostDescriptorFlyweight cqWriteValue(long value) {
        return putLong(ugni.VGN_POST_CQWRITE, value);
    }

    /** Where events of an RDMA post go; null: to the endpoint's queue. */
    public PostDescriptorFlyweight sourceQueue(CompletionQueue queue) {
        pool().checkIdle(index);
        pool.source(index, queue);
        return this;
    }

    void queueHandle(long handle) {
        buffer.putLong(at + ugni.VGN_POST_SRC_CQ, handle);
    }

    private PostDescriptorFlyweight putLong(int offset, long value) {
        pool().checkIdle(index);
        buffer.putLong(at + offset, value);
        return this;
    }

    private PostDescriptorFlyweight putInt(int offset, int value) {
        pool().checkIdle(index);
        buffer.putInt(at + offset, value);
        return this;
    }

    private PostDescriptorFlyweight putShort(int offset, int value) {
        pool().checkIdle(index);
        buffer.putShort(at + offset, (short) value);
        return this;
    }

    @Override
    public String toString() {
        return pool == null ? "no descriptor" : "descriptor " + index + " of " + pool;
    }
}
