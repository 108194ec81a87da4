package dev.verbena.dart;

import dev.verbena.agent.internal.PlantedFaults;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.transport.Status;
import dev.verbena.transport.Transport;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.NanoClock;

/**
 * The part of t1 that pulls: keeps headers in order of arrival while no buffer is empty, pulls the
 * data of each into buffers, part by part, and hands these on. Owns the buffers' memory. Owned by
 * t1.
 */
final class PartPuller implements AutoCloseable {
    private static final long PAGE = 4096;
    private static final int REPLAYED_LIMIT = 64;

    /** No answer of a transport. */
    private static final int THROWN = Integer.MIN_VALUE;

    private final ServerShared shared;
    private final DartServer.Context context;
    private final NanoClock clock;
    private final Transport transport;
    private final RegisteredRegion region;
    private final ServerBuffer[] buffers;
    private final ArrayDeque<ServerBuffer> free = new ArrayDeque<>();

    /** Parts of which a piece has come and more is to be asked for. */
    private final ArrayDeque<ServerBuffer> begun = new ArrayDeque<>();

    /** Parts that are being pulled in pieces. */
    private int longParts;

    private final ArrayDeque<PullMessage> parked = new ArrayDeque<>();
    private final ArrayDeque<PullMessage> pool = new ArrayDeque<>();
    private final RareReports refusals;
    private String refusal = "";
    private ServedClients clients;
    private int suspendedCount;
    private long lazyUntilNs;

    /** t2 has something to move; what is only asked for need not wake it. */
    private boolean hasEndedPart;

    /** Planted: memory that nobody gives back. */
    private final List<Object> leaked = new ArrayList<>();

    /** Makes and registers all buffers that there will ever be. */
    PartPuller(ServerShared shared, Transport transport) {
        this.shared = shared;
        this.context = shared.context;
        this.clock = context.environment.nanoClock();
        this.transport = transport;
        this.refusals = new RareReports(context.environment.errorHandler());
        long stride = (context.bufferSize + PAGE - 1) & -PAGE;
        region = transport.allocate(stride * context.bufferCount, 0);
        buffers = new ServerBuffer[context.bufferCount];
        for (int i = 0; i < buffers.length; i++) {
            buffers[i] =
                    new ServerBuffer(
                            i, i * stride, region.buffer(i * stride, context.bufferSize), sums());
            free.add(buffers[i]);
        }
        shared.emptyBuffers.lazySet(free.size());
    }

    /** Null: data that are thrown away are not summed up. */
    private FrameSums sums() {
        return context.isDiscarding
                ? null
                : new FrameSums(context.bufferSize, context.framePayloadMax);
    }

    /** Whose messages these are; before anything else. */
    void clients(ServedClients clients) {
        this.clients = clients;
    }

    // ---- headers

    /**
     * Keeps a header that was checked, until its data can be pulled.
     *
     * @throws DartException MALFORMED if its metadata or descriptor is none
     */
    void park(ServedClient client, ControlFlyweight header, DirectBuffer buffer, int metadata) {
        PullMessage message = fromPool();
        try {
            check(header, buffer, metadata);
            message.begin(client, header, buffer, metadata);
        } catch (DartException e) {
            pool.add(message);
            throw e;
        }
        parked.add(message);
        countParked();
    }

    /** What the receiver would refuse must not get into the stream, where it held up the rest. */
    private static void check(ControlFlyweight header, DirectBuffer buffer, int metadata) {
        int available = header.metadataLength();
        if (PlantedFaults.ENABLED && PlantedFaults.isOn("dart-metadata-unchecked")) {
            return;
        }
        int length = MetadataCodec.check(buffer, metadata, available);
        long payload = MetadataCodec.payloadLength(buffer, metadata);
        if (length != available || payload != header.length()) {
            throw new DartException(
                    DartException.Code.MALFORMED,
                    "header of message "
                            + header.sequence()
                            + ": "
                            + available
                            + " bytes of metadata and "
                            + header.length()
                            + " of payload, but its metadata block says "
                            + length
                            + " and "
                            + payload);
        }
    }

    /**
     * Tells the receiver that a client is there, or was lost, behind all of its messages that wait.
     *
     * @param kind {@link FrameFlyweight#CLIENT_HERE} or {@link FrameFlyweight#CLIENT_LOST}
     */
    void announce(ServedClient client, int kind) {
        boolean isSilent = PlantedFaults.ENABLED && PlantedFaults.isOn("dart-loss-untold");
        if (shared.isStopRequested || client.control != null || isSilent) {
            return;
        }
        PullMessage message = fromPool();
        message.beginNotice(client, kind);
        // Keeps the client's slot until the notice has been streamed.
        client.outstandingBuffers++;
        parked.add(message);
        countParked();
    }

    private PullMessage fromPool() {
        PullMessage message = pool.poll();
        return message == null ? new PullMessage() : message;
    }

    private void countParked() {
        shared.parkedHeaders.lazySet(parked.size() + suspendedCount);
    }

    /** The client is gone: what it has not given yet will not come. */
    void drop(ServedClient client) {
        resume(client);
        for (PullMessage message : parked) {
            if (message.client == client && message.notice == 0) {
                message.isFailed = true;
            }
        }
    }

    /** Its messages have waited longest, and go before its later ones. */
    void resume(ServedClient client) {
        client.isSuspended = false;
        suspendedCount -= client.suspended.size();
        PullMessage message;
        while ((message = client.suspended.pollLast()) != null) {
            parked.addFirst(message);
        }
    }

    /** Messages of clients that asked for a pause. */
    int suspendedCount() {
        return suspendedCount;
    }

    /** No header waits, and every buffer is here. */
    boolean isIdle() {
        return parked.isEmpty() && free.size() == buffers.length;
    }

    // ---- buffers

    /** Buffers that t3 is done with. */
    int takeEmpty() {
        int work = 0;
        ServerBuffer buffer;
        while (work < buffers.length && (buffer = shared.empty.poll()) != null) {
            work++;
            ServedClient client = clients.client(buffer.slot, buffer.generation);
            if (client != null) {
                client.outstandingBuffers--;
                boolean isWhole =
                        buffer.isLast() && buffer.status == ServerBuffer.OK && !buffer.isDropped;
                if (isWhole && buffer.isSpilled) {
                    client.spilledUpTo = Math.max(client.spilledUpTo, buffer.sequence);
                    clients.hasNews(client);
                } else if (isWhole) {
                    client.streamedUpTo = Math.max(client.streamedUpTo, buffer.sequence);
                    ServerShared.add(shared.streamed, 1);
                    clients.hasNews(client);
                }
                clients.freeIfGone(client);
            }
            free.add(buffer);
        }
        if (work > 0) {
            shared.emptyBuffers.lazySet(free.size());
        }
        return work + takeReplayed() + takeLosses();
    }

    /**
     * What t3 cannot stream, after what it gave back: of a message that is confirmed, every loss
     * before it is known here.
     */
    private int takeLosses() {
        int work = 0;
        ServerBuffer part;
        while (work < ServerShared.LOSSES_MAX && (part = shared.losses.poll()) != null) {
            work++;
            ServedClient client = clients.client(part.slot, part.generation);
            if (client != null && isStillPulled(client, part)) {
                continue; // counted, and told of, when its pull ends
            }
            ServerShared.add(shared.failed, 1);
            if (client != null) {
                client.addLost(part.sequence, part.lostResult);
                clients.hasNews(client);
            }
        }
        if (work > 0) {
            shared.wakeT3.run();
        }
        return work;
    }

    /** Whether later parts of the message are still to come: it fails as if a pull had failed. */
    private boolean isStillPulled(ServedClient client, ServerBuffer part) {
        long sequence = part.sequence;
        PullMessage message = find(parked, client, sequence);
        message = message == null ? find(client.suspended, client, sequence) : message;
        for (int i = 0; i < buffers.length && message == null; i++) {
            PullMessage pulled = buffers[i].message;
            message = isOf(pulled, client, sequence) ? pulled : null;
        }
        if (message == null) {
            return false;
        }
        message.isFailed = true;
        message.failureResult = part.lostResult;
        boolean isUnreadable = part.lostResult == ControlFlyweight.RESULT_TRANSFER_FAILED;
        failure(
                message,
                isUnreadable
                        ? "what was spilled of it cannot be read any more"
                        : ControlResult.name(part.lostResult));
        return true;
    }

    private static PullMessage find(
            ArrayDeque<PullMessage> messages, ServedClient client, long sequence) {
        for (PullMessage message : messages) {
            if (isOf(message, client, sequence)) {
                return message;
            }
        }
        return null;
    }

    private static boolean isOf(PullMessage message, ServedClient client, long sequence) {
        return message != null
                && message.client == client
                && message.notice == 0
                && message.sequence == sequence;
    }

    /** What the receiver confirmed out of files. */
    private int takeReplayed() {
        int work = 0;
        ServerBuffer part;
        while (work < REPLAYED_LIMIT && (part = shared.replayed.poll()) != null) {
            work++;
            ServedClient client = clients.client(part.slot, part.generation);
            if (client != null) {
                client.streamedUpTo = Math.max(client.streamedUpTo, part.sequence);
                clients.hasNews(client);
            }
        }
        return work;
    }

    int pull() {
        int work = goOn();
        hasEndedPart = false;
        for (int i = 0; !parked.isEmpty() && i < buffers.length; i++) {
            PullMessage message = parked.peek();
            if (isToWait(message)) {
                message.client.suspended.add(parked.poll());
                suspendedCount++;
                work++;
                continue;
            }
            if (message.isFailed && !needsAbort(message)) {
                parked.poll();
                message.isAllPosted = true;
                finishIfDone(message);
                work++;
                continue;
            }
            if (free.isEmpty() || isLazy(message) || !postPart(message)) {
                break;
            }
            work++;
            if (message.isAllPosted) {
                parked.poll();
                finishIfDone(message);
            }
        }
        if (work > 0) {
            shared.emptyBuffers.lazySet(free.size());
            countParked();
        }
        if (hasEndedPart) {
            shared.wakeT2.run();
        }
        return work;
    }

    private boolean isToWait(PullMessage message) {
        return message.notice == 0
                && message.client.isHeld()
                && !message.isFailed
                && !isDrainingHeld(message.client);
    }

    /** A server that stops heeds no hint; it waits only for what it cannot do without. */
    private boolean isDrainingHeld(ServedClient client) {
        return shared.isStopRequested && (client.control == null || client.peer.isConnected);
    }

    /** Planted: each message is begun milliseconds after the one before. */
    private boolean isLazy(PullMessage message) {
        if (!PlantedFaults.ENABLED
                || message.postedParts > 0
                || !PlantedFaults.isOn("dart-pull-begins-late")) {
            return false;
        }
        if (clock.nanoTime() - lazyUntilNs < 0) {
            return true;
        }
        lazyUntilNs = clock.nanoTime() + 5_000_000;
        return false;
    }

    /** A message given up half-way must be heard of by the receiver, through a part of its own. */
    private static boolean needsAbort(PullMessage message) {
        return message.postedParts > 0 && !message.isAbortOnItsWay;
    }

    private boolean postPart(PullMessage message) {
        ServerBuffer buffer = free.poll();
        ServedClient client = message.client;
        boolean isFirst = message.postedParts == 0;
        int metadata = isFirst ? message.metadataLength : 0;
        long left = message.payloadLength - message.posted;
        int length = message.isFailed ? 0 : (int) Math.min(left, context.bufferSize - metadata);
        buffer.pullBeganNs = clock.nanoTime();
        buffer.message = message;
        buffer.remoteOffset = remoteOffset(message);
        buffer.asked = metadata;
        buffer.length = metadata + length;
        if (length > 0) {
            int answer = askForPiece(buffer);
            if (answer != Transport.ACCEPTED) {
                buffer.message = null;
            }
            if (answer == Transport.BACK_PRESSURED) {
                free.addFirst(buffer);
                return false;
            }
            if (answer != Transport.ACCEPTED) {
                message.isFailed = true;
                message.failure = whyRefused(answer);
                free.addFirst(buffer);
                return true;
            }
        }
        describe(buffer, message, length);
        buffer.isInPieces = buffer.asked < buffer.length;
        longParts += buffer.isInPieces ? 1 : 0;
        if (buffer.sums != null) {
            buffer.sums.reset();
        }
        if (isFirst) {
            buffer.window.putBytes(0, message.metadata, 0, metadata);
        }
        message.posted += length;
        message.postedParts++;
        message.outstandingParts++;
        boolean isLast = message.posted == message.payloadLength || message.isFailed;
        message.isAllPosted = isLast;
        if (message.notice != 0) {
            buffer.flags = message.notice;
        } else {
            client.outstandingBuffers++;
            buffer.flags = flags(message, isFirst, isLast);
            if (isFirst && client.isReturningEarly) {
                client.earlyCredits++;
                clients.hasNews(client);
            }
        }
        shared.pending.offer(buffer);
        if (length == 0) {
            partEnded(buffer, message.isFailed ? Status.CANCELLED : Status.OK);
        }
        return true;
    }

    /**
     * As {@link #get}. A transport that throws has refused this pull: that costs neither the buffer
     * nor those that wait behind it.
     */
    private int askForPiece(ServerBuffer buffer) {
        try {
            return get(buffer);
        } catch (RuntimeException e) {
            if (PlantedFaults.ENABLED && PlantedFaults.isOn("dart-thrown-pull-costs-buffer")) {
                throw e;
            }
            refusal = "its memory cannot be read: " + e;
            refusals.report(clock.nanoTime(), DartException.Code.TRANSFER_FAILED, refusal);
            return THROWN;
        }
    }

    private String whyRefused(int answer) {
        return answer == THROWN ? refusal : "the connection is gone";
    }

    /** The next piece of a part, or all that is left of it; the transport's answer. */
    private int get(ServerBuffer buffer) {
        PullMessage message = buffer.message;
        ServedClient client = message.client;
        int left = buffer.length - buffer.asked;
        int length =
                buffer.sums == null || left < 2 * context.pieceLength ? left : context.pieceLength;
        int answer =
                transport.get(
                        client.peer == null ? 0 : client.peer.connection,
                        region,
                        buffer.regionOffset + buffer.asked,
                        message.descriptor,
                        buffer.remoteOffset,
                        length,
                        buffer.index,
                        0);
        if (answer == Transport.ACCEPTED) {
            buffer.asked += length;
            boolean isStuck = PlantedFaults.ENABLED && PlantedFaults.isOn("dart-piece-again");
            buffer.remoteOffset += isStuck ? 0 : length;
        }
        return answer;
    }

    /** Asks for more of the parts that have begun; parts that went on. */
    private int goOn() {
        int work = 0;
        for (int i = begun.size(); i > 0; i--) {
            ServerBuffer buffer = begun.poll();
            int answer = askForPiece(buffer);
            if (answer == Transport.BACK_PRESSURED) {
                begun.addFirst(buffer);
                break;
            }
            if (answer != Transport.ACCEPTED) {
                failure(buffer.message, whyRefused(answer));
                partEnded(buffer, Status.PEER_DEAD);
                shared.wakeT2.run();
            }
            work++;
        }
        return work;
    }

    /** Of some part more is to be asked for once what was asked for last has come. */
    boolean isPulling() {
        return longParts > 0;
    }

    private static void describe(ServerBuffer buffer, PullMessage message, int length) {
        ServedClient client = message.client;
        buffer.slot = client.slot;
        buffer.generation = client.generation;
        buffer.clientId = client.id;
        buffer.tag = message.tag;
        buffer.sequence = message.sequence;
        buffer.ordinal = client.nextOrdinal++;
        buffer.position = message.postedParts == 0 ? 0 : message.metadataLength + message.posted;
        buffer.payloadLength = length;
        buffer.isDropped = false;
        buffer.isLost = false;
        buffer.isSpilled = false;
    }

    private static int flags(PullMessage message, boolean isFirst, boolean isLast) {
        int first = FrameFlyweight.FIRST | message.fileFlags & FrameFlyweight.FILE_BEGIN;
        int last = FrameFlyweight.LAST | message.fileFlags & FrameFlyweight.FILE_END;
        return (isFirst ? first : 0) | (isLast ? last : 0);
    }

    private static long remoteOffset(PullMessage message) {
        if (PlantedFaults.ENABLED && PlantedFaults.isOn("dart-part-offset-off-by-one")) {
            return Math.max(0, message.posted - 1);
        }
        return message.posted;
    }

    /** The get into the buffer of this index has ended. */
    void onPulled(int index, int status) {
        ServerBuffer buffer = buffers[index];
        if (status == Status.OK
                && buffer.sums != null
                && buffer.length >= 2 * context.pieceLength) {
            buffer.sums.goOn(buffer.window, buffer.asked, buffer.length);
            if (buffer.asked < buffer.length) {
                begun.add(buffer);
                return;
            }
        }
        partEnded(buffer, status);
        shared.wakeT2.run();
    }

    private void partEnded(ServerBuffer buffer, int status) {
        PullMessage message = buffer.message;
        buffer.message = null;
        longParts -= buffer.isInPieces ? 1 : 0;
        buffer.isInPieces = false;
        if (PlantedFaults.ENABLED && PlantedFaults.isOn("dart-memory-grows")) {
            leaked.add(java.nio.ByteBuffer.allocateDirect(512));
        }
        buffer.pulledNs = clock.nanoTime();
        buffer.status = status == Status.OK ? ServerBuffer.OK : ServerBuffer.FAILED;
        if (status != Status.OK) {
            message.isFailed = true;
            message.isAbortOnItsWay = true;
            failure(message, Status.name(status));
        } else if (message.notice == 0) {
            ServerShared.add(shared.pulledBytes, buffer.payloadLength);
            shared.events.pulled(
                    buffer.clientId,
                    buffer.sequence,
                    buffer.length,
                    buffer.pulledNs - buffer.pullBeganNs);
        }
        message.outstandingParts--;
        hasEndedPart = true;
        shared.completed.offer(buffer);
        finishIfDone(message);
    }

    private static void failure(PullMessage message, String why) {
        if (message.failure.isEmpty()) {
            message.failure = why;
        }
    }

    private void finishIfDone(PullMessage message) {
        if (!message.isAllPosted || message.outstandingParts > 0 || message.client == null) {
            return;
        }
        if (message.notice == 0) {
            tellDone(message);
        }
        message.client = null;
        pool.add(message);
    }

    private void tellDone(PullMessage message) {
        ServedClient client = message.client;
        ServerShared.add(message.isFailed ? shared.failed : shared.transferred, 1);
        if (message.isFailed) {
            report(message);
        }
        client.addDone(
                message.sequence,
                message.isFailed ? message.failureResult : ControlFlyweight.RESULT_OK,
                client.isReturningEarly && message.postedParts > 0 ? 0 : 1);
        clients.hasNews(client);
    }

    private void report(PullMessage message) {
        ServedClient client = message.client;
        String why =
                client.state == ServedClient.GONE
                        ? "is dropped: its process is gone"
                        : "could not be read out of its process: "
                                + (message.failure.isEmpty() ? "it was refused" : message.failure);
        context.environment
                .errorHandler()
                .onError(
                        new DartException(
                                DartException.Code.TRANSFER_FAILED,
                                "message " + message.sequence + " of " + client + " " + why));
    }

    /** Names what is lost when the server ends now. */
    void reportLost() {
        parked.forEach(this::reportLost);
        for (ServerBuffer buffer : buffers) {
            if (buffer.message != null) {
                reportLost(buffer.message);
            }
        }
    }

    private void reportLost(PullMessage message) {
        if (message.notice == 0) {
            shared.lost.add(
                    message.client.id,
                    message.sequence,
                    "it had pulled",
                    context.environment.errorHandler());
        }
    }

    /** Gives the memory back; nothing may be outstanding. */
    @Override
    public void close() {
        region.close();
    }
}
