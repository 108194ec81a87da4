package dev.verbena.flesnet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.agent.AgentStepper;
import dev.verbena.agent.Await;
import dev.verbena.agent.ForwardingEnvironment;
import dev.verbena.agent.ProtocolAgent;
import dev.verbena.agent.VirtualClock;
import dev.verbena.flesnet.consume.ConsumerBroker;
import dev.verbena.flesnet.consume.ConsumerWish;
import dev.verbena.flesnet.consume.QueuePolicy;
import dev.verbena.flesnet.consume.TimesliceConsumer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import org.agrona.concurrent.NanoClock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Consumers whose compute node is gone, comes anew, or stands still with them. */
@Timeout(120)
class ConsumersLossTest extends ConsumersFixture {
    private static final long BEAT_NS = 100_000_000L;
    private static final long PAUSE_NS = 60_000_000_000L;

    private final VirtualClock clock = new VirtualClock();

    private boolean hasRegistration() throws IOException {
        try (var files = Files.list(directory)) {
            return files.anyMatch(f -> f.toString().contains("register-"));
        }
    }

    private boolean isServed() {
        try {
            return TimesliceConsumer.isServed(segment);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void shouldRegisterInNoSegmentWhoseComputeNodeIsGone() throws Exception {
        leaveSegment();
        assertThat(TimesliceConsumer.isServed(segment)).isFalse();
        assertThatThrownBy(() -> register(1, 0, QueuePolicy.ALL, ""))
                .isInstanceOf(FlesnetException.class)
                .hasMessageContaining("is left over");
        assertThat(hasRegistration()).isFalse();
        try (Served served = new Served(1, 4, 1).start(20)) {
            Await.until("a new segment", this::isServed);
            try (TimesliceConsumer consumer = register(1, 0, QueuePolicy.ALL, "")) {
                assertThat(await(consumer).index()).isZero();
            }
            assertThat(served.run.errors).isEmpty();
        }
    }

    /** Between its look at the segment and its registration. */
    @Test
    void shouldNotRegisterWhenTheSegmentIsReplacedMeanwhile() throws Exception {
        try (Served served = new Served(1, 4, 1)) {
            Path next = Files.copy(segment, directory.resolve("next"));
            NanoClock replacing =
                    () -> {
                        replace(next);
                        return 0;
                    };
            assertThatThrownBy(
                            () -> TimesliceConsumer.register(replacing, segment, ConsumerWish.ALL))
                    .isInstanceOf(FlesnetException.class)
                    .hasMessageContaining("was replaced");
            assertThat(hasRegistration()).isFalse();
        }
    }

    private void replace(Path next) {
        try {
            Files.move(next, segment, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** A broker by hand and a consumer, on one clock. */
    private final class Stepped implements AutoCloseable {
        final FlesnetRun run =
                new FlesnetRun(
                        directory,
                        c ->
                                c.nodes(1, 1)
                                        .environment(
                                                new ForwardingEnvironment(c.environment()) {
                                                    @Override
                                                    public NanoClock nanoClock() {
                                                        return clock;
                                                    }
                                                }));
        final ConsumerBroker broker = new ConsumerBroker(run.context, segment, 8, 1);
        final FlesnetCompute compute = FlesnetCompute.embed(run.context, 0, broker);
        final FlesnetInput input = FlesnetInput.embed(run.context, 0, run.pattern(0, 100, 64, 64));
        final AgentStepper stepper;
        final TimesliceConsumer consumer;

        Stepped(boolean hasInput) throws IOException {
            List<ProtocolAgent> all = List.of(broker, compute.agent(), input.agent());
            stepper = new AgentStepper(all.subList(0, hasInput ? 3 : 1), null, run.errors::add);
            stepper.step();
            consumer = TimesliceConsumer.register(clock, segment, ConsumerWish.ALL);
            for (int i = 0; i < 10_000 && hasInput && broker.handedCount() < 8; i++) {
                step();
            }
            assertThat(broker.handedCount()).as(run.errors.toString()).isEqualTo(hasInput ? 8 : 0);
        }

        void step() {
            clock.advanceNs(BEAT_NS);
            stepper.step();
        }

        @Override
        public void close() throws IOException {
            consumer.close();
            stepper.close();
            run.close();
        }
    }

    @Test
    void shouldGiveWhatWasHandedOverWhenTheComputeNodeIsSilent() throws IOException {
        try (Stepped stepped = new Stepped(true)) {
            for (long i = 0; i < 8; i++) {
                Timeslice next = stepped.consumer.poll();
                assertThat(next.index()).isEqualTo(i);
                clock.advanceNs(20 * BEAT_NS);
                next.release();
            }
            assertThatThrownBy(stepped.consumer::poll).hasMessageContaining("is silent");
        }
    }

    /** As when a machine, or a container with all of them, is halted. */
    @Test
    void shouldBearAPauseOfAllTogether() throws IOException {
        try (Stepped stepped = new Stepped(false)) {
            stepped.step();
            for (int i = 0; i < 3; i++) {
                clock.advanceNs(PAUSE_NS);
                assertThat(stepped.consumer.poll()).isNull();
                stepped.step();
                clock.advanceNs(PAUSE_NS);
                stepped.step();
                assertThat(stepped.consumer.poll()).isNull();
                assertThat(stepped.run.errors).isEmpty();
            }
        }
    }

    @Test
    void shouldNoticeWhoIsSilentAlone() throws IOException {
        try (Stepped stepped = new Stepped(false)) {
            stepped.step();
            for (int i = 0; i <= 100; i++) {
                assertThat(stepped.consumer.poll()).isNull();
                clock.advanceNs(BEAT_NS);
            }
            assertThatThrownBy(stepped.consumer::poll).hasMessageContaining("is silent");
            for (int i = 0; i <= 101; i++) {
                assertThat(stepped.run.errors).isEmpty();
                stepped.step();
            }
            assertThat(stepped.run.errors).hasSize(1);
            assertThat(stepped.run.errors.get(0)).hasMessageEndingWith("is lost: it is silent");
        }
    }

    /** Between any two of its looks a part of the time counts. */
    @Test
    void shouldNoticeASilentComputeNodeWhenItLooksRarely() throws IOException {
        try (Stepped stepped = new Stepped(false)) {
            stepped.step();
            assertThat(stepped.consumer.poll()).isNull();
            for (int i = 0; i < 3; i++) {
                clock.advanceNs(50 * BEAT_NS);
                assertThat(stepped.consumer.poll()).isNull();
            }
            clock.advanceNs(50 * BEAT_NS);
            assertThatThrownBy(stepped.consumer::poll).hasMessageContaining("is silent");
        }
    }

    /** Not a pattern for names of files. */
    @Test
    void shouldTakeEveryNameOfASegment() throws IOException {
        for (String name : List.of("ts[1]", "ts{a", "ts*")) {
            segment = directory.resolve(name);
            try (Served served = new Served(1, 4, 1).start(20);
                    TimesliceConsumer consumer = register(1, 0, QueuePolicy.ALL, "")) {
                assertThat(await(consumer).index()).isZero();
                assertThat(served.run.errors).isEmpty();
            }
        }
    }
}
