package dev.verbena.dart.stream;

import static java.nio.ByteOrder.BIG_ENDIAN;

import dev.verbena.agent.AgentThread;
import dev.verbena.agent.ByteStreams.ByteStream;
import dev.verbena.dart.DartException;
import dev.verbena.dart.DartException.Code;
import dev.verbena.dart.config.ServerSettings;
import dev.verbena.dart.wire.FrameFlyweight;
import dev.verbena.dart.wire.StreamName;
import dev.verbena.staging.Counters;
import dev.verbena.staging.LinkBackOff;
import dev.verbena.staging.Names;
import java.nio.charset.StandardCharsets;
import java.util.UUID;
import java.util.function.Consumer;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The server's end of the stream to the receiver: connects, again and again if need be, sends
 * frames within the granted window, keeps every buffer until its last frame is acknowledged, and
 * sends again from where the receiver says. Owned by t3.
 */
public final class ReceiverLink implements AutoCloseable {
    private static final int WAITING = 0;
    private static final int CONNECTING = 1;
    private static final int GREETING = 2;
    private static final int STREAMING = 3;
    private static final int FINISHING = 4;
    private static final int FINISHED = 5;
    private static final int PROVING = 6;

    private static final long HEARTBEAT_NS = 2_000_000_000L;
    private static final int WRITE_LIMIT = 4 * 1024 * 1024;
    private static final int READ_LIMIT = 64;

    /**
     * A sleep comes after many more cycles than this, each of which reads and, if need be, writes.
     */
    public static final int WAKE_AFTER = AgentThread.IDLE_CYCLES / 4;

    private final StreamOwner shared;
    private final ServerSettings settings;
    private final NanoClock clock;
    private final Consumer<ServerBuffer> giveBack;
    private final HeldBuffers held;
    private final dev.verbena.agent.ByteStreams streams;

    /** Stream of a server before this one; null: this server's own. */
    private final StreamName earlier;

    private final LinkOutlet outlet;

    /** The outlet's. */
    private final UnsafeBuffer out;

    private final LinkBackOff backOff;
    private final LinkInlet inlet = new LinkInlet();

    /** The inlet's. */
    private final FrameFlyweight inFrame = inlet.frame;

    private final UnsafeBuffer in = inlet.in;
    private final ReverseStream reverse;
    private final LinkGreeting greeting;
    private final LinkFarewell farewell = new LinkFarewell();
    private ByteStream stream;
    private int state = WAITING;
    private long startedNs;
    private long lastHeardNs;
    private long lastSentNs;
    private boolean hasEverStreamed;
    private long awaySinceNs;

    // It answers HELLO and then refuses data, as with a full device: only progress ends the
    // waiting.
    private boolean isRefused;

    public ReceiverLink(
            StreamOwner shared,
            Consumer<ServerBuffer> giveBack,
            dev.verbena.agent.ByteStreams streams,
            SpillFiles files,
            StreamName earlier,
            ReverseStream reverse) {
        this.shared = shared;
        this.streams = streams;
        this.earlier = earlier;
        this.settings = shared.settings;
        this.clock = settings.environment().nanoClock();
        this.giveBack = giveBack;
        this.held =
                new HeldBuffers(
                        settings.bufferCount(),
                        earlier == null ? settings.framePayloadMax() : FrameFlyweight.PAYLOAD_MAX);
        this.outlet = new LinkOutlet(shared, held, files, giveBack);
        this.out = outlet.room();
        this.reverse = reverse;
        this.greeting = new LinkGreeting(settings);
        this.awaySinceNs = clock.nanoTime();
        this.backOff =
                new LinkBackOff(settings.environment().random("dart-receiver-link"), awaySinceNs);
    }

    public HeldBuffers held() {
        return held;
    }

    /** Whether a frame of this buffer is half written. */
    boolean isSending(ServerBuffer buffer) {
        return outlet.isSending(buffer);
    }

    /** Whether the receiver takes nothing. */
    boolean isAway() {
        return state < STREAMING || state == PROVING;
    }

    /** Since when it is away; of no meaning while it is not. */
    long awaySinceNs() {
        return awaySinceNs;
    }

    public void add(ServerBuffer buffer) {
        held.add(buffer);
    }

    public int doWork() {
        long now = clock.nanoTime();
        try {
            return switch (state) {
                case WAITING -> connect(now);
                case CONNECTING -> connecting(now);
                case PROVING, GREETING, STREAMING, FINISHING -> exchange(now);
                default -> 0;
            };
        } catch (DartException e) {
            lost(now, e.getMessage());
            return 1;
        }
    }

    private int connect(long now) {
        if (now - backOff.nextTryNs() < 0 || shared.serverId() < 0) {
            return 0;
        }
        stream = streams.connect(settings.receiverHost(), settings.receiverPort());
        startedNs = now;
        state = CONNECTING;
        return 1;
    }

    private int connecting(long now) {
        int streamState = stream.state();
        if (streamState == ByteStream.OPEN) {
            stream.wakeAfter(WAKE_AFTER);
            lastHeardNs = now;
            inlet.reset();
            outlet.reset();
            if (settings.secret() == null) {
                hello();
            } else {
                challenge();
            }
            return 1 + exchange(now);
        }
        if (streamState != ByteStream.CONNECTING) {
            lost(now, stream.error());
            return 1;
        }
        if (now - startedNs - settings.receiverTimeoutNs() >= 0) {
            lost(now, "no connection within the time limit");
            return 1;
        }
        return 0;
    }

    private int exchange(long now) {
        int work = read(now);
        if (state == FINISHED || state == WAITING) {
            return work;
        }
        if (now - lastHeardNs - settings.receiverTimeoutNs() >= 0) {
            lost(now, "nothing was heard for " + settings.receiverTimeoutNs() / 1_000_000 + " ms");
            return work + 1;
        }
        return work + write(now);
    }

    /** The connection is of no use any more; held frames are sent again over the next. */
    private void lost(long now, String why) {
        boolean wasStreaming = state == STREAMING || state == FINISHING;
        String what = "receiver " + settings.receiverName() + ": " + why;
        if (stream != null) {
            stream.close();
            stream = null;
        }
        if (farewell.isUnanswered(state == FINISHING, held.isEmpty())) {
            state = FINISHED;
            return;
        }
        if (wasStreaming) {
            awaySinceNs = now;
        }
        if (wasStreaming || shared.receiverState() == StreamOwner.RECEIVER_UNKNOWN) {
            shared.report(Code.RECEIVER_UNREACHABLE.because(what));
        }
        shared.trouble(what);
        if (earlier == null) {
            // The next one may take longer messages.
            shared.messageLengthMax(Long.MAX_VALUE);
        }
        if (!wasStreaming && earlier == null) {
            shared.receiverState(StreamOwner.RECEIVER_UNREACHABLE);
            shared.wakeT1();
        }
        outlet.reset();
        state = WAITING;
        backOff.failed(now);
    }

    // ---- writing

    private UUID run() {
        return earlier == null ? shared.run() : earlier.run();
    }

    private int serverId() {
        return earlier == null ? shared.serverId() : earlier.serverId();
    }

    private void challenge() {
        state = PROVING;
        int length = greeting.putChallenge(run(), serverId(), out, FrameFlyweight.LENGTH);
        outlet.control(FrameFlyweight.CHALLENGE, length);
    }

    private void hello() {
        state = GREETING;
        int at = FrameFlyweight.LENGTH;
        UUID run = run();
        out.putLong(at, run.getMostSignificantBits(), BIG_ENDIAN);
        out.putLong(at + 8, run.getLeastSignificantBits(), BIG_ENDIAN);
        out.putInt(at + 16, serverId(), BIG_ENDIAN);
        out.putLong(at + 20, (long) settings.bufferCount() * settings.bufferSize(), BIG_ENDIAN);
        // Of an earlier server nobody knows what else it sent: it does not begin anew.
        out.putLong(at + 28, earlier == null ? held.sentUpTo() : Long.MAX_VALUE / 2, BIG_ENDIAN);
        outlet.control(FrameFlyweight.HELLO, FrameFlyweight.HELLO_LENGTH);
    }

    private int write(long now) {
        int budget = WRITE_LIMIT;
        while (budget > 0) {
            if (outlet.isIdle() && !beginNext(now)) {
                break;
            }
            int n = outlet.writeSome(stream);
            if (n < 0) {
                lost(now, stream.error());
                return 1;
            }
            budget -= n;
            if (n == 0) {
                break;
            }
            lastSentNs = now;
            if (outlet.isWritten()) {
                outlet.frameWritten();
            }
        }
        return budget < WRITE_LIMIT ? 1 : 0;
    }

    private boolean beginNext(long now) {
        if (state == GREETING || state == PROVING) {
            return false;
        }
        if (state == STREAMING && reverse != null && reverse.hasNews()) {
            // Before data: whose message was received can be answered.
            reverse.encode(out, FrameFlyweight.LENGTH);
            outlet.control(FrameFlyweight.REVERSE_STATE, FrameFlyweight.REVERSE_STATE_LENGTH);
            return true;
        }
        boolean isNextDue = state == STREAMING && held.hasNext() && outlet.hasRoomForLoss();
        if (isNextDue && outlet.data(clock.nanoTime())) {
            return true;
        }
        if (state == STREAMING && farewell.isWanted && held.isEmpty()) {
            out.putLong(FrameFlyweight.LENGTH, held.sentUpTo(), BIG_ENDIAN);
            outlet.control(FrameFlyweight.FIN, FrameFlyweight.FIN_LENGTH);
            state = FINISHING;
            return true;
        }
        if (now - lastSentNs - HEARTBEAT_NS >= 0) {
            outlet.control(FrameFlyweight.HEARTBEAT, 0);
            return true;
        }
        return false;
    }

    // ---- reading

    private int read(long now) {
        int frames = 0;
        while (frames < READ_LIMIT && stream != null && outlet.hasRoomForLoss()) {
            int got = inlet.read(stream);
            if (got == LinkInlet.ENDED) {
                lost(now, stream.error().isEmpty() ? "it ended the stream" : stream.error());
                return frames + 1;
            }
            if (got == LinkInlet.NOTHING) {
                break;
            }
            if (got == LinkInlet.PART) {
                lastHeardNs = now;
                continue;
            }
            frames++;
            onFrame();
        }
        return frames;
    }

    private void onFrame() {
        int at = FrameFlyweight.LENGTH;
        if (state == PROVING) {
            greeting.check(inFrame.type());
        }
        switch (inFrame.type()) {
            case FrameFlyweight.CHALLENGE -> {
                if (state != PROVING || !outlet.isIdle()) {
                    throw unexpected();
                }
                outlet.control(FrameFlyweight.PROOF, greeting.onChallenge(in, at, out, at));
            }
            case FrameFlyweight.PROOF -> {
                if (state != PROVING || !outlet.isIdle()) {
                    throw unexpected();
                }
                greeting.onProof(in, at);
                hello();
            }
            case FrameFlyweight.HELLO_ACK -> onHelloAck(in.getLong(at, BIG_ENDIAN), at);
            case FrameFlyweight.ACK -> onAck(in.getLong(at, BIG_ENDIAN));
            case FrameFlyweight.NACK -> {
                needStreaming();
                if (state == FINISHING) {
                    // It was the farewell that was damaged, or something before it.
                    state = STREAMING;
                }
                if (inFrame.messageSequence() > 0) {
                    outlet.loseRest(inFrame.clientId(), inFrame.messageSequence());
                }
                outlet.rewind(in.getLong(at, BIG_ENDIAN));
            }
            case FrameFlyweight.REVERSE -> {
                needStreaming();
                if (reverse == null) {
                    throw unexpected();
                }
                reverse.onPiece(inFrame.clientId(), in, at, inFrame.payloadLength());
            }
            case FrameFlyweight.HEARTBEAT -> {}
            case FrameFlyweight.FIN_ACK -> {
                if (state != FINISHING) {
                    throw unexpected();
                }
                state = FINISHED;
                stream.close();
                stream = null;
            }
            case FrameFlyweight.ERROR -> {
                byte[] text = new byte[inFrame.payloadLength() - 4];
                in.getBytes(at + 4, text);
                isRefused = true;
                throw Code.RECEIVER_UNREACHABLE.because(
                        "it says: " + Names.readable(new String(text, StandardCharsets.UTF_8)));
            }
            default -> throw unexpected();
        }
    }

    private void onHelloAck(long window, int at) {
        if (state != GREETING) {
            throw unexpected();
        }
        long next = in.getLong(at + 8, BIG_ENDIAN);
        long lengthMax = in.getLong(at + 16, BIG_ENDIAN);
        boolean isTooFar = next > held.sentUpTo() + 1;
        boolean isNumber = next > 0 && FrameFlyweight.isNumber(next);
        if (window < 1 || !isNumber || lengthMax < 0 || isTooFar && earlier == null) {
            throw Code.MALFORMED.because(
                    "frame: HELLO_ACK with window %s, next sequence %s and longest message %s",
                    window, next, lengthMax);
        }
        if (next < held.acknowledgedNext()) {
            greeting.refuseGap(next, held.acknowledgedNext(), out, stream);
        }
        held.window(window);
        outlet.messageLengthMax(lengthMax);
        if (earlier == null) {
            shared.messageLengthMax(lengthMax);
        }
        if (isTooFar) {
            // The server before had sent more than it had in files.
            final long known = held.sentUpTo() + 1;
            held.acknowledge(known, giveBack);
            held.rewind(known);
            held.arrivedBeyond(next - 1);
        } else {
            held.acknowledge(next, giveBack);
            held.rewind(next);
        }
        if (reverse != null) {
            reverse.connected();
        }
        state = STREAMING;
        greeting.succeeded();
        if (!isRefused) {
            shared.trouble(null);
            backOff.reset();
        }
        if (hasEverStreamed) {
            Counters.add(shared.reconnects, 1);
        }
        hasEverStreamed = true;
        shared.receiverState(StreamOwner.RECEIVER_CONNECTED);
        shared.wakeT1();
    }

    private void onAck(long next) {
        needStreaming();
        if (next > held.acknowledgedNext()) {
            isRefused = false;
            backOff.reset();
            shared.trouble(null);
        }
        outlet.acknowledged(next);
    }

    private void needStreaming() {
        if (state != STREAMING && state != FINISHING) {
            throw unexpected();
        }
    }

    private DartException unexpected() {
        return Code.MALFORMED.because("frame: type " + inFrame.type() + " in state " + state);
    }

    /**
     * All is given to this link: says farewell once it is acknowledged; true when that is done, or
     * when everything is acknowledged and nobody is there to hear it.
     */
    public boolean finish() {
        long now = clock.nanoTime();
        farewell.want(now);
        boolean isNobodyThere = !hasEverStreamed || farewell.isNotOwed(now, awaySinceNs);
        if (state == WAITING && held.isEmpty() && isNobodyThere) {
            state = FINISHED;
        }
        return state == FINISHED;
    }

    public long nextDeadlineNs() {
        return switch (state) {
            case WAITING -> backOff.nextTryNs();
            case CONNECTING -> startedNs + settings.receiverTimeoutNs();
            case FINISHED -> dev.verbena.agent.ProtocolAgent.NO_DEADLINE;
            default ->
                    Math.min(
                            Math.min(heartbeatNs(), outlet.nextDeadlineNs()),
                            lastHeardNs + settings.receiverTimeoutNs());
        };
    }

    /** When a heartbeat is due; never while none can be sent, or the thread would not sleep. */
    private long heartbeatNs() {
        boolean isHeldUp = state == GREETING || state == PROVING || !outlet.isIdle();
        return isHeldUp ? Long.MAX_VALUE : lastSentNs + HEARTBEAT_NS;
    }

    @Override
    public void close() {
        if (stream != null) {
            stream.close();
            stream = null;
        }
        held.reportUnacknowledged(shared.lost);
    }
}
