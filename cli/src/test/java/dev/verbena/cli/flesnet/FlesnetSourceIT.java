package dev.verbena.cli.flesnet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.cli.CommandProcess;
import dev.verbena.cli.Run;
import dev.verbena.flesnet.MicrosliceFlyweight;
import dev.verbena.flesnet.archive.ArchiveHead;
import dev.verbena.flesnet.archive.ArchiveReader;
import dev.verbena.flesnet.archive.ArchiveWriter;
import dev.verbena.flesnet.archive.ArchivedMicroslice;
import dev.verbena.flesnet.archive.ArchivedTimeslice;
import java.io.IOException;
import java.io.OutputStream;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntPredicate;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Runs whose microslices come from outside. */
@Timeout(180)
class FlesnetSourceIT {
    private static final int WORDS = 8;

    @TempDir private Path folder;

    private static byte[] descriptor(int input, long index) {
        return descriptor(input, index, 0, WORDS * 8);
    }

    private static byte[] descriptor(int input, long index, int flags, int size) {
        byte[] bytes = new byte[32];
        new MicrosliceFlyweight()
                .wrap(new UnsafeBuffer(bytes), 0)
                .set(input, flags, 0xF0, 0x81, index, 0, size);
        return bytes;
    }

    private static byte[] ramp(int input) {
        ByteBuffer words = ByteBuffer.allocate(WORDS * 8).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < WORDS; i++) {
            words.putLong((long) input << 48 | i * 8L);
        }
        return words.array();
    }

    private void archive(int input, int count, IntPredicate isLost) throws IOException {
        OutputStream file = Files.newOutputStream(folder.resolve("input-" + input + ".msa"));
        ArchiveHead head = new ArchiveHead(ArchiveHead.MICROSLICES, ArchiveHead.ZSTD, 0, "h", "u");
        try (ArchiveWriter writer = new ArchiveWriter(file, head)) {
            for (int i = 0; i < count; i++) {
                writer.write(
                        isLost.test(i)
                                ? new ArchivedMicroslice(
                                        descriptor(input, i, MicrosliceFlyweight.TRUNCATED, 0),
                                        new byte[0])
                                : new ArchivedMicroslice(descriptor(input, i), ramp(input)));
            }
        }
    }

    @Test
    void shouldBuildTimeslicesOfArchives() throws Exception {
        archive(0, 2001, i -> false);
        archive(1, 2001, i -> false);
        Run run =
                Run.of(
                        "flesnet",
                        "run",
                        "--timeslice=10",
                        "--source=file:" + folder.resolve("input-%i.msa"));
        assertThat(run.err()).isEmpty();
        assertThat(run.code()).isZero();
        assertThat(run.out()).containsPattern("computes +200 ").containsPattern("input 1 +200 ");
    }

    @Test
    void shouldFlagTheComponentThatLacksAMicroslice() throws Exception {
        archive(0, 21, i -> false);
        archive(1, 21, i -> i == 15);
        Run run =
                Run.of(
                        "flesnet",
                        "run",
                        "--computes=1",
                        "--timeslice=10",
                        "--source=file:" + folder.resolve("input-%i.msa"),
                        "--archives=" + folder);
        assertThat(run.code()).as(run.err()).isZero();
        try (ArchiveReader reader =
                new ArchiveReader(
                        Files.newInputStream(folder.resolve("compute-0.tsa")),
                        ArchiveHead.TIMESLICES)) {
            assertThat(reader.nextTimeslice().flags()).isZero();
            ArchivedTimeslice second = reader.nextTimeslice();
            assertThat(second.flags()).isEqualTo(1);
            assertThat(second.components())
                    .extracting(ArchivedTimeslice.Component::flags)
                    .containsExactly(0, 1);
        }
    }

    @Test
    void shouldBuildTimeslicesOfDatagrams() throws Exception {
        int port;
        try (DatagramSocket free = new DatagramSocket(0, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        try (CommandProcess compute = node("compute");
                CommandProcess input =
                        node("input", "--timeslices=100", "--source=udp:127.0.0.1:" + port);
                DatagramSocket sender = new DatagramSocket()) {
            // Until somebody listens nothing arrives, and what is late is dropped.
            for (int round = 0;
                    !input.out().contains("input 0:") && input.handle().isAlive();
                    round++) {
                for (int i = 0; i < 1001; i++) {
                    send(sender, port, i);
                }
                send(sender, port, Long.MAX_VALUE);
            }
            assertThat(input.exitCode()).isZero();
            assertThat(compute.exitCode()).isZero();
            assertThat(input.out())
                    .contains("input 0: 100 timeslices")
                    .containsPattern("datagrams: \\d+ taken, \\d+ missing, 0 malformed");
            assertThat(compute.out()).contains("compute 0: 100 timeslices, 0 damaged");
        }
    }

    private static void send(DatagramSocket sender, int port, long index) throws IOException {
        byte[] frame = new byte[32 + WORDS * 8];
        System.arraycopy(descriptor(0, index), 0, frame, 0, 32);
        System.arraycopy(ramp(0), 0, frame, 32, WORDS * 8);
        sender.send(
                new DatagramPacket(frame, frame.length, InetAddress.getLoopbackAddress(), port));
    }

    private CommandProcess node(String role, String... more) throws Exception {
        List<String> words =
                new ArrayList<>(
                        List.of(
                                "flesnet",
                                role,
                                "0",
                                "--directory=" + folder,
                                "--job=flesnet-source-it" + ProcessHandle.current().pid(),
                                "--inputs=1",
                                "--computes=1",
                                "--timeslice=10"));
        words.addAll(List.of(more));
        return CommandProcess.start(folder, words.toArray(new String[0]));
    }

    @Test
    void shouldRefuseWhatIsNoSourceAndNoSink() {
        for (String wrong :
                List.of(
                        "--source=tape:1",
                        "--source=udp:4000",
                        "--source=udp:127.0.0.1:70000",
                        "--source=file:" + folder.resolve("none.msa"),
                        "--monitor=influx1:host",
                        "--monitor=influx1:host:99999:db",
                        "--monitor=http:///write",
                        "--monitor=http://a b/")) {
            Run run = Run.of("flesnet", "input", "0", "--directory=" + folder, wrong);
            assertThat(run.code()).as(wrong + ": " + run.err()).isEqualTo(2);
            assertThat(run.err()).doesNotContain("fault of Verbena");
        }
    }

    /** A node that could never begin ends at once, and names what was wrong. */
    @Test
    void shouldRefuseWhatNoNodeCanBeStartedWith() {
        String there = "--directory=" + folder;
        requireRefused("INDEX 2 is outside 0 to 1", "input", "2", there);
        requireRefused("INDEX 2 is outside 0 to 1", "compute", "2", there);
        requireRefused("is no folder", "compute", "0", there + "/none");
        requireRefused("--ring 99 is outside 4 to 30", "run", "--ring=99");
        requireRefused("--size 7", "run", "--size=7");
        requireRefused("--timeslices 0 is outside", "run", "--timeslices=0");
        requireRefused("--source 'x' is not pattern", "run", "--source=x");
        requireRefused("--source 'udp:a:70000' is not", "run", "--source=udp:a:70000");
        requireRefused("--zstd needs --archives", "run", "--zstd");
        requireRefused("--zstd needs --archive", "compute", "0", there, "--zstd");
        requireRefused("--zstd needs --archive", "consume", "none", "--zstd");
        requireRefused("--timeslice 0 is outside", "consume", "none", "--timeslice=0");
        requireRefused("--transport none: there is no such transport", "run", "--transport=none");
    }

    private static void requireRefused(String message, String... words) {
        List<String> all = new ArrayList<>(List.of("flesnet"));
        all.addAll(List.of(words));
        Run run = Run.of(all.toArray(new String[0]));
        assertThat(run.code()).as(run.err()).isNotZero();
        assertThat(run.err()).contains(message).doesNotContain("fault of Verbena");
    }
}
