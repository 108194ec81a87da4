package dev.verbena.flesnet.stream;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.Await;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A publisher beside subscribers that speak ZMTP byte for byte, or something else. */
@Timeout(60)
class MessagePublisherTest {
    private static final int HIGH_WATER = 4;
    private static final String READY = "\u0004\u0019\u0005READY\u000bSocket-Type\0\0\0\u0003";

    private MessagePublisher publisher;
    private long nowNs;

    @BeforeEach
    void listen() throws IOException {
        InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        publisher = new MessagePublisher(any, HIGH_WATER);
    }

    @AfterEach
    void close() {
        publisher.close();
    }

    private Socket connect() throws IOException {
        return new Socket(InetAddress.getLoopbackAddress(), publisher.port());
    }

    private static byte[] greeting(String mechanism) {
        ByteBuffer greeting = ByteBuffer.allocate(64);
        greeting.put(0, (byte) 0xFF).put(9, (byte) 0x7F).put(10, (byte) 3).put(11, (byte) 1);
        greeting.put(12, mechanism.getBytes(US_ASCII));
        return greeting.array();
    }

    private static void send(Socket socket, byte[] bytes) throws IOException {
        OutputStream out = socket.getOutputStream();
        out.write(bytes);
        out.flush();
    }

    private static void send(Socket socket, String text) throws IOException {
        send(socket, text.getBytes(US_ASCII));
    }

    private Socket subscriber(String topic) throws IOException {
        int before = publisher.subscriberCount();
        Socket socket = connect();
        send(socket, greeting("NULL"));
        send(socket, READY + "SUB\0" + (char) (topic.length() + 1) + "\u0001" + topic);
        Await.until(
                "subscribe",
                () -> {
                    publisher.doWork(nowNs);
                    return publisher.subscriberCount() == before + 1;
                });
        DataInputStream in = new DataInputStream(socket.getInputStream());
        byte[] head = in.readNBytes(64 + 2 + 25);
        assertThat(head[0]).isEqualTo((byte) 0xFF);
        assertThat(new String(head, 12, 4, US_ASCII)).isEqualTo("NULL");
        assertThat(new String(head, 64, 27, US_ASCII)).isEqualTo(READY + "PUB");
        return socket;
    }

    private void flush() {
        Await.until(
                "flush",
                () -> {
                    publisher.doWork(nowNs);
                    return publisher.isFlushed();
                });
    }

    @Test
    void shouldSendEachWhatItSubscribedTo() throws IOException {
        try (Socket all = subscriber("");
                Socket some = subscriber("ab")) {
            byte[] large = new byte[300];
            large[0] = 'a';
            large[1] = 'b';
            publisher.publish("x".getBytes(US_ASCII));
            publisher.publish(large);
            flush();
            DataInputStream in = new DataInputStream(all.getInputStream());
            assertThat(new String(in.readNBytes(3), US_ASCII)).isEqualTo("\0\u0001x");
            for (Socket socket : new Socket[] {all, some}) {
                DataInputStream message = new DataInputStream(socket.getInputStream());
                assertThat(message.read()).isEqualTo(2);
                assertThat(message.readLong()).isEqualTo(300);
                assertThat(message.readNBytes(300)).isEqualTo(large);
            }
        }
        assertThat(publisher.droppedCount()).isZero();
    }

    @Test
    void shouldDropWhatASlowSubscriberDoesNotTake() throws IOException {
        try (Socket slow = subscriber("")) {
            byte[] large = new byte[1 << 20];
            for (int i = 0; i < 100; i++) {
                publisher.publish(large);
                publisher.doWork(nowNs);
            }
            assertThat(publisher.droppedCount()).isBetween(50L, 100L - HIGH_WATER);
            assertThat(publisher.isFlushed()).isFalse();
            assertThat(slow.isConnected()).isTrue();
        }
        flush();
        assertThat(publisher.subscriberCount()).isZero();
    }

    /** A write copies what it is given, and its thread keeps room for so much. */
    @Test
    void shouldCopyNoWholeMessageToWriteAPartOfIt() throws IOException {
        byte[] large = new byte[64 << 20];
        new Random(1).nextBytes(large);
        long before = directBytes();
        try (Socket slow = subscriber("")) {
            publisher.publish(large);
            publisher.doWork(nowNs);
            byte[] got = new byte[9 + large.length];
            int count = 0;
            while (count < got.length) {
                publisher.doWork(nowNs);
                count += slow.getInputStream().read(got, count, got.length - count);
            }
            assertThat(Arrays.equals(got, 9, got.length, large, 0, large.length)).isTrue();
            assertThat(publisher.isFlushed()).isTrue();
        }
        assertThat(directBytes() - before).isLessThan(1 << 20);
    }

    private static long directBytes() {
        return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                .filter(pool -> pool.getName().equals("direct"))
                .mapToLong(BufferPoolMXBean::getMemoryUsed)
                .sum();
    }

    private void requireRefused(byte[]... what) throws IOException {
        long before = publisher.refusedCount();
        try (Socket socket = connect()) {
            for (byte[] bytes : what) {
                send(socket, bytes);
            }
            Await.until(
                    "refuse",
                    () -> {
                        publisher.doWork(nowNs);
                        return publisher.refusedCount() == before + 1;
                    });
        }
    }

    @Test
    void shouldEndConnectionsThatSendAnythingElse() throws IOException {
        byte[] good = greeting("NULL");
        requireRefused(greeting("CURVE"));
        requireRefused("GET / HTTP/1.1\r\n".repeat(5).getBytes(US_ASCII));
        requireRefused(good, (READY + "REQ").getBytes(US_ASCII));
        requireRefused(good, "\0\u0001\u0001".getBytes(US_ASCII));
        byte[] endless = {2, 0x7F, -1, -1, -1, -1, -1, -1, -1};
        requireRefused(good, (READY + "SUB").getBytes(US_ASCII), endless);
        byte[] negative = {2, -1, -1, -1, -1, -1, -1, -1, -1};
        requireRefused(good, (READY + "SUB").getBytes(US_ASCII), negative);
        requireRefused(
                good,
                (READY + "SUB").getBytes(US_ASCII),
                "\0\u0001\u0001".repeat(100).getBytes(US_ASCII));
    }

    @Test
    void shouldEndConnectionsThatSendNothing() throws IOException {
        try (Socket silent = connect()) {
            Await.until("accept", () -> publisher.doWork(nowNs) > 0);
            publisher.doWork(nowNs + 5_000_000_000L);
            assertThat(publisher.refusedCount()).isZero();
            publisher.doWork(nowNs + 5_000_000_001L);
            assertThat(publisher.refusedCount()).isEqualTo(1);
            assertThat(silent.isConnected()).isTrue();
        }
    }

    @Test
    void shouldSurviveNoise() throws IOException {
        Random random = new Random(1);
        try (Socket good = subscriber("")) {
            for (int i = 0; i < 200; i++) {
                try (Socket socket = connect()) {
                    byte[] noise = new byte[1 + random.nextInt(2000)];
                    random.nextBytes(noise);
                    if (i % 2 == 0) {
                        send(socket, greeting("NULL"));
                        send(socket, READY + "SUB");
                    }
                    send(socket, noise);
                    publisher.doWork(nowNs);
                }
                publisher.doWork(nowNs);
            }
            publisher.publish(new byte[1]);
            flush();
            assertThat(good.getInputStream().readNBytes(3)).containsExactly(0, 1, 0);
        }
    }
}
