package dev.verbena.verbs.transport;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.Fuzz;
import dev.verbena.verbs.Gid;
import dev.verbena.verbs.QueuePairAddress;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What is said over the socket: read as it was written, and hostile bytes refused. */
class FramesTest {
    private static final Gid GID = Gid.parse("00000000000000000000ffff0a630001");
    private static final Endpoint ENDPOINT =
            new Endpoint(
                    new QueuePairAddress(17, 0xffffff, 0, GID),
                    new QueuePairAddress(18, 5, 0, GID),
                    1024,
                    16,
                    16,
                    4096,
                    5_000_000_000L,
                    77);

    private static Frames.Hello hello() {
        return new Frames.Hello(
                77,
                "job",
                "name",
                URI.create("verbs://10.99.0.1:4000/job/other?incarnation=4d"),
                ENDPOINT,
                new byte[] {1, 2, 3});
    }

    private static ByteBuffer body(ByteBuffer frame) {
        ByteBuffer body = frame.duplicate().order(ByteOrder.LITTLE_ENDIAN);
        assertThat(body.getInt()).isEqualTo(body.remaining());
        body.get();
        return body;
    }

    @Test
    void shouldReadWhatWasWritten() {
        Frames.Hello hello = Frames.hello(body(Frames.hello(hello())));
        assertThat(hello)
                .usingRecursiveComparison()
                .ignoringFields("privateData")
                .isEqualTo(hello());
        assertThat(hello.privateData()).containsExactly(1, 2, 3);
        assertThat(Endpoint.decode(body(Frames.accept(ENDPOINT)))).isEqualTo(ENDPOINT);
        Frames.Repair repair = new Frames.Repair(1, 2, -3, Long.MIN_VALUE, 5, 6, 7, true);
        assertThat(Frames.repair(body(Frames.repair(repair)))).isEqualTo(repair);
        Frames.Repaired repaired = new Frames.Repaired(1, 2, 3, 4);
        assertThat(Frames.repaired(body(Frames.repaired(repaired)))).isEqualTo(repaired);
        assertThat(Frames.text(body(Frames.refuse("no, " + "x".repeat(1000))))).startsWith("no, x");
    }

    private static void fuzz(String name, ByteBuffer frame, Fuzz.Target decoder) throws Exception {
        ByteBuffer body = body(frame);
        byte[] bytes = new byte[body.remaining()];
        body.get(bytes);
        new Fuzz(name, List.of(bytes), 1 << 16)
                .run(
                        input -> {
                            try {
                                decoder.take(input);
                            } catch (IllegalArgumentException e) {
                                assertThat(e.getMessage()).isNotBlank();
                            }
                        });
    }

    private static ByteBuffer wrap(byte[] input) {
        return ByteBuffer.wrap(input).order(ByteOrder.LITTLE_ENDIAN);
    }

    @Test
    void shouldRefuseChangedBytesWithAnArgumentException() throws Exception {
        fuzz("verbs hello", Frames.hello(hello()), in -> Frames.hello(wrap(in)));
        fuzz("verbs accept", Frames.accept(ENDPOINT), in -> Endpoint.decode(wrap(in)));
        fuzz(
                "verbs repair",
                Frames.repair(new Frames.Repair(1, 2, 3, 4, 5, 6, 7, false)),
                in -> Frames.repair(wrap(in)));
        fuzz(
                "verbs repaired",
                Frames.repaired(new Frames.Repaired(1, 2, 3, 4)),
                in -> Frames.repaired(wrap(in)));
        fuzz("verbs refuse", Frames.refuse("because"), in -> Frames.text(wrap(in)));
    }
}
