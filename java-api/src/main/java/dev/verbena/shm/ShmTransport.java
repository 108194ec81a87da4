package dev.verbena.shm;

import dev.verbena.memory.Leaks;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.softnic.bindings.Layout;
import dev.verbena.softnic.bindings.softnic;
import dev.verbena.transport.Capability;
import dev.verbena.transport.Operation;
import dev.verbena.transport.RemoteDescriptor;
import dev.verbena.transport.Status;
import dev.verbena.transport.TransferVector;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportException;
import dev.verbena.transport.TransportHandler;
import dev.verbena.transport.TransportLimits;
import java.net.URI;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.agrona.DirectBuffer;
import org.agrona.UnsafeApi;
import org.agrona.collections.Int2ObjectHashMap;

/**
 * One software NIC with the shm personality. Every operation is done when its call returns; {@code
 * FENCE} therefore has nothing left to do.
 */
final class ShmTransport implements Transport {
    /** Messages taken from one ring before the next ring has its turn. */
    private static final int MESSAGES_PER_RING = 16;

    private static final int CLOCK_POLLS_MAX = 256;
    private static final long CLOCK_SHORT_NS = 20_000L;
    private static final long LOOK_MIN_NS = 1_000_000L;
    private static final long LOOK_MAX_NS = 50_000_000L;
    private static final long CLOSE_TIMEOUT_NS = 10_000_000_000L;
    private static final int DEREGISTER_TIMEOUT_MS_MAX = 10_000;

    private static final int SLOT_BITS = 12;
    private static final int INDEX_BITS = 15;
    private static final int SERIAL_SHIFT = SLOT_BITS + INDEX_BITS;

    private final TransportContext context;
    private final TransportLimits limits;
    private final NativeScratch scratch;
    private final CompletionRing completions;
    private final ShmConnections connections;
    private final OwnerGuard guard;
    private final Object closeLock = new Object();
    private final AtomicBoolean isWoken = new AtomicBoolean();
    private final Map<Long, ShmRegion> regions = new ConcurrentHashMap<>();
    private final Int2ObjectHashMap<ShmRegion> regionsByKey = new Int2ObjectHashMap<>();
    private final Leaks.Watch watch;
    private final URI uri;
    private final boolean isBounce;
    private final long shm;
    private final long nic;
    private final long controlBell;
    private final long lookNs;

    private long nextRegionId = 1;
    private long serial;
    private long currentToken;
    private boolean isCurrentRetained;
    private boolean isPolling;
    private int bellSeen;
    private int pollsUntilClock;
    private int clockPolls = 1;
    private long lastClockNs;
    private long lookDueNs;

    private ShmTransport(
            TransportContext context, NativeScratch scratch, long shm, boolean isBounce) {
        this.context = context;
        this.scratch = scratch;
        this.shm = shm;
        this.isBounce = isBounce;
        this.nic = softnic.shm_nic(shm);
        this.controlBell = softnic.snic_area(nic) + Layout.AREA_CONTROL_BELL;
        int connectionsMax = softnic.shm_connections_max(shm);
        this.limits =
                new TransportLimits(
                        context.messageLengthMax(),
                        context.receiveSlotCount(),
                        context.creditsPerConnection(),
                        context.outstandingMax(),
                        connectionsMax,
                        Layout.SHM_PRIVATE_MAX);
        this.completions = new CompletionRing(context.outstandingMax());
        this.connections = new ShmConnections(shm, scratch, completions, context, connectionsMax);
        this.uri =
                new ShmAddress(
                                context.job(),
                                NativeScratch.text(softnic.snic_name(nic), Layout.SNIC_NAME_MAX),
                                softnic.snic_incarnation(nic))
                        .uri();
        this.guard = new OwnerGuard(toString());
        this.lookNs = Math.max(LOOK_MIN_NS, Math.min(LOOK_MAX_NS, context.peerTimeoutNs() / 8));
        this.lookDueNs = lastClockNs = System.nanoTime();
        this.watch = Leaks.watch(this, toString());
    }

    static ShmTransport open(TransportContext context, boolean isBounce) {
        long slots = context.messageLengthMax() + 2L * Layout.SHM_SLOT_HEADER + 64;
        if (slots * context.creditsPerConnection() > 1 << 30) {
            throw new IllegalArgumentException(
                    "creditsPerConnection "
                            + context.creditsPerConnection()
                            + " times messageLengthMax "
                            + context.messageLengthMax()
                            + " is above 1 GiB for each connection");
        }
        NativeScratch scratch = new NativeScratch();
        long options = UnsafeApi.allocateMemory(Layout.OPTIONS_SIZE);
        try {
            UnsafeApi.setMemory(options, Layout.OPTIONS_SIZE, (byte) 0);
            String directory = context.options().get(ShmTransportProvider.DIRECTORY_OPTION);
            String name = context.name().isEmpty() ? null : context.name();
            putString(options + Layout.OPTIONS_DIRECTORY, scratch, directory);
            putString(options + Layout.OPTIONS_JOB, scratch, context.job());
            putString(options + Layout.OPTIONS_NAME, scratch, name);
            putInt(options + Layout.OPTIONS_MESSAGE_MAX, context.messageLengthMax());
            putInt(options + Layout.OPTIONS_CREDITS, context.creditsPerConnection());
            putInt(options + Layout.OPTIONS_CONNECTIONS_MAX, context.connectionsMax());
            putInt(options + Layout.OPTIONS_RECEIVE_SLOTS, context.receiveSlotCount());
            putInt(options + Layout.OPTIONS_FOREIGN, isBounce ? 1 : 0);
            UnsafeApi.putLong(
                    null, options + Layout.OPTIONS_PEER_TIMEOUT_NS, context.peerTimeoutNs());
            int result =
                    softnic.shm_create(options, scratch.result, scratch.why(), Layout.SNIC_WHY_MAX);
            if (result < 0) {
                String why = scratch.explanation();
                scratch.close();
                throw Errno.exception("shm_create", result, why);
            }
            return new ShmTransport(
                    context, scratch, UnsafeApi.getLong(null, scratch.result), isBounce);
        } finally {
            UnsafeApi.freeMemory(options);
        }
    }

    private static void putString(long at, NativeScratch scratch, String text) {
        UnsafeApi.putLong(null, at, scratch.string(text));
    }

    private static void putInt(long at, int value) {
        UnsafeApi.putInt(null, at, value);
    }

    @Override
    public URI uri() {
        return uri;
    }

    @Override
    public long capabilities() {
        long all = Capability.ATOMICS | Capability.PUT_NOTIFY | Capability.FOREIGN_MEMORY;
        return isBounce ? all : all | Capability.APPLICATION_BYPASS;
    }

    @Override
    public TransportLimits limits() {
        return limits;
    }

    @Override
    public String explain() {
        return "shm: software NIC "
                + uri
                + ". Peers are processes of this user on this host. Toolkit memory is mapped by peers"
                + " and reached by plain loads and stores; other memory is reached "
                + (isBounce
                        ? "through a helper thread of its owner (foreignMemory=bounce)."
                        : "by cross-memory attach, one system call each.");
    }

    @Override
    public String toString() {
        return "shm transport " + uri;
    }

    // ---- memory ----

    @Override
    public RegisteredRegion allocate(long length, int rights) {
        enterControl();
        try {
            checkRights(rights);
            if (length < 1) {
                throw new IllegalArgumentException("length " + length + " is below 1");
            }
            int result =
                    softnic.snic_memory_alloc(
                            nic, length, 0, scratch.result, scratch.why(), Layout.SNIC_WHY_MAX);
            if (result < 0) {
                throw Errno.exception(
                        "snic_memory_alloc of " + length + " bytes", result, scratch.explanation());
            }
            long address = UnsafeApi.getLong(null, scratch.result);
            try {
                return register(address, length, rights, null);
            } catch (RuntimeException e) {
                softnic.snic_memory_free(nic, address);
                throw e;
            }
        } finally {
            guard.exit();
        }
    }

    @Override
    public RegisteredRegion register(OffHeapMemory memory, int rights) {
        enterControl();
        try {
            checkRights(rights);
            String user = "region " + nextRegionId + " of " + this;
            memory.acquire(user);
            try {
                return register(memory.address(), memory.length(), rights, memory);
            } catch (RuntimeException e) {
                memory.release(user);
                throw e;
            }
        } finally {
            guard.exit();
        }
    }

    private ShmRegion register(long address, long length, int rights, OffHeapMemory memory) {
        int slot = -1;
        int generation = 0;
        long secret = 0;
        if (rights != 0) {
            int result =
                    softnic.snic_register(
                            nic,
                            address,
                            length,
                            rights,
                            scratch.key,
                            scratch.why(),
                            Layout.SNIC_WHY_MAX);
            if (result < 0) {
                throw Errno.exception(
                        "snic_register of " + length + " bytes", result, scratch.explanation());
            }
            slot = UnsafeApi.getInt(null, scratch.key + Layout.KEY_SLOT);
            generation = UnsafeApi.getInt(null, scratch.key + Layout.KEY_GENERATION);
            secret = UnsafeApi.getLong(null, scratch.key + Layout.KEY_SECRET);
        }
        ShmRegion region =
                new ShmRegion(
                        this,
                        nextRegionId++,
                        address,
                        length,
                        rights,
                        memory,
                        slot,
                        generation,
                        secret);
        regions.put(region.id(), region);
        if (rights != 0) {
            regionsByKey.put(slot, region);
        }
        return region;
    }

    void closeRegion(ShmRegion region) {
        enterControl();
        try {
            if (region.isClosed()) {
                return;
            }
            if (completions.isOutstanding(region.lastCompletion)) {
                throw new IllegalStateException(
                        region + ": operations posted from it are outstanding; poll first");
            }
            if (region.rights() != 0) {
                deregister(region);
                regionsByKey.remove(region.keySlot);
            }
            long address = region.retire();
            regions.remove(region.id());
            if (region.isToolkitMemory()) {
                softnic.snic_memory_free(nic, address);
            } else {
                region.releaseMemory();
            }
        } finally {
            guard.exit();
        }
    }

    private void deregister(ShmRegion region) {
        UnsafeApi.putInt(null, scratch.key + Layout.KEY_SLOT, region.keySlot);
        UnsafeApi.putInt(null, scratch.key + Layout.KEY_GENERATION, region.keyGeneration);
        UnsafeApi.putLong(null, scratch.key + Layout.KEY_SECRET, region.keySecret);
        int timeoutMs =
                (int) Math.min(DEREGISTER_TIMEOUT_MS_MAX, 1 + context.peerTimeoutNs() / 1_000_000L);
        int result = softnic.snic_deregister(nic, scratch.key, timeoutMs);
        if (result < 0) {
            throw Errno.exception(
                    "snic_deregister of " + region,
                    result,
                    "a peer has been inside it for "
                            + timeoutMs
                            + " ms; it may be stopped: try again");
        }
    }

    private static void checkRights(int rights) {
        if ((rights & ~RemoteDescriptor.REMOTE_ALL) != 0) {
            throw new IllegalArgumentException(
                    "rights " + rights + " are outside 0 to " + RemoteDescriptor.REMOTE_ALL);
        }
    }

    // ---- connections ----

    @Override
    public void listen() {
        enterControl();
        try {
            int result = softnic.shm_listen(shm);
            if (result < 0) {
                throw Errno.exception("shm_listen", result, "");
            }
        } finally {
            guard.exit();
        }
    }

    @Override
    public long connect(
            URI peer,
            DirectBuffer privateData,
            int offset,
            int length,
            long context,
            long timeoutNs) {
        ShmAddress address = ShmAddress.of(peer);
        if (length < 0 || length > Layout.SHM_PRIVATE_MAX) {
            throw new IllegalArgumentException(
                    "private data of "
                            + length
                            + " bytes; 0 to "
                            + Layout.SHM_PRIVATE_MAX
                            + " work");
        }
        if (length > 0) {
            privateData.boundsCheck(offset, length);
        }
        if (!guard.enter()) {
            return CLOSED;
        }
        try {
            return connections.connect(address, privateData, offset, length, context, timeoutNs);
        } finally {
            guard.exit();
        }
    }

    @Override
    public int accept(long connection, long context) {
        if (!guard.enter()) {
            return CLOSED;
        }
        try {
            return connections.accept(connection, context);
        } finally {
            guard.exit();
        }
    }

    @Override
    public int reject(long connection) {
        if (!guard.enter()) {
            return CLOSED;
        }
        try {
            return connections.reject(connection);
        } finally {
            guard.exit();
        }
    }

    @Override
    public int disconnect(long connection) {
        if (!guard.enter()) {
            return CLOSED;
        }
        try {
            return connections.disconnect(connection);
        } finally {
            guard.exit();
        }
    }

    // ---- operations ----

    @Override
    public int send(
            long connection,
            RegisteredRegion source,
            long offset,
            long length,
            long context,
            int flags) {
        if (!guard.enter()) {
            return CLOSED;
        }
        try {
            ShmRegion region = own(source);
            long from = region.range(offset, length);
            ShmConnection to = connections.open(connection);
            if (to == null) {
                return NOT_CONNECTED;
            }
            if (length > limits.messageLengthMax() || length > to.messageLengthMax()) {
                return TOO_LONG;
            }
            if (completions.isFull()) {
                return BACK_PRESSURED;
            }
            int result = post(to, Layout.SHM_KIND_MESSAGE, 0, from, (int) length);
            if (result == ACCEPTED) {
                region.lastCompletion =
                        completions.add(connection, Operation.SEND, context, Status.OK, length);
            }
            return result;
        } finally {
            guard.exit();
        }
    }

    /** Posts a message; a peer that wrote nonsense into its credits loses the connection. */
    private int post(ShmConnection to, int kind, int tag, long from, int length) {
        int credit = to.credit();
        if (credit == ShmConnection.POSTED) {
            credit = to.post(kind, tag, from, length);
        }
        if (credit == ShmConnection.CORRUPT) {
            connections.corrupt(to, "its credits make no sense");
            return NOT_CONNECTED;
        }
        return credit == ShmConnection.POSTED ? ACCEPTED : BACK_PRESSURED;
    }

    @Override
    public int put(
            long connection,
            RegisteredRegion source,
            long offset,
            RemoteDescriptor target,
            long targetOffset,
            long length,
            long context,
            int flags) {
        return transfer(
                Operation.PUT, connection, source, offset, target, targetOffset, length, context);
    }

    @Override
    public int get(
            long connection,
            RegisteredRegion destination,
            long offset,
            RemoteDescriptor source,
            long sourceOffset,
            long length,
            long context,
            int flags) {
        return transfer(
                Operation.GET,
                connection,
                destination,
                offset,
                source,
                sourceOffset,
                length,
                context);
    }

    private int transfer(
            int operation,
            long connection,
            RegisteredRegion local,
            long offset,
            RemoteDescriptor remote,
            long remoteOffset,
            long length,
            long context) {
        if (!guard.enter()) {
            return CLOSED;
        }
        try {
            ShmRegion region = own(local);
            long address = region.range(offset, length);
            ShmConnection to = connections.open(connection);
            if (to == null) {
                return NOT_CONNECTED;
            }
            if (completions.isFull()) {
                return BACK_PRESSURED;
            }
            int status =
                    to.transfer(operation == Operation.PUT, address, remote, remoteOffset, length);
            region.lastCompletion =
                    completions.add(
                            connection,
                            operation,
                            context,
                            status,
                            status == Status.OK ? length : 0);
            return ACCEPTED;
        } finally {
            guard.exit();
        }
    }

    @Override
    public int putNotify(
            long connection,
            RegisteredRegion source,
            long offset,
            RemoteDescriptor target,
            long targetOffset,
            long length,
            int tag,
            long context,
            int flags) {
        if (!guard.enter()) {
            return CLOSED;
        }
        try {
            ShmRegion region = own(source);
            long from = region.range(offset, length);
            ShmConnection to = connections.open(connection);
            if (to == null) {
                return NOT_CONNECTED;
            }
            if (completions.isFull()) {
                return BACK_PRESSURED;
            }
            int credit = to.credit();
            if (credit == ShmConnection.NO_CREDIT) {
                return BACK_PRESSURED;
            }
            int status = to.transfer(true, from, target, targetOffset, length);
            if (status == Status.OK) {
                long notify = scratch.notify;
                UnsafeApi.putInt(null, notify + Layout.NOTIFY_SLOT, (int) target.keyLow());
                UnsafeApi.putInt(null, notify + Layout.NOTIFY_GENERATION, target.generation());
                UnsafeApi.putLong(
                        null, notify + Layout.NOTIFY_OFFSET, target.base() + targetOffset);
                UnsafeApi.putLong(null, notify + Layout.NOTIFY_LENGTH, length);
                int result = post(to, Layout.SHM_KIND_NOTIFY, tag, notify, Layout.NOTIFY_SIZE);
                if (result != ACCEPTED) {
                    return result;
                }
            }
            region.lastCompletion =
                    completions.add(
                            connection,
                            Operation.PUT_NOTIFY,
                            context,
                            status,
                            status == Status.OK ? length : 0);
            return ACCEPTED;
        } finally {
            guard.exit();
        }
    }

    @Override
    public int put(
            long connection,
            TransferVector vector,
            RemoteDescriptor target,
            long context,
            int flags) {
        return transfer(Operation.PUT, connection, vector, target, context);
    }

    @Override
    public int get(
            long connection,
            TransferVector vector,
            RemoteDescriptor source,
            long context,
            int flags) {
        return transfer(Operation.GET, connection, vector, source, context);
    }

    private int transfer(
            int operation,
            long connection,
            TransferVector vector,
            RemoteDescriptor remote,
            long context) {
        if (!guard.enter()) {
            return CLOSED;
        }
        try {
            for (int i = 0; i < vector.count(); i++) {
                own(vector.region(i)).range(vector.offset(i), vector.length(i));
            }
            ShmConnection to = connections.open(connection);
            if (to == null) {
                return NOT_CONNECTED;
            }
            if (completions.isFull()) {
                return BACK_PRESSURED;
            }
            int worst = Status.OK;
            long moved = 0;
            for (int i = 0; i < vector.count(); i++) {
                long local = own(vector.region(i)).range(vector.offset(i), vector.length(i));
                int status =
                        to.transfer(
                                operation == Operation.PUT,
                                local,
                                remote,
                                vector.remoteOffset(i),
                                vector.length(i));
                moved += status == Status.OK ? vector.length(i) : 0;
                worst = Math.max(worst, status);
            }
            long number = completions.add(connection, operation, context, worst, moved);
            for (int i = 0; i < vector.count(); i++) {
                own(vector.region(i)).lastCompletion = number;
            }
            return ACCEPTED;
        } finally {
            guard.exit();
        }
    }

    @Override
    public int fetchAdd(
            long connection,
            RemoteDescriptor target,
            long targetOffset,
            long delta,
            long context,
            int flags) {
        return atomic(Operation.FETCH_ADD, connection, target, targetOffset, delta, 0, context);
    }

    @Override
    public int compareSwap(
            long connection,
            RemoteDescriptor target,
            long targetOffset,
            long expected,
            long update,
            long context,
            int flags) {
        return atomic(
                Operation.COMPARE_SWAP,
                connection,
                target,
                targetOffset,
                expected,
                update,
                context);
    }

    private int atomic(
            int operation,
            long connection,
            RemoteDescriptor target,
            long targetOffset,
            long operand,
            long update,
            long context) {
        if (!guard.enter()) {
            return CLOSED;
        }
        try {
            if ((target.base() + targetOffset & Long.BYTES - 1) != 0) {
                throw new IllegalArgumentException(
                        "targetOffset "
                                + targetOffset
                                + ": an atomic needs 8 aligned bytes; the descriptor begins at "
                                + target.base());
            }
            ShmConnection to = connections.open(connection);
            if (to == null) {
                return NOT_CONNECTED;
            }
            if (completions.isFull()) {
                return BACK_PRESSURED;
            }
            int status =
                    to.atomic(
                            operation == Operation.FETCH_ADD,
                            target,
                            targetOffset,
                            operand,
                            update);
            long before = status == Status.OK ? UnsafeApi.getLong(null, scratch.result) : 0;
            completions.add(connection, operation, context, status, before);
            return ACCEPTED;
        } finally {
            guard.exit();
        }
    }

    private ShmRegion own(RegisteredRegion region) {
        if (region instanceof ShmRegion own && own.transport() == this) {
            return own;
        }
        throw new IllegalArgumentException(region + " is not a region of " + this);
    }

    // ---- messages ----

    long nextSerial() {
        return ++serial;
    }

    /** Remembers the message that is about to be handled; answers its token. */
    long currentToken(ShmConnection connection, int slot, long messageSerial) {
        isCurrentRetained = false;
        currentToken = messageSerial << SERIAL_SHIFT | (long) connection.index << SLOT_BITS | slot;
        return currentToken;
    }

    /** Whether the message that was just handled is kept; forgets the token. */
    boolean isCurrentRetained() {
        currentToken = 0;
        return isCurrentRetained;
    }

    @Override
    public void retain(long messageToken) {
        if (messageToken == 0 || messageToken != currentToken) {
            throw new IllegalArgumentException(
                    "message token " + messageToken + " is not the one being handled");
        }
        isCurrentRetained = true;
    }

    @Override
    public void release(long messageToken) {
        if (!guard.enter()) {
            return;
        }
        try {
            int slot = (int) messageToken & (1 << SLOT_BITS) - 1;
            int index = (int) (messageToken >>> SLOT_BITS) & (1 << INDEX_BITS) - 1;
            ShmConnection connection = connections.at(index);
            if (messageToken == currentToken && isCurrentRetained) {
                isCurrentRetained = false;
                return;
            }
            if (messageToken == currentToken
                    || connection == null
                    || !connection.giveBack(slot, messageToken >>> SERIAL_SHIFT)) {
                throw new IllegalArgumentException(
                        "message token " + messageToken + " is not retained");
            }
            connections.released(connection);
        } finally {
            guard.exit();
        }
    }

    /** Delivers a notification; false if it names bytes that no region has. */
    boolean notified(
            ShmConnection connection,
            TransportHandler handler,
            int tag,
            int keySlot,
            int generation,
            long offset,
            long length) {
        ShmRegion region = regionsByKey.get(keySlot);
        if (region == null || region.keyGeneration != generation) {
            return true; // closed since
        }
        if ((offset | length | region.length() - offset - length) < 0) {
            return false;
        }
        handler.onNotify(connection.handle, connection.context, tag, region.id(), offset, length);
        return true;
    }

    // ---- events ----

    @Override
    public int poll(TransportHandler handler, int limit) {
        if (!guard.enter()) {
            return CLOSED;
        }
        try {
            checkNotPolling("poll");
            isPolling = true;
            int count = 0;
            for (long end = completions.lastNumber();
                    count < limit && completions.hasUpTo(end);
                    count++) {
                completions.deliver(handler);
            }
            lookAtControl();
            if (connections.hasEvents()) {
                count += connections.deliverEvents(handler, limit - count);
            }
            count += connections.deliverMessages(this, handler, limit - count, MESSAGES_PER_RING);
            return count;
        } finally {
            isPolling = false;
            guard.exit();
        }
    }

    private void checkNotPolling(String call) {
        if (isPolling) {
            throw new IllegalStateException(call + " from inside a handler of " + this);
        }
    }

    /** Asks softnic about connections when a peer rang, and now and then. */
    private void lookAtControl() {
        int bell = UnsafeApi.getIntAcquire(null, controlBell);
        if (bell == bellSeen && --pollsUntilClock > 0) {
            return;
        }
        long nowNs = System.nanoTime();
        // A clock costs as much as a put: fast pollers look at it rarely, slow ones each time.
        clockPolls =
                nowNs - lastClockNs < CLOCK_SHORT_NS
                        ? Math.min(CLOCK_POLLS_MAX, clockPolls * 2)
                        : Math.max(1, clockPolls >> 2);
        lastClockNs = nowNs;
        pollsUntilClock = clockPolls;
        if (bell != bellSeen || nowNs - lookDueNs >= 0) {
            bellSeen = bell;
            lookDueNs = nowNs + lookNs;
            connections.control();
        }
    }

    private boolean hasWork() {
        return !completions.isEmpty()
                || connections.hasEvents()
                || UnsafeApi.getIntAcquire(null, controlBell) != bellSeen
                || connections.isReadable();
    }

    @Override
    public boolean await(long deadlineNs) {
        if (!guard.enter()) {
            return true;
        }
        try {
            checkNotPolling("await");
            while (true) {
                int seen = softnic.snic_doorbell(nic);
                if (isWoken.getAndSet(false) || hasWork() || guard.isClosed()) {
                    return true;
                }
                long nowNs = System.nanoTime();
                if (nowNs - lookDueNs >= 0) {
                    lookDueNs = nowNs + lookNs;
                    connections.control();
                    if (connections.hasEvents()) {
                        return true;
                    }
                }
                long leftNs = deadlineNs - nowNs;
                if (leftNs <= 0) {
                    return false;
                }
                softnic.snic_wait(nic, seen, Math.min(leftNs, lookNs));
            }
        } finally {
            guard.exit();
        }
    }

    @Override
    public void wakeup() {
        isWoken.set(true);
        synchronized (closeLock) {
            if (!guard.isClosed()) {
                softnic.snic_ring_self(nic);
            }
        }
    }

    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    /** Enters a call of the control path, which throws where the data path answers CLOSED. */
    private void enterControl() {
        if (!guard.enter()) {
            throw new IllegalStateException("closed: " + this);
        }
    }

    @Override
    public void close() {
        synchronized (closeLock) {
            if (guard.isClosed()) {
                return;
            }
            if (guard.isInsideOnThisThread()) {
                throw new IllegalStateException("close from inside a handler of " + this);
            }
            checkNoRegions();
            if (!guard.close(CLOSE_TIMEOUT_NS, () -> softnic.snic_ring_self(nic))) {
                throw new IllegalStateException(
                        this + ": its owner has been inside a call for too long to close it");
            }
            try {
                checkNoRegions();
            } catch (IllegalStateException e) {
                guard.reopen();
                throw e;
            }
            int result = softnic.shm_close(shm);
            connections.forgetAll();
            scratch.close();
            watch.closed();
            if (result < 0) {
                context.errorHandler()
                        .onError(
                                new TransportException(
                                        this
                                                + ": "
                                                + Errno.exception("shm_close", result, "")
                                                        .getMessage()));
            }
        }
    }

    private void checkNoRegions() {
        if (!regions.isEmpty()) {
            throw new IllegalStateException(
                    this + " has open regions, close them first: " + regions.values());
        }
    }
}
