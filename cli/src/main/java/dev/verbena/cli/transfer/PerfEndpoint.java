package dev.verbena.cli.transfer;

import dev.verbena.cli.terminal.Messages;
import dev.verbena.cli.terminal.Termination;
import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.Capability;
import dev.verbena.transport.Operation;
import dev.verbena.transport.Status;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportHandler;
import dev.verbena.transport.Transports;
import java.net.URI;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.agrona.CloseHelper;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * One side of a measurement: a transport, a region that the other side may reach, one connection.
 * One thread.
 */
public final class PerfEndpoint implements AutoCloseable {
    /** Longest message of the {@code send} measurements. */
    public static final int MESSAGE_LENGTH_MAX = 64 << 10;

    private static final int CONNECTIONS = 2;
    private static final int HELLO_LENGTH = RemoteDescriptor.LENGTH;
    private static final int ROUND_LENGTH = 24;
    private static final int ROUND_MARK = 0x444E5552;
    private static final int POLL_LIMIT = 64;

    /** A receiver of a stream of messages polls. One that has had none for a millisecond sleeps. */
    private static final int IDLE_POLLS_MAX = 10_000;

    /** Longest time from a signal to the end of the process. */
    public static final long CLOSE_MS = 4_000;

    private static final long TIMEOUT_NS = 30_000_000_000L;

    private final Transport transport;
    private final boolean isSleeping;
    private final RegisteredRegion inbox;
    private final RegisteredRegion outbox;
    private final RegisteredRegion control;
    private final MarkWatch marks;
    private final UnsafeBuffer outboxBuffer;
    private final UnsafeBuffer controlBuffer;
    private final Handler handler = new Handler();
    private final Deque<AutoCloseable> opened = new ArrayDeque<>();
    private final CountDownLatch closed = new CountDownLatch(1);
    private final Thread hook = new Thread(this::endInOrder, "end-measurement");
    private volatile boolean isEnding;
    private long connection;
    private RemoteDescriptor peer;
    private int outstanding;

    /** Events of the last poll that were no completions. */
    private int others;

    private long messageCount;
    private Round round;
    private String failure;
    private boolean isGone;

    /** What is to be measured next. */
    public record Round(int operation, int length, long iterations) {}

    /**
     * How to measure.
     *
     * @param isForeign the target is memory that the toolkit did not allocate
     * @param isSleeping waiting for the other process sleeps in {@code await} instead of polling on
     * @param messageLengthMax longest message; the slots for messages are what takes most memory
     * @param credits messages under way at a time
     */
    public record Settings(
            boolean isForeign, boolean isSleeping, int messageLengthMax, int credits) {
        /** Longest message where none is measured: what the two sides tell each other. */
        public static final int SHORT = 1024;

        /** Messages under way at a time, for measuring. */
        public static final int CREDITS = 64;

        /** Memory that the toolkit allocated, and any message. */
        public static Settings usual() {
            return new Settings(false, false, MESSAGE_LENGTH_MAX, CREDITS);
        }

        /** Room for a few short messages only, for a trial where memory is scarce. */
        public static Settings small(boolean isForeign) {
            return new Settings(isForeign, false, SHORT, 8);
        }
    }

    /** Opens; {@code length} is the longest transfer. */
    public PerfEndpoint(String scheme, int length, Settings settings) {
        isSleeping = settings.isSleeping();
        transport =
                Transports.open(
                        scheme,
                        new TransportContext()
                                .messageLengthMax(settings.messageLengthMax())
                                .creditsPerConnection(settings.credits())
                                .receiveSlotCount(CONNECTIONS * settings.credits())
                                .connectionsMax(CONNECTIONS)
                                .peerTimeoutNs(TIMEOUT_NS));
        opened.push(transport);
        boolean isBypassing = (transport.capabilities() & Capability.APPLICATION_BYPASS) != 0;
        try {
            inbox = inbox(length, settings.isForeign());
            outbox = keep(transport.allocate(length, 0));
            control = keep(transport.allocate(128, 0));
        } catch (RuntimeException e) {
            CloseHelper.quietCloseAll(opened);
            throw e;
        }
        marks = new MarkWatch(inbox.buffer(0, length), isBypassing);
        outboxBuffer = outbox.buffer(0, length);
        controlBuffer = control.buffer(0, 128);
        Runtime.getRuntime().addShutdownHook(hook);
    }

    /** Last byte of transfer number {@code i}: never 0, different from the one before. */
    public static byte markOf(long i) {
        return (byte) (1 + i % 127);
    }

    private RegisteredRegion inbox(int length, boolean isForeign) {
        return keep(
                isForeign
                        ? transport.register(
                                keep(OffHeapMemories.allocate(length)), RemoteDescriptor.REMOTE_ALL)
                        : transport.allocate(length, RemoteDescriptor.REMOTE_ALL));
    }

    /** To be closed in the reverse order. */
    private <T extends AutoCloseable> T keep(T resource) {
        opened.push(resource);
        return resource;
    }

    /** When the JVM ends: its other thread, at its next poll, closes what shares memory. */
    private void endInOrder() {
        isEnding = true;
        transport.wakeup();
        try {
            closed.await(CLOSE_MS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    URI uri() {
        return transport.uri();
    }

    /** How the transport carries what is measured. */
    public String explain() {
        return transport.explain();
    }

    void listen() {
        transport.listen();
    }

    /** Connects and waits until both sides know each other's region. */
    public void connect(URI target) {
        inbox.describe(0, inbox.length(), RemoteDescriptor.REMOTE_ALL, new RemoteDescriptor())
                .encode(controlBuffer, 0);
        long handle = transport.connect(target, controlBuffer, 0, HELLO_LENGTH, 0, TIMEOUT_NS);
        if (handle < 0) {
            throw new Messages.Failure("connect to " + target + " answers " + handle);
        }
        connection = handle;
        long deadlineNs = transport.nanoTime() + TIMEOUT_NS;
        while (peer == null) {
            pollOrFail();
            if (transport.nanoTime() - deadlineNs >= 0) {
                throw new Messages.Failure(target + " does not answer");
            }
        }
    }

    /** Waits for the other side's wish; null when it has gone. */
    Round awaitRound() {
        int idlePolls = 0;
        while (round == null && !isGone) {
            if (poll() > 0) {
                idlePolls = 0;
            } else if (isSleeping || ++idlePolls > IDLE_POLLS_MAX) {
                transport.await(transport.nanoTime() + 1_000_000_000L);
            } else {
                Thread.onSpinWait();
            }
            requireRunning();
        }
        Round next = round;
        round = null;
        return next;
    }

    /** Announces the next round. The other side answers with an equal record when it is ready. */
    public void announce(Round next) {
        sendRound(next);
        while (round == null) {
            pollOrFail();
        }
        round = null;
    }

    void sendRound(Round next) {
        controlBuffer.putInt(64, ROUND_MARK, ByteOrder.LITTLE_ENDIAN);
        controlBuffer.putInt(68, next.operation(), ByteOrder.LITTLE_ENDIAN);
        controlBuffer.putInt(72, next.length(), ByteOrder.LITTLE_ENDIAN);
        controlBuffer.putLong(80, next.iterations(), ByteOrder.LITTLE_ENDIAN);
        boolean isPosted = false;
        while (!isPosted) {
            isPosted = post(transport.send(connection, control, 64, ROUND_LENGTH, 0, 0));
        }
        drain();
    }

    private void requireRunning() {
        if (isEnding) {
            throw new Messages.Failure("interrupted");
        }
        if (failure != null) {
            throw new Messages.Failure(failure);
        }
    }

    /**
     * Delivers what there is. The completions are counted here, all at once: a field that each of
     * them changes costs a fast transport a quarter of its rate.
     */
    private int poll() {
        others = 0;
        int events = transport.poll(handler, POLL_LIMIT);
        outstanding -= Math.max(0, events) - others;
        return events;
    }

    private void pollOrFail() {
        if (pollNow() == 0) {
            Thread.onSpinWait();
        }
    }

    /** As {@link #pollOrFail}, without the pause: it delays an awaited transfer by some 9 ns. */
    private int pollNow() {
        int events = poll();
        requireRunning();
        if (isGone) {
            throw new Messages.Failure("the other process of the measurement has gone");
        }
        return events;
    }

    /** Counts an accepted operation; false if it must be tried again. */
    private boolean post(int result) {
        if (result == Transport.ACCEPTED) {
            outstanding++;
            return true;
        }
        requireBackPressure(result);
        pollOrFail();
        return false;
    }

    /** Starts one operation, as soon as fewer than {@code window} are outstanding. */
    public void start(int operation, int length, int window) {
        start(operation, length, window, 1);
    }

    /** Starts so many, each as soon as fewer than {@code window} are outstanding. */
    public void start(int operation, int length, int window, long count) {
        long left = count;
        while (left > 0) {
            int room = (int) Math.min(left, Math.max(0, window - outstanding));
            int started = startUpTo(room, operation, length);
            left -= started;
            if (started < room || left > 0) {
                pollOrFail();
            }
        }
    }

    /** How many were accepted. */
    private int startUpTo(int count, int operation, int length) {
        for (int i = 0; i < count; i++) {
            int result =
                    switch (operation) {
                        case Operation.PUT ->
                                transport.put(connection, outbox, 0, peer, 0, length, 0, 0);
                        case Operation.GET ->
                                transport.get(connection, outbox, 0, peer, 0, length, 0, 0);
                        default -> transport.send(connection, outbox, 0, length, 0, 0);
                    };
            if (result != Transport.ACCEPTED) {
                outstanding += i;
                requireBackPressure(result);
                return i;
            }
        }
        outstanding += count;
        return count;
    }

    private static void requireBackPressure(int result) {
        if (result != Transport.BACK_PRESSURED) {
            throw new Messages.Failure("an operation answers " + result);
        }
    }

    /** As {@link #start} with a get from elsewhere in the peer's region to elsewhere in ours. */
    public void startGet(long local, long remote, int length, int window) {
        boolean isPosted = false;
        while (!isPosted) {
            while (outstanding >= window) {
                pollOrFail();
            }
            isPosted = post(transport.get(connection, outbox, local, peer, remote, length, 0, 0));
        }
    }

    /** Waits for everything started. */
    public void drain() {
        while (outstanding > 0) {
            pollOrFail();
        }
    }

    /** Puts a pattern to the other side and gets it back; whether it came back unchanged. */
    public boolean roundTrip(int length) {
        for (int i = 0; i < length; i++) {
            outboxBuffer.putByte(i, (byte) (i * 31 + i / 251));
        }
        start(Operation.PUT, length, 1);
        drain();
        outboxBuffer.setMemory(0, length, (byte) 0);
        start(Operation.GET, length, 1);
        drain();
        for (int i = 0; i < length; i++) {
            if (outboxBuffer.getByte(i) != (byte) (i * 31 + i / 251)) {
                return false;
            }
        }
        return true;
    }

    /** Marks the last byte of what is put. */
    public void mark(int length, byte value) {
        outboxBuffer.putByte(length - 1, value);
    }

    /** A put is there without a poll, so that {@link #fence} matters. */
    public boolean isBypassing() {
        return marks.isBypassing();
    }

    /**
     * Whether a full memory barrier, or else a pause, divides two looks at a mark: the processor
     * then begins one look only, and the line comes sooner.
     */
    public void fence(boolean isWanted) {
        marks.fence(isWanted);
    }

    /** Waits until the other side has put this as the last byte. */
    public void awaitMark(int length, byte value) {
        do {
            pollNow();
        } while (!marks.isSeen(length, value));
    }

    /** Before a round, so that no mark of another one is taken for its own. */
    public void clearMark(int length) {
        marks.clear(length);
    }

    /** How many have come so far. */
    public long messageCount() {
        return messageCount;
    }

    /** Waits until so many have come in all. */
    public void awaitMessages(long count) {
        while (messageCount < count) {
            if (isSleeping && poll() == 0) {
                transport.await(transport.nanoTime() + 1_000_000_000L);
            }
            pollNow();
        }
    }

    @Override
    public void close() {
        if (connection > 0 && !isGone) {
            transport.disconnect(connection);
            poll();
        }
        settle();
        try {
            CloseHelper.closeAll(opened);
        } finally {
            closed.countDown();
        }
        Termination.forget(hook);
    }

    /** Regions of operations that are under way cannot be closed. */
    private void settle() {
        long deadlineNs = transport.nanoTime() + TimeUnit.MILLISECONDS.toNanos(CLOSE_MS / 2);
        while (outstanding > 0 && transport.nanoTime() - deadlineNs < 0) {
            poll();
        }
    }

    private final class Handler implements TransportHandler {
        @Override
        public void onCompletion(long from, int operation, long context, int status, long value) {
            if (status != Status.OK && failure == null) {
                failure = Operation.name(operation) + " ends with " + Status.name(status);
            }
        }

        @Override
        public void onConnectRequest(
                long from, URI address, DirectBuffer data, int offset, int length) {
            others++;
            if (connection != 0 || length != HELLO_LENGTH) {
                transport.reject(from);
                return;
            }
            connection = from;
            peer = new RemoteDescriptor().decode(data, offset);
            transport.accept(from, 0);
        }

        @Override
        public void onConnected(long from, long context) {
            others++;
            if (peer == null) {
                return;
            }
            inbox.describe(0, inbox.length(), RemoteDescriptor.REMOTE_ALL, new RemoteDescriptor())
                    .encode(controlBuffer, 0);
            post(transport.send(from, control, 0, HELLO_LENGTH, 0, 0));
        }

        @Override
        public void onMessage(
                long from, long context, DirectBuffer buffer, int offset, int length, long token) {
            others++;
            if (peer == null && length == HELLO_LENGTH) {
                peer = new RemoteDescriptor().decode(buffer, offset);
            } else if (length == ROUND_LENGTH
                    && buffer.getInt(offset, ByteOrder.LITTLE_ENDIAN) == ROUND_MARK) {
                round =
                        new Round(
                                buffer.getInt(offset + 4, ByteOrder.LITTLE_ENDIAN),
                                buffer.getInt(offset + 8, ByteOrder.LITTLE_ENDIAN),
                                buffer.getLong(offset + 16, ByteOrder.LITTLE_ENDIAN));
            } else {
                messageCount++;
            }
        }

        @Override
        public void onConnectFailed(long from, long context, int status, String reason) {
            others++;
            failure = "cannot connect: " + Status.name(status) + ", " + reason;
        }

        @Override
        public void onDisconnected(long from, long context) {
            others++;
            isGone = true;
        }

        @Override
        public void onPeerLost(long from, long context, String reason) {
            others++;
            isGone = true;
        }
    }
}
