package dev.verbena.flesnet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.verbena.AllocationMeter;
import dev.verbena.agent.AgentStepper;
import dev.verbena.agent.Await;
import dev.verbena.flesnet.consume.ConsumerBroker;
import dev.verbena.flesnet.consume.ConsumerWish;
import dev.verbena.flesnet.consume.QueuePolicy;
import dev.verbena.flesnet.consume.TimesliceConsumer;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Consumers by shared memory; those that are killed are in FlesnetConsumeIT. */
@Timeout(120)
class ConsumersTest extends ConsumersFixture {
    private static List<Long> every(int from, int to, int step) {
        List<Long> all = new ArrayList<>();
        for (long t = from; t < to; t += step) {
            all.add(t);
        }
        return all;
    }

    @Test
    void shouldGiveEachConsumerWhatItWants() throws IOException {
        try (Served served = new Served(2, 16, 4);
                TimesliceConsumer all = register(1, 0, QueuePolicy.ALL, "");
                TimesliceConsumer third = register(3, 1, QueuePolicy.ALL, "");
                TimesliceConsumer left = register(1, 0, QueuePolicy.ALL, "pair");
                TimesliceConsumer right = register(1, 0, QueuePolicy.ALL, "pair")) {
            served.start(300);
            List<TimesliceConsumer> consumers = List.of(all, third, left, right);
            List<FlesnetRun.CheckedTimeslices> got = new ArrayList<>();
            consumers.forEach(c -> got.add(new FlesnetRun.CheckedTimeslices()));
            Await.until(
                    () -> "an end: " + served.run.state(),
                    () -> {
                        for (int i = 0; i < 4; i++) {
                            Timeslice next = consumers.get(i).poll();
                            if (next != null) {
                                got.get(i).onTimeslice(next);
                            }
                        }
                        if (served.broker.handedCount() == 300) {
                            served.broker.finish();
                        }
                        return consumers.stream().allMatch(TimesliceConsumer::isDone);
                    });
            assertThat(got.get(0).indices).isEqualTo(every(0, 300, 1));
            assertThat(got.get(1).indices).isEqualTo(every(1, 300, 3));
            List<Long> pair = new ArrayList<>(got.get(2).indices);
            pair.addAll(got.get(3).indices);
            assertThat(pair).hasSize(300);
            assertThat(new TreeSet<>(pair)).hasSize(300);
            assertThat(got.get(2).indices).isNotEmpty();
            assertThat(got.get(3).indices).isNotEmpty();
            Await.until("an end", served.broker::isFinished);
            served.run.awaitDone();
            assertThat(served.run.errors).isEmpty();
        }
    }

    /** The second input has lost everything on its way. */
    @Test
    void shouldFlagTheComponentThatLacksMicroslices() throws IOException {
        try (Served served = new Served(2, 16, 1);
                TimesliceConsumer consumer = register(1, 0, QueuePolicy.ALL, "")) {
            served.run.compute(0, served.broker);
            served.run.input(0, served.run.pattern(0, 1, 64, 0));
            served.run.input(1, new LostMicroslices(5));
            Timeslice timeslice = await(consumer);
            assertThat(timeslice.flags()).isEqualTo(ComponentFlyweight.MISSING_MICROSLICES);
            assertThat(timeslice.flags(0)).isZero();
            assertThat(timeslice.flags(1)).isEqualTo(ComponentFlyweight.MISSING_MICROSLICES);
            assertThat(timeslice.size(1)).isEqualTo(5 * MicrosliceFlyweight.LENGTH);
        }
    }

    private static final class LostMicroslices implements MicrosliceSource {
        private final int count;
        private int made;

        LostMicroslices(int count) {
            this.count = count;
        }

        @Override
        public int poll(MicrosliceSink sink, long nowNs) {
            for (; made < count; made++) {
                int flags = MicrosliceFlyweight.TRUNCATED;
                sink.add(1, flags, 0, 0, made, 0, new UnsafeBuffer(0, 0), 0, 0);
            }
            return 0;
        }

        @Override
        public boolean isEnded() {
            return made == count;
        }

        @Override
        public long nextDueNs() {
            return NEVER;
        }
    }

    @Test
    void shouldKeepTheNewestForOneAndNothingForSkip() throws IOException {
        try (Served served = new Served(1, 16, 2);
                TimesliceConsumer one = register(1, 0, QueuePolicy.ONE, "");
                TimesliceConsumer skip = register(1, 0, QueuePolicy.SKIP, "")) {
            served.start(100);
            Timeslice oldest = await(one);
            Timeslice first = await(skip);
            assertThat(oldest.index()).isZero();
            assertThat(first.index()).isZero();
            served.finish();
            oldest.release();
            first.release();
            Timeslice newest = await(one);
            assertThat(newest.index()).isEqualTo(99);
            newest.release();
            Await.until("an end", () -> skip.poll() == null && skip.isDone());
            Await.until("an end", () -> one.poll() == null && one.isDone());
        }
    }

    /** One item is in its hands and one is kept for it. */
    @Test
    void shouldKeepTheNewestForOneThatHasAllItems() throws IOException {
        try (Served served = new Served(1, 2, 1);
                TimesliceConsumer one = register(1, 0, QueuePolicy.ONE, "")) {
            served.start(100);
            Timeslice oldest = await(one);
            served.finish();
            oldest.release();
            Timeslice newest = await(one);
            assertThat(newest.index()).isEqualTo(99);
            newest.release();
            Await.until("an end", () -> one.poll() == null && one.isDone());
        }
    }

    /** Each of two has one of the items, and nothing is kept. */
    @Test
    void shouldWaitForNoItemForOne() throws IOException {
        try (Served served = new Served(1, 2, 2);
                TimesliceConsumer even = register(2, 0, QueuePolicy.ONE, "");
                TimesliceConsumer odd = register(2, 1, QueuePolicy.ONE, "")) {
            served.start(10);
            assertThat(await(even).index()).isZero();
            assertThat(await(odd).index()).isEqualTo(1);
            served.finish();
            assertThat(served.broker.handedCount()).isEqualTo(2);
            assertThat(served.broker.unwantedCount()).isEqualTo(8);
        }
    }

    @Test
    void shouldWaitForAConsumerThatWantsAll() throws IOException {
        try (Served served = new Served(1, 4, 1);
                TimesliceConsumer slow = register(1, 0, QueuePolicy.ALL, "")) {
            served.start(100);
            Timeslice held = await(slow);
            // 4 in the hands of the consumer, 16 in the rings.
            Await.until(
                    "tickets in use",
                    () -> served.run.computes.get(0).statistics().timeslices() == 20);
            assertThat(served.broker.handedCount()).isEqualTo(4);
            assertThatThrownBy(slow::poll).isInstanceOf(IllegalStateException.class);
            // In the order in which they were complete at the compute node.
            Set<Long> taken = new TreeSet<>(Set.of(held.index()));
            held.release();
            for (int i = 1; i < 100; i++) {
                held = await(slow);
                assertThat(taken.add(held.index())).isTrue();
                held.release();
            }
            served.finish();
            Await.until("an end", slow::isDone);
        }
    }

    /** The group's policy is its first member's: another one keeps what it has no time for. */
    @Test
    void shouldDropNothingOfAGroupThatWantsAll() throws IOException {
        try (Served served = new Served(1, 32, 1);
                TimesliceConsumer first = register(1, 0, QueuePolicy.ALL, "g")) {
            served.start(100);
            Timeslice held = await(first);
            try (TimesliceConsumer second = register(1, 0, QueuePolicy.ONE, "g")) {
                Await.until("some for both", () -> served.broker.handedCount() > 10);
                Set<Long> taken = new TreeSet<>(Set.of(held.index()));
                held.release();
                Await.until(
                        () -> "all, not only " + taken,
                        () -> {
                            for (TimesliceConsumer each : List.of(first, second)) {
                                Timeslice next = each.poll();
                                if (next != null) {
                                    taken.add(next.index());
                                    next.release();
                                }
                            }
                            return taken.size() == 100;
                        });
            }
        }
    }

    @Test
    void shouldGiveBackWhatAConsumerHasWhenItLeaves() throws IOException {
        try (Served served = new Served(1, 4, 1)) {
            try (TimesliceConsumer leaver = register(1, 0, QueuePolicy.ALL, "")) {
                served.start(100);
                await(leaver);
            }
            // Nobody wants the rest.
            served.finish();
            Await.until("an end", served.broker::isFinished);
            assertThat(served.broker.unwantedCount()).isGreaterThan(0);
            assertThat(served.broker.handedCount() + served.broker.unwantedCount()).isEqualTo(100);
        }
    }

    /** It may have timeslices without knowing. */
    @Test
    void shouldGiveBackWhatAConsumerHasThatNeverAsked() throws IOException {
        try (Served served = new Served(1, 16, 1)) {
            try (TimesliceConsumer consumer = register(1, 0, QueuePolicy.ALL, "")) {
                served.start(100);
                Await.until("timeslices", () -> served.broker.handedCount() == 8);
            }
            served.finish();
            Await.until("an end", served.broker::isFinished);
            assertThat(served.broker.unwantedCount()).isEqualTo(92);
        }
    }

    @Test
    void shouldFailConsumersWhenTheComputeNodeFails() throws IOException {
        try (Served served = new Served(1, 16, 1);
                TimesliceConsumer consumer = register(1, 0, QueuePolicy.ALL, "")) {
            served.start(100);
            Timeslice held = await(consumer);
            Await.until("timeslices", () -> served.broker.handedCount() == 8);
            served.close();
            held.release();
            for (int i = 1; i < 8; i++) {
                assertThat(consumer.isDone()).isFalse();
                consumer.poll().release();
            }
            assertThatThrownBy(consumer::poll).hasMessageContaining("before it had given");
            assertThatThrownBy(consumer::isDone).isInstanceOf(FlesnetException.class);
        }
    }

    @Test
    void shouldRegisterNoConsumerWhoseProcessIsGone() throws Exception {
        Process gone = new ProcessBuilder("true").start();
        assertThat(gone.waitFor()).isZero();
        long token = gone.pid() << 32 | 1;
        Files.writeString(directory.resolve("timeslices.register-" + token), "1\n0\nALL\n\n\n");
        try (Served served = new Served(1, 16, 1)) {
            Await.until("refused", () -> served.run.errors.size() == 1);
            assertThat(served.run.errors.get(0)).hasMessageContaining("its process is gone");
            served.start(100);
            try (TimesliceConsumer consumer = register(1, 0, QueuePolicy.ALL, "")) {
                for (int i = 0; i < 100; i++) {
                    await(consumer).release();
                }
                served.finish();
                Await.until("an end", consumer::isDone);
            }
        }
    }

    /** As long ago as a registration may have been left over. */
    private static void age(Path file) throws IOException {
        Files.setLastModifiedTime(file, FileTime.from(Instant.now().minusSeconds(86_400)));
    }

    @Test
    void shouldKnowALaterProcessThatHasTheNumberOfOneThatIsGone() throws Exception {
        long token = ProcessHandle.current().pid() << 32 | 99;
        Path left = directory.resolve("timeslices.register-" + token);
        age(Files.writeString(left, "1\n0\nALL\n\n\n"));
        try (Served first = new Served(1, 16, 1)) {
            Await.until("refused", () -> first.run.errors.size() == 1);
            assertThat(first.run.errors.get(0)).hasMessageContaining("its process is gone");
            Path segmentLeft = Files.copy(segment, directory.resolve("left"));
            age(segmentLeft);
            ConsumerBroker second = new ConsumerBroker(first.run.context, segmentLeft, 16, 1);
            second.onStart();
            second.onClose();
        }
    }

    /** Its token says which it is. */
    @Test
    void shouldGiveUpAConsumerThatIsKilledBeforeItAsks() throws Exception {
        Process process = new ProcessBuilder("cat").start();
        try (Served served = new Served(1, 16, 1)) {
            served.start(100);
            Path made = Files.writeString(directory.resolve("made"), "1\n0\nALL\n\n\n");
            long token = process.pid() << 32 | 1;
            Files.move(made, directory.resolve("timeslices.register-" + token));
            Await.until("timeslices", () -> served.broker.handedCount() == 8);
            process.destroyForcibly().waitFor();
            served.finish();
            Await.until("an end", served.broker::isFinished);
            assertThat(served.run.errors.get(0)).hasMessageContaining("its process is gone");
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    void shouldRefuseWhatItCannotRead() throws IOException {
        try (Served served = new Served(1, 2, 0);
                TimesliceConsumer consumer = register(1, 0, QueuePolicy.ALL, "")) {
            Await.until("registered", this::isIn);
            Path wrong = directory.resolve("timeslices.register-77");
            Files.writeString(wrong, "0\n0\nall\n");
            Await.until("refused", () -> !Files.exists(wrong));
            Await.until("a report", () -> served.run.errors.size() == 1);
            assertThat(served.run.errors.get(0)).hasMessageContaining("a registration of 4 lines");
            assertThat(consumer.poll()).isNull();
            assertThatThrownBy(() -> TimesliceConsumer.register(CLOCK, wrong, ConsumerWish.ALL))
                    .isInstanceOf(IOException.class);
        }
        Path other = Files.writeString(directory.resolve("other"), "x".repeat(9000));
        assertThatThrownBy(() -> TimesliceConsumer.register(CLOCK, other, ConsumerWish.ALL))
                .isInstanceOf(FlesnetException.class)
                .hasMessageContaining("no segment");
    }

    @Test
    void shouldReplaceNoFileOfTheUserAndNoSegmentInUse() throws Exception {
        Path text = Files.writeString(directory.resolve("text"), "mine".repeat(9000));
        try (Served served = new Served(1, 2, 0)) {
            ConsumerBroker second = new ConsumerBroker(served.run.context, segment, 2, 0);
            assertThatThrownBy(second::onStart)
                    .hasMessageEndingWith(
                            "is the segment of process " + ProcessHandle.current().pid());
            second.onClose();
            assertThat(segment).exists();
            ConsumerBroker other = new ConsumerBroker(served.run.context, text, 2, 0);
            assertThatThrownBy(other::onStart).hasMessageContaining("is no segment");
            other.onClose();
            Files.move(text, segment, StandardCopyOption.REPLACE_EXISTING);
        }
        assertThat(segment).hasContent("mine".repeat(9000));
    }

    @Test
    void shouldReplaceTheSegmentOfAProcessThatIsGone() throws Exception {
        leaveSegment();
        long leftBytes = Files.size(segment);
        try (Served served = new Served(1, 4, 1)) {
            Await.until("replaced", () -> segment.toFile().length() > leftBytes);
            try (TimesliceConsumer consumer = register(1, 0, QueuePolicy.ALL, "")) {
                served.start(20);
                await(consumer).release();
            }
        }
    }

    @Test
    void shouldWriteIntoNoSegmentThatAnotherIsAboutToMake() throws IOException {
        Path unfinished = directory.resolve(segment.getFileName() + ".new");
        Files.write(unfinished, new byte[1 << 23]);
        FlesnetRun run = new FlesnetRun(directory, c -> c.nodes(1, 1));
        try (FileChannel other = FileChannel.open(unfinished, StandardOpenOption.WRITE);
                FileLock lock = other.lock()) {
            ConsumerBroker broker = new ConsumerBroker(run.context, segment, 2, 0);
            assertThatThrownBy(broker::onStart).hasMessageContaining("is about to make");
            broker.onClose();
            assertThat(lock.isValid()).isTrue();
            assertThat(unfinished).hasSize(1 << 23);
        } finally {
            run.close();
        }
        try (Served served = new Served(1, 2, 0)) {
            assertThat(unfinished).doesNotExist();
        }
    }

    /** Only root may give a file away. */
    @Test
    void shouldMapNoSegmentOfAnotherUser() throws IOException {
        assumeThat(Files.getAttribute(Path.of("/proc/self"), "unix:uid")).isEqualTo(0);
        try (Served served = new Served(1, 2, 0)) {
            Path segment = directory.resolve("timeslices");
            Files.setAttribute(segment, "unix:uid", 65534);
            assertThatThrownBy(() -> register(1, 0, QueuePolicy.ALL, ""))
                    .isInstanceOf(FlesnetException.class)
                    .hasMessageContaining(segment + " belongs to the user nobody");
            assertThat(served.broker.handedCount()).isZero();
        }
    }

    /** As in a folder that is open to all users. */
    @Test
    void shouldTakeNoRegistrationThatIsNoFileOfItsOwn() throws Exception {
        try (Served served = new Served(1, 2, 1)) {
            Path pipe = directory.resolve("timeslices.register-1");
            int made = new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor();
            assertThat(made).isZero();
            List<Path> strange = new ArrayList<>(List.of(pipe));
            strange.add(Files.createDirectory(directory.resolve("timeslices.register-2")));
            Path foreign = directory.resolve("timeslices.register-3");
            if ((int) Files.getAttribute(directory, "unix:uid") == 0) {
                Path file = Files.writeString(directory.resolve("made"), "1\n0\nALL\n\n\n");
                Files.setAttribute(file, "unix:uid", 65534);
                strange.add(Files.move(file, foreign));
            }
            Files.write(directory.resolve("timeslices.register-0"), new byte[] {(byte) 0xFF});
            try (TimesliceConsumer consumer = register(1, 0, QueuePolicy.ALL, "")) {
                served.start(20);
                for (int i = 0; i < 20; i++) {
                    await(consumer).release();
                }
                served.finish();
                assertThat(strange).allMatch(Files::exists);
                assertThat(served.run.errors).hasSize(1);
            }
        }
    }

    private boolean isIn() {
        try (var files = Files.list(directory)) {
            return files.noneMatch(f -> f.toString().contains("register-"));
        } catch (IOException e) {
            return false;
        }
    }

    @Test
    void shouldAllocateNothingPerTimeslice() throws IOException {
        long[] got = new long[1];
        try (FlesnetRun run = new FlesnetRun(directory, c -> c.nodes(1, 1))) {
            ConsumerBroker broker = new ConsumerBroker(run.context, segment, 8, 1);
            FlesnetCompute compute = FlesnetCompute.embed(run.context, 0, broker);
            FlesnetInput input =
                    FlesnetInput.embed(
                            run.context, 0, new PatternSource(0, Long.MAX_VALUE, 64, 32, 0));
            try (AgentStepper stepper =
                    new AgentStepper(
                            List.of(broker, compute.agent(), input.agent()),
                            null,
                            run.errors::add)) {
                stepper.step();
                try (TimesliceConsumer consumer = register(1, 0, QueuePolicy.ALL, "")) {
                    AllocationMeter.requireNone(
                            () -> {
                                // Short enough to lie between two looks for registrations.
                                long until = got[0] + 500;
                                while (got[0] < until && run.errors.isEmpty()) {
                                    stepper.step();
                                    Timeslice next = consumer.poll();
                                    if (next != null) {
                                        got[0]++;
                                        next.release();
                                    }
                                }
                            });
                }
                assertThat(run.errors).isEmpty();
            }
        }
    }
}
