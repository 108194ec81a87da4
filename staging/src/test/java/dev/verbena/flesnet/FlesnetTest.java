package dev.verbena.flesnet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.agent.Await;
import dev.verbena.flesnet.dfs.DfsParameters;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Timeslices built over shared memory. */
@Timeout(120)
class FlesnetTest {
    @TempDir Path directory;

    private static void requireAll(FlesnetRun run, int timeslices) {
        int computes = run.context.computes();
        for (int c = 0; c < computes; c++) {
            List<Long> expected = new ArrayList<>();
            for (long t = c; t < timeslices; t += computes) {
                expected.add(t);
            }
            assertThat(run.delivered.get(c).indices).isEqualTo(expected);
            assertThat(run.delivered.get(c).flags).containsOnly(0);
        }
        assertThat(run.errors).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(DescriptorMode.class)
    @Tag("flesnet-3")
    @Tag("flesnet-18")
    @Tag("flesnet-19")
    void shouldBuildEveryTimesliceOnceOnItsNode(DescriptorMode mode) {
        try (FlesnetRun run =
                new FlesnetRun(directory, c -> c.nodes(3, 2).descriptorMode(mode))
                        .all(400, 256, 128)
                        .awaitDone()) {
            requireAll(run, 400);
            for (FlesnetInput input : run.inputs) {
                assertThat(input.statistics().timeslices()).isEqualTo(400);
                assertThat(input.statistics().droppedMicroslices()).isZero();
            }
        }
    }

    /** Components of 5,160 bytes in rings of 16,384. */
    @ParameterizedTest
    @EnumSource(RingEndPolicy.class)
    @Tag("flesnet-6")
    void shouldWriteTwiceAtTheEndOfARingOrOnceAtItsBeginning(RingEndPolicy policy) {
        int size = 5 * (1000 + MicrosliceFlyweight.LENGTH);
        List<Integer> offsets = new CopyOnWriteArrayList<>();
        try (FlesnetRun run = new FlesnetRun(directory, c -> c.nodes(1, 1).ringEnd(policy))) {
            run.compute(
                    0,
                    timeslice -> {
                        offsets.add(timeslice.size(0) == size ? timeslice.offset(0, 0) : -1);
                        timeslice.release();
                    });
            run.input(0, run.pattern(0, 100, 1000, 0)).awaitDone();
            long crossings = 0;
            int expected = 0;
            for (int offset : offsets) {
                boolean isCrossing = expected + size > 1 << 14;
                if (isCrossing && policy == RingEndPolicy.SKIP) {
                    expected = 0;
                }
                assertThat(offset).isEqualTo(expected);
                crossings += isCrossing ? 1 : 0;
                expected = (expected + size) % (1 << 14);
            }
            assertThat(crossings).isGreaterThan(20);
            assertThat(run.inputs.get(0).statistics().payloadWrites())
                    .isEqualTo(policy == RingEndPolicy.SPLIT ? 100 + crossings : 100);
        }
    }

    private List<Long> sums(RingEndPolicy policy, DescriptorMode mode, long start) {
        // Components have 160 to 12,960 bytes; the rings 16 KiB, the source 64 KiB.
        try (FlesnetRun run =
                new FlesnetRun(
                                directory,
                                c ->
                                        c.nodes(2, 2)
                                                .sourceRing(16, 6)
                                                .ringEnd(policy)
                                                .descriptorMode(mode)
                                                .startPosition(start))
                        .all(300, 1280, 1280)
                        .awaitDone()) {
            requireAll(run, 300);
            List<Long> sums = new ArrayList<>(run.delivered.get(0).sums);
            sums.addAll(run.delivered.get(1).sums);
            long writes = run.inputs.get(0).statistics().payloadWrites();
            long components = run.inputs.get(0).statistics().components();
            if (policy == RingEndPolicy.SKIP) {
                assertThat(writes).isEqualTo(components);
            } else {
                assertThat(writes).isBetween(components + 20, 2 * components);
            }
            return sums;
        }
    }

    /**
     * Positions differ, and with them the offsets of contents: so sums begin behind descriptors.
     */
    @Test
    @Tag("flesnet-7")
    @Tag("flesnet-9")
    void shouldDeliverTheSameBytesWithBothEndsOfARing() {
        List<Long> skipped = sums(RingEndPolicy.SKIP, DescriptorMode.RDMA_WRITE, 0);
        assertThat(sums(RingEndPolicy.SPLIT, DescriptorMode.RDMA_WRITE, 0)).isEqualTo(skipped);
        assertThat(sums(RingEndPolicy.SPLIT, DescriptorMode.IN_SYNC, 0)).isEqualTo(skipped);
    }

    @Test
    @Tag("flesnet-4")
    void shouldBehaveAlikeFromAnyPosition() {
        for (RingEndPolicy policy : RingEndPolicy.values()) {
            assertThat(sums(policy, DescriptorMode.RDMA_WRITE, Long.MAX_VALUE - 9)).hasSize(300);
        }
    }

    @Test
    @Tag("flesnet-15")
    void shouldAcknowledgeTheContiguousPrefixOfRandomReleases() {
        List<Timeslice> held = new CopyOnWriteArrayList<>();
        try (FlesnetRun run = new FlesnetRun(directory, c -> c.nodes(2, 1))) {
            run.compute(0, held::add);
            for (int i = 0; i < 2; i++) {
                run.input(i, run.pattern(i, 100, 64, 0));
            }
            Await.until("16 tickets in use", () -> held.size() == 16);
            FlesnetCompute compute = run.computes.get(0);
            held.get(3).release();
            held.get(1).release();
            assertThatThrownBy(() -> held.get(1).release())
                    .isInstanceOf(IllegalStateException.class);
            assertThat(compute.statistics().released()).isZero();
            held.get(0).release();
            Await.until("two are acknowledged", () -> compute.statistics().released() == 2);
            Await.until("two more come", () -> held.size() == 18);
            assertThat(compute.statistics().released()).isEqualTo(2);
            Random random = new Random(5);
            List<Timeslice> left = new ArrayList<>(held);
            left.subList(0, 4).clear();
            held.get(2).release();
            int seen = 18;
            while (seen < 100 || !left.isEmpty()) {
                Collections.shuffle(left, random);
                left.forEach(Timeslice::release);
                left.clear();
                int before = seen;
                if (before < 100) {
                    Await.until("more", () -> held.size() > before);
                }
                List<Timeslice> now = List.copyOf(held);
                left.addAll(now.subList(before, now.size()));
                seen = now.size();
            }
            run.awaitDone();
            assertThat(compute.statistics().released()).isEqualTo(100);
        }
    }

    @Test
    @Tag("flesnet-10")
    @Tag("flesnet-53")
    void shouldFitSixteenComponentsOfSixtyFourKibibytesIntoAMebibyte() {
        List<Timeslice> held = new CopyOnWriteArrayList<>();
        try (FlesnetRun run =
                new FlesnetRun(
                        directory,
                        c -> c.nodes(1, 1).timeslice(4, 0).rings(20, 6).sourceRing(23, 10))) {
            run.compute(0, held::add);
            run.input(0, run.pattern(0, 40, (16 << 10) - 32, 0));
            Await.until("16", () -> held.size() == 16);
            FlesnetInput input = run.inputs.get(0);
            long blocked = input.statistics().components();
            assertThat(blocked).isEqualTo(16);
            held.get(0).release();
            Await.until("17", () -> held.size() == 17);
            assertThat(input.statistics().components()).isEqualTo(17);
            int released = 1;
            while (released < 40) {
                int at = released;
                Await.until("next", () -> held.size() > at);
                held.get(released++).release();
            }
            run.awaitDone();
            assertThat(input.statistics().creditBlockedNs()).isPositive();
            long others =
                    input.statistics().syncBytes()
                            + run.computes.get(0).statistics().syncBytes()
                            + input.statistics().components() * ComponentFlyweight.LENGTH;
            assertThat(others).isLessThan(input.statistics().payloadBytes() / 100);
        }
    }

    @Test
    @Tag("flesnet-8")
    void shouldRefuseAComponentThatNoRingTakes() {
        try (FlesnetRun run = new FlesnetRun(directory, c -> c.nodes(1, 1).timeslice(4, 0))) {
            run.compute(0).input(0, run.pattern(0, 3, 8192, 0));
            Await.until("refused", () -> run.inputs.get(0).failure() != null);
            assertThat(run.inputs.get(0).failure())
                    .hasMessageContaining("32896 bytes")
                    .hasMessageContaining("16384");
        }
    }

    /** Components of 5 microslices; the input ring has room for 4. */
    @Test
    @Tag("flesnet-8")
    void shouldRefuseAComponentThatTheInputRingDoesNotTake() {
        try (FlesnetRun run =
                new FlesnetRun(directory, c -> c.nodes(1, 1).rings(20, 4).sourceRing(14, 10))) {
            run.compute(0).input(0, run.pattern(0, 2, 4096, 0));
            Await.until("refused", () -> run.inputs.get(0).failure() != null);
            assertThat(run.inputs.get(0).failure())
                    .hasMessageContaining("timeslice 0 has at least 20480 bytes")
                    .hasMessageContaining("the input ring 16384");
        }
    }

    @Test
    @Tag("flesnet-32")
    void shouldScheduleOverSharedMemory() {
        try (FlesnetRun run =
                new FlesnetRun(
                                directory,
                                c -> c.nodes(2, 2).dfs(DfsParameters.PAPER.intervals(20, 3), 2))
                        .all(400, 256, 128)
                        .awaitDone()) {
            requireAll(run, 400);
            for (FlesnetCompute compute : run.computes) {
                assertThat(compute.statistics().lastProposed()).isBetween(20L, 21L);
            }
        }
    }

    @Test
    @Tag("flesnet-16")
    @Tag("flesnet-17")
    void shouldCoalesceMessagesAndBeSilentWhenNothingChanges() {
        List<Timeslice> held = new CopyOnWriteArrayList<>();
        try (FlesnetRun run = new FlesnetRun(directory, c -> c.nodes(1, 1))) {
            run.compute(0, held::add).input(0, run.pattern(0, 1000, 64, 0));
            Await.until("tickets in use", () -> held.size() == 16);
            FlesnetInput input = run.inputs.get(0);
            FlesnetCompute compute = run.computes.get(0);
            // The last acknowledgements are on their way.
            pause();
            long messages = input.statistics().syncs() + compute.statistics().syncs();
            pause();
            // No heartbeat is due.
            assertThat(input.statistics().syncs() + compute.statistics().syncs() - messages)
                    .isLessThan(10);
            int released = 0;
            while (released < 1000) {
                int at = released;
                Await.until("next", () -> held.size() > at);
                held.get(released++).release();
            }
            run.awaitDone();
            assertThat(input.statistics().syncs()).isLessThan(1100);
        }
    }

    private static void pause() {
        long begin = System.nanoTime();
        Await.until("a while", () -> System.nanoTime() - begin > 200_000_000);
    }

    @Test
    void shouldKeepPlacesWhenARingIsFull() {
        List<Timeslice> held = new CopyOnWriteArrayList<>();
        try (FlesnetRun run =
                new FlesnetRun(directory, c -> c.nodes(1, 1).timeslice(2, 0).sourceRing(10, 4))) {
            run.compute(0, held::add);
            // Far faster than anything is released, for a while.
            run.input(0, new PatternSource(0, 400, 64, 0, 20_000));
            Await.until("full", () -> run.inputs.get(0).statistics().droppedMicroslices() > 50);
            MicrosliceFlyweight microslice = new MicrosliceFlyweight();
            int seen = 0;
            int missing = 0;
            while (seen < 200) {
                int at = seen;
                Await.until("next", () -> held.size() > at);
                Timeslice timeslice = held.get(seen);
                byte[] bytes = new byte[timeslice.size(0)];
                timeslice.copy(0, 0, bytes, 0, bytes.length);
                UnsafeBuffer buffer = new UnsafeBuffer(bytes);
                assertThat(timeslice.index()).isEqualTo(seen);
                for (int m = 0; m < 2; m++) {
                    assertThat(microslice.wrap(buffer, 32 * m).index()).isEqualTo(seen * 2L + m);
                }
                missing += timeslice.flags() & ComponentFlyweight.MISSING_MICROSLICES;
                timeslice.release();
                seen++;
            }
            run.awaitDone();
            assertThat(missing).isPositive();
        }
    }

    @Test
    void shouldNameASettingThatIsWrong() {
        assertThatThrownBy(() -> new FlesnetContext().conclude())
                .hasMessageContaining("environment");
        try (FlesnetRun run = new FlesnetRun(directory, c -> c.nodes(1, 1))) {
            assertThatThrownBy(() -> run.context.rings(31, 3).conclude())
                    .hasMessageContaining("dataExponent 31 is outside 4 to 30");
            assertThatThrownBy(() -> run.context.nodes(1, 2048).rings(20, 16).conclude())
                    .hasMessageContaining("descriptors of 2048 compute nodes with 2^16 each");
            // A transport has no more connections.
            run.context.nodes(16_380, 1).conclude().transport(16_380).conclude();
            assertThatThrownBy(() -> run.context.nodes(16_381, 1).conclude())
                    .hasMessageContaining("inputs 16381 is outside 1 to 16380");
            assertThatThrownBy(() -> new PatternSource(0, 1, 9, 0, 0))
                    .hasMessageContaining("multiple of 8");
        }
    }

    private static void fail(Timeslice timeslice) {
        if (timeslice.index() == 5) {
            throw new IllegalStateException("broken");
        }
        timeslice.release();
    }

    /** Else the timeslice would never be released, and the run would stop some time later. */
    @Test
    void shouldFailWhenItsConsumerDoes() {
        try (FlesnetRun run = new FlesnetRun(directory, c -> c.nodes(1, 1))) {
            run.compute(0, FlesnetTest::fail).input(0, run.pattern(0, 400, 64, 0));
            Await.until(run::state, () -> run.computes.get(0).failure() != null);
            assertThat(run.computes.get(0).failure())
                    .hasMessageContaining("consumer failed at timeslice 5: java.lang.Illegal");
            Await.until(run::state, () -> run.inputs.get(0).failure() != null);
            assertThat(run.inputs.get(0).failure()).hasMessageContaining("node 0 aborted");
        }
    }

    /** Who waits for a node that could not begin sees why. */
    @Test
    void shouldFailWhenANodeCannotBegin() {
        try (FlesnetRun run = new FlesnetRun(directory, c -> c.nodes(1, 1).scheme("none"))) {
            run.compute(0).input(0, run.pattern(0, 3, 64, 0));
            Await.until("both", () -> run.inputs.get(0).failure() != null);
            Await.until("both", () -> run.computes.get(0).failure() != null);
            assertThat(run.inputs.get(0).failure()).hasMessageContaining("provider 'none'");
            assertThat(run.computes.get(0).failure()).hasMessageContaining("provider 'none'");
        }
    }

    @Test
    void shouldFailWhenTheThreadOfAComputeNodeEndsOfAnError() {
        try (FlesnetRun run = new FlesnetRun(directory, c -> c.nodes(1, 1))) {
            run.compute(
                    0,
                    timeslice -> {
                        throw new OutOfMemoryError("planted");
                    });
            run.input(0, run.pattern(0, 3, 64, 0));
            Await.until("a failure", () -> run.computes.get(0).failure() != null);
            assertThat(run.computes.get(0).failure())
                    .hasMessage("flesnet-compute-0: its thread has ended");
        }
    }

    @Test
    void shouldFailWhenTheThreadOfAnInputEndsOfAnError() {
        try (FlesnetRun run = new FlesnetRun(directory, c -> c.nodes(1, 1))) {
            run.compute(0).input(0, new FailingSource());
            Await.until("a failure", () -> run.inputs.get(0).failure() != null);
            assertThat(run.inputs.get(0).failure())
                    .hasMessage("flesnet-input-0: its thread has ended");
        }
    }

    /** As when the file that it has mapped is cut off. */
    private static final class FailingSource implements MicrosliceSource {
        @Override
        public int poll(MicrosliceSink sink, long nowNs) {
            throw new InternalError("planted");
        }

        @Override
        public boolean isEnded() {
            return false;
        }

        @Override
        public long nextDueNs() {
            return NEVER;
        }
    }
}
