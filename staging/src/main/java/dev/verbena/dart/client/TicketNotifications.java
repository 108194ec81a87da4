package dev.verbena.dart.client;

import java.util.ArrayDeque;
import java.util.function.Consumer;
import org.agrona.ErrorHandler;

/**
 * Tickets that have become final and whose users want to be notified: called when no part of the
 * protocol is half done, so that they may use the client. The client's thread.
 */
final class TicketNotifications {
    private final ErrorHandler errorHandler;
    private final ArrayDeque<Ticket> waiting = new ArrayDeque<>();

    TicketNotifications(ErrorHandler errorHandler) {
        this.errorHandler = errorHandler;
    }

    void add(Ticket ticket) {
        waiting.add(ticket);
    }

    /**
     * Calls the handlers of all that have become final; of those that do meanwhile, too.
     *
     * @param after gets each ticket when its handler has returned
     */
    void deliver(Consumer<Ticket> after) {
        Ticket ticket;
        while ((ticket = waiting.poll()) != null) {
            try {
                ticket.callHandler();
            } catch (RuntimeException e) {
                errorHandler.onError(e);
            }
            after.accept(ticket);
        }
    }
}
