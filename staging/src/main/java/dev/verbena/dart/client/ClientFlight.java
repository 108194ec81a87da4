package dev.verbena.dart.client;

import dev.verbena.dart.DartException.Code;
import dev.verbena.dart.DartMetadata;
import dev.verbena.dart.DartTicket;
import dev.verbena.dart.TicketState;
import dev.verbena.dart.config.ClientSettings;
import dev.verbena.dart.wire.ControlFlyweight;
import dev.verbena.dart.wire.ControlResult;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.Transport;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The messages of a client that are not confirmed: their headers, their tickets, the credits for
 * them. Sends headers as credits allow, again if nobody shows to have them, and all of them once
 * more to another server after a move. Waits for nothing but a server that is inside the copy of a
 * message that is given up. One thread.
 */
final class ClientFlight {
    private final ClientEngine client;
    private final ClientSettings settings;
    private final ClientStatistics statistics;
    private final HeaderSlots slots;
    private final ControlFlyweight outgoing = new ControlFlyweight();
    private final RemoteDescriptor descriptor = new RemoteDescriptor();

    /**
     * Compares memory passed by reference when its message is done; null: nobody asked for that.
     */
    private final SourceGuard guard;

    private final Ticket[] tickets;
    private final ArrayDeque<Ticket> freeTickets = new ArrayDeque<>();
    private final Consumer<Ticket> reuse = this::reuse;
    final List<DartTicket> lost = new ArrayList<>();
    private long nextSequence = 1;
    private long headerNext = 1;

    /** Sequence of the first message that is not confirmed, or of the next one. */
    long oldestUnconfirmed = 1;

    private int inFlight;
    private int credits;
    private int creditsGranted;
    private long givenUpEnd;
    private int givenUpCount;
    private long streamedUpTo;

    // Sequences of this range may be sent to a server that never saw those before them.
    private long movedFrom;
    private long movedEnd;

    private ServedBy server = ServedBy.NOBODY;
    private ClientInbox inbox;
    private final TicketNotifications notifications;

    ClientFlight(
            ClientEngine client,
            ClientSettings settings,
            Transport transport,
            ClientStatistics statistics) {
        this.client = client;
        this.settings = settings;
        this.statistics = statistics;
        this.notifications = new TicketNotifications(settings.environment().errorHandler());
        this.tickets = new Ticket[settings.unconfirmedMax()];
        this.slots = new HeaderSlots(settings, transport);
        this.guard = settings.isVerifying() ? new SourceGuard(slots.count) : null;
    }

    /** How many copies may have to be kept at the same time. */
    static int copiesMax(ClientSettings settings) {
        return settings.isReassigned() ? settings.unconfirmedMax() : settings.maxInFlight();
    }

    /** The server must know of this before it sees a header; null: there is none. */
    void inbox(ClientInbox clientInbox) {
        inbox = clientInbox;
    }

    /** A server takes this client on for the first time. */
    void begin(ServedBy first, int granted, long sequence) {
        nextSequence = Math.max(1, sequence);
        headerNext = nextSequence;
        oldestUnconfirmed = nextSequence;
        givenUpEnd = 0;
        givenUpCount = 0;
        goOn(first, granted);
    }

    /** A server takes this client on: headers that are due go there from now on. */
    void goOn(ServedBy next, int granted) {
        server = next;
        creditsGranted = Math.max(1, granted);
        credits = creditsGranted;
    }

    /**
     * The server is gone: everything not confirmed will be sent again to the next one. What it had
     * transferred may be lost with it.
     */
    void moveAway() {
        credits = 0;
        headerNext = oldestUnconfirmed;
        movedFrom = oldestUnconfirmed;
        movedEnd = nextSequence;
        givenUpEnd = 0;
        givenUpCount = 0;
        inFlight = 0;
        for (long sequence = oldestUnconfirmed; sequence < nextSequence; sequence++) {
            if (slots.has(sequence)) {
                slots.restart(sequence);
                inFlight++;
            }
        }
    }

    long lastSequence() {
        return nextSequence - 1;
    }

    boolean isAnyInFlight() {
        return inFlight > 0;
    }

    /** No send of a header is under way. */
    boolean isIdle() {
        return slots.isIdle();
    }

    boolean isAllFinal() {
        return oldestUnconfirmed == nextSequence;
    }

    List<DartTicket> unconfirmed() {
        List<DartTicket> all = new ArrayList<>();
        for (long sequence = oldestUnconfirmed; sequence < nextSequence; sequence++) {
            Ticket ticket = tickets[at(sequence)];
            if (!ticket.state().isFinal()) {
                all.add(ticket);
            }
        }
        return all;
    }

    /** Exactly the condition under which a send is not accepted now. */
    boolean isBlocked() {
        return inFlight >= settings.maxInFlight()
                || nextSequence - oldestUnconfirmed >= tickets.length
                || !slots.isFree(nextSequence);
    }

    /** Throws once for memory that was changed too early. */
    void throwIfChanged() {
        if (guard != null) {
            guard.throwIfChanged();
        }
    }

    // ---- sending

    Ticket accept(
            RegisteredRegion source,
            long offset,
            long length,
            DartMetadata metadata,
            int checksum,
            int tag,
            CopyBuffers.CopyBuffer copy) {
        long sequence = nextSequence;
        UnsafeBuffer memory = slots.memory;
        int base = slots.offset(sequence);
        if (length > 0) {
            source.describe(offset, length, RemoteDescriptor.REMOTE_READ, descriptor);
        }
        metadata.origin(settings.applicationId(), settings.rank(), settings.rankCount())
                .payload(length, settings.isChecksummed(), checksum);
        int metadataLength = metadata.encode(memory, base + ControlFlyweight.LENGTH);
        int flags = settings.isChecksummed() ? ControlFlyweight.FLAG_CHECKSUM : 0;
        outgoing.begin(memory, base, ControlFlyweight.HEADER, server.job())
                .header(server.clientId(), sequence, tag, length, flags)
                .headerData(checksum, metadataLength, skippedBefore(sequence));
        if (length > 0) {
            outgoing.descriptor(descriptor);
        }
        outgoing.end();
        Ticket ticket = settings.isTicketPooled() ? freeTickets.poll() : null;
        if (ticket == null) {
            ticket = new Ticket(client, notifications);
        }
        ticket.begin(sequence, tag, length, metadata.name());
        tickets[at(sequence)] = ticket;
        slots.take(sequence, ControlFlyweight.LENGTH + metadataLength, copy);
        if (guard != null && copy == null) {
            guard.keep(slots.at(sequence), source, offset, length);
        }
        nextSequence++;
        inFlight++;
        sendHeaders();
        return ticket;
    }

    int sendHeaders() {
        int work = 0;
        if (inbox != null && !inbox.isOpen()) {
            return work;
        }
        while (headerNext < nextSequence && credits > 0) {
            if (slots.has(headerNext)) {
                if (headerNext < movedEnd) {
                    if (slots.isSending(headerNext)) {
                        break;
                    }
                    skipAgain(headerNext);
                }
                if (!slots.post(headerNext, server.connection())) {
                    break;
                }
                credits--;
                tickets[at(headerNext)].state(TicketState.HEADER_SENT);
                work++;
            }
            headerNext++;
        }
        return work;
    }

    private void skipAgain(long sequence) {
        outgoing.rewrap(slots.memory, slots.offset(sequence))
                .skipped(skippedBefore(sequence))
                .end();
    }

    void onSent(int slot) {
        slots.onSent(slot);
    }

    /** Headers that nobody shows to have are sent again, in order; in the end they are given up. */
    int checkHeaders(long now) {
        int work = 0;
        long first = Math.max(oldestUnconfirmed, headerNext - slots.count);
        for (long sequence = first; sequence < headerNext; sequence++) {
            if (!slots.isUnanswered(sequence, now)) {
                continue;
            }
            if (slots.tries(sequence) >= settings.headerTries()) {
                giveUp(sequence);
            } else {
                skipAgain(sequence);
                if (slots.post(sequence, server.connection())) {
                    statistics.headerResent();
                }
            }
            work++;
        }
        return work;
    }

    private void giveUp(long sequence) {
        givenUpCount = skippedBefore(sequence) + 1;
        givenUpEnd = sequence;
        int tries = slots.tries(sequence);
        slots.giveUp(sequence);
        leaveFlight(sequence, 1);
        fail(
                tickets[at(sequence)],
                Code.HEADER_LOST,
                "its header was sent " + tries + " times and never seen by " + server);
        confirm();
    }

    /** How many sequences directly before this one the server will never see the header of. */
    private int skippedBefore(long sequence) {
        if (sequence > movedEnd || sequence <= movedFrom) {
            return sequence - 1 == givenUpEnd ? givenUpCount : 0;
        }
        // What no longer owns its slot has failed: nobody will send it again.
        long before = sequence - 1;
        while (before >= movedFrom && !slots.has(before)) {
            before--;
        }
        return (int) (sequence - 1 - before);
    }

    // ---- what comes back

    void onDone(long sequence, int doneState, int result, int returned) {
        if (sequence < 1 || sequence >= nextSequence) {
            throw Code.MALFORMED.because(
                    "DONE of message " + sequence + ", the last one sent is " + (nextSequence - 1));
        }
        if (doneState == ControlFlyweight.STATE_TRANSFERRED) {
            onTransferred(sequence, result, returned);
        } else if (doneState == ControlFlyweight.STATE_LOST) {
            onLost(sequence, result);
        } else if (doneState == ControlFlyweight.STATE_STREAMED || !settings.isReassigned()) {
            // Who may move to another server keeps what only the disk of this one has.
            boolean isStreamed = doneState == ControlFlyweight.STATE_STREAMED;
            if (isStreamed) {
                confirmSpilled(sequence);
            }
            for (long each = oldestUnconfirmed; each <= sequence; each++) {
                Ticket ticket = tickets[at(each)];
                if (!ticket.state().isFinal()) {
                    if (slots.has(each)) {
                        leaveFlight(each, 1);
                    }
                    ticket.state(isStreamed ? TicketState.STREAMED : TicketState.SPILLED);
                }
            }
        }
        confirm();
    }

    /** Tickets that are still remembered learn that the receiver has their messages after all. */
    private void confirmSpilled(long upTo) {
        long oldest = Math.max(streamedUpTo + 1, nextSequence - tickets.length);
        streamedUpTo = Math.max(streamedUpTo, upTo);
        for (long each = Math.max(1, oldest); each <= upTo; each++) {
            Ticket ticket = tickets[at(each)];
            boolean isIt = ticket != null && ticket.sequence() == each;
            if (isIt && ticket.state() == TicketState.SPILLED) {
                ticket.state(TicketState.STREAMED);
            }
        }
    }

    private void onTransferred(long sequence, int result, int returned) {
        if (!slots.has(sequence) || slots.isTransferred(sequence)) {
            return;
        }
        if (result == ControlFlyweight.RESULT_STOPPING && settings.isReassigned()) {
            // The next server will take it; this one says goodbye soon.
            slots.seen(sequence);
            return;
        }
        Ticket ticket = tickets[at(sequence)];
        if (result != ControlFlyweight.RESULT_OK) {
            leaveFlight(sequence, returned);
            fail(ticket, ControlResult.code(result), server + ": " + ControlResult.name(result));
        } else if (settings.isReassigned()) {
            // The server has it, but may die before the receiver does: the memory stays ours.
            slots.transferred(sequence);
            inFlight--;
            giveBack(returned);
        } else {
            leaveFlight(sequence, returned);
            ticket.state(TicketState.TRANSFERRED);
        }
    }

    /** The server had the message, on its disk perhaps, and has lost it. */
    private void onLost(long sequence, int result) {
        Ticket ticket = tickets[at(sequence)];
        boolean isIt = ticket != null && ticket.sequence() == sequence;
        if (!isIt
                || ticket.state() == TicketState.STREAMED
                || ticket.state() == TicketState.FAILED) {
            return;
        }
        if (slots.has(sequence)) {
            leaveFlight(sequence, 0);
        }
        boolean isUnreadable = result == ControlFlyweight.RESULT_TRANSFER_FAILED;
        fail(
                ticket,
                ControlResult.code(result),
                isUnreadable
                        ? server + " cannot read what it had spilled of it any more"
                        : server + ": " + ControlResult.name(result));
    }

    private void leaveFlight(long sequence, int returned) {
        if (guard != null) {
            guard.compare(slots.at(sequence), tickets[at(sequence)]);
        }
        slots.leave(sequence);
        if (!slots.isTransferred(sequence)) {
            inFlight--;
            giveBack(returned);
        }
    }

    private void giveBack(int returned) {
        credits = Math.min(creditsGranted, credits + returned);
    }

    void onSeen(long upTo, int returned) {
        giveBack(returned);
        slots.seenUpTo(upTo);
    }

    // ---- tickets

    private void fail(Ticket ticket, Code code, String why) {
        ticket.fail(code, why);
        statistics.failed();
    }

    void failUnconfirmed(Code code, String why) {
        for (long sequence = oldestUnconfirmed; sequence < nextSequence; sequence++) {
            Ticket ticket = tickets[at(sequence)];
            if (!ticket.state().isFinal()) {
                if (slots.has(sequence)) {
                    leaveFlight(sequence, 0);
                }
                fail(ticket, code, why);
                lost.add(ticket);
            }
        }
        confirm();
    }

    private void confirm() {
        while (oldestUnconfirmed < nextSequence
                && tickets[at(oldestUnconfirmed)].state().isFinal()) {
            oldestUnconfirmed++;
            reuse(tickets[at(oldestUnconfirmed - 1)]);
        }
    }

    /** See {@link DartTicket#onFinal}. */
    void notifyFinal() {
        notifications.deliver(reuse);
    }

    void release(Ticket ticket) {
        if (ticket.leaveUser()) {
            reuse(ticket);
        }
    }

    private void reuse(Ticket ticket) {
        if (settings.isTicketPooled()
                && ticket.sequence() < oldestUnconfirmed
                && ticket.enterPool()) {
            freeTickets.add(ticket);
        }
    }

    private int at(long sequence) {
        return (int) (sequence & (tickets.length - 1));
    }

    void close() {
        slots.close();
    }
}
