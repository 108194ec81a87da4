package dev.verbena.ugni;

import dev.verbena.ugni.bindings.ugni;
import java.lang.ref.Reference;
import org.agrona.DirectBuffer;

/**
 * The near end of a way to one peer: posts, short messages and datagrams go through it. Nothing is
 * exchanged by binding it. C: {@code gni_ep_handle_t} (specification, section on endpoints).
 *
 * <p>Posts answer 0, or a negated {@link UgniCode} if nothing was started, and allocate nothing:
 * ERROR_RESOURCE (the source queue has no room: take events and try again), INVALID_PARAM,
 * ALIGNMENT_ERROR, PERMISSION_ERROR; INVALID_STATE for a descriptor that is in flight. What the
 * peer refuses shows in the event.
 *
 * <p>Threads: the domain's.
 */
public final class Endpoint extends UgniObject {
    private static final int EVENTS_HERE =
            PostDescriptorFlyweight.LOCAL_EVENT | PostDescriptorFlyweight.GLOBAL_EVENT;

    private final long handle;
    private final CompletionQueue source;
    private final DatagramSlots datagrams;
    private ShortMessageMailbox mailbox;
    private boolean isBound;

    Endpoint(Nic owner, long handle, CompletionQueue source) {
        super(owner);
        this.handle = handle;
        this.source = source;
        this.datagrams = new DatagramSlots(owner);
        if (source != null) {
            source.use(1);
        }
    }

    /** The C handle. */
    public long handle() {
        return handle;
    }

    /**
     * Names the peer. C: {@code GNI_EpBind}.
     *
     * @param address as of the peer's {@link Nic#address}
     * @param instance as of the peer's {@link Nic#instance} for datagrams and shared message
     *     queues; all else goes by its memory handles, and this is only what events say
     * @throws UgniException INVALID_PARAM if it is bound already
     */
    public Endpoint bind(int address, int instance) {
        checkOpen();
        check("GNI_EpBind", ugni.vgn_ep_bind(handle, address, instance));
        isBound = true;
        return this;
    }

    /**
     * Forgets the peer, and the mailbox. C: {@code GNI_EpUnbind}.
     *
     * @throws UgniException NOT_DONE while posts, messages or datagrams are under way
     */
    public void unbind() {
        checkOpen();
        checkNotUsed();
        check("GNI_EpUnbind", ugni.vgn_ep_unbind(handle));
        isBound = false;
        endMailbox();
    }

    /** Whether it has a peer. */
    public boolean isBound() {
        return isBound;
    }

    /** Whether nothing is under way. C: {@code GNI_EpIdle}. */
    public boolean isIdle() {
        checkOpen();
        int result = ugni.vgn_ep_idle(handle);
        if (result == -UgniCode.NOT_DONE) {
            return false;
        }
        check("GNI_EpIdle", result);
        return !isUsed();
    }

    /**
     * What events of later posts say in place of instances. C: {@code GNI_EpSetEventData}.
     *
     * @param local in this process's events; else the peer's instance
     * @param remote in the peer's events; else this process's instance
     */
    public Endpoint eventData(int local, int remote) {
        checkOpen();
        check("GNI_EpSetEventData", ugni.vgn_ep_event_data(handle, local, remote));
        return this;
    }

    /**
     * Gives it a place in a tree of collective engines. C: {@code GNI_EpSetCeAttr}.
     *
     * @param engine number of the channel at the other end; of a child process it is not looked at
     * @param child our number there, or the child's here: 0 to 31
     * @param kind {@link CollectiveEngine#PROCESS} or {@link CollectiveEngine#CHANNEL}
     */
    public Endpoint collective(int engine, int child, int kind) {
        checkOpen();
        check("GNI_EpSetCeAttr", ugni.vgn_ep_ce(handle, engine, child, kind));
        return this;
    }

    /** Starts an RDMA put or get. C: {@code GNI_PostRdma}. */
    public int postRdma(PostDescriptorFlyweight descriptor) {
        int refused = prepare(descriptor);
        return refused != 0
                ? refused
                : posted(descriptor, ugni.vgn_post_rdma(handle, descriptor.address()));
    }

    /** Does an FMA put or get, or an atomic command. C: {@code GNI_PostFma}. */
    public int postFma(PostDescriptorFlyweight descriptor) {
        int refused = prepare(descriptor);
        return refused != 0
                ? refused
                : posted(descriptor, ugni.vgn_post_fma(handle, descriptor.address()));
    }

    /** Writes a value into the queue of the peer's registration. C: {@code GNI_PostCqWrite}. */
    public int postCqWrite(PostDescriptorFlyweight descriptor) {
        int refused = prepare(descriptor);
        return refused != 0
                ? refused
                : posted(descriptor, ugni.vgn_post_cqwrite(handle, descriptor.address()));
    }

    private int prepare(PostDescriptorFlyweight descriptor) {
        checkOpen();
        return descriptor.pool().prepare(descriptor, this);
    }

    private int posted(PostDescriptorFlyweight descriptor, int result) {
        if (result == 0) {
            int events = Integer.bitCount(descriptor.cqMode() & EVENTS_HERE);
            descriptor.pool().posted(descriptor.index(), events, this);
        }
        return result;
    }

    /**
     * Offers up to {@link Datagram#LENGTH_MAX} bytes to the peer, in exchange for the ones that it
     * offers. Copies. C: {@code GNI_EpPostData}.
     *
     * @throws UgniException INVALID_PARAM for an endpoint without a peer; ERROR_RESOURCE while
     *     another one towards this peer is under way
     */
    public void postData(DirectBuffer bytes, int offset, int length) {
        postData(false, 0, bytes, offset, length);
    }

    /**
     * As above, with a number to ask for it. An endpoint without a peer takes any peer. C: {@code
     * GNI_EpPostDataWId}.
     *
     * @param id not -1
     */
    public void postData(long id, DirectBuffer bytes, int offset, int length) {
        postData(true, id, bytes, offset, length);
    }

    private void postData(boolean hasId, long id, DirectBuffer bytes, int offset, int length) {
        checkOpen();
        if (length > Datagram.LENGTH_MAX) {
            throw new IllegalArgumentException(
                    "a datagram of " + length + " bytes is longer than " + Datagram.LENGTH_MAX);
        }
        long in = owner.readable(bytes, offset, length, 0);
        long out = datagrams.add();
        int result =
                hasId
                        ? ugni.vgn_data_post_id(handle, in, length, out, Datagram.LENGTH_MAX, id)
                        : ugni.vgn_data_post(handle, in, length, out, Datagram.LENGTH_MAX);
        Reference.reachabilityFence(bytes);
        if (result != 0) {
            datagrams.spare(out);
        } else {
            datagrams.posted(hasId, id, !isBound, out);
        }
        check(hasId ? "GNI_EpPostDataWId" : "GNI_EpPostData", result);
    }

    /**
     * How far the oldest datagram is; takes it when it is finished. C: {@code GNI_EpPostDataTest}.
     *
     * @param into gets state, peer and bytes
     * @return a {@link DatagramState}
     */
    public int testData(Datagram into) {
        long words = words();
        return took("GNI_EpPostDataTest", ugni.vgn_data_test(handle, words), false, 0, into);
    }

    /** As above, the oldest one of a number. C: {@code GNI_EpPostDataTestById}. */
    public int testData(long id, Datagram into) {
        long words = words();
        return took(
                "GNI_EpPostDataTestById", ugni.vgn_data_test_id(handle, id, words), true, id, into);
    }

    /**
     * As {@link #testData(Datagram)}, and sleeps while it is pending. C: {@code
     * GNI_EpPostDataWait}.
     *
     * @param timeoutMs milliseconds, at least 1; -1: no limit
     * @return a {@link DatagramState}; {@link DatagramState#PENDING} when the time was over
     */
    public int awaitData(int timeoutMs, Datagram into) {
        long words = words();
        return took(
                "GNI_EpPostDataWait", ugni.vgn_data_wait(handle, timeoutMs, words), false, 0, into);
    }

    /** As above, the oldest one of a number. C: {@code GNI_EpPostDataWaitById}. */
    public int awaitData(long id, int timeoutMs, Datagram into) {
        long words = words();
        return took(
                "GNI_EpPostDataWaitById",
                ugni.vgn_data_wait_id(handle, id, timeoutMs, words),
                true,
                id,
                into);
    }

    private long words() {
        checkOpen();
        return owner.scratch().addressOffset();
    }

    private int took(String call, int result, boolean hasId, long id, Datagram into) {
        if (result == -UgniCode.TIMEOUT) {
            into.state(DatagramState.PENDING);
            return DatagramState.PENDING;
        }
        if (result == -UgniCode.NO_MATCH) {
            into.state(DatagramState.NONE);
            return DatagramState.NONE;
        }
        check(call, result);
        into.state(result);
        if (result != DatagramState.PENDING) {
            into.peer(owner.scratch().getInt(0), owner.scratch().getInt(Integer.BYTES));
        }
        if (DatagramSlots.isFinished(result)) {
            datagrams.finished(hasId, id, result == DatagramState.COMPLETED ? into : null);
        }
        return result;
    }

    /**
     * Gives the oldest datagram up. One towards a peer is then {@link DatagramState#TERMINATED}. C:
     * {@code GNI_EpPostDataCancel}.
     *
     * @return false if there is none that could be given up
     */
    public boolean cancelData() {
        checkOpen();
        return cancelled("GNI_EpPostDataCancel", ugni.vgn_data_cancel(handle), false, 0);
    }

    /** As above, the oldest one of a number. C: {@code GNI_EpPostDataCancelById}. */
    public boolean cancelData(long id) {
        checkOpen();
        return cancelled("GNI_EpPostDataCancelById", ugni.vgn_data_cancel_id(handle, id), true, id);
    }

    private boolean cancelled(String call, int result, boolean hasId, long id) {
        if (result == -UgniCode.NO_MATCH) {
            return false;
        }
        check(call, result);
        datagrams.cancelled(hasId, id);
        return true;
    }

    /**
     * Makes two mailboxes a channel for short messages: the local one, which the peer writes, and
     * the peer's. It lasts until the endpoint is unbound or closed; the registration that the local
     * one lies in cannot be closed before. C: {@code GNI_SmsgInit}.
     *
     * @param local made by {@link ShortMessageAttributes#local}
     * @param remote as the peer sent them; type, credits and length must be the same
     * @throws UgniException INVALID_STATE for an endpoint without a peer, or with a mailbox;
     *     INVALID_PARAM for attributes that do not fit
     */
    public ShortMessageMailbox mailbox(
            ShortMessageAttributes local, ShortMessageAttributes remote) {
        checkOpen();
        MemoryRegistration registration = local.registration(owner);
        check("GNI_SmsgInit", ugni.vgn_smsg_init(handle, local.address(), remote.address()));
        Reference.reachabilityFence(remote);
        mailbox = new ShortMessageMailbox(this, registration, local.messageLengthMax());
        return mailbox;
    }

    private void endMailbox() {
        if (mailbox != null) {
            mailbox.end();
            mailbox = null;
        }
    }

    private void check(String call, int result) {
        UgniNative.check(call, result, this);
    }

    /** C: {@code GNI_EpDestroy}. */
    @Override
    void destroy() {
        check("GNI_EpDestroy", ugni.vgn_ep_destroy(handle));
        datagrams.free();
        endMailbox();
        if (source != null) {
            source.use(-1);
        }
    }

    @Override
    void retireWithDomain() {
        endMailbox();
        super.retireWithDomain();
    }

    @Override
    public String toString() {
        return "endpoint 0x" + Long.toHexString(handle);
    }
}
