package dev.verbena.ofi.transport;

import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.ofi.AddressVector;
import dev.verbena.ofi.CompletionQueue;
import dev.verbena.ofi.Domain;
import dev.verbena.ofi.Endpoint;
import dev.verbena.ofi.Fabric;
import dev.verbena.ofi.FabricInfo;
import dev.verbena.ofi.MemoryRegion;
import dev.verbena.ofi.OfiException;
import dev.verbena.ofi.bindings.fabric;
import dev.verbena.transport.core.Turns;
import java.security.SecureRandom;
import java.util.ArrayDeque;
import java.util.Deque;
import org.agrona.CloseHelper;
import org.agrona.concurrent.SystemNanoClock;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * What one transport has of libfabric, and its own memory: contexts, packets of operations and
 * control records, receive slots.
 *
 * <pre>
 * scratch | operations: context, packet | control records: context, packet | slots: context, bytes
 * </pre>
 */
final class OfiResources implements AutoCloseable {
    static final int CONTEXT = fabric.VFI_CONTEXT_BYTES;

    /** Bytes of an operation's packet: a header and a short message. */
    static final int PACKET = 256;

    static final int CONTROLS = 64;

    /** Receive slots beside those that credits promise: for records, and for slots posted late. */
    static final int SPARE_SLOTS = 64;

    static final int ENTRIES = 64;
    static final int ERROR_AT = ENTRIES * fabric.VFI_CQ_BYTES;

    /** A record that is injected. */
    static final int RECORD_AT = ERROR_AT + 64;

    /** A message that is injected. */
    static final int MESSAGE_AT = RECORD_AT + 64;

    private static final int SCRATCH = 4096;
    private static final int CONTROL = 512;
    private static final int LINE = 64;
    private static final int NO_DESCRIPTOR = -1;
    private static final long LOOK_MAX_NS = 2_000_000L;

    /** What the provider has read from its sockets, but not reported, wakes nobody. */
    private static final long SOCKETS_MAX_NS = 32_000_000L;

    private static final int EADDRINUSE = 98;

    /** Endpoints that are opened until TCP has one's port free, too. */
    private static final int BEACON_TRIES = 3;

    private static final long OWN_ACCESS = MemoryRegion.SEND | MemoryRegion.RECEIVE;

    final FabricInfo info;
    final long incarnation;
    final byte[] name;
    final int slotCount;
    final int workCount;
    final UnsafeBuffer scratch;

    /** What may be called of libfabric. */
    final FabricCalls calls;

    private final SecureRandom random = new SecureRandom();
    private final Deque<AutoCloseable> opened = new ArrayDeque<>();
    private final OffHeapMemory memory;
    private final long worksAt;
    private final long controlsAt;
    private final long slotsAt;
    private final long slotStride;
    private final AddressVector peers;
    private final long endpointHandle;
    private final long ownDescriptor;
    private final Sleep sleep;

    /** Null: one sleeps elsewhere. */
    private final ProviderSockets sockets;

    private final int descriptor;
    private final int bell;
    private int beacon = NO_DESCRIPTOR;

    /** How the owner sleeps while nothing arrives. */
    enum Sleep {
        /** At the TCP sockets of the provider; of one that has none at the queue. */
        SOCKETS,
        /** At the completion queue, if it has a descriptor. */
        QUEUE,
        /** For a short time. */
        LOOK
    }

    /**
     * Closes the info too, also if it fails.
     *
     * @param incarnation 0: any
     * @param sleep how one is to sleep
     */
    OfiResources(
            FabricInfo info,
            int workCount,
            int slots,
            int messageLengthMax,
            long incarnation,
            Sleep sleep) {
        this.info = open(info);
        this.workCount = workCount;
        this.slotCount = slots + SPARE_SLOTS;
        this.slotStride = CONTEXT + up(Math.max(Wire.HEADER + messageLengthMax, CONTROL));
        this.sleep = sleep == Sleep.SOCKETS && !hasFindableSockets() ? Sleep.QUEUE : sleep;
        this.incarnation = incarnation != 0 ? incarnation : random.nextLong() & Long.MAX_VALUE | 1;
        try {
            long works = (long) workCount * (CONTEXT + PACKET);
            long controls = (long) CONTROLS * (CONTEXT + CONTROL);
            memory =
                    open(
                            OffHeapMemories.allocate(
                                    SCRATCH + works + controls + slotCount * slotStride));
            worksAt = memory.address() + SCRATCH;
            controlsAt = worksAt + works;
            slotsAt = controlsAt + controls;
            scratch = new UnsafeBuffer(memory.address(), SCRATCH);
            Fabric net = open(Fabric.open(info));
            Domain domain = open(net.domain(info));
            peers = open(domain.addressVector(LINE));
            CompletionQueue queue = open(queue(domain));
            Endpoint endpoint = endpoint(domain, queue);
            endpointHandle = endpoint.handle();
            calls =
                    new FabricCalls(
                            new Turns(),
                            info.isSerial(),
                            net.handle(),
                            domain.handle(),
                            queue.handle(),
                            endpointHandle);
            name = endpoint.name();
            if (name.length > ControlRecord.NAME_MAX) {
                throw new OfiFailure("the endpoint's name has " + name.length + " bytes", null);
            }
            ownDescriptor = registerOwn();
            sockets = this.sleep == Sleep.SOCKETS ? open(new ProviderSockets(name, nowNs())) : null;
            descriptor = descriptor(queue);
            bell = newBell();
        } catch (RuntimeException e) {
            closeAfter(e);
            throw e;
        }
    }

    /** What cannot be closed after a failure (an endpoint that is not enabled) must not hide it. */
    private void closeAfter(RuntimeException failure) {
        while (!opened.isEmpty()) {
            try {
                opened.pop().close();
            } catch (Exception e) {
                failure.addSuppressed(e);
            }
        }
    }

    private static long up(long length) {
        return length + LINE - 1 & -LINE;
    }

    private <T extends AutoCloseable> T open(T object) {
        opened.push(object);
        return object;
    }

    /** With a descriptor to sleep at, if that is wanted and the provider has it. */
    private CompletionQueue queue(Domain domain) {
        int size = 2 * (workCount + slotCount);
        if (sleep == Sleep.QUEUE) {
            try {
                return domain.completionQueue(size, true);
            } catch (OfiException e) {
                // this provider has none
            }
        }
        return domain.completionQueue(size, false);
    }

    private int descriptor(CompletionQueue queue) {
        return switch (sleep) {
            case SOCKETS -> sockets.descriptor();
            case QUEUE -> fabric.vfi_cq_descriptor(queue.handle());
            case LOOK -> NO_DESCRIPTOR;
        };
    }

    private static long nowNs() {
        return SystemNanoClock.INSTANCE.nanoTime();
    }

    private Endpoint endpoint(Domain domain, CompletionQueue queue) {
        for (int tries = 1; ; tries++) {
            Endpoint made = open(domain.endpoint(queue, peers, null));
            byte[] at = made.name();
            if (!needsBeacon()) {
                return made;
            }
            scratch.putBytes(0, at);
            int socket = fabric.vfi_beacon(scratch.addressOffset(), at.length);
            if (socket >= 0) {
                open(() -> fabric.vfi_close_descriptor(socket));
                beacon = socket;
                return made;
            }
            if (socket != -EADDRINUSE || tries == BEACON_TRIES) {
                throw new OfiFailure(
                        "TCP socket at %s, by which peers learn that the endpoint is there: %s"
                                .formatted(
                                        OfiAddress.of(at, true, "", shortName(info.provider()), 0)
                                                .uri(),
                                        fabric.vfi_error_text(socket).getString()),
                        null);
            }
            opened.pop();
            made.close();
        }
    }

    private long registerOwn() {
        if (!info.needsLocalRegistration()) {
            return 0;
        }
        long mr = register(memory.address(), memory.length(), OWN_ACCESS, randomKey());
        open(() -> deregister(mr));
        return fabric.vfi_mr_descriptor(mr);
    }

    /** Something to sleep at that {@link #ring(int)} ends; one for each thread that sleeps. */
    int newBell() {
        int made = fabric.vfi_bell();
        if (made < 0) {
            throw new OfiFailure("eventfd: errno " + -made, null);
        }
        open(() -> fabric.vfi_close_descriptor(made));
        return made;
    }

    boolean hasSocketAddresses() {
        return info.hasSocketAddresses();
    }

    /**
     * Whether the provider reports nothing of an endpoint that is gone: a TCP socket at its address
     * shows that it is there. The operating system closes it with the process.
     */
    private boolean needsBeacon() {
        return info.provider().startsWith("verbs") && hasSocketAddresses();
    }

    /** Peers that have looked for this endpoint may go. */
    void drainBeacon() {
        if (beacon != NO_DESCRIPTOR) {
            fabric.vfi_beacon_drain(beacon);
        }
    }

    private boolean hasFindableSockets() {
        return info.provider().startsWith("tcp") && hasSocketAddresses();
    }

    /** Whether a TCP connection to an endpoint's address tells that somebody is there. */
    boolean isSeenByTcp() {
        String provider = info.provider();
        return needsBeacon()
                || provider.startsWith("tcp")
                || provider.startsWith("net")
                || provider.startsWith("sockets");
    }

    /** Short name of the provider, as URIs have it. */
    static String shortName(String provider) {
        return provider.replaceFirst(";ofi_rx[md]$", "").replace(';', '+');
    }

    // ---- peers, memory ----

    long insert(byte[] peer) {
        if (sockets != null) {
            sockets.add(peer, nowNs());
        }
        return calls.insert(peers, peer);
    }

    /** A number that nobody guesses. */
    long randomKey() {
        return random.nextLong() & Long.MAX_VALUE;
    }

    /**
     * Registers memory.
     *
     * @throws OfiFailure if that is refused
     */
    long register(long address, long length, long access, long key) {
        long bound = info.bindsMemoryToEndpoints() ? endpointHandle : 0;
        long mr = calls.register(bound, address, length, access, key);
        if (mr < 0) {
            throw new OfiFailure(
                    "fi_mr_reg: " + fabric.vfi_error_text((int) -mr).getString(), null);
        }
        return mr;
    }

    void deregister(long mr) {
        calls.deregister(mr);
    }

    /** What operations name memory by that was registered; of the transport's own without. */
    long ownDescriptor() {
        return ownDescriptor;
    }

    // ---- memory of operations, control records and slots ----

    long workContext(int work) {
        return worksAt + (long) work * (CONTEXT + PACKET);
    }

    long controlContext(int control) {
        return controlsAt + (long) control * (CONTEXT + CONTROL);
    }

    long slotContext(int slot) {
        return slotsAt + slot * slotStride;
    }

    int slotLength() {
        return (int) (slotStride - CONTEXT);
    }

    /** Number of the operation with this context, or -1. */
    int workOf(long context) {
        return context >= worksAt && context < controlsAt
                ? (int) ((context - worksAt) / (CONTEXT + PACKET))
                : -1;
    }

    /** Number of the control record with this context, or -1. */
    int controlOf(long context) {
        return context >= controlsAt && context < slotsAt
                ? (int) ((context - controlsAt) / (CONTEXT + CONTROL))
                : -1;
    }

    /** Number of the receive slot with this context, or -1. */
    int slotOf(long context) {
        return context >= slotsAt && context < slotsAt + slotCount * slotStride
                ? (int) ((context - slotsAt) / slotStride)
                : -1;
    }

    /** View of one receive slot. */
    UnsafeBuffer slotView(int slot) {
        return new UnsafeBuffer(slotContext(slot) + CONTEXT, slotLength());
    }

    /** View of one control record. */
    UnsafeBuffer controlView(int control) {
        return new UnsafeBuffer(controlContext(control) + CONTEXT, CONTROL);
    }

    /** View of one operation's packet. */
    UnsafeBuffer workView(int work) {
        return new UnsafeBuffer(workContext(work) + CONTEXT, PACKET);
    }

    // ---- sleeping ----

    /** Whether one can sleep until something arrives; else one looks now and then. */
    boolean hasDescriptor() {
        return descriptor >= 0;
    }

    /** Longest sleep, in nanoseconds: after it one looks whether something has arrived. */
    long sleepMaxNs() {
        if (sockets != null && sockets.found() > 0) {
            return SOCKETS_MAX_NS;
        }
        return sockets != null || !hasDescriptor() ? LOOK_MAX_NS : Long.MAX_VALUE;
    }

    /** Whether the queue is empty, and what arrives from now on ends a sleep. */
    boolean maySleep() {
        if (sockets != null) {
            return sockets.isQuiet(nowNs());
        }
        return !hasDescriptor() || calls.maySleep();
    }

    /**
     * Sleeps until something arrives, the bell rings or the time is over. Any thread, after {@link
     * #maySleep}.
     *
     * @return whether something may have arrived
     */
    boolean sleep(int atBell, long ns) {
        return fabric.vfi_sleep(descriptor, atBell, ns) != 0;
    }

    /** The owner's sleep. */
    void await(long ns) {
        if (maySleep()) {
            sleep(bell, ns);
        }
    }

    void ring() {
        ring(bell);
    }

    void ring(int atBell) {
        fabric.vfi_bell_ring(atBell);
    }

    @Override
    public void close() {
        while (!opened.isEmpty()) {
            CloseHelper.close(opened.pop());
        }
    }
}
