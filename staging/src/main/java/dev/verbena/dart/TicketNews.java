package dev.verbena.dart;

import dev.verbena.agent.internal.PlantedFaults;
import java.util.ArrayDeque;
import org.agrona.ErrorHandler;

/**
 * Tickets that have become final and whose users want to hear of it: told when no part of the
 * protocol is half done, so that they may use the client. The client's thread.
 */
final class TicketNews {
    private final ErrorHandler errorHandler;
    private final ArrayDeque<DartTicket> waiting = new ArrayDeque<>();

    TicketNews(ErrorHandler errorHandler) {
        this.errorHandler = errorHandler;
    }

    void add(DartTicket ticket) {
        boolean isForgetful = PlantedFaults.ENABLED && PlantedFaults.isOn("dart-ticket-untold");
        if (!isForgetful) {
            waiting.add(ticket);
        }
    }

    /** Tells of all that have become final; those that do meanwhile, too. */
    void tell() {
        DartTicket ticket;
        while ((ticket = waiting.poll()) != null) {
            try {
                ticket.tell();
            } catch (RuntimeException e) {
                errorHandler.onError(e);
            }
        }
    }
}
