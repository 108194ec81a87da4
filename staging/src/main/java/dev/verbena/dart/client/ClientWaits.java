package dev.verbena.dart.client;

import dev.verbena.agent.internal.Interrupts;
import dev.verbena.dart.DartException;
import dev.verbena.dart.DartException.Code;
import dev.verbena.dart.DartTicket;
import dev.verbena.dart.TicketState;
import dev.verbena.staging.CounterMirror;
import dev.verbena.transport.Transport;
import org.agrona.concurrent.NanoClock;

/**
 * What calls of a client wait for, and for how long they sleep meanwhile. The protocol goes on
 * between two sleeps. One thread; allocates nothing.
 */
final class ClientWaits {
    static final int UNBLOCKED = 0;
    static final int ALL_FINAL = 1;
    private static final int TICKET = 2;
    static final int CONNECTED = 3;
    static final int ENDED = 4;
    private static final int REPLY = 5;
    static final int MESSAGE = 6;

    private static final long WAIT_MAX_NS = 100_000_000L;

    private final ClientProtocol protocol;
    private final Transport transport;
    private final NanoClock clock;
    private final CounterMirror mirror;
    private DartTicket awaited;
    private TicketState awaitedState;

    ClientWaits(
            ClientProtocol protocol, Transport transport, NanoClock clock, CounterMirror mirror) {
        this.protocol = protocol;
        this.transport = transport;
        this.clock = clock;
        this.mirror = mirror;
    }

    /** Waits until a ticket is in that state, or final. */
    boolean await(DartTicket ticket, TicketState atLeast, long timeoutNs) {
        awaited = ticket;
        awaitedState = atLeast;
        return await(TICKET, timeoutNs);
    }

    /** Waits for the answer to the command that was begun, or until its server is lost. */
    boolean awaitReply(long timeoutNs) {
        return await(REPLY, timeoutNs);
    }

    /** Waits at most so long; whether it holds then. */
    boolean await(int condition, long timeoutNs) {
        long start = clock.nanoTime();
        if (condition <= TICKET) {
            // Whoever waits for transfers wants them to go on.
            protocol.suspend(false);
        }
        progress();
        while (!holds(condition)) {
            long now = clock.nanoTime();
            long left = timeoutNs - (now - start);
            if (left <= 0) {
                return false;
            }
            sleep(condition, now, left);
            mirror.publish(now);
            progress();
        }
        return true;
    }

    /** What is waited for stays the same, though a handler may wait for something else. */
    private void progress() {
        DartTicket ticket = awaited;
        TicketState state = awaitedState;
        protocol.progress();
        awaited = ticket;
        awaitedState = state;
    }

    /**
     * Sleeps until something comes or is due, and no longer than what is left.
     *
     * @throws DartException {@link DartException.Code#INTERRUPTED}
     */
    void sleep(int condition, long now, long left) {
        checkInterrupted(condition);
        long sleep = Math.min(Math.min(left, WAIT_MAX_NS), protocol.untilDeadlineNs(now));
        if (sleep > 0) {
            transport.await(transport.nanoTime() + sleep);
        }
    }

    private boolean holds(int condition) {
        return switch (condition) {
            case UNBLOCKED -> !protocol.flight.isBlocked() || !protocol.isConnected();
            case ALL_FINAL -> protocol.flight.isAllFinal();
            case TICKET ->
                    awaited.state().compareTo(awaitedState) >= 0 || awaited.state().isFinal();
            case CONNECTED -> protocol.isConnected();
            case REPLY -> protocol.commands.isAnswered() || isCommandLost();
            default -> protocol.hasEnded();
        };
    }

    /** The server to which the command went is lost; while one is looked for, none has it. */
    private boolean isCommandLost() {
        long sent = protocol.commands.connection;
        return sent != 0 && protocol.serverConnection() != sent || !protocol.isConnected();
    }

    /**
     * Before every sleep: a caller that is interrupted waits no longer. The end waits for memory
     * only.
     */
    private static void checkInterrupted(int condition) {
        if (condition == ENDED || !Interrupts.isPending()) {
            return;
        }
        String what =
                switch (condition) {
                    case UNBLOCKED -> "for an earlier message to be read; nothing was sent";
                    case ALL_FINAL -> "for confirmations; what was sent is still on its way";
                    case TICKET -> "for a message, which is still on its way";
                    case CONNECTED -> "for the service; this process is not registered";
                    case REPLY -> "for the answer to a command, which may be done or not";
                    default -> "for messages from the receiver";
                };
        throw Code.INTERRUPTED.because(
                "the thread was interrupted while it waited " + what + ". Its mark is still set");
    }
}
