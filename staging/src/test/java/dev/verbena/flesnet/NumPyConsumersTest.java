package dev.verbena.flesnet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.verbena.agent.Await;
import dev.verbena.flesnet.consume.QueuePolicy;
import dev.verbena.flesnet.consume.TimesliceConsumer;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Consumers by shared memory that are programs in Python. */
@Timeout(120)
class NumPyConsumersTest extends ConsumersFixture {
    /** Any Python that has NumPy, Debian's first. */
    private static String python() {
        for (String each : List.of("/usr/bin/python3", "python3")) {
            try {
                Process found =
                        new ProcessBuilder(each, "-c", "import numpy")
                                .redirectErrorStream(true)
                                .start();
                found.getInputStream().readAllBytes();
                if (found.waitFor() == 0) {
                    return each;
                }
            } catch (IOException | InterruptedException e) {
                // Not this one.
            }
        }
        return null;
    }

    @Test
    void shouldGiveBackWhatNumPyHasThatNeverAsked() throws Exception {
        String python = python();
        assumeTrue(python != null, "no Python with NumPy (Debian: python3-numpy)");
        String program =
                """
                import sys
                sys.path.insert(0, sys.argv[1])
                import flesnet
                consumer = flesnet.Consumer(sys.argv[2])
                sys.stdin.readline()
                consumer.close()
                sys.stdin.read()
                """;
        String clients = Path.of("..", "clients", "python").toString();
        try (Served served = new Served(1, 16, 1)) {
            Process process =
                    new ProcessBuilder(python, "-c", program, clients, segment.toString())
                            .redirectErrorStream(true)
                            .redirectOutput(directory.resolve("out").toFile())
                            .start();
            try (Writer toPython = process.outputWriter()) {
                served.start(100);
                Await.until("timeslices", () -> served.broker.handedCount() == 8);
                toPython.write("\n");
                toPython.flush();
                served.finish();
                Await.until("an end", served.broker::isFinished);
                assertThat(process.isAlive()).isTrue();
                assertThat(served.run.errors).isEmpty();
            } finally {
                process.destroyForcibly();
            }
        }
    }

    @Test
    void shouldFailNumPyWhenTheComputeNodeFails() throws Exception {
        String python = python();
        assumeTrue(python != null, "no Python with NumPy (Debian: python3-numpy)");
        Path client = Path.of("..", "clients", "python", "flesnet.py");
        Path out = directory.resolve("out");
        try (Served served = new Served(1, 16, 1)) {
            Process process =
                    new ProcessBuilder(python, client.toString(), segment.toString())
                            .redirectErrorStream(true)
                            .redirectOutput(out.toFile())
                            .start();
            try {
                served.start(20);
                Await.until("timeslices", () -> served.broker.handedCount() == 20);
                served.close();
                assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
                assertThat(Files.readString(out)).contains("before it had given everything");
                assertThat(process.exitValue()).isEqualTo(1);
            } finally {
                process.destroyForcibly();
            }
        }
    }

    @Test
    void shouldRegisterNoNumPyInASegmentWhoseComputeNodeIsGone() throws Exception {
        String python = python();
        assumeTrue(python != null, "no Python with NumPy (Debian: python3-numpy)");
        Path client = Path.of("..", "clients", "python", "flesnet.py");
        Path out = directory.resolve("out");
        leaveSegment();
        Process process =
                new ProcessBuilder(python, client.toString(), segment.toString())
                        .redirectErrorStream(true)
                        .redirectOutput(out.toFile())
                        .start();
        try {
            assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
            assertThat(Files.readString(out)).contains("is left over");
            try (var files = Files.list(directory)) {
                assertThat(files).hasSize(2);
            }
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    void shouldServeNumPy() throws Exception {
        String python = python();
        assumeTrue(python != null, "no Python with NumPy (Debian: python3-numpy)");
        Path client = Path.of("..", "clients", "python", "flesnet.py");
        Path out = directory.resolve("out");
        try (Served served = new Served(2, 8, 2);
                TimesliceConsumer beside = register(1, 0, QueuePolicy.ALL, "")) {
            Process process =
                    new ProcessBuilder(python, client.toString(), segment.toString(), "stride=2")
                            .redirectErrorStream(true)
                            .redirectOutput(out.toFile())
                            .start();
            try {
                served.start(200);
                for (long t = 0; t < 200; t++) {
                    Timeslice next = await(beside);
                    assertThat(next.index()).isEqualTo(t);
                    next.release();
                }
                served.finish();
                assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
                assertThat(Files.readString(out))
                        .isEqualTo("consumer: 100 timeslices, 0 damaged\n");
                assertThat(process.exitValue()).isZero();
            } finally {
                process.destroyForcibly();
            }
            assertThat(served.run.errors).isEmpty();
        }
    }
}
