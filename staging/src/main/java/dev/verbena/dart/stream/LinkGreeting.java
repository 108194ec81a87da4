package dev.verbena.dart.stream;

import static java.nio.ByteOrder.BIG_ENDIAN;

import dev.verbena.agent.ByteStreams.ByteStream;
import dev.verbena.dart.DartException;
import dev.verbena.dart.DartException.Code;
import dev.verbena.dart.config.ServerSettings;
import dev.verbena.dart.wire.FrameFlyweight;
import dev.verbena.dart.wire.SecretProof;
import java.nio.charset.StandardCharsets;
import java.util.UUID;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The server's part of the handshake with a receiver. Before one that shares a secret has proved to
 * know it, it learns nothing of the stream but its identity; one that asks for frames that are gone
 * is refused. Owned by a link.
 */
final class LinkGreeting {
    private static final String REMEDY =
            "start it with --secret FILE (DartReceiver.Context.secret), or this server without";

    private final ServerSettings settings;
    private SecretProof secret;
    private UUID job;
    private int serverId;
    private boolean isChallenged;
    private boolean isGapReported;

    LinkGreeting(ServerSettings settings) {
        this.settings = settings;
    }

    /** Writes CHALLENGE, the first frame of a connection; its length. */
    int putChallenge(UUID ofJob, int ofServer, MutableDirectBuffer to, int at) {
        secret = new SecretProof(settings.secret(), settings.environment());
        job = ofJob;
        serverId = ofServer;
        isChallenged = false;
        secret.begin(SecretProof.SERVER);
        secret.stream(job, serverId);
        return secret.putChallenge(SecretProof.SERVER, to, at);
    }

    /**
     * Whether a frame of this type can be taken before HELLO.
     *
     * @throws DartException NOT_AUTHENTICATED if not
     */
    void check(int type) {
        boolean isExpected =
                type == FrameFlyweight.ERROR
                        || type == (isChallenged ? FrameFlyweight.PROOF : FrameFlyweight.CHALLENGE);
        if (!isExpected) {
            throw Code.NOT_AUTHENTICATED.because(
                    "it has not proved that it knows the shared secret, but sends a frame "
                            + "of type %s: %s",
                    type, REMEDY);
        }
    }

    /** Takes the receiver's CHALLENGE, writes PROOF; its length. */
    int onChallenge(DirectBuffer from, int at, MutableDirectBuffer to, int toAt) {
        secret.takeChallenge(SecretProof.RECEIVER, from, at);
        if (!secret.isFor(job, serverId)) {
            throw Code.MALFORMED.because("frame: CHALLENGE for another stream");
        }
        isChallenged = true;
        return secret.putProof(SecretProof.SERVER, to, toAt);
    }

    /**
     * Takes the receiver's PROOF.
     *
     * @throws DartException NOT_AUTHENTICATED if it proves nothing
     */
    void onProof(DirectBuffer from, int at) {
        if (!secret.isProof(SecretProof.RECEIVER, from, at)) {
            throw Code.NOT_AUTHENTICATED.because(
                    "its shared secret is not that of this server: give both the same --secret"
                            + " FILE");
        }
    }

    /**
     * Refuses a receiver that asks for a frame that is gone. It may have been set to accept that.
     *
     * @param next the frame that it asks for
     * @param oldest the first one that there is
     * @param out for the answer
     * @throws DartException RECEIVER_UNREACHABLE, always
     */
    void refuseGap(long next, long oldest, UnsafeBuffer out, ByteStream stream) {
        String what =
                ("it asks for frame %s, but everything before %s was acknowledged and is "
                                + "gone: it was restarted without its state. Start it on the directory of "
                                + "the earlier one, or tell it to accept the gap")
                        .formatted(next, oldest);
        byte[] text = "gap".getBytes(StandardCharsets.UTF_8);
        out.putInt(FrameFlyweight.LENGTH, FrameFlyweight.ERROR_GAP, BIG_ENDIAN);
        out.putBytes(FrameFlyweight.LENGTH + 4, text);
        new FrameFlyweight()
                .begin(out, 0, FrameFlyweight.ERROR)
                .sequence(oldest)
                .end(out, FrameFlyweight.LENGTH, 4 + text.length);
        // The connection is new and nothing waits to be sent: the socket takes all of it.
        stream.write(out, 0, FrameFlyweight.LENGTH + 4 + text.length);
        DartException refusal = Code.RECEIVER_UNREACHABLE.because(what);
        if (!isGapReported) {
            isGapReported = true;
            settings.environment().errorHandler().onError(refusal);
        }
        throw refusal;
    }

    /** The receiver was accepted. */
    void succeeded() {
        isGapReported = false;
    }
}
