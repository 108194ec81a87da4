package dev.verbena.dart.stream;

import dev.verbena.dart.DartException;
import dev.verbena.dart.config.ServerSettings;
import dev.verbena.dart.wire.FrameFlyweight;
import dev.verbena.dart.wire.SecretProof;
import java.util.UUID;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * The server's part of the handshake with a receiver that shares a secret: before it has proved to
 * know it, it is told nothing of the stream but its identity. Owned by a link.
 */
final class LinkGreeting {
    private static final String REMEDY =
            "start it with --secret FILE (DartReceiver.Context.secret), or this server without";

    private final SecretProof secret;
    private final UUID job;
    private final int serverId;
    private boolean isChallenged;

    LinkGreeting(ServerSettings settings, UUID job, int serverId) {
        this.secret = new SecretProof(settings.secret(), settings.environment());
        this.job = job;
        this.serverId = serverId;
        secret.begin(SecretProof.SERVER);
        secret.stream(job, serverId);
    }

    /** Writes CHALLENGE; its length. */
    int putChallenge(MutableDirectBuffer to, int at) {
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
            throw new DartException(
                    DartException.Code.NOT_AUTHENTICATED,
                    ("it has not proved that it knows the shared secret, but sends a frame "
                                    + "of type %s: %s")
                            .formatted(type, REMEDY));
        }
    }

    /** Takes the receiver's CHALLENGE, writes PROOF; its length. */
    int onChallenge(DirectBuffer from, int at, MutableDirectBuffer to, int toAt) {
        secret.takeChallenge(SecretProof.RECEIVER, from, at);
        if (!secret.isFor(job, serverId)) {
            throw new DartException(
                    DartException.Code.MALFORMED, "frame: CHALLENGE for another stream");
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
            throw new DartException(
                    DartException.Code.NOT_AUTHENTICATED,
                    "its shared secret is not that of this server: give both the same --secret"
                            + " FILE");
        }
    }
}
