package dev.verbena.nsim.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.AllocationMeter;
import dev.verbena.nsim.scenario.SeededRandom;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class EngineTest {
    private static final long HOUR_PS = 3_600_000_000_000_000L;

    private record Event(long time, int target, int source, int argument) {}

    private static List<String> processed(List<Event> events, int[] order) {
        Engine engine = new Engine(8);
        List<String> seen = new ArrayList<>();
        engine.handler(
                0, (time, target, argument) -> seen.add(time + ":" + target + ":" + argument));
        for (int i : order) {
            Event e = events.get(i);
            engine.schedule(e.time, e.target, e.source, 0, e.argument);
        }
        engine.run();
        seen.add(Long.toString(engine.traceHash()));
        return seen;
    }

    @Test
    @Tag("nsim-1")
    void shouldProcessInTheDocumentedOrderWhateverTheOrderOfInsertion() {
        List<Event> events = new ArrayList<>();
        List<String> expected = new ArrayList<>();
        int argument = 0;
        for (long time = 5; time < 9; time++) {
            for (int target = 0; target < 8; target++) {
                for (int source = 0; source < 8; source++) {
                    events.add(new Event(time, target, source, argument));
                    expected.add(time + ":" + target + ":" + argument++);
                }
            }
        }
        SeededRandom random = new SeededRandom(1);
        List<String> first = null;
        for (int i = 0; i < 50; i++) {
            List<String> seen = processed(events, random.permutation(events.size()));
            assertThat(seen.subList(0, events.size())).isEqualTo(expected);
            first = first == null ? seen : first;
            assertThat(seen).isEqualTo(first);
        }
    }

    @Test
    @Tag("nsim-1")
    void shouldKeepTheOrderOfOneSource() {
        Engine engine = new Engine(2);
        List<Long> seen = new ArrayList<>();
        engine.handler(0, (time, target, argument) -> seen.add(argument));
        List<Long> expected = new ArrayList<>();
        for (long i = 0; i < 1000; i++) {
            engine.schedule(7, 0, 1, 0, 999 - i);
            expected.add(999 - i);
        }
        engine.run();
        assertThat(seen).isEqualTo(expected);
    }

    @Test
    @Tag("nsim-2")
    void shouldRefuseAnEventInThePastAndNameBothEntities() {
        Engine engine = new Engine(10);
        engine.handler(0, (time, target, argument) -> engine.schedule(time - 1, 3, 7, 0, 0));
        engine.schedule(100, 1, 1, 0, 0);
        assertThatThrownBy(engine::run)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("entity 7")
                .hasMessageContaining("entity 3")
                .hasMessageContaining("99 ps");
    }

    @Test
    @Tag("nsim-3")
    void shouldAllocateNothingInTenMillionEvents() {
        Engine engine = new Engine(1000);
        SeededRandom random = new SeededRandom(2);
        engine.handler(
                0,
                (time, target, argument) ->
                        engine.schedule(
                                time + random.below(1000), random.below(1000), target, 0, time));
        for (int i = 0; i < 1000; i++) {
            engine.schedule(i, i, i, 0, 0);
        }
        engine.run(Long.MAX_VALUE, 200_000);
        int runs = AllocationMeter.requireNone(() -> engine.run(Long.MAX_VALUE, 10_000_000));
        assertThat(runs).isPositive();
    }

    @Test
    void shouldShowEachEventBeforeItIsProcessed() {
        Engine engine = new Engine(4);
        List<String> seen = new ArrayList<>();
        long[] hash = new long[1];
        engine.handler(5, (time, target, argument) -> seen.add("done"));
        engine.eventTrace(
                (time, target, source, kind, argument) -> {
                    seen.add(time + " " + target + " " + source + " " + kind + " " + argument);
                    hash[0] += Engine.traceHashOf(time, target, source, kind);
                });
        engine.schedule(7, 3, 1, 5, -2);
        engine.schedule(6, 2, 0, 5, 9);
        engine.run();
        assertThat(seen).containsExactly("6 2 0 5 9", "done", "7 3 1 5 -2", "done");
        assertThat(hash[0]).isEqualTo(engine.traceHash());
    }

    @Test
    @Tag("nsim-4")
    void shouldTakeNoTimeForAnIdleHour() {
        // A thousand idle hours, so that the figure does not depend on one moment of this machine.
        int hours = 1000;
        long least = Long.MAX_VALUE;
        for (int attempt = 0; attempt < 5; attempt++) {
            Engine engine = new Engine(1);
            engine.handler(0, (time, target, argument) -> {});
            for (int i = 1; i <= hours; i++) {
                engine.schedule(i * HOUR_PS, 0, 0, 0, 0);
            }
            long before = System.nanoTime();
            engine.run();
            least = Math.min(least, System.nanoTime() - before);
            assertThat(engine.nowPs()).isEqualTo(hours * HOUR_PS);
            assertThat(engine.eventCount()).isEqualTo(hours);
        }
        assertThat(least / hours).isLessThan(1_000_000);
    }

    @Test
    void shouldStopAtALimitAndGoOn() {
        Engine engine = new Engine(1);
        List<Long> seen = new ArrayList<>();
        engine.handler(0, (time, target, argument) -> seen.add(time));
        for (long time : new long[] {30, 10, 20}) {
            engine.schedule(time, 0, 0, 0, 0);
        }
        assertThat(engine.run(20, Long.MAX_VALUE)).isTrue();
        assertThat(seen).containsExactly(10L, 20L);
        assertThat(engine.run(Long.MAX_VALUE, Long.MAX_VALUE)).isFalse();
        assertThat(seen).containsExactly(10L, 20L, 30L);
    }

    @Test
    void shouldDecideAtTheEndOfAnInstantAfterAllItsEvents() {
        Engine engine = new Engine(4);
        List<String> seen = new ArrayList<>();
        engine.handler(
                0,
                (time, target, argument) -> {
                    seen.add("event " + target);
                    engine.wantInstantEnd();
                });
        engine.instantHandler(time -> seen.add("end " + time));
        engine.schedule(5, 2, 0, 0, 0);
        engine.schedule(5, 1, 0, 0, 0);
        engine.schedule(6, 3, 0, 0, 0);
        engine.run();
        assertThat(seen).containsExactly("event 1", "event 2", "end 5", "event 3", "end 6");
    }

    @Test
    void shouldSayWhetherEventsAreLeft() {
        Engine engine = new Engine(2);
        engine.handler(0, (time, target, argument) -> {});
        assertThat(engine.firstPs()).isEqualTo(Long.MAX_VALUE);
        assertThat(engine.run(Long.MAX_VALUE, 1)).isFalse();
        engine.schedule(5, 1, 0, 0, 0);
        engine.schedule(6, 1, 0, 0, 0);
        assertThat(engine.pendingCount()).isEqualTo(2);
        assertThat(engine.firstPs()).isEqualTo(5);
        assertThat(engine.isElsewhere(1)).isFalse();
        assertThat(engine.run(Long.MAX_VALUE, 0)).isTrue();
        assertThat(engine.eventCount()).isZero();
        assertThat(engine.run(Long.MAX_VALUE, 1)).isTrue();
        assertThat(engine.eventCount()).isEqualTo(1);
        assertThat(engine.run(6, 1)).isFalse();
        assertThat(engine.run()).isEqualTo(6);
        // Now is not the past.
        engine.schedule(6, 1, 0, 0, 0);
        assertThat(engine.run()).isEqualTo(6);
    }

    @Test
    void shouldSayThatTheEndOfAnInstantIsStillWanted() {
        Engine engine = new Engine(1);
        engine.handler(0, (time, target, argument) -> engine.wantInstantEnd());
        List<Long> ends = new ArrayList<>();
        engine.instantHandler(ends::add);
        engine.schedule(5, 0, 0, 0, 0);
        assertThat(engine.run(Long.MAX_VALUE, 1)).isTrue();
        assertThat(ends).isEmpty();
        assertThat(engine.run(Long.MAX_VALUE, 1)).isFalse();
        assertThat(ends).containsExactly(5L);
    }

    @Test
    void shouldNameTheEntityWhoseEventNobodyProcesses() {
        Engine engine = new Engine(4);
        engine.handler(2, (time, target, argument) -> {});
        engine.schedule(5, 3, 0, 1, 0);
        assertThatThrownBy(engine::run)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("entity 3");
    }
}
