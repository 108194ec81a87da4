package dev.verbena.transport;

import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RegisteredRegion;
import java.net.URI;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Supplier;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Makes the faults that the contract allows, from a seed, over another transport: back pressure,
 * late events, early returns of {@code await}, registrations and connections that fail, a peer that
 * dies.
 *
 * <p>A dead peer is one that cannot be reached any more: the real connection is ended in order
 * behind the program's back, operations that were accepted complete with {@code PEER_DEAD} or, if
 * they had happened, with {@code OK}, then {@code onPeerLost} comes, once. The peer itself sees a
 * disconnect, once no message of it is held back or retained any more.
 *
 * <p>A completion that is held back has completed for the transport within: regions may be closed a
 * little earlier than they could be without this decorator. Allocates. Thread rules as for the
 * transport within.
 */
public final class FaultyTransport extends ForwardingTransport {
    private final FaultOptions options;
    private final SplittableRandom random;
    private final Intake intake = new Intake();
    private final HeldEvents held = new HeldEvents();
    private final Map<Long, Integer> pending = new HashMap<>();
    private final Map<Long, Long> contexts = new HashMap<>();
    private final Map<Long, String> dying = new HashMap<>();
    private final Set<Long> kept = new HashSet<>();

    // Tokens of messages that are retained within, because they are held back or the program keeps
    // them, with their connections.
    private final Map<Long, Long> retained = new HashMap<>();
    private final Set<Long> connecting = new HashSet<>();
    private long handled;
    private long polls;
    private long steps;
    private boolean isDelivering;

    /** Makes faults over {@code delegate}, which is closed with this. */
    public FaultyTransport(Transport delegate, FaultOptions options) {
        super(delegate);
        this.options = options;
        this.random = new SplittableRandom(options.seed);
    }

    @Override
    public String explain() {
        return "with faults " + options + ": " + delegate.explain();
    }

    private boolean happens(double rate) {
        return rate > 0 && random.nextDouble() < rate;
    }

    @Override
    int refusal(long connection) {
        if (dying.containsKey(connection)) {
            return NOT_CONNECTED;
        }
        if (++steps == options.peerDeathAtStep && contexts.containsKey(connection)) {
            kill(connection, "killed at step " + steps);
            return NOT_CONNECTED;
        }
        return happens(options.backPressureRate) ? BACK_PRESSURED : ACCEPTED;
    }

    @Override
    int posted(int answer, long connection, int operation, long context) {
        if (answer == ACCEPTED) {
            pending.merge(connection, 1, Integer::sum);
        }
        return answer;
    }

    /**
     * Lets the peer of a connection die now.
     *
     * @param reason given to {@code onPeerLost}
     */
    public void kill(long connection, String reason) {
        if (contexts.containsKey(connection) && dying.putIfAbsent(connection, reason) == null) {
            endWithin(connection);
        }
    }

    /** Later, if messages of it are retained: providers may refuse to end it before. */
    private void endWithin(long connection) {
        if (!retained.containsValue(connection)) {
            delegate.disconnect(connection);
        }
    }

    private void releaseWithin(long token) {
        delegate.release(token);
        long connection = retained.remove(token);
        if (dying.containsKey(connection)) {
            endWithin(connection);
        }
    }

    private <T> T registered(String what, Supplier<T> call) {
        if (happens(options.registrationFailureRate)) {
            throw new TransportException(what + " failed: fault of seed " + options.seed);
        }
        return call.get();
    }

    @Override
    public RegisteredRegion allocate(long length, int rights) {
        return registered("allocate of " + length, () -> delegate.allocate(length, rights));
    }

    @Override
    public RegisteredRegion register(OffHeapMemory memory, int rights) {
        return registered("register", () -> delegate.register(memory, rights));
    }

    @Override
    public long connect(
            URI peer,
            DirectBuffer privateData,
            int offset,
            int length,
            long context,
            long timeoutNs) {
        if (happens(options.backPressureRate)) {
            return BACK_PRESSURED;
        }
        long handle = delegate.connect(peer, privateData, offset, length, context, timeoutNs);
        if (handle > 0) {
            connecting.add(handle);
        }
        return handle;
    }

    @Override
    public int disconnect(long connection) {
        return dying.containsKey(connection) ? NOT_CONNECTED : delegate.disconnect(connection);
    }

    @Override
    public void retain(long messageToken) {
        if (!isDelivering || messageToken != handled || !kept.add(messageToken)) {
            throw new IllegalStateException("message " + messageToken + " is not being handled");
        }
    }

    @Override
    public void release(long messageToken) {
        if (!kept.remove(messageToken)) {
            throw new IllegalStateException("message " + messageToken + " is not retained");
        }
        releaseWithin(messageToken);
    }

    @Override
    public int poll(TransportHandler handler, int limit) {
        if (isDelivering) {
            throw new IllegalStateException("poll within a handler");
        }
        requireHandler(handler);
        polls++;
        int taken = delegate.poll(intake, Math.max(limit, 0));
        if (taken == CLOSED) {
            return CLOSED;
        }
        for (long connection : List.copyOf(dying.keySet())) {
            endIfDead(connection);
        }
        int delivered = 0;
        isDelivering = true;
        try {
            while (delivered < limit) {
                HeldEvents.Delivery next = held.next(polls);
                if (next == null) {
                    break;
                }
                delivered++;
                next.to(handler);
            }
        } finally {
            isDelivering = false;
        }
        return delivered;
    }

    private void hold(long connection, boolean isCompletion, HeldEvents.Delivery delivery) {
        long delay = 0;
        if (happens(options.delayRate) && options.delayPollsMax > 0) {
            delay = 1 + random.nextInt(options.delayPollsMax);
        }
        held.add(connection, polls + delay, isCompletion, delivery);
    }

    /** The end of a connection comes after everything else that is held for it. */
    private void holdEnd(long connection, HeldEvents.Delivery delivery) {
        held.addEnd(connection, polls, delivery);
        contexts.remove(connection);
        pending.remove(connection);
    }

    private void endIfDead(long connection) {
        String reason = dying.get(connection);
        if (reason != null
                && contexts.containsKey(connection)
                && pending.getOrDefault(connection, 0) == 0) {
            long context = contexts.get(connection);
            holdEnd(connection, h -> h.onPeerLost(connection, context, reason));
        }
    }

    @Override
    public boolean await(long deadlineNs) {
        for (long connection : List.copyOf(dying.keySet())) {
            endIfDead(connection);
        }
        return !held.isEmpty() || happens(options.spuriousWakeupRate) || delegate.await(deadlineNs);
    }

    @Override
    public void close() {
        if (isDelivering) {
            throw new IllegalStateException("close within a handler");
        }
        super.close();
    }

    /** Takes the events of the transport within. */
    private final class Intake implements TransportHandler {
        @Override
        public void onCompletion(
                long connection, int operation, long context, int status, long value) {
            pending.merge(connection, -1, Integer::sum);
            boolean isLost = dying.containsKey(connection) && random.nextBoolean();
            int shown = isLost ? Status.PEER_DEAD : status;
            hold(
                    connection,
                    true,
                    h -> h.onCompletion(connection, operation, context, shown, isLost ? 0 : value));
            endIfDead(connection);
        }

        @Override
        public void onMessage(
                long connection,
                long context,
                DirectBuffer buffer,
                int offset,
                int length,
                long token) {
            if (dying.containsKey(connection)) {
                return;
            }
            delegate.retain(token);
            retained.put(token, connection);
            hold(
                    connection,
                    false,
                    h -> {
                        handled = token;
                        try {
                            h.onMessage(connection, context, buffer, offset, length, token);
                        } finally {
                            if (!kept.contains(token)) {
                                releaseWithin(token);
                            }
                        }
                    });
        }

        @Override
        public void onNotify(
                long connection, long context, int tag, long regionId, long offset, long length) {
            if (!dying.containsKey(connection)) {
                hold(
                        connection,
                        false,
                        h -> h.onNotify(connection, context, tag, regionId, offset, length));
            }
        }

        @Override
        public void onConnectRequest(
                long connection, URI peer, DirectBuffer privateData, int offset, int length) {
            UnsafeBuffer copy = new UnsafeBuffer(new byte[length]);
            copy.putBytes(0, privateData, offset, length);
            hold(connection, false, h -> h.onConnectRequest(connection, peer, copy, 0, length));
        }

        @Override
        public void onConnected(long connection, long context) {
            if (connecting.remove(connection) && happens(options.connectFailureRate)) {
                delegate.disconnect(connection);
                hold(
                        connection,
                        false,
                        h ->
                                h.onConnectFailed(
                                        connection,
                                        context,
                                        Status.TIMED_OUT,
                                        "fault of seed " + options.seed));
                return;
            }
            contexts.put(connection, context);
            hold(connection, false, h -> h.onConnected(connection, context));
        }

        @Override
        public void onConnectFailed(long connection, long context, int status, String reason) {
            connecting.remove(connection);
            hold(connection, false, h -> h.onConnectFailed(connection, context, status, reason));
        }

        @Override
        public void onDisconnected(long connection, long context) {
            if (contexts.containsKey(connection) && !dying.containsKey(connection)) {
                holdEnd(connection, h -> h.onDisconnected(connection, context));
            }
        }

        @Override
        public void onPeerLost(long connection, long context, String reason) {
            if (contexts.containsKey(connection) && !dying.containsKey(connection)) {
                holdEnd(connection, h -> h.onPeerLost(connection, context, reason));
            }
        }
    }
}
