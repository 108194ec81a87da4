package dev.verbena.dart.receiver;

import static java.nio.ByteOrder.BIG_ENDIAN;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.verbena.agent.ByteStreams.ByteStream;
import dev.verbena.dart.DartException;
import dev.verbena.dart.DartException.Code;
import dev.verbena.dart.store.InboundMessage;
import dev.verbena.dart.store.InboundStream;
import dev.verbena.dart.store.StreamSession;
import dev.verbena.dart.stream.ReceiverLink;
import dev.verbena.dart.wire.FrameFlyweight;
import dev.verbena.staging.Checksum;
import dev.verbena.staging.Counters;
import dev.verbena.staging.Names;
import java.nio.ByteBuffer;
import java.util.UUID;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * One connection at a receiver: reads frames, checks them, hands them on, writes acknowledgements.
 * Trusts nothing that it reads. Owned by the receiver's agent.
 */
final class InboundSession implements StreamSession {
    private static final long HEARTBEAT_NS = 2_000_000_000L;
    private static final int FRAME_LIMIT = 16;
    private static final int CRC_FAILURES_MAX = 3;
    private static final int PIECE = 256 * 1024;
    private static final int ERROR_TEXT_MAX = 400;

    private final ReceiverEngine engine;
    private final ReceiverShared shared;
    private final ByteStream stream;
    private final FrameFlyweight frame = new FrameFlyweight();
    private final UnsafeBuffer header = new UnsafeBuffer(new byte[FrameFlyweight.LENGTH]);

    /** For payloads that cannot be read to where they belong. */
    private final UnsafeBuffer ownMemory =
            new UnsafeBuffer(ByteBuffer.allocateDirect(FrameFlyweight.CONTROL_PAYLOAD_MAX));

    /** Where the payload of the present frame goes: own memory, or that of a message. */
    private UnsafeBuffer payload = ownMemory;

    private int payloadAt;

    /** The message of that memory; null: none. */
    private InboundMessage inPlace;

    /** For the next message that begins; null: none yet. */
    private InboundMessage spare;

    private final Checksum payloadCrc = new Checksum();

    /** The bytes of data mean nothing, and their sums are 0. */
    private final boolean isBlank;

    /** What it writes. */
    final SessionOutput output;

    private final InboundGreeting greeting;
    private InboundStream inbound;
    private int headerDone;
    private int payloadDone;
    private boolean isFrameWaiting;
    private final long openedNs;
    private long lastHeardNs;
    private long acknowledged;
    private boolean isAckDue;
    private boolean isClosing;
    boolean isEnded;

    InboundSession(ReceiverEngine engine, ByteStream stream, long now) {
        this.engine = engine;
        this.shared = engine.shared();
        this.stream = stream;
        this.greeting = engine.greeting();
        this.isBlank = !shared.environment.carriesPayloads();
        this.openedNs = now;
        stream.wakeAfter(ReceiverLink.WAKE_AFTER);
        this.lastHeardNs = now;
        this.output = new SessionOutput(this, stream, now);
    }

    /** The next piece for a process behind this connection; its length, 0: none. */
    int nextPiece(UnsafeBuffer out, int at) {
        return engine.reverse().next(this, out, at);
    }

    // ---- connection

    /** It has said HELLO, and proved what it must. */
    boolean isKnown() {
        return inbound != null;
    }

    String peer() {
        return stream.peer();
    }

    /** Host that it comes from. */
    String source() {
        String peer = stream.peer();
        int colon = peer.lastIndexOf(':');
        return colon < 0 ? peer : peer.substring(0, colon);
    }

    long nextDeadlineNs(long silenceNs) {
        // A heartbeat that cannot be sent now must not keep the thread from sleeping.
        boolean isHeldUp = inbound == null || isClosing || !output.isIdle();
        long heartbeatNs = isHeldUp ? Long.MAX_VALUE : output.lastSentNs + HEARTBEAT_NS;
        long helloNs = isKnown() ? Long.MAX_VALUE : openedNs + shared.settings.helloTimeoutNs();
        return Math.min(Math.min(lastHeardNs + silenceNs, helloNs), heartbeatNs);
    }

    int doWork(long now, long silenceNs) {
        int work = 0;
        boolean hasHeard = false;
        try {
            if (!isClosing && !isEnded) {
                work += read(now);
                hasHeard = work > 0;
            }
            if (inbound != null) {
                acknowledge();
            }
            boolean isIdle = output.isIdle() && now - output.lastSentNs - HEARTBEAT_NS >= 0;
            if (!isClosing && inbound != null && isIdle) {
                output.send(FrameFlyweight.HEARTBEAT, 0);
            }
        } catch (DartException e) {
            if (e.code() == Code.TRANSFER_FAILED && inbound != null) {
                engine.storeFailed(inbound, e);
            } else {
                engine.protocolError(this, e);
                boolean isSecret = e.code() == Code.NOT_AUTHENTICATED;
                fail(
                        isSecret ? FrameFlyweight.ERROR_SECRET : FrameFlyweight.ERROR_PROTOCOL,
                        e.getMessage());
            }
        }
        work += write(now);
        if (!isEnded && now - lastHeardNs - silenceNs >= 0) {
            end();
            work++;
        }
        // What was there to be read came in time: it may be this side that is late.
        if (!isEnded && !isKnown() && !hasHeard && isHelloLate(now)) {
            engine.helloIsLate(this, now);
            end();
            work++;
        }
        return work;
    }

    private boolean isHelloLate(long now) {
        return now - openedNs - shared.settings.helloTimeoutNs() >= 0;
    }

    // ---- reading

    private int read(long now) {
        int work = 0;
        for (int frames = 0; frames < FRAME_LIMIT && !isClosing && !isEnded; ) {
            if (isFrameWaiting) {
                // The peer need not speak while it is this side that is behind.
                lastHeardNs = now;
                if (!take()) {
                    return work;
                }
                isFrameWaiting = false;
                nextFrame();
                frames++;
                work++;
                continue;
            }
            int n;
            if (headerDone < FrameFlyweight.LENGTH) {
                n = stream.read(header, headerDone, FrameFlyweight.LENGTH - headerDone);
                headerDone += Math.max(0, n);
                if (headerDone == FrameFlyweight.LENGTH) {
                    beginPayload();
                }
            } else if (payloadDone < frame.payloadLength()) {
                if (!isStillWanted()) {
                    end();
                    return work + 1;
                }
                n = readPayload();
            } else {
                onFrame();
                frames++;
                work++;
                continue;
            }
            if (n < 0) {
                end();
                return work + 1;
            }
            if (n == 0) {
                return work;
            }
            lastHeardNs = now;
            work++;
        }
        return work;
    }

    /** A piece, summed up while it is in the processor's cache. */
    private int readPayload() {
        int wanted = Math.min(PIECE, frame.payloadLength() - payloadDone);
        int at = payloadAt + payloadDone;
        int n = stream.read(payload, at, wanted);
        if (n > 0) {
            if (!isBlank || frame.type() != FrameFlyweight.DATA) {
                payloadCrc.update(payload, at, n);
            }
            payloadDone += n;
        }
        return n;
    }

    /**
     * Whether the message whose memory is being filled is the one that wants this frame. Should it
     * ever be given up meanwhile, its memory is another's: the frame must come again.
     */
    private boolean isStillWanted() {
        return inPlace == null
                || inPlace == spare
                || inbound.open().get(inPlace.clientId()) == inPlace;
    }

    private boolean take() {
        try {
            return engine.taker().take(inbound, frame, payload, payloadAt, inPlace);
        } finally {
            // Also when the frame is refused after it has begun a message: that is the stream's
            // now.
            if (spare != null && !spare.isSpare()) {
                spare = null;
            }
        }
    }

    private void beginPayload() {
        frame.wrap(header, 0);
        if (inbound == null) {
            greeting.check(frame);
        }
        inPlace = null;
        if (frame.type() == FrameFlyweight.DATA) {
            spare = spare == null ? shared.spare() : spare;
            inPlace = engine.taker().destination(inbound, frame, spare);
        }
        payload = inPlace == null ? ownMemory : inPlace.memory();
        payloadAt = inPlace == null ? 0 : (int) frame.position();
        if (inPlace == null && ownMemory.capacity() < frame.payloadLength()) {
            ownMemory.wrap(ByteBuffer.allocateDirect(FrameFlyweight.PAYLOAD_MAX));
        }
        payloadDone = 0;
        payloadCrc.reset();
    }

    private void nextFrame() {
        headerDone = 0;
        payloadDone = 0;
        inPlace = null;
        payload = ownMemory;
    }

    /** Whether bytes are on their way into this message's memory. */
    @Override
    public boolean isReadingInto(InboundMessage message) {
        return inPlace == message;
    }

    private void onFrame() {
        if (!frame.isIntact(payloadCrc.value())) {
            onCorruptFrame();
            nextFrame();
            return;
        }
        frame.check();
        switch (frame.type()) {
            case FrameFlyweight.HELLO -> onHello();
            case FrameFlyweight.CHALLENGE, FrameFlyweight.PROOF -> onSecret();
            case FrameFlyweight.DATA -> {
                if (!onData()) {
                    isFrameWaiting = true;
                    return;
                }
            }
            case FrameFlyweight.REVERSE_STATE ->
                    engine.reverse().onState(this, inbound.job(), inbound.serverId(), payload, 0);
            case FrameFlyweight.HEARTBEAT -> {}
            case FrameFlyweight.FIN -> onFin();
            case FrameFlyweight.ERROR -> onError();
            default ->
                    throw Code.MALFORMED.because(
                            "frame: type " + frame.type() + " is not for a receiver");
        }
        nextFrame();
    }

    private void onError() {
        int length = Math.min(frame.payloadLength() - 4, ERROR_TEXT_MAX);
        byte[] said = new byte[length];
        payload.getBytes(4, said);
        String text = Names.readable(new String(said, UTF_8));
        if (inbound != null && payload.getInt(0, BIG_ENDIAN) == FrameFlyweight.ERROR_GAP) {
            engine.gap(inbound, frame.sequence());
            end();
            return;
        }
        throw Code.MALFORMED.because("the server says: " + text);
    }

    private void onCorruptFrame() {
        Counters.add(shared.corruptFrames, 1);
        if (inbound == null || inbound.damaged() >= CRC_FAILURES_MAX) {
            throw Code.MALFORMED.because("frame: wrong checksum again and again");
        }
        wantAgain(0, 0);
    }

    /** This frame is to come again, and its message to be given up; false: not now. */
    @Override
    public boolean refuse(FrameFlyweight refused) {
        if (!output.hasRoom()) {
            return false;
        }
        wantAgain(refused.clientId(), refused.messageSequence());
        return true;
    }

    private void wantAgain(int clientId, long messageSequence) {
        inbound.skip();
        output.sendNack(inbound.nextWanted(), clientId, messageSequence);
    }

    private void onSecret() {
        if (inbound != null) {
            throw Code.MALFORMED.because("frame: type " + frame.type() + " after HELLO");
        }
        int type = frame.type();
        UnsafeBuffer out = output.payload();
        int at = output.payloadAt();
        output.send(
                type,
                type == FrameFlyweight.CHALLENGE
                        ? greeting.onChallenge(payload, out, at)
                        : greeting.onProof(payload, out, at));
    }

    private void onHello() {
        if (inbound != null) {
            throw Code.MALFORMED.because("frame: a second HELLO");
        }
        UUID job = new UUID(payload.getLong(0, BIG_ENDIAN), payload.getLong(8, BIG_ENDIAN));
        int serverId = payload.getInt(16, BIG_ENDIAN);
        long window = payload.getLong(20, BIG_ENDIAN);
        long lastSent = payload.getLong(28, BIG_ENDIAN);
        if (serverId < 0 || window < 1 || !FrameFlyweight.isNumber(lastSent)) {
            throw Code.MALFORMED.because(
                    "frame: HELLO of server %s with window %s and last sequence %s",
                    serverId, window, lastSent);
        }
        greeting.onHello(job, serverId);
        inbound = engine.attach(this, job, serverId, lastSent);
        inbound.endSkipping();
        acknowledged = inbound.acknowledgedNext();
        inbound.grant(Math.min(window, shared.settings.windowMax()));
        output.sendHelloAck(inbound.window(), acknowledged, engine.messageLengthMax());
    }

    private boolean onData() {
        long wanted = inbound.nextWanted();
        if (frame.sequence() < wanted) {
            Counters.add(shared.duplicateFrames, 1);
            isAckDue = true;
            return true;
        }
        if (frame.sequence() > wanted) {
            if (inbound.isSkipping()) {
                return true;
            }
            throw Code.MALFORMED.because(
                    "frame: sequence " + frame.sequence() + " where " + wanted + " is expected");
        }
        inbound.endSkipping();
        return take();
    }

    private void onFin() {
        long last = payload.getLong(0, BIG_ENDIAN);
        if (last != inbound.nextWanted() - 1 || last != inbound.acknowledgedNext() - 1) {
            throw Code.MALFORMED.because(
                    "frame: FIN after %s where %s was the last frame",
                    last, inbound.nextWanted() - 1);
        }
        output.send(FrameFlyweight.FIN_ACK, 0);
        engine.finished(inbound);
        isClosing = true;
    }

    // ---- writing

    /** Tells what is settled; the last word replaces earlier ones that were not yet written. */
    private void acknowledge() {
        if ((inbound.acknowledgedNext() > acknowledged || isAckDue) && output.isIdle()) {
            acknowledged = inbound.acknowledgedNext();
            isAckDue = false;
            output.sendAck(acknowledged, shared.settings.windowMax());
        }
    }

    private int write(long now) {
        if (isEnded) {
            return 0;
        }
        boolean isDone = isClosing && output.isAllWritten();
        int work = output.write(now, inbound != null && !isClosing);
        if (work == SessionOutput.ENDED || isDone) {
            end();
            return 1;
        }
        return work;
    }

    /** Tells the peer why, as far as it can be told, and ends. */
    @Override
    public void fail(int code, String text) {
        if (isEnded || isClosing) {
            return;
        }
        isClosing = true;
        output.sendError(code, text);
    }

    @Override
    public void end() {
        if (!isEnded) {
            isEnded = true;
            stream.close();
            if (spare != null) {
                shared.toPool(spare);
                spare = null;
            }
            if (inbound != null && inbound.session() == this) {
                inbound.detach();
            }
        }
    }
}
