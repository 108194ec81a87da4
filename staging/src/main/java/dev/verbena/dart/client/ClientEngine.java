package dev.verbena.dart.client;

import dev.verbena.agent.StagingEvents;
import dev.verbena.dart.DartException;
import dev.verbena.dart.DartException.Code;
import dev.verbena.dart.DartMetadata;
import dev.verbena.dart.DartReverseHandler;
import dev.verbena.dart.DartStatistics;
import dev.verbena.dart.DartTicket;
import dev.verbena.dart.TicketState;
import dev.verbena.dart.config.ClientSettings;
import dev.verbena.dart.config.JobScheme;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.staging.CounterMirror;
import dev.verbena.staging.Monitors;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportException;
import java.util.ArrayList;
import java.util.List;
import org.agrona.DirectBuffer;
import org.agrona.ErrorHandler;
import org.agrona.concurrent.NanoClock;

/**
 * The client as its user drives it: arguments, waiting, times, memory. The protocol is in {@link
 * ClientProtocol}. One thread.
 */
public final class ClientEngine {
    private static final int CREDITS_PER_CONNECTION = 16;
    private static final long GOODBYE_NS = 250_000_000L;

    private final ClientSettings settings;
    private final NanoClock clock;
    private final JobScheme scheme;
    private Transport transport;

    /** Null until the transport is known and open. */
    private ClientProtocol protocol;

    private ClientMemory memory;
    private CounterMirror mirror;
    private ClientWaits waits;
    private final ClientStatistics statistics;
    private final DartMetadata noMetadata = new DartMetadata();
    private final StagingEvents events;
    private boolean isClosed;
    private boolean isCommanding;

    public ClientEngine(ClientSettings settings) {
        this.settings = settings;
        this.clock = settings.environment().nanoClock();
        this.statistics = new ClientStatistics(settings.isDistribution());
        this.events = settings.environment().events();
        this.scheme =
                new JobScheme(settings.service(), settings.variables(), settings.service().job());
        try {
            isOpened();
        } catch (RuntimeException e) {
            scheme.close();
            throw e;
        }
    }

    /** Opens the transport once it is known; whether it is open. */
    private boolean isOpened() {
        String found = protocol == null ? scheme.find() : null;
        if (found != null) {
            open(found);
        }
        return protocol != null;
    }

    private void open(String found) {
        TransportContext opening =
                settings.service()
                        .transportContext()
                        .creditsPerConnection(CREDITS_PER_CONNECTION)
                        .receiveSlotCount(4 * CREDITS_PER_CONNECTION)
                        .outstandingMax(1024)
                        .connectionsMax(4);
        transport = open(found, opening);
        try {
            protocol = new ClientProtocol(this, settings, transport, statistics, scheme.leftNs());
        } catch (RuntimeException e) {
            transport.close();
            throw e;
        }
        memory = new ClientMemory(settings, transport);
        mirror = mirror();
        waits = new ClientWaits(protocol, transport, clock, mirror);
    }

    /** What cannot be opened now may be later, for example while a cable is out. */
    private Transport open(String found, TransportContext opening) {
        try {
            return settings.environment().openTransport(found, opening);
        } catch (TransportException e) {
            throw new DartException(
                    Code.SERVER_UNREACHABLE,
                    "no server can be reached from here: " + e.getMessage(),
                    e);
        }
    }

    private CounterMirror mirror() {
        return new CounterMirror(settings.environment(), "dart client")
                .show("messages sent", statistics::messageCount)
                .show("bytes sent", statistics::byteCount)
                .show("sends blocked", statistics::blockedCount)
                .show("headers resent", statistics::headerResendCount)
                .show("messages failed", statistics::failedCount);
    }

    public void awaitConnected() {
        // The scheme and the protocol throw when their own time is over.
        Monitors.await(
                scheme, clock, this::isOpened, Long.MAX_VALUE / 4, DartException::interrupted);
        waits.await(ClientWaits.CONNECTED, Long.MAX_VALUE / 4);
    }

    public boolean isConnected() {
        return !isClosed && protocol != null && protocol.isConnected();
    }

    public int progress() {
        return isClosed || !isOpened() ? 0 : protocol.progress();
    }

    public long nextDeadlineNs() {
        if (protocol == null && !isClosed) {
            return scheme.nextDeadlineNs();
        }
        long now = clock.nanoTime();
        long until = isClosed ? Long.MAX_VALUE : protocol.untilDeadlineNs(now);
        return until >= Long.MAX_VALUE - now ? Long.MAX_VALUE : now + until;
    }

    public int clientId() {
        return protocol == null ? 0 : protocol.clientId();
    }

    public int serverId() {
        return protocol == null ? -1 : protocol.serverId();
    }

    public Transport transport() {
        checkOpen();
        return transport;
    }

    public DartStatistics statistics() {
        return statistics;
    }

    public RegisteredRegion allocate(long length) {
        checkOpen();
        return memory.allocate(length);
    }

    public DartTicket send(
            RegisteredRegion region,
            long offset,
            long length,
            DartMetadata metadata,
            int tag,
            long timeoutNs) {
        long start = clock.nanoTime();
        checkRange(region, offset, length);
        long ready = awaitUnblocked(start, timeoutNs);
        return accept(region, offset, length, metadata, tag, start, ready);
    }

    public DartTicket trySend(
            RegisteredRegion region, long offset, long length, DartMetadata metadata, int tag) {
        long start = clock.nanoTime();
        checkRange(region, offset, length);
        protocol.checkUsable();
        // Decided on what is known, so that it agrees with wouldBlock(); then news are fetched.
        if (protocol.flight.isBlocked()) {
            protocol.progress();
            return null;
        }
        return accept(region, offset, length, metadata, tag, start, start);
    }

    private DartTicket accept(
            RegisteredRegion region,
            long offset,
            long length,
            DartMetadata metadata,
            int tag,
            long start,
            long ready) {
        int checksum = memory.checksum(region, offset, length);
        DartMetadata known = known(metadata);
        return accepted(
                protocol.flight.accept(region, offset, length, known, checksum, tag, null),
                start,
                ready);
    }

    public DartTicket sendCopy(
            DirectBuffer buffer,
            int offset,
            int length,
            DartMetadata metadata,
            int tag,
            long timeoutNs) {
        long start = clock.nanoTime();
        checkOpen();
        ClientMemory.checkRange(buffer, offset, length);
        DartMetadata known = known(metadata);
        known.encodedLength();
        long ready = awaitUnblocked(start, timeoutNs);
        CopyBuffers.CopyBuffer copy = memory.copy(buffer, offset, length);
        int checksum = memory.checksum(copy, length);
        try {
            return accepted(
                    protocol.flight.accept(copy.region, 0, length, known, checksum, tag, copy),
                    start,
                    ready);
        } catch (RuntimeException e) {
            copy.free();
            throw e;
        }
    }

    private DartMetadata known(DartMetadata metadata) {
        return metadata == null ? noMetadata : metadata;
    }

    private DartTicket accepted(DartTicket ticket, long start, long ready) {
        long end = clock.nanoTime();
        statistics.headerTime().record(end - ready);
        statistics.waitTime().record(ready - start);
        statistics.totalTime().record(end - start);
        statistics.accepted(ticket.length());
        mirror.publish(end);
        events.sent(protocol.clientId(), ticket.length(), ready - start, end - start);
        return ticket;
    }

    private long awaitUnblocked(long start, long timeoutNs) {
        protocol.checkUsable();
        if (!protocol.flight.isBlocked()) {
            return start;
        }
        protocol.progress();
        if (protocol.flight.isBlocked()) {
            statistics.blocked();
            if (!waits.await(ClientWaits.UNBLOCKED, timeoutNs)) {
                throw Code.TIMEOUT.because(
                        "an earlier message is still on its way after %s ms; nothing was sent%s",
                        timeoutNs / 1_000_000, protocol.trouble());
            }
        }
        protocol.checkUsable();
        return clock.nanoTime();
    }

    public void suspend(boolean isSuspended) {
        checkOpen();
        protocol.suspend(isSuspended);
    }

    public byte[] command(int type, DirectBuffer payload, int offset, int length, long timeoutNs) {
        checkOpen();
        if (isCommanding) {
            throw new IllegalStateException(
                    "command "
                            + type
                            + " while another waits for its answer: send it when that has"
                            + " returned, not in a handler");
        }
        isCommanding = true;
        try {
            return answer(type, payload, offset, length, timeoutNs);
        } finally {
            isCommanding = false;
        }
    }

    private byte[] answer(int type, DirectBuffer payload, int offset, int length, long timeoutNs) {
        long start = clock.nanoTime();
        protocol.checkUsable();
        // The server may have gone since this process was here last.
        protocol.progress();
        protocol.checkUsable();
        protocol.beginCommand(type, payload, offset, length);
        boolean isOver;
        try {
            isOver = waits.awaitReply(Math.max(0, timeoutNs - (clock.nanoTime() - start)));
        } catch (DartException e) {
            protocol.commands.giveUp();
            throw e;
        }
        if (protocol.commands.isAnswered()) {
            return protocol.commands.reply();
        }
        protocol.commands.giveUp();
        if (protocol.commands.connection == 0) {
            protocol.checkUsable();
            throw Code.TIMEOUT.because(
                    "command %s after %s ms: it was not sent and can be repeated%s",
                    type, timeoutNs / 1_000_000, protocol.trouble());
        }
        if (!isOver) {
            throw Code.TIMEOUT.because(
                    "command %s after %s ms: no reply; it may still be done",
                    type, timeoutNs / 1_000_000);
        }
        throw Code.SERVER_UNREACHABLE.because(
                "the server was lost before it answered command %s, which may have been "
                        + "done or not",
                type);
    }

    public boolean wouldBlock() {
        checkOpen();
        protocol.progress();
        return protocol.flight.isBlocked();
    }

    public void flush(long timeoutNs) {
        checkOpen();
        if (!waits.await(ClientWaits.ALL_FINAL, timeoutNs)) {
            throw Code.TIMEOUT.because(
                    "not confirmed after %s ms: %s%s",
                    timeoutNs / 1_000_000,
                    describe(protocol.flight.unconfirmed()),
                    protocol.trouble());
        }
    }

    void await(DartTicket ticket, TicketState atLeast, long timeoutNs) {
        if (!isClosed && !waits.await(ticket, atLeast, timeoutNs)) {
            throw Code.TIMEOUT.because(
                    "%s is not %s after %s ms%s",
                    ticket, atLeast, timeoutNs / 1_000_000, protocol.trouble());
        }
        if (ticket.state() == TicketState.FAILED) {
            throw new DartException(ticket.failureCode(), ticket.toString());
        }
    }

    public int receive(DartReverseHandler handler, int limit) {
        checkOpen();
        ClientInbox inbox = protocol.inbox;
        if (inbox == null) {
            throw new IllegalStateException(
                    "this client has no inbox: set DartClient.Context.inbox");
        }
        protocol.progress();
        return inbox.receive(handler, limit);
    }

    public int receive(DartReverseHandler handler, int limit, long timeoutNs) {
        long start = clock.nanoTime();
        int count;
        while ((count = receive(handler, limit)) == 0) {
            protocol.checkUsable();
            long now = clock.nanoTime();
            long left = timeoutNs - (now - start);
            if (left <= 0) {
                break;
            }
            waits.sleep(ClientWaits.MESSAGE, now, left);
        }
        return count;
    }

    void release(Ticket ticket) {
        protocol.flight.release(ticket);
    }

    public List<DartTicket> unconfirmed() {
        return protocol == null ? List.of() : protocol.flight.unconfirmed();
    }

    private void checkRange(RegisteredRegion region, long offset, long length) {
        checkOpen();
        ClientMemory.checkRange(region, offset, length);
    }

    private void checkOpen() {
        if (isClosed) {
            throw new IllegalStateException("DART client is closed");
        }
        if (protocol == null) {
            throw new IllegalStateException(
                    "DART client is not connected yet, and its transport is not known: call"
                            + " progress() until isConnected()");
        }
    }

    // ---- the end

    public void abandon() {
        isClosed = true;
        free();
    }

    public void close(long wantedTimeoutNs) {
        if (isClosed) {
            return;
        }
        if (protocol == null) {
            abandon();
            return;
        }
        if (protocol.inbox != null && protocol.inbox.isReceiving) {
            throw new IllegalStateException(
                    "close in a handler of receive: call it when that has returned");
        }
        long timeoutNs =
                wantedTimeoutNs < 0 ? settings.service().closeTimeoutNs() : wantedTimeoutNs;
        String why = "";
        try {
            if (protocol.isConnected()) {
                waits.await(ClientWaits.ALL_FINAL, timeoutNs);
            }
        } catch (DartException e) {
            if (e.code() != Code.INTERRUPTED) {
                throw e;
            }
            why = ", because the thread was interrupted";
        } finally {
            isClosed = true;
            protocol.flight.failUnconfirmed(
                    Code.UNCONFIRMED, "the client was closed before it was confirmed");
            protocol.flight.notifyFinal();
            free();
        }
        List<DartTicket> lost = protocol.lost();
        if (!lost.isEmpty()) {
            throw Code.UNCONFIRMED.because(
                    "closed with %s messages unconfirmed%s: %s%s",
                    lost.size(), why, describe(lost), protocol.trouble());
        }
    }

    private static String describe(List<DartTicket> tickets) {
        StringBuilder text = new StringBuilder();
        for (DartTicket ticket : tickets) {
            text.append(text.length() == 0 ? "" : "; ").append(ticket);
        }
        return text.toString();
    }

    private void free() {
        closeAll(List.of(scheme::close), settings.environment().errorHandler());
        if (protocol == null) {
            return;
        }
        ErrorHandler errors = settings.environment().errorHandler();
        boolean hasEnded = false;
        try {
            protocol.sayGoodbye();
            hasEnded = waits.await(ClientWaits.ENDED, GOODBYE_NS);
        } catch (RuntimeException e) {
            errors.onError(e);
        }
        // What a server that does not answer keeps in use is refused. Where the transport does not
        // close that, either, its failure names the refusals.
        List<Throwable> refused = new ArrayList<>();
        closeAll(
                List.of(protocol::close, memory::closeCopies, memory::closeRegions),
                hasEnded ? errors : refused::add);
        ErrorHandler withRefused =
                failure -> {
                    refused.forEach(failure::addSuppressed);
                    errors.onError(failure);
                };
        closeAll(List.of(mirror::close, transport::close), withRefused);
    }

    private static void closeAll(List<Runnable> closings, ErrorHandler errors) {
        for (Runnable closing : closings) {
            try {
                closing.run();
            } catch (RuntimeException e) {
                errors.onError(e);
            }
        }
    }
}
