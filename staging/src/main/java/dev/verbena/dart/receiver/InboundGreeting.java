package dev.verbena.dart.receiver;

import dev.verbena.agent.Environment;
import dev.verbena.dart.DartException;
import dev.verbena.dart.DartException.Code;
import dev.verbena.dart.wire.FrameFlyweight;
import dev.verbena.dart.wire.SecretProof;
import java.util.UUID;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * What a connection at a receiver has to say before it counts as a server: HELLO, and before that,
 * where a secret is shared, CHALLENGE and PROOF. Nothing else is taken, and none of it with another
 * length. Owned by a session.
 */
final class InboundGreeting {
    private final SecretProof secret;
    private int expected;

    /**
     * @param secret null: none is asked for
     */
    InboundGreeting(byte[] secret, Environment environment) {
        this.secret = secret == null ? null : new SecretProof(secret, environment);
        this.expected = secret == null ? FrameFlyweight.HELLO : FrameFlyweight.CHALLENGE;
    }

    /**
     * Whether the frame that begins here is what is expected now; only its header is there.
     *
     * @throws DartException NOT_AUTHENTICATED or MALFORMED, saying what is missing
     */
    void check(FrameFlyweight frame) {
        int type = frame.type();
        if (type == FrameFlyweight.CHALLENGE && secret == null) {
            throw refused(
                    "the server has a shared secret and this receiver has none: start the receiver"
                            + " with --secret FILE (DartReceiver.Context.secret), or the server"
                            + " without");
        }
        if (type == FrameFlyweight.HELLO && expected != FrameFlyweight.HELLO) {
            throw refused(
                    "this receiver asks for a shared secret: start the server with --secret FILE"
                            + " (DartServer.Context.secret)");
        }
        if (type != expected) {
            throw Code.MALFORMED.because("frame: type " + type + " before HELLO");
        }
        frame.check();
    }

    /** Takes CHALLENGE, writes the answer to it; its length. */
    int onChallenge(DirectBuffer payload, MutableDirectBuffer to, int at) {
        secret.begin(SecretProof.RECEIVER);
        secret.takeChallenge(SecretProof.SERVER, payload, 0);
        expected = FrameFlyweight.PROOF;
        return secret.putChallenge(SecretProof.RECEIVER, to, at);
    }

    /**
     * Takes PROOF, writes this side's; its length.
     *
     * @throws DartException NOT_AUTHENTICATED if it proves nothing
     */
    int onProof(DirectBuffer payload, MutableDirectBuffer to, int at) {
        if (!secret.isProof(SecretProof.SERVER, payload, 0)) {
            throw refused(
                    "the server's shared secret is not that of this receiver: give both the same"
                            + " --secret FILE");
        }
        expected = FrameFlyweight.HELLO;
        return secret.putProof(SecretProof.RECEIVER, to, at);
    }

    /**
     * Takes who says HELLO.
     *
     * @throws DartException NOT_AUTHENTICATED if the proof was given for another stream
     */
    void onHello(UUID job, int serverId) {
        if (secret != null && !secret.isFor(job, serverId)) {
            throw refused("HELLO of another stream than the one that was proved");
        }
    }

    private static DartException refused(String what) {
        return Code.NOT_AUTHENTICATED.because(what);
    }
}
