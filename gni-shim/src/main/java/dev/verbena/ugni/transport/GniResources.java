package dev.verbena.ugni.transport;

import dev.verbena.transport.TransportException;
import dev.verbena.ugni.UgniCode;
import dev.verbena.ugni.bindings.ugni;
import java.util.concurrent.atomic.AtomicLong;
import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The uGNI objects of one transport: a domain attached to device 0, a source queue for operations,
 * another for control records, a destination queue for everything that peers write to us, and the
 * control mailbox. One thread, but for {@link #ring}.
 */
final class GniResources {
    private static final int PORT_TRIES = 64;
    private static final long PID_FACTOR = 2_654_435_761L;
    private static final long PORT_STEP = 7919;
    private static final AtomicLong OPENED = new AtomicLong();
    private static final int SPARE_EVENTS = 512;
    private static final int CONTROL_EVENTS = 64;
    private static final int SCRATCH = 256;
    private static final int HANDLE_LENGTH = 16;
    private static final int PIECE = 8;

    final String host;
    final String name;
    final int ptag;
    final long cookie;
    final int instance;
    final int address;
    final long incarnation;
    final long nic;
    final long sourceQueue;
    final long controlQueue;
    final long eventQueue;

    /** For what calls answer through memory; the first 16 bytes are used by methods of this. */
    final UnsafeBuffer scratch;

    final ControlMailbox control;

    /** For puts of single words that nobody waits for. */
    private final Descriptor word;

    private final UnsafeBuffer wordBytes;
    private final UnsafeBuffer ownMemory;
    private final long cdm;
    private boolean isClosed;

    GniResources(GniResourcesContext context) {
        this.host = context.host();
        this.ptag = context.ptag();
        this.cookie = context.cookie();
        this.scratch = new UnsafeBuffer(BufferUtil.allocateDirectAligned(SCRATCH, SCRATCH));
        Attached attached = context.port() == 0 ? attachSomewhere() : attach(context.port());
        this.cdm = attached.cdm;
        this.nic = attached.nic;
        this.instance = attached.port;
        this.name = context.name();
        try {
            this.address = scratch.getInt(0);
            Gni.must("GNI_ExtIncarnation", ugni.vgn_ext_incarnation(nic, at(0)));
            this.incarnation = scratch.getLong(0);
            this.sourceQueue = queue(context.outstandingMax() + SPARE_EVENTS);
            this.controlQueue = queue(CONTROL_EVENTS);
            this.eventQueue =
                    queue(
                            2 * context.receiveSlotCount()
                                    + 4 * context.connectionsMax()
                                    + SPARE_EVENTS);
            this.ownMemory =
                    new UnsafeBuffer(
                            BufferUtil.allocateDirectAligned(
                                    Descriptor.STRIDE + Long.BYTES, SCRATCH));
            this.word = new Descriptor(ownMemory.addressOffset());
            this.wordBytes = new UnsafeBuffer(ownMemory, Descriptor.STRIDE, Long.BYTES);
            this.control = new ControlMailbox(this);
        } catch (RuntimeException e) {
            ugni.vgn_cdm_destroy(cdm);
            throw e;
        }
    }

    private record Attached(long cdm, long nic, int port) {}

    /**
     * Takes a port of our own choice: two processes that begin together begin at different ones.
     */
    private Attached attachSomewhere() {
        long first = ProcessHandle.current().pid() * PID_FACTOR;
        for (int tries = 1; ; tries++) {
            long next = first + OPENED.getAndIncrement() * PORT_STEP;
            try {
                return attach((int) Math.floorMod(next, (long) GniAddress.PORT_MAX) + 1);
            } catch (GniFailure e) {
                if (e.code != ugni.GNI_RC_INVALID_STATE || tries == PORT_TRIES) {
                    throw e;
                }
            }
        }
    }

    private Attached attach(int port) {
        long made = Gni.must("GNI_CdmCreate", ugni.vgn_cdm_create(port, ptag, (int) cookie, 0));
        try {
            long handle =
                    Gni.must(
                            "GNI_CdmAttach as instance " + port,
                            ugni.vgn_cdm_attach(made, 0, at(0)));
            return new Attached(made, handle, port);
        } catch (GniFailure e) {
            ugni.vgn_cdm_destroy(made);
            throw e;
        }
    }

    private long queue(int entries) {
        return Gni.must("GNI_CqCreate", ugni.vgn_cq_create(nic, entries, 0));
    }

    /** Address of an offset in {@link #scratch}. */
    long at(int offset) {
        return scratch.addressOffset() + offset;
    }

    // ---- memory ----

    /** Zeroed memory that peers map; freed with {@link #free} or with the NIC. */
    long allocate(long length) {
        return Gni.must("GNI_ExtMemAlloc", ugni.vgn_ext_alloc(nic, length));
    }

    void free(long memory) {
        Gni.must("GNI_ExtMemFree", ugni.vgn_ext_free(nic, memory));
    }

    /** Memory of the transport's own, registered; what peers write there is told in the queue. */
    Memory memory(int length, boolean isTold) {
        long memory = allocate(length);
        register(memory, length, 0, isTold);
        return new Memory(memory, handleLow(), handleHigh(), new UnsafeBuffer(memory, length));
    }

    /** Registers a range; the memory handle is {@link #handleLow} and {@link #handleHigh} then. */
    void register(long memory, long length, int flags, boolean isTold) {
        Gni.must(
                "GNI_MemRegister",
                ugni.vgn_mem_register(nic, memory, length, isTold ? eventQueue : 0, flags, at(0)));
    }

    long handleLow() {
        return scratch.getLong(0);
    }

    long handleHigh() {
        return scratch.getLong(HANDLE_LENGTH - PIECE);
    }

    /**
     * Nobody reaches it from now on; one that is deregistered already is left alone.
     *
     * @throws GniFailure if a peer that began before is still inside: its memory must stay. Another
     *     call goes on waiting
     */
    void deregister(long low, long high) {
        scratch.putLong(0, low);
        scratch.putLong(HANDLE_LENGTH - PIECE, high);
        long result = ugni.vgn_mem_deregister(nic, at(0));
        if (result == -ugni.GNI_RC_TIMEOUT) {
            throw new GniFailure(
                    UgniCode.failure("GNI_MemDeregister", result), ugni.GNI_RC_TIMEOUT);
        }
    }

    // ---- endpoints ----

    /** Bound; its events at the peer carry {@code event}. */
    long endpoint(long queue, int peerAddress, int peerInstance, int event) {
        long endpoint = Gni.must("GNI_EpCreate", ugni.vgn_ep_create(nic, queue));
        Gni.must("GNI_EpBind", ugni.vgn_ep_bind(endpoint, peerAddress, peerInstance));
        Gni.must("GNI_EpSetEventData", ugni.vgn_ep_event_data(endpoint, 0, event));
        return endpoint;
    }

    /** Puts 8 bytes and an event; whether they arrive is not told. Any answer below 0: not now. */
    int putWord(long endpoint, long remote, long low, long high, long value) {
        wordBytes.putLong(0, value);
        word.kind(ugni.GNI_POST_FMA_PUT, ugni.GNI_CQMODE_REMOTE_EVENT)
                .local(wordBytes.addressOffset(), 0, 0)
                .remote(remote, low, high)
                .length(Long.BYTES);
        return ugni.vgn_post_fma(endpoint, word.address);
    }

    // ---- peers ----

    /** State of an instance; its incarnation is {@link #peerIncarnation} then. */
    int peerState(int peerAddress, int peerInstance) {
        scratch.putLong(0, 0);
        int state = ugni.vgn_ext_peer_state(nic, peerAddress, peerInstance, at(0));
        return state < 0 ? ugni.GNI_EXT_PEER_DEAD : state;
    }

    long peerIncarnation() {
        return scratch.getLong(0);
    }

    void pin(int peerAddress, int peerInstance, long pinned) {
        ugni.vgn_ext_peer_pin(nic, peerAddress, peerInstance, pinned);
    }

    void forget(int peerAddress, int peerInstance) {
        ugni.vgn_ext_peer_forget(nic, peerAddress, peerInstance);
    }

    // ---- sleeping ----

    /**
     * Number to pass to {@link #await}.
     *
     * @throws TransportException naming a file of this NIC's memory that somebody cut
     */
    int bell() {
        long bell = ugni.vgn_ext_doorbell(nic);
        if (bell < 0) {
            throw new TransportException(UgniCode.failure("GNI_ExtDoorbell", bell));
        }
        return (int) bell;
    }

    void await(int bell, long timeoutNs) {
        ugni.vgn_ext_wait(nic, bell, timeoutNs);
    }

    /** Ends a present {@link #await}, or the next. Any thread. */
    synchronized void ring() {
        if (!isClosed) {
            ugni.vgn_ext_ring(nic);
        }
    }

    /** Closes everything; when nobody is in another method but {@link #ring}. */
    synchronized void close() {
        if (!isClosed) {
            isClosed = true;
            ugni.vgn_cdm_destroy(cdm);
        }
    }
}
