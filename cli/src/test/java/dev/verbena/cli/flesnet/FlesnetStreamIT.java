package dev.verbena.cli.flesnet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.verbena.cli.CommandProcess;
import dev.verbena.flesnet.archive.ArchiveHead;
import dev.verbena.flesnet.archive.ArchiveReader;
import dev.verbena.flesnet.archive.ArchivedTimeslice;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The live stream, taken by ZeroMQ itself. */
@Timeout(180)
class FlesnetStreamIT {
    private static final int TIMESLICES = 200;

    /** Debian's, whose package has ZeroMQ. */
    private static final String PYTHON = "/usr/bin/python3";

    private static final Pattern ADDRESS = Pattern.compile("publishing: (tcp://\\S+)");

    /** Stores each message as a file, until the publisher is silent for a while. */
    private static final String SUBSCRIBER =
            """
            import sys, zmq
            socket = zmq.Context().socket(zmq.SUB)
            socket.setsockopt(zmq.RCVHWM, 10000)
            socket.setsockopt(zmq.SUBSCRIBE, b"")
            socket.setsockopt(zmq.RCVTIMEO, 60000)
            socket.connect(sys.argv[1])
            for number in range(int(sys.argv[3])):
                with open("%s/%04d.tsa" % (sys.argv[2], number), "wb") as file:
                    file.write(socket.recv())
            """;

    @TempDir private Path folder;

    private CommandProcess node(String role, String... more) throws Exception {
        List<String> words =
                new ArrayList<>(
                        List.of(
                                "flesnet",
                                role,
                                "0",
                                "--directory=" + folder,
                                "--job=flesnet-stream-it" + ProcessHandle.current().pid(),
                                "--inputs=1",
                                "--computes=1",
                                "--timeslice=10"));
        words.addAll(List.of(more));
        return CommandProcess.start(folder, words.toArray(new String[0]));
    }

    private static boolean hasZeroMq() throws Exception {
        Process python =
                new ProcessBuilder(PYTHON, "-c", "import zmq").redirectErrorStream(true).start();
        return python.waitFor(60, TimeUnit.SECONDS) && python.exitValue() == 0;
    }

    private long index(int number) throws IOException {
        Path file = folder.resolve("%04d.tsa".formatted(number));
        try (InputStream in = Files.newInputStream(file);
                ArchiveReader reader = new ArchiveReader(in, ArchiveHead.TIMESLICES)) {
            ArchivedTimeslice timeslice = reader.nextTimeslice();
            assertThat(reader.nextTimeslice()).isNull();
            assertThat(timeslice.components().get(0).microslices()).isEqualTo(11);
            return timeslice.index();
        }
    }

    @Test
    void shouldReachASubscriberOfZeroMq() throws Exception {
        assumeTrue(hasZeroMq(), "Debian's package python3-zmq is not installed");
        Path segment = folder.resolve("timeslices");
        try (CommandProcess consumer =
                CommandProcess.start(
                        folder,
                        "flesnet",
                        "consume",
                        segment.toString(),
                        "--publish=0",
                        "--high-water=10000")) {
            Matcher address = ADDRESS.matcher(consumer.awaitOut("publishing:"));
            assertThat(address.find()).isTrue();
            Path said = folder.resolve("python.out");
            Process subscriber =
                    new ProcessBuilder(
                                    PYTHON,
                                    "-c",
                                    SUBSCRIBER,
                                    address.group(1),
                                    folder.toString(),
                                    Integer.toString(TIMESLICES))
                            .redirectErrorStream(true)
                            .redirectOutput(said.toFile())
                            .start();
            try {
                consumer.awaitOut("subscribers: 1");
                try (CommandProcess compute = node("compute", "--consumers=" + segment);
                        CommandProcess input = node("input", "--timeslices=" + TIMESLICES)) {
                    assertThat(input.exitCode()).isZero();
                    assertThat(compute.exitCode()).isZero();
                }
                assertThat(consumer.exitCode()).isZero();
                assertThat(subscriber.waitFor(60, TimeUnit.SECONDS)).isTrue();
                assertThat(subscriber.exitValue()).as(Files.readString(said)).isZero();
                assertThat(consumer.out())
                        .contains("published " + TIMESLICES + ", 0 times missed")
                        .contains("0 damaged");
            } finally {
                subscriber.destroyForcibly();
            }
        }
        for (int i = 0; i < TIMESLICES; i++) {
            assertThat(index(i)).isEqualTo(i);
        }
    }
}
