package dev.verbena.dart;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.agent.Await;
import dev.verbena.dart.wire.FrameFlyweight;
import dev.verbena.dart.wire.SecretProof;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.UUID;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Servers and a receiver that share a secret, and strangers who do not, over real sockets. */
@Timeout(120)
@Tag("once")
class DartSecretTest {
    private static final byte[] SECRET = "the right secret of this test".getBytes();
    private static final byte[] OTHER = "another secret, just as long!".getBytes();
    private static final UUID JOB = new UUID(11, 12);

    /** So long a process tries to register with a server that is refused. */
    private static final long BOOT_NS = 2_000_000_000L;

    private static DartWorld receiveWith(byte[] secret) {
        DartWorld world = new DartWorld("shm");
        return world.receive(world.receiverContext().secret(secret));
    }

    private static void send(DartWorld world, int count) {
        DartClient client = world.client(0, c -> c.maxInFlight(4));
        for (int i = 0; i < count; i++) {
            client.sendCopy(DartWorld.bytes(40_000, i), 0, 40_000, null, i);
        }
        client.flush(DartWorld.LIMIT_NS);
        world.awaitReceived(count);
        for (int i = 0; i < count; i++) {
            assertThat(world.received.get(i).payload())
                    .isEqualTo(DartWorld.bytes(40_000, i).byteArray());
        }
    }

    /** The server is refused, both sides say why, a process that registers hears that it failed. */
    private static void assertRefused(DartWorld world, String why) {
        Await.until("receiver's error", () -> hasError(world, "connection from", why));
        Await.until("server's error", () -> hasError(world, "it says", why));
        assertThatThrownBy(() -> world.client(0, c -> c.bootTimeoutNs(BOOT_NS)))
                .isInstanceOf(DartException.class)
                .hasMessageContaining("receiver unreachable");
        assertThat(world.receiver.statistics().messageCount()).isZero();
    }

    private static boolean hasError(DartWorld world, String... parts) {
        return world.errors.stream()
                .map(String::valueOf)
                .anyMatch(text -> Arrays.stream(parts).allMatch(text::contains));
    }

    @Test
    void shouldStageWhenBothKnowTheSecret() throws IOException {
        try (DartWorld world = receiveWith(SECRET)) {
            world.master(c -> c.serverCount(2).secret(SECRET));
            world.slave(c -> c.secret(SECRET));
            send(world, 10);
            assertThat(world.receiver.statistics().protocolErrorCount()).isZero();
        }
    }

    @Test
    void shouldTakeNothingFromServerWithAnotherSecret() throws IOException {
        try (DartWorld world = receiveWith(SECRET)) {
            world.master(c -> c.secret(OTHER));
            assertRefused(world, "the server's shared secret is not that of this receiver");
        }
    }

    @Test
    void shouldTakeNothingFromServerWithoutSecret() throws IOException {
        try (DartWorld world = receiveWith(SECRET)) {
            world.master();
            assertRefused(world, "start the server with --secret FILE");
        }
    }

    @Test
    void shouldGiveNothingToReceiverWithoutSecret() throws IOException {
        try (DartWorld world = new DartWorld("shm").receive()) {
            world.master(c -> c.secret(SECRET));
            assertRefused(world, "start the receiver with --secret FILE");
        }
    }

    @Test
    void shouldRefuseARecordedHandshake() throws Exception {
        try (DartWorld world = receiveWith(SECRET);
                Recorder recorder = new Recorder(world.receiver.port())) {
            world.receiverPort = recorder.port();
            DartServer master = world.master(c -> c.secret(SECRET));
            send(world, 3);
            byte[] said = recorder.said();
            assertThat(said.length).isGreaterThan(3 * 40_000);
            master.requestStop();
            assertThat(master.awaitStopped(DartWorld.LIMIT_NS)).isTrue();
            try (Stranger stranger = new Stranger(world.receiver.port())) {
                stranger.write(said);
                assertThat(stranger.type()).isEqualTo(FrameFlyweight.CHALLENGE);
                assertThat(stranger.type()).isEqualTo(FrameFlyweight.ERROR);
                assertThat(stranger.isEnded()).isTrue();
            }
            assertThat(world.receiver.statistics().duplicateFrameCount()).isZero();
            assertThat(world.receiver.statistics().messageCount()).isEqualTo(3);
        }
    }

    /** Who knows the secret may speak for the stream that was proved, and no other. */
    @Test
    void shouldBindTheProofToTheStream() throws Exception {
        try (DartWorld world = receiveWith(SECRET)) {
            for (int claimed : new int[] {1, 2}) {
                try (Stranger stranger = new Stranger(world.receiver.port())) {
                    SecretProof proof = new SecretProof(SECRET, world.environment);
                    proof.begin(SecretProof.SERVER);
                    proof.stream(JOB, 1);
                    stranger.send(
                            FrameFlyweight.CHALLENGE,
                            proof.putChallenge(SecretProof.SERVER, stranger.payload, 0));
                    assertThat(stranger.type()).isEqualTo(FrameFlyweight.CHALLENGE);
                    proof.takeChallenge(SecretProof.RECEIVER, stranger.answer, 0);
                    stranger.send(
                            FrameFlyweight.PROOF,
                            proof.putProof(SecretProof.SERVER, stranger.payload, 0));
                    assertThat(stranger.type()).isEqualTo(FrameFlyweight.PROOF);
                    assertThat(proof.isProof(SecretProof.RECEIVER, stranger.answer, 0)).isTrue();
                    stranger.hello(JOB, claimed);
                    assertThat(stranger.type())
                            .isEqualTo(
                                    claimed == 1 ? FrameFlyweight.HELLO_ACK : FrameFlyweight.ERROR);
                }
            }
            assertThat(hasError(world, "HELLO of another stream")).isTrue();
        }
    }

    /** What does not prove to be the receiver hears who the server is, and nothing else. */
    @Test
    void shouldGiveNothingToAFakeReceiver() throws Exception {
        for (int trick = 0; trick < 3; trick++) {
            try (DartWorld world = new DartWorld("shm");
                    ServerSocket listener =
                            new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
                world.receiverPort = listener.getLocalPort();
                world.master(c -> c.secret(SECRET));
                listener.setSoTimeout(30_000);
                try (Stranger fake = new Stranger(listener.accept())) {
                    deceive(fake, trick);
                    assertThat(fake.isEnded()).as("trick %d", trick).isTrue();
                }
                Await.until("error", () -> hasError(world, "shared secret"));
            }
        }
    }

    private static void deceive(Stranger fake, int trick) throws IOException {
        assertThat(fake.type()).isEqualTo(FrameFlyweight.CHALLENGE);
        if (trick == 0) {
            fake.payload.putLong(0, 1 << 20, ByteOrder.BIG_ENDIAN);
            fake.payload.putLong(8, 1, ByteOrder.BIG_ENDIAN);
            fake.send(FrameFlyweight.HELLO_ACK, FrameFlyweight.HELLO_ACK_LENGTH);
            return;
        }
        // Its own challenge, and then its own proof, sent back to it.
        fake.payload.putBytes(0, fake.answer, 0, FrameFlyweight.CHALLENGE_LENGTH);
        fake.send(FrameFlyweight.CHALLENGE, FrameFlyweight.CHALLENGE_LENGTH);
        assertThat(fake.type()).isEqualTo(FrameFlyweight.PROOF);
        if (trick == 1) {
            fake.payload.putBytes(0, fake.answer, 0, SecretProof.PROOF_LENGTH);
        }
        fake.send(FrameFlyweight.PROOF, SecretProof.PROOF_LENGTH);
    }

    /** Speaks frames by hand. */
    static final class Stranger implements AutoCloseable {
        private final Socket socket;
        private final DataInputStream in;
        final UnsafeBuffer payload = new UnsafeBuffer(new byte[1024]);
        final UnsafeBuffer answer = new UnsafeBuffer(new byte[1024]);

        Stranger(int port) throws IOException {
            this(new Socket(InetAddress.getLoopbackAddress(), port));
        }

        Stranger(Socket socket) throws IOException {
            this.socket = socket;
            socket.setSoTimeout(30_000);
            in = new DataInputStream(socket.getInputStream());
        }

        void write(byte[] bytes) throws IOException {
            try {
                socket.getOutputStream().write(bytes);
            } catch (IOException e) {
                // Closed before it heard all of it; what it answered can still be read or not.
            }
        }

        void send(int type, int length) throws IOException {
            UnsafeBuffer frame = new UnsafeBuffer(new byte[FrameFlyweight.LENGTH + length]);
            frame.putBytes(FrameFlyweight.LENGTH, payload, 0, length);
            new FrameFlyweight().begin(frame, 0, type).end(frame, FrameFlyweight.LENGTH, length);
            write(frame.byteArray());
        }

        void hello(UUID job, int serverId) throws IOException {
            hello(job, serverId, 0);
        }

        void hello(UUID job, int serverId, long lastSent) throws IOException {
            payload.putLong(0, job.getMostSignificantBits(), ByteOrder.BIG_ENDIAN);
            payload.putLong(8, job.getLeastSignificantBits(), ByteOrder.BIG_ENDIAN);
            payload.putInt(16, serverId, ByteOrder.BIG_ENDIAN);
            payload.putLong(20, 1 << 20, ByteOrder.BIG_ENDIAN);
            payload.putLong(28, lastSent, ByteOrder.BIG_ENDIAN);
            send(FrameFlyweight.HELLO, FrameFlyweight.HELLO_LENGTH);
        }

        /** Reads a frame into {@link #answer}; its type. */
        int type() throws IOException {
            UnsafeBuffer header = new UnsafeBuffer(new byte[FrameFlyweight.LENGTH]);
            in.readFully(header.byteArray());
            FrameFlyweight frame = new FrameFlyweight().wrap(header, 0);
            byte[] bytes = new byte[frame.payloadLength()];
            in.readFully(bytes);
            answer.putBytes(0, bytes);
            return frame.type();
        }

        /** Whether the peer ends the connection and says nothing before. */
        boolean isEnded() {
            try {
                return in.read() < 0;
            } catch (java.net.SocketTimeoutException e) {
                return false;
            } catch (IOException e) {
                return true;
            }
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }

    /** Forwards one connection and keeps what the one who connects says. */
    private static final class Recorder implements AutoCloseable {
        private final ServerSocket listener;
        private final int target;
        private final ByteArrayOutputStream said = new ByteArrayOutputStream();

        Recorder(int target) throws IOException {
            this.listener = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
            this.target = target;
            daemon(this::accept);
        }

        int port() {
            return listener.getLocalPort();
        }

        synchronized byte[] said() {
            return said.toByteArray();
        }

        private static void daemon(Runnable runnable) {
            Thread thread = new Thread(runnable, "recorder");
            thread.setDaemon(true);
            thread.start();
        }

        private void accept() {
            try {
                Socket in = listener.accept();
                Socket out = new Socket(InetAddress.getLoopbackAddress(), target);
                daemon(() -> copy(out, in, false));
                copy(in, out, true);
            } catch (IOException e) {
                // Closed: the test is over.
            }
        }

        private void copy(Socket from, Socket to, boolean isKept) {
            byte[] bytes = new byte[8192];
            try (from;
                    to) {
                InputStream in = from.getInputStream();
                OutputStream out = to.getOutputStream();
                int n;
                while ((n = in.read(bytes)) > 0) {
                    if (isKept) {
                        synchronized (this) {
                            said.write(bytes, 0, n);
                        }
                    }
                    out.write(bytes, 0, n);
                }
            } catch (IOException e) {
                // The other direction has ended.
            }
        }

        @Override
        public void close() throws IOException {
            listener.close();
        }
    }
}
