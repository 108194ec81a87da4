package dev.verbena.dart.stream;

import static java.nio.ByteOrder.BIG_ENDIAN;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.Fuzz;
import dev.verbena.agent.AgentStepper;
import dev.verbena.dart.DartDecodersFuzzTest;
import dev.verbena.dart.DartException;
import dev.verbena.dart.DartServer;
import dev.verbena.dart.DartWorld;
import dev.verbena.dart.Settings;
import dev.verbena.dart.WireEnvironment;
import dev.verbena.dart.server.ServerShared;
import dev.verbena.dart.server.StreamAgent;
import dev.verbena.dart.store.JournalReaderTest;
import dev.verbena.dart.wire.ClientNotice;
import dev.verbena.dart.wire.ConnectNote;
import dev.verbena.dart.wire.FrameFlyweight;
import dev.verbena.dart.wire.RegisterFlyweight;
import dev.verbena.dart.wire.StreamName;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a server reads that an earlier one wrote, and small notes of others, changed at random. */
@Timeout(900)
@Tag("seeded")
@Tag("once")
class SpillDecodersFuzzTest {
    private static final UUID JOB = new UUID(5, 6);
    private static final String STREAM = SpillFiles.stream(new UUID(7, 8), 3);
    private static final String FILE = STREAM + "-0000000000000000001-000001" + SpillFiles.SUFFIX;
    private static final long MIB = 1 << 20;

    /** Messages of one and of two frames of two clients, as a file has them. */
    private static byte[] frames() {
        int payload = 300;
        UnsafeBuffer out = new UnsafeBuffer(new byte[6 * (FrameFlyweight.LENGTH + payload)]);
        int at = 0;
        for (int i = 0; i < 6; i++) {
            boolean isFirst = i % 3 != 2;
            boolean isLast = i % 3 != 1;
            int flags = (isFirst ? FrameFlyweight.FIRST : 0) | (isLast ? FrameFlyweight.LAST : 0);
            UnsafeBuffer data = DartWorld.bytes(payload, i);
            out.putBytes(at + FrameFlyweight.LENGTH, data, 0, payload);
            new FrameFlyweight()
                    .begin(out, at, FrameFlyweight.DATA)
                    .flags(flags)
                    .sequence(i + 1)
                    .message(i / 3 + 1, i % 3 == 0 ? 1 : 2, 9, isFirst ? 0 : payload)
                    .end(out, at + FrameFlyweight.LENGTH, payload);
            at += FrameFlyweight.LENGTH + payload;
        }
        return out.byteArray();
    }

    /**
     * Whatever a file has: nothing but an entry in the error log, and no intact frame is deleted.
     */
    @Test
    @Tag("dart-F7")
    void shouldReadFilesOfEarlierServers() {
        new Fuzz("spill files", List.of(frames()), 16 * MIB)
                .run(
                        input -> {
                            if (DartDecodersFuzzTest.isMended(input)) {
                                DartDecodersFuzzTest.mend(input);
                            }
                            long intact =
                                    new SpillDamage().look(new JournalReaderTest.Bytes(input), 0);
                            WireEnvironment wire = new WireEnvironment();
                            wire.isRefusing = true;
                            wire.disk.put(FILE, input);
                            start(wire);
                            assertThat(wire.errors).allMatch(e -> e instanceof DartException);
                            if (intact > 0) {
                                List<String> left = wire.disk.names("");
                                assertThat(left).hasSize(1);
                                assertThat(left.get(0)).startsWith(FILE);
                            }
                        });
    }

    private static void start(WireEnvironment wire) {
        ServerShared shared =
                new ServerShared(
                        Settings.of(
                                new DartServer.Context()
                                        .environment(wire)
                                        .configurationFile("none")
                                        .receiver("wire", 7000)
                                        .bufferCount(3)
                                        .bufferSize(64 * 1024)
                                        .framePayloadMax(8192)
                                        .spill("spill", 1 << 26)));
        shared.identify(JOB, 0, 0);
        StreamAgent t3 = new StreamAgent(shared);
        AgentStepper stepper = new AgentStepper(List.of(t3), wire.clock, wire.errorHandler());
        for (int i = 0; i < 20; i++) {
            stepper.step();
        }
        t3.onClose();
    }

    @Test
    void shouldParseNamesOfStreams() {
        byte[] valid = STREAM.getBytes(ISO_8859_1);
        assertThat(SpillFound.parse(STREAM)).isEqualTo(new StreamName(new UUID(7, 8), 3));
        new Fuzz("names of streams", List.of(valid), MIB)
                .run(
                        input -> {
                            StreamName name = SpillFound.parse(new String(input, ISO_8859_1));
                            assertThat(name == null || name.run() != null).isTrue();
                        });
    }

    @Test
    @Tag("dart-F6")
    void shouldDecodeNoticesAboutClients() {
        UnsafeBuffer valid = new UnsafeBuffer(new byte[ClientNotice.LENGTH]);
        valid.putInt(4, 17, BIG_ENDIAN);
        valid.putInt(8, 1, BIG_ENDIAN);
        new Fuzz("notices", List.of(valid.byteArray()), MIB)
                .run(
                        input -> {
                            UnsafeBuffer buffer = new UnsafeBuffer(input);
                            try {
                                ClientNotice.check(buffer, input.length);
                                assertThat(ClientNotice.rank(buffer)).isNotNegative();
                                assertThat(ClientNotice.registration(buffer)).isNotNegative();
                                assertThat(ClientNotice.applicationId(buffer))
                                        .isBetween(0, RegisterFlyweight.APPLICATION_MAX);
                            } catch (DartException e) {
                                assertThat(e.code()).isEqualTo(DartException.Code.MALFORMED);
                            }
                        });
    }

    @Test
    void shouldDecodeNotesOfServers() {
        UnsafeBuffer valid = new UnsafeBuffer(new byte[ConnectNote.LENGTH]);
        assertThat(ConnectNote.encode(valid, JOB, ConnectNote.LENGTH)).isEqualTo(valid.capacity());
        assertThat(ConnectNote.isOfJob(valid, 0, valid.capacity(), JOB)).isTrue();
        new Fuzz("notes of servers", List.of(valid.byteArray()), MIB)
                .run(
                        input -> {
                            UnsafeBuffer buffer = new UnsafeBuffer(input);
                            byte[] job = Arrays.copyOfRange(valid.byteArray(), 8, 24);
                            boolean isIts =
                                    input.length >= 24
                                            && Arrays.equals(Arrays.copyOfRange(input, 8, 24), job);
                            if (ConnectNote.isOfJob(buffer, 0, input.length, JOB)) {
                                assertThat(isIts).isTrue();
                            }
                        });
    }
}
