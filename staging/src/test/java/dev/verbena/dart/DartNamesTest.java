package dev.verbena.dart;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.dart.receiver.ReceiverEngine;
import dev.verbena.staging.DeliveredNumbers;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Which file gets which name when several messages want the same, wherever the receiver dies. */
@Timeout(120)
class DartNamesTest {
    private static final int CLIENT = 100;
    private static final int LENGTH = 6000;
    private static final long EARLIER = 3;
    private static final long LATER = (1L << DeliveredNumbers.GENERATION_SHIFT) + 1;

    private static DartMetadata same() {
        return new DartMetadata().name("same");
    }

    /** What waited in the files of a killed server, and what its process sent anew meanwhile. */
    private static CrashBench bench(boolean isKeepingBoth) {
        CrashBench bench = new CrashBench(c -> c.keepBoth(isKeepingBoth).replace(true));
        bench.server(1).message(CLIENT, EARLIER, same(), LENGTH, 2).allowed = 1;
        bench.server(2).message(CLIENT, LATER, same(), LENGTH, 1);
        return bench;
    }

    @Test
    @Tag("dart-F7")
    void shouldNotReplaceWhatGotTheNameWhileItArrived() {
        try (CrashBench bench = bench(false)) {
            ScriptedServer late = bench.servers.get(0);
            ScriptedServer newer = bench.servers.get(1);
            bench.until("half", () -> late.acknowledged == 2);
            newer.allowAll();
            bench.until("newer", newer::isAllAcknowledged);
            late.allowAll();
            bench.until("late", bench::isDone);
            assertThat(bench.files())
                    .containsEntry("same", CrashBench.hash(LENGTH, LATER))
                    .containsEntry("same.100-3", CrashBench.hash(LENGTH, EARLIER))
                    .hasSize(2);
            assertThat(bench.handled).containsExactly(LATER, EARLIER);
            assertThat(bench.wire.errors).isEmpty();
        }
    }

    /** Of jobs that look alike, and each of which sends what the others sent. */
    @Test
    void shouldFindANameHoweverManyAreTaken() {
        try (CrashBench bench = new CrashBench(c -> c.keepBoth(true))) {
            for (int i = 0; i < 40; i++) {
                ScriptedServer server = new ScriptedServer(bench.wire, new UUID(5, i), 1);
                bench.servers.add(server.message(CLIENT, EARLIER, same(), LENGTH, 1).allowAll());
            }
            bench.until("all", bench::isDone);
            assertThat(bench.files().keySet()).hasSize(40).allMatch(n -> n.startsWith("same"));
            assertThat(bench.files().values()).containsOnly(CrashBench.hash(LENGTH, EARLIER));
            assertThat(bench.wire.errors).isEmpty();
        }
    }

    /** Files of an earlier receiver's have many names; or none of them can be opened. */
    @Test
    void shouldLookForANameWithoutBeingWokenAndSayThatItFindsNone() {
        try (CrashBench bench = new CrashBench(c -> c.keepBoth(true))) {
            for (int i = 0; i < 60; i++) {
                bench.wire.disk.open().create("same.100-3.00000000." + i);
            }
            for (String name : List.of("same", "same.100-3", "same.100-3.00000000")) {
                bench.wire.disk.open().create(name);
            }
            ReceiverEngine engine = (ReceiverEngine) bench.receiver.agent();
            bench.server(1).message(CLIENT, EARLIER, same(), LENGTH, 1).allowAll();
            bench.until("looking", () -> engine.nextDeadlineNs() <= bench.wire.clock.nanoTime());
            bench.until("all", bench::isDone);
            assertThat(bench.wire.errors).isEmpty();
            bench.wire.disk.unreadable = "same";
            bench.server(2).message(CLIENT + 1, EARLIER, same(), LENGTH, 1).allowAll();
            bench.until("said", () -> !bench.wire.errors.isEmpty());
            for (int i = 0; i < 1000; i++) {
                bench.step();
                assertThat(engine.nextDeadlineNs() - bench.wire.clock.nanoTime())
                        .isLessThanOrEqualTo(100_000_000);
            }
            assertThat(bench.wire.errors)
                    .singleElement()
                    .asString()
                    .contains("no free name for 'same'");
            bench.wire.disk.unreadable = "";
            bench.until("both", bench::isDone);
        }
    }

    static Stream<Arguments> cases() {
        return Stream.of(CrashBench.End.values())
                .flatMap(
                        end ->
                                Stream.of(
                                        Arguments.of(false, end, false),
                                        Arguments.of(true, end, false),
                                        Arguments.of(false, end, true),
                                        Arguments.of(true, end, true)));
    }

    /**
     * @param isAfter the late one is complete when the newer one is acknowledged; otherwise both
     *     get their names at the same time
     */
    @ParameterizedTest
    @MethodSource("cases")
    @Tag("dart-F7")
    void shouldKeepBothWhereverItIsKilled(
            boolean isAfter, CrashBench.End end, boolean isKeepingBoth) {
        int steps = run(isAfter, end, isKeepingBoth, Integer.MAX_VALUE);
        for (int killAt = 1; killAt < steps; killAt++) {
            run(isAfter, end, isKeepingBoth, killAt);
        }
    }

    /** Steps that it took. */
    private static int run(boolean isAfter, CrashBench.End end, boolean isKeepingBoth, int killAt) {
        try (CrashBench bench = bench(isKeepingBoth)) {
            ScriptedServer late = bench.servers.get(0);
            ScriptedServer newer = bench.servers.get(1);
            boolean isKilled = false;
            while (!bench.isDone() && bench.steps < 5000) {
                if (late.acknowledged == 2) {
                    newer.allowAll();
                }
                if (!isAfter && late.acknowledged == 2 || newer.isAllAcknowledged()) {
                    late.allowAll();
                }
                bench.step();
                if (bench.steps == killAt) {
                    isKilled = true;
                    bench.crash(end);
                }
            }
            String what = "killed at step " + killAt + ": " + bench.wire.errors;
            assertThat(bench.isDone()).as(what).isTrue();
            assertThat(bench.wire.errors).as(what).isEmpty();
            assertThat(bench.handled).as(what).contains(EARLIER, LATER);
            if (isAfter && !isKeepingBoth) {
                assertThat(bench.files())
                        .as(what)
                        .containsEntry("same", CrashBench.hash(LENGTH, LATER));
            }
            if (isAfter || isKeepingBoth) {
                assertThat(bench.files().values())
                        .as(what)
                        .containsExactlyInAnyOrder(
                                CrashBench.hash(LENGTH, EARLIER), CrashBench.hash(LENGTH, LATER));
            } else {
                // The earlier one may have got the name first, and was then replaced.
                assertThat(bench.files())
                        .as(what)
                        .containsEntry("same", CrashBench.hash(LENGTH, LATER));
            }
            assertThat(isKilled || killAt > bench.steps).isTrue();
            return bench.steps;
        }
    }
}
