package dev.verbena.dart;

import static java.nio.ByteOrder.BIG_ENDIAN;
import static java.nio.ByteOrder.LITTLE_ENDIAN;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.Fuzz;
import dev.verbena.agent.ByteStreams.ByteStream;
import dev.verbena.dart.server.ServerShared;
import dev.verbena.dart.server.StreamAgent;
import dev.verbena.dart.store.JournalReader;
import dev.verbena.dart.store.JournalReaderTest;
import dev.verbena.dart.store.JournalRecord;
import dev.verbena.dart.wire.ControlFlyweight;
import dev.verbena.dart.wire.FrameFlyweight;
import dev.verbena.dart.wire.PieceFlyweight;
import dev.verbena.dart.wire.SecretProof;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.staging.Checksum;
import java.net.URI;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Every decoder of what comes from other processes: valid inputs, changed at random, half of them
 * with checksums that are right again. Only MALFORMED may come out.
 */
@Timeout(900)
@Tag("seeded")
@Tag("once")
public class DartDecodersFuzzTest {
    static {
        dev.verbena.softnic.NativeAccess.open();
    }

    private static final UUID JOB = new UUID(5, 6);
    private static final long MIB = 1 << 20;
    private final Checksum crc = new Checksum();

    private static void isMalformed(DartException e) {
        assertThat(e.code()).isEqualTo(DartException.Code.MALFORMED);
    }

    public static boolean isMended(byte[] input) {
        return input.length > 0 && (Arrays.hashCode(input) & 1) == 0;
    }

    private static byte[] bytes(UnsafeBuffer from, int length) {
        return Arrays.copyOf(from.byteArray(), length);
    }

    // ---- frames

    private static byte[] frame(int type, int length, long sequence) {
        UnsafeBuffer out = new UnsafeBuffer(new byte[FrameFlyweight.LENGTH + length]);
        if (type == FrameFlyweight.HELLO) {
            out.putLong(FrameFlyweight.LENGTH, JOB.getMostSignificantBits(), BIG_ENDIAN);
            out.putLong(FrameFlyweight.LENGTH + 8, JOB.getLeastSignificantBits(), BIG_ENDIAN);
            out.putLong(FrameFlyweight.LENGTH + 20, 1 << 20, BIG_ENDIAN);
        } else if (type == FrameFlyweight.DATA) {
            new DartMetadata()
                    .name("n" + sequence)
                    .variable("v")
                    .payload(100, false, 0)
                    .encode(out, FrameFlyweight.LENGTH);
        } else if (type == FrameFlyweight.HELLO_ACK) {
            out.putLong(FrameFlyweight.LENGTH, 1 << 20, BIG_ENDIAN);
            out.putLong(FrameFlyweight.LENGTH + 8, 1, BIG_ENDIAN);
        } else if (type == FrameFlyweight.ACK || type == FrameFlyweight.NACK) {
            out.putLong(FrameFlyweight.LENGTH, sequence, BIG_ENDIAN);
        }
        FrameFlyweight frame = new FrameFlyweight().begin(out, 0, type);
        if (type == FrameFlyweight.DATA) {
            frame.flags(FrameFlyweight.FIRST | FrameFlyweight.LAST)
                    .sequence(sequence)
                    .message(7, sequence, 3, 0);
        }
        frame.end(out, FrameFlyweight.LENGTH, length);
        return out.byteArray();
    }

    private static byte[] join(byte[]... parts) {
        int length = 0;
        for (byte[] part : parts) {
            length += part.length;
        }
        byte[] all = new byte[length];
        int at = 0;
        for (byte[] part : parts) {
            System.arraycopy(part, 0, all, at, part.length);
            at += part.length;
        }
        return all;
    }

    private static int dataLength() {
        UnsafeBuffer scratch = new UnsafeBuffer(new byte[DartMetadata.LENGTH_MAX]);
        return new DartMetadata().name("n1").variable("v").payload(100, false, 0).encode(scratch, 0)
                + 100;
    }

    /** What a server says, from HELLO to farewell. */
    static byte[] conversation() {
        return join(
                frame(FrameFlyweight.HELLO, FrameFlyweight.HELLO_LENGTH, 0),
                frame(FrameFlyweight.REVERSE_STATE, FrameFlyweight.REVERSE_STATE_LENGTH, 0),
                frame(FrameFlyweight.DATA, dataLength(), 1),
                frame(FrameFlyweight.HEARTBEAT, 0, 0),
                frame(FrameFlyweight.DATA, dataLength(), 2),
                frame(FrameFlyweight.FIN, FrameFlyweight.FIN_LENGTH, 0));
    }

    /** Makes every frame's checksum right, as far as lengths can be followed. */
    public static void mend(byte[] input) {
        Checksum crc = new Checksum();
        UnsafeBuffer buffer = new UnsafeBuffer(input);
        for (int at = 0; input.length - at >= FrameFlyweight.LENGTH; ) {
            int length = buffer.getInt(at + 40, BIG_ENDIAN);
            if (length < 0 || length > input.length - at - FrameFlyweight.LENGTH) {
                return;
            }
            crc.reset().update(buffer, at, 44);
            if (length > 0) {
                crc.update(buffer, at + FrameFlyweight.LENGTH, length);
            }
            buffer.putInt(at + 44, crc.value(), BIG_ENDIAN);
            at += FrameFlyweight.LENGTH + length;
        }
    }

    @Test
    void shouldDecodeFrames() {
        List<byte[]> corpus = new ArrayList<>();
        for (int type = FrameFlyweight.HELLO; type <= FrameFlyweight.PROOF; type++) {
            corpus.add(frame(type, 52, 1));
        }
        FrameFlyweight frame = new FrameFlyweight();
        new Fuzz("frames", corpus, MIB)
                .run(
                        input -> {
                            byte[] head =
                                    Arrays.copyOf(
                                            input, Math.max(input.length, FrameFlyweight.LENGTH));
                            try {
                                frame.wrap(new UnsafeBuffer(head), 0);
                                assertThat(frame.payloadLength())
                                        .isBetween(0, FrameFlyweight.PAYLOAD_MAX);
                                frame.check();
                            } catch (DartException e) {
                                isMalformed(e);
                            }
                        });
    }

    /** A receiver takes whatever comes, says what was wrong, and works on. */
    @Test
    void shouldReceiveFromAnyServer() {
        WireEnvironment wire = new WireEnvironment();
        List<String> received = new ArrayList<>();
        DartReceiver.Context context =
                new DartReceiver.Context()
                        .environment(wire)
                        .steps(new DartStepContext(step -> {}).rankCount(1).messagesPerRank(1))
                        .handler(message -> received.add(message.metadata().name()));
        try (DartReceiver receiver = DartReceiver.embed(context)) {
            byte[][] corpus = {conversation(), frame(FrameFlyweight.CHALLENGE, 52, 0)};
            new Fuzz("receiver", List.of(corpus), 16 * MIB)
                    .run(
                            input -> {
                                if (isMended(input)) {
                                    mend(input);
                                }
                                say(wire, receiver, input);
                                assertThat(wire.errors).allMatch(e -> e instanceof DartException);
                                wire.errors.clear();
                                received.clear();
                            });
            for (int serverId = 1; serverId < 3; serverId++) {
                byte[] valid = conversation();
                new UnsafeBuffer(valid)
                        .putLong(FrameFlyweight.LENGTH, 0xABCDEF0L + serverId, BIG_ENDIAN);
                mend(valid);
                say(wire, receiver, valid);
                assertThat(received).endsWith("n1", "n2");
            }
        }
    }

    private static void say(WireEnvironment wire, DartReceiver receiver, byte[] input)
            throws RuntimeException {
        ByteStream stream = wire.connect("wire", 7000);
        stream.write(new UnsafeBuffer(input), 0, input.length);
        step(receiver);
        stream.close();
        step(receiver);
        wire.clock.advanceNs(1_000_000);
    }

    private static void step(DartReceiver receiver) {
        try {
            int idle = 0;
            for (int i = 0; i < 1000 && idle < 3; i++) {
                idle = receiver.agent().doWork() == 0 ? idle + 1 : 0;
            }
            assertThat(idle).as("it comes to rest").isEqualTo(3);
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    /** A server's stream hears whatever a receiver may say, and goes on trying. */
    @Test
    void shouldStreamToAnyReceiver() {
        byte[] answers =
                join(
                        frame(FrameFlyweight.HELLO_ACK, FrameFlyweight.HELLO_ACK_LENGTH, 0),
                        frame(FrameFlyweight.ACK, FrameFlyweight.ACK_LENGTH, 1),
                        frame(FrameFlyweight.NACK, FrameFlyweight.NACK_LENGTH, 1),
                        frame(FrameFlyweight.REVERSE, 60, 0),
                        frame(FrameFlyweight.HEARTBEAT, 0, 0),
                        frame(FrameFlyweight.ERROR, 20, 0));
        byte[] proofs =
                join(
                        frame(FrameFlyweight.CHALLENGE, FrameFlyweight.CHALLENGE_LENGTH, 0),
                        frame(FrameFlyweight.PROOF, SecretProof.PROOF_LENGTH, 0));
        for (byte[] secret : new byte[][] {null, new byte[16]}) {
            WireEnvironment wire = new WireEnvironment();
            DartServer.Context context =
                    new DartServer.Context()
                            .environment(wire)
                            .configurationFile("none")
                            .receiver("wire", 7000)
                            .bufferSize(8192)
                            .framePayloadMax(4096)
                            .bufferCount(4);
            if (secret != null) {
                context.secret(secret);
            }
            ServerShared shared = new ServerShared(context.settings());
            shared.identify(JOB, 0, 0);
            var listener = wire.listen("wire", 7000);
            StreamAgent t3 = new StreamAgent(shared);
            new Fuzz("link", List.of(answers, proofs), 4 * MIB)
                    .run(
                            input -> {
                                if (isMended(input)) {
                                    mend(input);
                                }
                                wire.clock.advanceNs(6_000_000_000L);
                                t3.doWork();
                                ByteStream stream = listener.accept();
                                assertThat(stream).as("it connects").isNotNull();
                                stream.write(new UnsafeBuffer(input), 0, input.length);
                                for (int i = 0; i < 20; i++) {
                                    t3.doWork();
                                }
                                stream.close();
                                for (int i = 0; i < 20; i++) {
                                    t3.doWork();
                                }
                                assertThat(wire.errors).allMatch(e -> e instanceof DartException);
                                wire.errors.clear();
                            });
        }
    }

    // ---- metadata, control records, pieces, commands

    @Test
    void shouldDecodeMetadata() {
        UnsafeBuffer out = new UnsafeBuffer(new byte[DartMetadata.LENGTH_MAX]);
        List<byte[]> corpus = new ArrayList<>();
        corpus.add(bytes(out, new DartMetadata().encode(out, 0)));
        DartMetadata full =
                new DartMetadata()
                        .name("name/of/it")
                        .variable("density")
                        .elementType(ElementType.FLOAT64)
                        .shape(3, 4, 5)
                        .rank(9)
                        .step(1L << 40)
                        .property("key", "value")
                        .property("other", "é".repeat(100))
                        .payload(480, true, 17);
        corpus.add(bytes(out, full.encode(out, 0)));
        DartMetadata metadata = new DartMetadata();
        new Fuzz("metadata", corpus, MIB)
                .run(
                        input -> {
                            try {
                                UnsafeBuffer in = new UnsafeBuffer(input);
                                int length = metadata.decode(in, 0, input.length);
                                assertThat(length).isBetween(0, input.length);
                                metadata.safeName();
                                metadata.toString();
                            } catch (DartException e) {
                                isMalformed(e);
                            }
                        });
    }

    private static List<byte[]> controlRecords() {
        return controlRecords(JOB, 1, URI.create("shm://job/name"));
    }

    /** One of each type, as a process of this job may send it. */
    static List<byte[]> controlRecords(UUID job, int clientId, URI uri) {
        List<byte[]> corpus = new ArrayList<>();
        for (int type = 1; type <= ControlFlyweight.BARRIER; type++) {
            UnsafeBuffer out = new UnsafeBuffer(new byte[ControlFlyweight.LENGTH + 64]);
            ControlFlyweight record = new ControlFlyweight().begin(out, 0, type, job);
            if (type <= 2) {
                record.registration().write(ControlFlyweight.ROLE_CLIENT, 1, 0, 0, uri);
            } else if (type == ControlFlyweight.HEADER) {
                record.header(clientId, 1, 2, 64, 0).descriptor(new RemoteDescriptor());
                new DartMetadata().payload(64, false, 0).encode(out, ControlFlyweight.LENGTH);
            } else if (type == ControlFlyweight.WELCOME) {
                record.welcome(clientId, 0, 0, 1);
            } else {
                record.done(clientId, 1, 1, 0, 1);
            }
            record.end();
            corpus.add(out.byteArray());
            corpus.add(bytes(out, ControlFlyweight.LENGTH));
        }
        return corpus;
    }

    @Test
    void shouldDecodeControlRecords() {
        ControlFlyweight in = new ControlFlyweight();
        new Fuzz("control records", controlRecords(), MIB)
                .run(
                        input -> {
                            if (isMended(input) && input.length >= ControlFlyweight.LENGTH) {
                                UnsafeBuffer buffer = new UnsafeBuffer(input);
                                buffer.putInt(124, crc.of(buffer, 0, 124), LITTLE_ENDIAN);
                            }
                            try {
                                in.wrap(new UnsafeBuffer(input), 0, input.length);
                                if (in.type() <= ControlFlyweight.FORWARD) {
                                    assertThat(in.registration().uri()).isNotNull();
                                } else if (in.type() == ControlFlyweight.HEADER) {
                                    in.descriptorInto(new RemoteDescriptor());
                                }
                            } catch (DartException e) {
                                isMalformed(e);
                            }
                        });
    }

    @Test
    void shouldDecodePiecesAndCommands() {
        UnsafeBuffer out = new UnsafeBuffer(new byte[4096]);
        PieceFlyweight piece = new PieceFlyweight();
        int length = piece.encode(out, 0, 1, PieceFlyweight.DATA, 0, new byte[50], 0);
        new Fuzz("pieces", List.of(bytes(out, length)), MIB)
                .run(input -> piece.wrap(new UnsafeBuffer(input), 0, input.length));
        length = new DartSteering(DartSteering.USER + 1).text("text").encode(out, 0);
        new Fuzz("steering", List.of(bytes(out, length)), MIB)
                .run(
                        input -> {
                            try {
                                new DartSteering(0)
                                        .decode(new UnsafeBuffer(input), 0, input.length)
                                        .toString();
                            } catch (DartException e) {
                                isMalformed(e);
                            }
                        });
    }

    // ---- files

    @Test
    void shouldReadConfigurationFiles() {
        DartConfiguration one =
                new DartConfiguration(JOB, 1_700_000_000_000L, URI.create("shm://job/name"), 2, 4);
        new Fuzz(
                        "configuration",
                        List.of(
                                one.encode().getBytes(ISO_8859_1),
                                one.encodeLegacy().getBytes(ISO_8859_1)),
                        MIB)
                .run(
                        input -> {
                            String text = new String(input, ISO_8859_1);
                            if (isMended(input) && text.contains("crc=")) {
                                String lines = text.substring(0, text.indexOf("crc="));
                                UnsafeBuffer sum = new UnsafeBuffer(lines.getBytes(ISO_8859_1));
                                int value = crc.of(sum, 0, sum.capacity());
                                text = lines + String.format("crc=%08x%n", value);
                            }
                            try {
                                assertThat(DartConfiguration.parse(text).url()).isNotNull();
                            } catch (DartException e) {
                                isMalformed(e);
                            }
                        });
    }

    @Test
    void shouldReadJournals() {
        new Fuzz("journal", List.of(JournalReaderTest.journal()), 4 * MIB)
                .run(
                        input -> {
                            if (isMended(input)) {
                                mendJournal(input);
                            }
                            JournalReader reader = new JournalReader();
                            reader.read(new JournalReaderTest.Bytes(input));
                            reader.streams();
                            reader.messages();
                            assertThat(reader.damage()).isNotNull();
                        });
    }

    private void mendJournal(byte[] input) {
        UnsafeBuffer buffer = new UnsafeBuffer(input);
        for (int at = 0; input.length - at >= JournalRecord.HEAD_LENGTH; ) {
            int body = buffer.getInt(at, LITTLE_ENDIAN);
            if (body < 0 || body > input.length - at - JournalRecord.HEAD_LENGTH) {
                return;
            }
            buffer.putInt(at + 4, crc.of(buffer, at + 8, body), LITTLE_ENDIAN);
            at += JournalRecord.HEAD_LENGTH + body;
        }
    }
}
