package dev.verbena.dart.server;

import dev.verbena.dart.DartException.Code;
import dev.verbena.dart.config.ServerSettings;
import dev.verbena.dart.stream.ServerBuffer;
import dev.verbena.dart.wire.FrameFlyweight;
import dev.verbena.dart.wire.FrameSums;
import dev.verbena.staging.Counters;
import dev.verbena.staging.RareReports;
import dev.verbena.staging.transfer.PartBuffers;
import dev.verbena.transport.Capability;
import dev.verbena.transport.Status;
import dev.verbena.transport.TransferSum;
import dev.verbena.transport.Transport;
import java.util.ArrayDeque;
import java.util.Arrays;
import org.agrona.concurrent.NanoClock;

/**
 * The part of t1 that pulls: takes messages out of the {@link HeaderQueue} as long as a buffer is
 * empty, pulls the data of each into buffers, part by part, and hands these on. Owns the buffers'
 * memory. Owned by t1.
 */
final class PartPuller implements AutoCloseable {
    /** No answer of a transport. */
    private static final int THROWN = Integer.MIN_VALUE;

    /** Shorter parts are summed up faster with their frame's header than combined with it. */
    private static final int SUMMED_MIN = 64 * 1024;

    private final ServerShared shared;
    private final ServerSettings settings;
    private final NanoClock clock;
    private final Transport transport;
    private final PartBuffers parts;
    private final ServerBuffer[] buffers;

    /** What is pulled into the buffer of the same index; null: nothing. */
    private final PullMessage[] pulled;

    /** Of the piece that was asked for last, by index of its buffer. */
    private final TransferSum[] pieceSums;

    /** Whether the transport sums up what it copies, and frames are long enough for that. */
    private final boolean hasSums;

    /** Parts of which a piece has come and more is to be asked for. */
    private final ArrayDeque<ServerBuffer> begun = new ArrayDeque<>();

    /** Parts that are being pulled in pieces. */
    private int longParts;

    private final HeaderQueue headers;
    private final PullEnds ends;
    private final RareReports refusals;
    private String refusal = "";
    private ServedClients clients;

    /** t2 has something to move; what is only asked for need not wake it. */
    private boolean hasEndedPart;

    /** Makes and registers all buffers that there will ever be. */
    PartPuller(ServerShared shared, Transport transport, HeaderQueue headers) {
        this.headers = headers;
        this.ends = new PullEnds(shared, headers);
        this.shared = shared;
        this.settings = shared.settings;
        this.clock = settings.environment().nanoClock();
        this.transport = transport;
        this.refusals = new RareReports(settings.environment().errorHandler());
        parts = parts(transport);
        buffers = new ServerBuffer[settings.bufferCount()];
        pulled = new PullMessage[buffers.length];
        hasSums =
                (transport.capabilities() & Capability.SUMS) != 0
                        && settings.framePayloadMax() >= SUMMED_MIN;
        pieceSums = new TransferSum[buffers.length];
        Arrays.setAll(pieceSums, index -> new TransferSum());
        for (int i = 0; i < buffers.length; i++) {
            buffers[i] = new ServerBuffer(i, parts.offset(i), parts.window(i), sums());
        }
        shared.emptyBuffers.lazySet(parts.freeCount());
    }

    /** In the memory from which t3 puts, if it does. */
    private PartBuffers parts(Transport transport) {
        int count = settings.bufferCount();
        int size = settings.bufferSize();
        return shared.bufferMemory == null
                ? new PartBuffers(transport, count, size)
                : new PartBuffers(transport.register(shared.bufferMemory.memory(), 0), count, size);
    }

    /** Null: data that are thrown away are not summed up. */
    private FrameSums sums() {
        return settings.isDiscarding()
                ? null
                : new FrameSums(
                        settings.bufferSize(),
                        settings.framePayloadMax(),
                        !settings.environment().carriesPayloads());
    }

    /** Whose messages these are; before anything else. */
    void clients(ServedClients clients) {
        this.clients = clients;
        ends.clients(clients);
    }

    /** No header waits, and every buffer is here. */
    boolean isIdle() {
        return headers.isEmpty() && parts.freeCount() == buffers.length;
    }

    /** Nobody else needs this buffer any more. */
    void returned(ServerBuffer buffer) {
        parts.release(buffer.index());
        shared.emptyBuffers.lazySet(parts.freeCount());
    }

    /** A message of which more is to be pulled, or is being pulled; null: none. */
    PullMessage find(ServedClient client, long sequence) {
        PullMessage message = headers.find(client, sequence);
        for (int i = 0; i < buffers.length && message == null; i++) {
            PullMessage candidate = pulled[i];
            boolean isIt = candidate != null && candidate.isOf(client, sequence);
            message = isIt ? candidate : null;
        }
        return message;
    }

    int pull() {
        int work = goOn();
        hasEndedPart = false;
        for (int i = 0; !headers.isEmpty() && i < buffers.length; i++) {
            PullMessage message = headers.first();
            if (isToWait(message)) {
                headers.suspendFirst();
                work++;
                continue;
            }
            if (message.isFailed && !needsAbort(message)) {
                headers.removeFirst();
                message.endPosting();
                ends.finishIfDone(message);
                work++;
                continue;
            }
            if (parts.freeCount() == 0) {
                work += giveUpEarly(message);
                break;
            }
            if (!postPart(message)) {
                break;
            }
            work++;
            if (message.isAllPosted) {
                headers.removeFirst();
                ends.finishIfDone(message);
            }
        }
        if (work > 0) {
            shared.emptyBuffers.lazySet(parts.freeCount());
            headers.show();
        }
        if (hasEndedPart) {
            shared.wakeT2();
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

    /** A message given up half-way must be heard of by the receiver, through a part of its own. */
    private static boolean needsAbort(PullMessage message) {
        return message.postedParts > 0 && !message.isAbortOnItsWay;
    }

    /**
     * Every buffer may have a part of this message, which waits for the receiver: the part that
     * ends the message would wait for these buffers.
     */
    private int giveUpEarly(PullMessage message) {
        if (!message.isToGiveUpEarly() || !message.giveUpEarly(shared.givenUp)) {
            return 0;
        }
        shared.wakeT3();
        return 1;
    }

    private boolean postPart(PullMessage message) {
        ServerBuffer buffer = buffers[parts.acquire()];
        ServedClient client = message.client;
        boolean isFirst = message.postedParts == 0;
        int metadata = isFirst ? message.metadataLength : 0;
        long left = message.payloadLength - message.posted;
        int length = message.isFailed ? 0 : (int) Math.min(left, settings.bufferSize() - metadata);
        pulled[buffer.index()] = message;
        buffer.beginPull(remoteOffset(message), metadata, length, clock.nanoTime());
        if (length > 0) {
            int answer = askForPiece(buffer);
            if (answer != Transport.ACCEPTED) {
                pulled[buffer.index()] = null;
            }
            if (answer == Transport.BACK_PRESSURED) {
                parts.release(buffer.index());
                return false;
            }
            if (answer != Transport.ACCEPTED) {
                message.refused(whyRefused(answer));
                parts.release(buffer.index());
                return true;
            }
        }
        buffer.owned(client.slot, client.generation, client.id, client.takeOrdinal());
        long position = isFirst ? 0 : message.metadataLength + message.posted;
        buffer.describe(message.tag, message.sequence, position, length);
        longParts += buffer.isInPieces() ? 1 : 0;
        if (buffer.sums() != null) {
            buffer.sums().reset();
        }
        if (isFirst) {
            buffer.window().putBytes(0, message.metadata, 0, metadata);
        } else {
            buffer.metadata().putBytes(0, message.metadata, 0, message.metadataLength);
        }
        message.posted(length);
        if (message.notice != 0) {
            buffer.flagged(message.notice);
        } else {
            client.bufferTaken();
            buffer.flagged(flags(message, isFirst, message.isAllPosted));
            if (isFirst && client.isReturningEarly) {
                client.oweCredits(1);
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
            refusal = "its memory cannot be read: " + e;
            refusals.report(clock.nanoTime(), refusal, text -> Code.TRANSFER_FAILED.because(text));
            return THROWN;
        }
    }

    private String whyRefused(int answer) {
        return answer == THROWN ? refusal : "the connection is gone";
    }

    /** The next piece of a part, or all that is left of it; the transport's answer. */
    private int get(ServerBuffer buffer) {
        PullMessage message = pulled[buffer.index()];
        ServedClient client = message.client;
        int left = buffer.length() - buffer.asked();
        long connection = client.peer == null ? 0 : client.peer.connection;
        long into = buffer.regionOffset() + buffer.asked();
        int length = pieceLength(buffer, left);
        int answer =
                isSummedByTransport(buffer)
                        ? transport.getSummed(
                                connection,
                                parts.region(),
                                into,
                                message.descriptor,
                                buffer.remoteOffset(),
                                length,
                                pieceSums[buffer.index()],
                                buffer.index(),
                                0)
                        : transport.get(
                                connection,
                                parts.region(),
                                into,
                                message.descriptor,
                                buffer.remoteOffset(),
                                length,
                                buffer.index(),
                                0);
        if (answer == Transport.ACCEPTED) {
            buffer.askedFor(length);
        }
        return answer;
    }

    private boolean isSummedByTransport(ServerBuffer buffer) {
        return hasSums && buffer.sums() != null && buffer.length() >= SUMMED_MIN;
    }

    private int pieceLength(ServerBuffer buffer, int left) {
        if (isSummedByTransport(buffer)) {
            int piece = Math.min(settings.pieceLength(), buffer.sums().leftInFrame(buffer.asked()));
            return Math.min(left, piece);
        }
        return buffer.sums() == null || left < 2 * settings.pieceLength()
                ? left
                : settings.pieceLength();
    }

    /** Sums up what has come last, if that pays; whether it is so. */
    private boolean sum(ServerBuffer buffer) {
        FrameSums sums = buffer.sums();
        if (isSummedByTransport(buffer)) {
            TransferSum last = pieceSums[buffer.index()];
            sums.goOn(
                    buffer.window(),
                    buffer.asked(),
                    buffer.length(),
                    (int) last.length(),
                    last.value());
            return true;
        }
        if (sums == null || buffer.length() < 2 * settings.pieceLength()) {
            return false;
        }
        sums.goOn(buffer.window(), buffer.asked(), buffer.length());
        return true;
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
                pulled[buffer.index()].blame(whyRefused(answer));
                partEnded(buffer, Status.PEER_DEAD);
                shared.wakeT2();
            }
            work++;
        }
        return work;
    }

    /** Of some part more is to be asked for once what was asked for last has come. */
    boolean isPulling() {
        return longParts > 0;
    }

    private static int flags(PullMessage message, boolean isFirst, boolean isLast) {
        int first = FrameFlyweight.FIRST | message.fileFlags & FrameFlyweight.FILE_BEGIN;
        int last = FrameFlyweight.LAST | message.fileFlags & FrameFlyweight.FILE_END;
        return (isFirst ? first : 0) | (isLast ? last : 0);
    }

    private static long remoteOffset(PullMessage message) {
        return message.posted;
    }

    /** The get into the buffer of this index has ended. */
    void onPulled(int index, int status) {
        ServerBuffer buffer = buffers[index];
        if (status == Status.OK && sum(buffer) && buffer.asked() < buffer.length()) {
            begun.add(buffer);
            return;
        }
        partEnded(buffer, status);
        shared.wakeT2();
    }

    private void partEnded(ServerBuffer buffer, int status) {
        PullMessage message = pulled[buffer.index()];
        longParts -= buffer.isInPieces() ? 1 : 0;
        pulled[buffer.index()] = null;
        buffer.pullEnded(
                status == Status.OK ? ServerBuffer.OK : ServerBuffer.FAILED, clock.nanoTime());
        if (status != Status.OK) {
            message.partFailed(Status.name(status));
        } else if (message.notice == 0) {
            Counters.add(shared.pulledBytes, buffer.payloadLength());
            shared.events.pulled(
                    buffer.clientId(),
                    buffer.sequence(),
                    buffer.length(),
                    buffer.pulledNs() - buffer.pullBeganNs());
        }
        message.partEnded();
        hasEndedPart = true;
        shared.completed.offer(buffer);
        ends.finishIfDone(message);
    }

    /** Names what is lost when the server ends now. */
    void reportLost() {
        headers.reportLost();
        for (PullMessage message : pulled) {
            if (message != null) {
                message.reportLost(shared);
            }
        }
    }

    /** Gives the memory back; nothing may be outstanding. */
    @Override
    public void close() {
        parts.close();
    }
}
