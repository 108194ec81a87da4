package dev.verbena.flesnet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.AgentThread;
import dev.verbena.agent.Await;
import dev.verbena.flesnet.consume.ConsumerBroker;
import dev.verbena.flesnet.consume.ConsumerWish;
import dev.verbena.flesnet.consume.QueuePolicy;
import dev.verbena.flesnet.consume.TimesliceConsumer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.SystemNanoClock;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A compute node that serves consumers, and these. */
abstract class ConsumersFixture {
    static final NanoClock CLOCK = SystemNanoClock.INSTANCE;

    @TempDir Path directory;
    Path segment;

    @BeforeEach
    void choosePath() {
        segment = directory.resolve("timeslices");
    }

    /** A run of one compute node with a broker on a thread of its own. */
    final class Served implements AutoCloseable {
        final FlesnetRun run;
        final ConsumerBroker broker;
        private final AgentThread thread;

        Served(int inputs, int items, int consumers) {
            run = new FlesnetRun(directory, c -> c.nodes(inputs, 1));
            broker = new ConsumerBroker(run.context, segment, items, consumers);
            thread =
                    AgentThread.builder("consumers", run.context.environment())
                            .sleepMaxNs(1_000_000)
                            .agent(broker)
                            .start();
            Await.until("a segment", () -> Files.exists(segment));
        }

        Served start(int timeslices) {
            run.compute(0, broker);
            for (int i = 0; i < run.context.inputs(); i++) {
                // Sixteen components fit a ring.
                run.input(i, run.pattern(i, timeslices, 64, 64));
            }
            return this;
        }

        /** Every input and the compute node have ended. */
        void finish() {
            run.awaitDone();
            broker.finish();
        }

        @Override
        public void close() {
            run.close();
            thread.close();
        }
    }

    TimesliceConsumer register(long stride, long offset, QueuePolicy policy, String group)
            throws IOException {
        return TimesliceConsumer.register(
                CLOCK, segment, new ConsumerWish(stride, offset, policy, group, "test"));
    }

    /** Leaves a segment of 2 items whose compute node was killed. */
    void leaveSegment() throws Exception {
        Path left = directory.resolve("left");
        try (Served served = new Served(1, 2, 0)) {
            Files.copy(segment, left);
        }
        Process gone = new ProcessBuilder("true").start();
        assertThat(gone.waitFor()).isZero();
        try (FileChannel file = FileChannel.open(left, StandardOpenOption.WRITE)) {
            ByteBuffer process = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN);
            file.write(process.putLong(0, gone.pid()), 48);
        }
        Files.move(left, segment);
    }

    static Timeslice await(TimesliceConsumer consumer) {
        Timeslice[] found = new Timeslice[1];
        Await.until(
                "a timeslice",
                () -> {
                    found[0] = consumer.poll();
                    return found[0] != null;
                });
        return found[0];
    }
}
