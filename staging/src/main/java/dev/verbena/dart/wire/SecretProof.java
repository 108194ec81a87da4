package dev.verbena.dart.wire;

import static java.nio.ByteOrder.BIG_ENDIAN;
import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.verbena.agent.Environment;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.UUID;
import java.util.random.RandomGenerator;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * One handshake in which two peers prove to each other that they know the same secret, without
 * saying it: each names a number used once, the server proves first, so that a stranger at the
 * receiver's port gets nothing that was made with the secret. Allocates; used when a connection is
 * made. Owned by one thread.
 *
 * <pre>
 * proof = HMAC-SHA-256(secret, role, server's nonce 32, receiver's nonce 32, job 16, server id 4)
 * role: the 24 ASCII bytes "verbena dart 1 server   " or "verbena dart 1 receiver "
 * </pre>
 */
public final class SecretProof {
    public static final int NONCE_LENGTH = 32;
    public static final int PROOF_LENGTH = 32;
    public static final int SERVER = 0;
    public static final int RECEIVER = 1;

    private static final byte[][] ROLES = {
        "verbena dart 1 server   ".getBytes(US_ASCII), "verbena dart 1 receiver ".getBytes(US_ASCII)
    };

    private final byte[] secret;
    private final RandomGenerator random;
    private final byte[][] nonces = new byte[2][NONCE_LENGTH];
    private UUID job;
    private int serverId;

    public SecretProof(byte[] secret, Environment environment) {
        this.secret = secret;
        this.random = environment.unpredictable();
    }

    /** A new handshake: makes this side's nonce. */
    public void begin(int role) {
        random.nextBytes(nonces[role]);
        Arrays.fill(nonces[1 - role], (byte) 0);
        job = null;
    }

    /** What the handshake is for. */
    public void stream(UUID itsJob, int itsServerId) {
        job = itsJob;
        serverId = itsServerId;
    }

    public boolean isFor(UUID itsJob, int itsServerId) {
        return itsJob.equals(job) && itsServerId == serverId;
    }

    /** Writes a CHALLENGE: nonce of this role, job, server id; its length. */
    public int putChallenge(int role, MutableDirectBuffer to, int at) {
        to.putBytes(at, nonces[role]);
        to.putLong(at + NONCE_LENGTH, job.getMostSignificantBits(), BIG_ENDIAN);
        to.putLong(at + NONCE_LENGTH + 8, job.getLeastSignificantBits(), BIG_ENDIAN);
        to.putInt(at + NONCE_LENGTH + 16, serverId, BIG_ENDIAN);
        return FrameFlyweight.CHALLENGE_LENGTH;
    }

    /** Takes the peer's CHALLENGE. */
    public void takeChallenge(int role, DirectBuffer from, int at) {
        from.getBytes(at, nonces[role]);
        stream(
                new UUID(
                        from.getLong(at + NONCE_LENGTH, BIG_ENDIAN),
                        from.getLong(at + NONCE_LENGTH + 8, BIG_ENDIAN)),
                from.getInt(at + NONCE_LENGTH + 16, BIG_ENDIAN));
    }

    /** Writes this role's proof; its length. */
    public int putProof(int role, MutableDirectBuffer to, int at) {
        to.putBytes(at, proof(role));
        return PROOF_LENGTH;
    }

    /** Whether this is the proof of this role; takes the same time whatever is wrong with it. */
    public boolean isProof(int role, DirectBuffer from, int at) {
        byte[] claimed = new byte[PROOF_LENGTH];
        from.getBytes(at, claimed);
        boolean isEqual = MessageDigest.isEqual(proof(role), claimed);
        return isEqual;
    }

    private byte[] proof(int role) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(secret, "HmacSHA256"));
            mac.update(ROLES[role]);
            mac.update(nonces[SERVER]);
            mac.update(nonces[RECEIVER]);
            byte[] stream = new byte[20];
            java.nio.ByteBuffer.wrap(stream)
                    .putLong(job.getMostSignificantBits())
                    .putLong(job.getLeastSignificantBits())
                    .putInt(serverId);
            return mac.doFinal(stream);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("this JVM has no HMAC-SHA-256", e);
        }
    }
}
