package dev.verbena.dart.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.dart.DartReceiver;
import dev.verbena.dart.DartServer;
import dev.verbena.dart.WireEnvironment;
import java.util.HexFormat;
import java.util.UUID;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

/** What the two sides prove to each other. */
class SecretProofTest {
    private static final byte[] SECRET = ascending(20, 1);

    private static byte[] ascending(int length, int from) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) (from + i);
        }
        return bytes;
    }

    /** Job 3-4, server 5, nonces 0... and 100... */
    private static SecretProof proof(byte[] secret, UUID job, int serverId) {
        SecretProof proof = new SecretProof(secret, new WireEnvironment());
        UnsafeBuffer challenge = new UnsafeBuffer(new byte[FrameFlyweight.CHALLENGE_LENGTH]);
        challenge.putBytes(0, ascending(SecretProof.NONCE_LENGTH, 100));
        proof.takeChallenge(SecretProof.RECEIVER, challenge, 0);
        challenge.putBytes(0, ascending(SecretProof.NONCE_LENGTH, 0));
        proof.takeChallenge(SecretProof.SERVER, challenge, 0);
        proof.stream(job, serverId);
        return proof;
    }

    private static SecretProof proof() {
        return proof(SECRET, new UUID(3, 4), 5);
    }

    private static UnsafeBuffer proofOf(SecretProof proof, int role) {
        UnsafeBuffer out = new UnsafeBuffer(new byte[SecretProof.PROOF_LENGTH]);
        assertThat(proof.putProof(role, out, 0)).isEqualTo(SecretProof.PROOF_LENGTH);
        return out;
    }

    private static String hexOf(int role) {
        return HexFormat.of().formatHex(proofOf(proof(), role).byteArray());
    }

    @Test
    void shouldProveAsAnotherProgramComputesIt() {
        // Python: hmac.new(secret, role + nonces + struct.pack('>qqi', 3, 4, 5), sha256)
        assertThat(hexOf(SecretProof.SERVER))
                .isEqualTo("d37747b9b0b95a3b780b9193b852151977280433bd36a0ef807331add11732a9");
        assertThat(hexOf(SecretProof.RECEIVER))
                .isEqualTo("62e13fcab66fd8f719ea29de0eda8f70fde4ff5a3edcdfe9aa393d538d62c2d8");
    }

    @Test
    void shouldTakeOnlyTheProofOfTheRightRoleSecretAndStream() {
        UnsafeBuffer ofServer = proofOf(proof(), SecretProof.SERVER);
        assertThat(proof().isProof(SecretProof.SERVER, ofServer, 0)).isTrue();
        assertThat(proof().isProof(SecretProof.RECEIVER, ofServer, 0)).isFalse();
        for (SecretProof other :
                new SecretProof[] {
                    proof(ascending(20, 2), new UUID(3, 4), 5),
                    proof(SECRET, new UUID(3, 5), 5),
                    proof(SECRET, new UUID(3, 4), 6)
                }) {
            assertThat(other.isProof(SecretProof.SERVER, ofServer, 0)).isFalse();
        }
        for (int i = 0; i < 8 * SecretProof.PROOF_LENGTH; i++) {
            UnsafeBuffer flipped = proofOf(proof(), SecretProof.SERVER);
            flipped.putByte(i / 8, (byte) (flipped.getByte(i / 8) ^ 1 << i % 8));
            assertThat(proof().isProof(SecretProof.SERVER, flipped, 0)).as("bit %d", i).isFalse();
        }
    }

    @Test
    void shouldRefuseShortSecrets() {
        assertThatThrownBy(() -> new DartReceiver.Context().secret(new byte[15]))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("secret");
        assertThatThrownBy(() -> new DartServer.Context().secret(null))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("secret");
    }
}
