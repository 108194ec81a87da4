package dev.verbena.dart;

import dev.verbena.agent.internal.PlantedFaults;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.transport.Operation;
import dev.verbena.transport.RemoteDescriptor;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportHandler;
import java.net.URI;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The client's side of the protocol: registers, sends headers as credits allow, again if nobody
 * shows to have them, and follows every message to its end. Never waits. One thread.
 */
final class ClientProtocol {
    private static final int BOOTING = 0;
    private static final int CONNECTED = 1;
    private static final int LOST = 2;
    private static final int LEAVING = 3;

    private static final int POLL_LIMIT = 64;
    private static final int SLOT_LENGTH = PullAgent.MESSAGE_LENGTH_MAX;
    private static final long CONTEXT_MASTER = 1;
    private static final long CONTEXT_SERVER = 2;
    private static final long CONTEXT_CONTROL = -1;

    private final DartClient client;
    private final DartClient.Context context;
    private final Transport transport;
    private final DartStatistics statistics;
    private final NanoClock clock;
    private final Events events = new Events();
    private final MasterLink link;
    private final RegisteredRegion region;
    private final UnsafeBuffer memory;
    private final ControlFlyweight outgoing = new ControlFlyweight();
    private final ControlFlyweight incoming = new ControlFlyweight();
    private final RemoteDescriptor descriptor = new RemoteDescriptor();

    // Per header slot; a message in flight owns the slot of its sequence.
    private final int slotCount;
    private final long[] slotOwner;
    private final int[] slotLength;
    private final int[] slotSends;
    private final int[] slotTries;
    private final long[] slotSentNs;
    private final boolean[] slotSeen;
    private final CopyBuffers.CopyBuffer[] slotCopy;

    private final DartTicket[] tickets;
    private final ArrayDeque<DartTicket> freeTickets = new ArrayDeque<>();
    private final List<DartTicket> lost = new ArrayList<>();
    private long nextSequence = 1;
    private long headerNext = 1;
    private long oldestUnconfirmed = 1;
    private int inFlight;
    private int credits;
    private int creditsGranted;
    private long givenUpEnd;
    private int givenUpCount;

    private int state = BOOTING;
    private boolean hasRegistered;
    private boolean isControlBusy;
    private boolean isServerStopping;
    private DartException failure;
    private UUID job;
    private int clientId;
    private int serverId = -1;
    private long serverConnection;

    ClientProtocol(
            DartClient client,
            DartClient.Context context,
            Transport transport,
            DartStatistics statistics) {
        this.client = client;
        this.context = context;
        this.transport = transport;
        this.statistics = statistics;
        this.clock = context.environment.nanoClock();
        this.slotCount = Integer.highestOneBit(2 * context.maxInFlight - 1) << 1;
        this.slotOwner = new long[slotCount];
        this.slotLength = new int[slotCount];
        this.slotSends = new int[slotCount];
        this.slotTries = new int[slotCount];
        this.slotSentNs = new long[slotCount];
        this.slotSeen = new boolean[slotCount];
        this.slotCopy = new CopyBuffers.CopyBuffer[slotCount];
        this.tickets = new DartTicket[context.unconfirmedMax];
        transport.listen();
        int length = (slotCount + 1) * SLOT_LENGTH;
        this.region = transport.allocate(length, 0);
        this.memory = region.buffer(0, length);
        MasterLink made;
        try {
            made =
                    new MasterLink(
                            context.environment,
                            transport,
                            context.configurationFile,
                            context.variables,
                            context.job,
                            context.bootTimeoutNs);
        } catch (RuntimeException e) {
            region.close();
            throw e;
        }
        this.link = made;
    }

    boolean isConnected() {
        return state == CONNECTED;
    }

    int clientId() {
        return clientId;
    }

    int serverId() {
        return serverId;
    }

    /** Nothing is outstanding that needs this side's memory. */
    boolean hasEnded() {
        if (isControlBusy) {
            return false;
        }
        for (int sends : slotSends) {
            if (sends > 0) {
                return false;
            }
        }
        return true;
    }

    boolean isAllFinal() {
        return oldestUnconfirmed == nextSequence;
    }

    List<DartTicket> lost() {
        return lost;
    }

    List<DartTicket> unconfirmed() {
        List<DartTicket> all = new ArrayList<>();
        for (long sequence = oldestUnconfirmed; sequence < nextSequence; sequence++) {
            DartTicket ticket = tickets[at(sequence)];
            if (!ticket.state().isFinal()) {
                all.add(ticket);
            }
        }
        return all;
    }

    /** Exactly the condition under which a send is not accepted now. */
    boolean isBlocked() {
        if (PlantedFaults.ENABLED && PlantedFaults.isOn("dart-one-too-many-in-flight")) {
            return inFlight > context.maxInFlight || slotOwner[slot(nextSequence)] != 0;
        }
        return inFlight >= context.maxInFlight
                || nextSequence - oldestUnconfirmed >= tickets.length
                || slotOwner[slot(nextSequence)] != 0
                || slotSends[slot(nextSequence)] > 0;
    }

    void checkUsable() {
        if (failure != null) {
            throw new DartException(failure.code(), failure.getMessage(), failure);
        }
        if (state == BOOTING) {
            throw new IllegalStateException("DART client is not connected yet");
        }
        if (isServerStopping) {
            throw new DartException(
                    DartException.Code.SERVER_STOPPING, "server " + serverId + " is stopping");
        }
    }

    // ---- sending

    DartTicket accept(
            RegisteredRegion source,
            long offset,
            long length,
            DartMetadata metadata,
            int checksum,
            int tag,
            CopyBuffers.CopyBuffer copy) {
        long sequence = nextSequence;
        int slot = slot(sequence);
        int base = slot * SLOT_LENGTH;
        if (length > 0) {
            source.describe(offset, length, RemoteDescriptor.REMOTE_READ, descriptor);
        }
        metadata.origin(context.applicationId, context.rank, context.rankCount)
                .payload(length, context.isChecksummed, checksum);
        int metadataLength = metadata.encode(memory, base + ControlFlyweight.LENGTH);
        int flags = context.isChecksummed ? ControlFlyweight.FLAG_CHECKSUM : 0;
        outgoing.begin(memory, base, ControlFlyweight.HEADER, job)
                .header(clientId, sequence, tag, length, flags)
                .headerData(checksum, metadataLength, skippedBefore(sequence));
        if (length > 0) {
            outgoing.descriptor(descriptor);
        }
        outgoing.end();
        boolean isWasteful = PlantedFaults.ENABLED && PlantedFaults.isOn("dart-ticket-not-pooled");
        DartTicket ticket = context.isTicketPooled && !isWasteful ? freeTickets.poll() : null;
        if (ticket == null) {
            ticket = new DartTicket(client);
        }
        ticket.begin(sequence, tag, length, metadata.name());
        tickets[at(sequence)] = ticket;
        slotOwner[slot] = sequence;
        slotLength[slot] = ControlFlyweight.LENGTH + metadataLength;
        slotTries[slot] = 0;
        slotSeen[slot] = false;
        slotCopy[slot] = copy;
        nextSequence++;
        inFlight++;
        sendHeaders();
        return ticket;
    }

    private int sendHeaders() {
        int work = 0;
        while (headerNext < nextSequence && credits > 0) {
            int slot = slot(headerNext);
            if (slotOwner[slot] == headerNext) {
                if (!post(slot)) {
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

    private boolean post(int slot) {
        int answer =
                transport.send(
                        serverConnection,
                        region,
                        (long) slot * SLOT_LENGTH,
                        slotLength[slot],
                        slot,
                        0);
        if (answer != Transport.ACCEPTED) {
            return false;
        }
        slotSends[slot]++;
        slotTries[slot]++;
        slotSentNs[slot] = clock.nanoTime();
        return true;
    }

    /** Headers that nobody shows to have are sent again, in order; in the end they are given up. */
    private int checkHeaders(long now) {
        int work = 0;
        long first = Math.max(oldestUnconfirmed, headerNext - slotCount);
        for (long sequence = first; sequence < headerNext; sequence++) {
            int slot = slot(sequence);
            if (slotOwner[slot] != sequence
                    || slotSeen[slot]
                    || now - slotSentNs[slot] - context.headerTimeoutNs < 0
                    || slotSends[slot] > 0) {
                continue;
            }
            if (slotTries[slot] >= context.headerTries) {
                giveUp(sequence, slot);
            } else {
                outgoing.rewrap(memory, slot * SLOT_LENGTH).skipped(skippedBefore(sequence)).end();
                if (post(slot)) {
                    statistics.headerResendCount++;
                }
            }
            work++;
        }
        return work;
    }

    private void giveUp(long sequence, int slot) {
        givenUpCount = sequence - 1 == givenUpEnd ? givenUpCount + 1 : 1;
        givenUpEnd = sequence;
        int tries = slotTries[slot];
        leaveFlight(sequence, 1);
        fail(
                tickets[at(sequence)],
                DartException.Code.HEADER_LOST,
                "its header was sent " + tries + " times and never seen by server " + serverId);
        confirm();
    }

    private int skippedBefore(long sequence) {
        return sequence - 1 == givenUpEnd ? givenUpCount : 0;
    }

    // ---- what comes back

    private void onDone(long sequence, int doneState, int result, int returned) {
        if (sequence < 1 || sequence >= nextSequence) {
            throw new DartException(
                    DartException.Code.MALFORMED,
                    "DONE of message " + sequence + ", the last one sent is " + (nextSequence - 1));
        }
        if (doneState == ControlFlyweight.STATE_TRANSFERRED) {
            if (slotOwner[slot(sequence)] != sequence) {
                return;
            }
            leaveFlight(sequence, returned);
            DartTicket ticket = tickets[at(sequence)];
            if (result == ControlFlyweight.RESULT_OK) {
                ticket.state(TicketState.TRANSFERRED);
            } else {
                fail(
                        ticket,
                        ControlFlyweight.code(result),
                        "server " + serverId + ": " + ControlFlyweight.resultName(result));
            }
        } else {
            for (long each = oldestUnconfirmed; each <= sequence; each++) {
                DartTicket ticket = tickets[at(each)];
                if (!ticket.state().isFinal()) {
                    if (slotOwner[slot(each)] == each) {
                        leaveFlight(each, 1);
                    }
                    ticket.state(TicketState.STREAMED);
                }
            }
        }
        confirm();
    }

    private void leaveFlight(long sequence, int returned) {
        int slot = slot(sequence);
        slotOwner[slot] = 0;
        if (slotCopy[slot] != null) {
            slotCopy[slot].isInUse = false;
            slotCopy[slot] = null;
        }
        inFlight--;
        credits = Math.min(creditsGranted, credits + returned);
    }

    private void fail(DartTicket ticket, DartException.Code code, String why) {
        ticket.fail(code, why);
        statistics.failedCount++;
        if (code == DartException.Code.SERVER_UNREACHABLE
                || code == DartException.Code.UNCONFIRMED) {
            lost.add(ticket);
        }
    }

    private void confirm() {
        while (oldestUnconfirmed < nextSequence
                && tickets[at(oldestUnconfirmed)].state().isFinal()) {
            oldestUnconfirmed++;
            reuse(tickets[at(oldestUnconfirmed - 1)]);
        }
    }

    void release(DartTicket ticket) {
        if (ticket.isHeldByUser) {
            ticket.isHeldByUser = false;
            reuse(ticket);
        }
    }

    private void reuse(DartTicket ticket) {
        if (context.isTicketPooled
                && !ticket.isHeldByUser
                && !ticket.isPooled
                && ticket.state().isFinal()
                && ticket.sequence() < oldestUnconfirmed) {
            ticket.isPooled = true;
            freeTickets.add(ticket);
        }
    }

    private void onSeen(long upTo, int returned) {
        credits = Math.min(creditsGranted, credits + returned);
        for (int slot = 0; slot < slotCount; slot++) {
            if (slotOwner[slot] != 0 && slotOwner[slot] <= upTo) {
                slotSeen[slot] = true;
            }
        }
    }

    private void onServerGone(String reason) {
        if (state == CONNECTED) {
            state = LOST;
            failure =
                    new DartException(
                            isServerStopping
                                    ? DartException.Code.SERVER_STOPPING
                                    : DartException.Code.SERVER_UNREACHABLE,
                            "server "
                                    + serverId
                                    + (isServerStopping ? " has stopped" : " was lost: " + reason));
        }
        failUnconfirmed(
                "server " + serverId + " was lost" + (reason.isEmpty() ? "" : ": " + reason));
    }

    void failUnconfirmed(String why) {
        for (long sequence = oldestUnconfirmed; sequence < nextSequence; sequence++) {
            DartTicket ticket = tickets[at(sequence)];
            if (!ticket.state().isFinal()) {
                if (slotOwner[slot(sequence)] == sequence) {
                    leaveFlight(sequence, 0);
                }
                fail(
                        ticket,
                        state == LOST
                                ? DartException.Code.SERVER_UNREACHABLE
                                : DartException.Code.UNCONFIRMED,
                        why);
            }
        }
        confirm();
    }

    private int at(long sequence) {
        return (int) (sequence & (tickets.length - 1));
    }

    private int slot(long sequence) {
        return (int) (sequence & (slotCount - 1));
    }

    // ---- registering

    int progress() {
        int work = Math.max(0, transport.poll(events, POLL_LIMIT));
        if (state == BOOTING) {
            work += boot(clock.nanoTime());
        } else if (inFlight > 0 && state == CONNECTED) {
            work += sendHeaders() + checkHeaders(clock.nanoTime());
        }
        return work;
    }

    private int boot(long now) {
        if (failure != null) {
            throw failure;
        }
        int work = link.doWork(now, CONTEXT_MASTER);
        if (link.isConnected() && !hasRegistered && !isControlBusy) {
            int base = slotCount * SLOT_LENGTH;
            job = link.job();
            outgoing.begin(memory, base, ControlFlyweight.REGISTER, job)
                    .register(
                            ControlFlyweight.ROLE_CLIENT,
                            context.maxInFlight,
                            context.rank,
                            context.applicationId,
                            transport.uri());
            hasRegistered = control(link.connection());
            work++;
        }
        if (link.isTimeOver(now)) {
            throw link.failure();
        }
        return work;
    }

    private boolean control(long connection) {
        outgoing.end();
        int answer =
                transport.send(
                        connection,
                        region,
                        (long) slotCount * SLOT_LENGTH,
                        ControlFlyweight.LENGTH,
                        CONTEXT_CONTROL,
                        0);
        isControlBusy |= answer == Transport.ACCEPTED;
        return answer == Transport.ACCEPTED;
    }

    private void onWelcome(long connection) {
        int result = incoming.welcomeResult();
        if (state != BOOTING || !incoming.isOfJob(job) && !link.isAnyJob()) {
            if (state == BOOTING && result == ControlFlyweight.RESULT_WRONG_JOB) {
                refused(connection, result);
            }
            return;
        }
        if (result == ControlFlyweight.RESULT_WRONG_JOB
                || result == ControlFlyweight.RESULT_STOPPING) {
            refused(connection, result);
            return;
        }
        if (result != ControlFlyweight.RESULT_OK) {
            failure =
                    new DartException(
                            ControlFlyweight.code(result),
                            "server "
                                    + incoming.serverId()
                                    + " refused this process: "
                                    + ControlFlyweight.resultName(result));
            return;
        }
        job = incoming.job();
        clientId = incoming.clientId();
        serverId = incoming.serverId();
        serverConnection = connection;
        creditsGranted = Math.max(1, incoming.welcomeCredits());
        credits = creditsGranted;
        nextSequence = Math.max(1, incoming.nextSequence());
        headerNext = nextSequence;
        oldestUnconfirmed = nextSequence;
        givenUpEnd = 0;
        state = CONNECTED;
        if (link.isConnected() && link.connection() != connection) {
            transport.disconnect(link.connection());
        }
        link.close();
    }

    private void refused(long connection, int result) {
        hasRegistered = false;
        link.onRefused(clock.nanoTime(), result);
        transport.disconnect(connection);
    }

    /** Nanoseconds until something is due. */
    long untilDeadlineNs(long now) {
        if (state == BOOTING) {
            return Math.max(0, link.nextDeadlineNs() - now);
        }
        return inFlight > 0 ? context.headerTimeoutNs : Long.MAX_VALUE;
    }

    // ---- the end

    void sayGoodbye() {
        if (state == CONNECTED) {
            if (!isControlBusy) {
                outgoing.begin(memory, slotCount * SLOT_LENGTH, ControlFlyweight.GOODBYE, job)
                        .goodbye(clientId, nextSequence - 1, ControlFlyweight.RESULT_OK);
                control(serverConnection);
            }
            transport.disconnect(serverConnection);
        } else if (state == BOOTING && link.isConnected()) {
            transport.disconnect(link.connection());
        }
        state = LEAVING;
    }

    void close() {
        link.close();
        region.close();
    }

    /** The transport's events. */
    private final class Events implements TransportHandler {
        @Override
        public void onCompletion(
                long connection, int operation, long slot, int status, long value) {
            if (operation != Operation.SEND) {
                return;
            }
            if (slot == CONTEXT_CONTROL) {
                isControlBusy = false;
            } else {
                slotSends[(int) slot]--;
            }
        }

        @Override
        public void onMessage(
                long connection,
                long connectionContext,
                DirectBuffer buffer,
                int offset,
                int length,
                long token) {
            try {
                incoming.wrap(buffer, offset, length);
                if (incoming.type() == ControlFlyweight.WELCOME) {
                    onWelcome(connection);
                } else if (connection == serverConnection && incoming.clientId() == clientId) {
                    onServerRecord();
                }
            } catch (DartException e) {
                context.environment.errorHandler().onError(e);
            }
        }

        private void onServerRecord() {
            switch (incoming.type()) {
                case ControlFlyweight.DONE ->
                        onDone(
                                incoming.sequence(),
                                incoming.state(),
                                incoming.result(),
                                incoming.credits());
                case ControlFlyweight.CREDIT -> onSeen(incoming.sequence(), incoming.credits());
                case ControlFlyweight.GOODBYE -> isServerStopping = true;
                default ->
                        throw new DartException(
                                DartException.Code.MALFORMED,
                                "record type " + incoming.type() + " is not for a client");
            }
        }

        @Override
        public void onConnectRequest(
                long connection, URI peer, DirectBuffer privateData, int offset, int length) {
            // While registering it is the server of this process; later another server that was
            // handed the descriptor of a message and comes for its data.
            boolean isExpected = state == BOOTING && hasRegistered || state == CONNECTED;
            boolean isOfJob =
                    length == 0
                            || job != null && ConnectNote.isOfJob(privateData, offset, length, job);
            if (isExpected
                    && isOfJob
                    && transport.accept(connection, CONTEXT_SERVER) == Transport.ACCEPTED) {
                return;
            }
            transport.reject(connection);
        }

        @Override
        public void onConnected(long connection, long connectionContext) {
            if (connectionContext == CONTEXT_MASTER) {
                link.onConnected();
            }
        }

        @Override
        public void onConnectFailed(
                long connection, long connectionContext, int status, String reason) {
            if (connectionContext == CONTEXT_MASTER) {
                link.onConnectFailed(clock.nanoTime(), status, reason);
            }
        }

        @Override
        public void onDisconnected(long connection, long connectionContext) {
            gone(connection, connectionContext, "it ended the connection");
        }

        @Override
        public void onPeerLost(long connection, long connectionContext, String reason) {
            gone(connection, connectionContext, reason);
        }

        private void gone(long connection, long connectionContext, String reason) {
            if (state == BOOTING) {
                if (connectionContext == CONTEXT_MASTER
                        && connection == link.connection()
                        && link.isConnected()) {
                    hasRegistered = false;
                    link.onLost(clock.nanoTime(), reason);
                }
            } else if (connection == serverConnection && state != LEAVING) {
                onServerGone(reason);
            }
        }
    }
}
