package dev.verbena.dart;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Single things that go wrong at a receiver, in virtual time. */
@Timeout(60)
class DartMishapsTest {
    private static final int LENGTH = 3000;

    private static DartMetadata named(String name) {
        return new DartMetadata().name(name);
    }

    /** An error that nobody foresaw, in the middle of what came over one connection. */
    @Test
    void shouldServeOtherConnectionsWhenOneGoesWrong() {
        try (CrashBench bench = new CrashBench(c -> {})) {
            ScriptedServer bad = bench.server(1).message(10, 1, named("bad"), LENGTH, 1).allowAll();
            ScriptedServer good = bench.server(2);
            for (int i = 1; i <= 5; i++) {
                good.message(20, i, named("good-" + i), LENGTH, 2);
            }
            good.allowAll();
            bench.wire.disk.throwing = "-10-";
            bench.until("good", good::isAllAcknowledged);
            assertThat(bad.acknowledged).isEqualTo(1);
            assertThat(bench.wire.errors)
                    .anyMatch(e -> e.getMessage().contains("cannot be opened, says the test"));
            bench.wire.disk.throwing = "";
            bench.until("bad", bench::isDone);
            assertThat(bench.files()).hasSize(6).containsKey("bad");
        }
    }

    /** A receiver deletes what an earlier one left half-written; that takes its time. */
    @Test
    @Tag("dart-F9")
    void shouldNotLoseAFileToTheDeletionOfAnEarlierOne() {
        try (CrashBench bench = new CrashBench(c -> {})) {
            ScriptedServer server = bench.server(1).message(10, 1, named("m"), LENGTH, 3);
            bench.wire.disk.isStuck = true;
            server.allowed = 1;
            bench.until("begun", () -> bench.wire.disk.names("-10-1-0").size() == 1);
            bench.wire.disk.isDeletingLate = true;
            bench.crash(CrashBench.End.KILL);
            bench.wire.disk.isStuck = false;
            server.allowed = 2;
            bench.until("two thirds", () -> server.acknowledged == 3);
            bench.wire.disk.deleteNow();
            bench.wire.disk.isDeletingLate = false;
            server.allowAll();
            bench.until("all", bench::isDone);
            assertThat(bench.files()).containsEntry("m", CrashBench.hash(LENGTH, 1)).hasSize(1);
            assertThat(bench.wire.errors).isEmpty();
        }
    }

    /** What a step holds is acknowledged when the step was handled, whatever fails meanwhile. */
    @Test
    void shouldNotAcknowledgeWhatAStepHoldsWhenAnotherFileFails() {
        List<Long> handled = new ArrayList<>();
        DartStepContext steps =
                new DartStepContext(step -> handled.add(step.step()))
                        .rankCount(3)
                        .messagesPerRank(1)
                        .deadlineNs(1L << 60)
                        .acknowledgeWhenHandled(true);
        try (CrashBench bench = new CrashBench(c -> c.steps(steps))) {
            ScriptedServer server = bench.server(1);
            ScriptedServer last = bench.server(2);
            server.message(10, 1, named("a").rank(0).step(7), LENGTH, 1);
            server.message(11, 1, named("b").rank(1).step(7), LENGTH, 1);
            last.message(12, 1, named("c").rank(2).step(7), LENGTH, 1);
            server.allowed = 1;
            bench.until("held", () -> bench.files().size() == 1);
            bench.wire.disk.failing = "-11-";
            bench.wire.disk.failures = 1;
            server.allowAll();
            bench.until("failed", () -> !server.errors.isEmpty());
            bench.until("again", () -> bench.files().size() == 2);
            for (int i = 0; i < 200; i++) {
                bench.step();
            }
            assertThat(server.acknowledged).isEqualTo(1);
            assertThat(handled).isEmpty();
            last.allowAll();
            bench.until("all", bench::isDone);
            assertThat(handled).containsExactly(7L);
        }
    }

    /** Two files fail, so that the state is written anew while it is written anew. */
    @Test
    @Tag("dart-F9")
    void shouldKeepItsStateWhereverItIsKilledWhileItIsWrittenAnew() {
        for (int later = 0; later < 30; later++) {
            for (int killAt = 1; killAt < 12; killAt++) {
                rewriteTwice(later, killAt);
            }
        }
    }

    private static void rewriteTwice(int later, int killAt) {
        try (CrashBench bench = new CrashBench(c -> {})) {
            ScriptedServer first = bench.server(1).message(10, 1, named("a"), LENGTH, 3);
            first.allowed = 2;
            bench.until("acknowledged", () -> first.acknowledged == 3);
            bench.wire.disk.stateMax = 100;
            bench.wire.disk.failing = "-90-";
            bench.wire.disk.failures = 1;
            ScriptedServer second = bench.server(2).message(90, 1, named("b"), LENGTH, 1);
            second.allowAll();
            bench.until("one has failed", () -> !second.errors.isEmpty());
            for (int i = 0; i < later; i++) {
                bench.step();
            }
            bench.wire.disk.failing = "-91-";
            bench.wire.disk.failures = 1;
            ScriptedServer third = bench.server(3).message(91, 1, named("c"), LENGTH, 1);
            third.allowAll();
            bench.until("another has failed", () -> !third.errors.isEmpty());
            for (int i = 0; i < killAt; i++) {
                bench.step();
            }
            bench.crash(CrashBench.End.KILL_AFTER_DISK);
            first.allowAll();
            bench.until("all, " + later + ", killed at " + killAt, bench::isDone);
            assertThat(bench.files())
                    .containsEntry("a", CrashBench.hash(LENGTH, 1))
                    .containsOnlyKeys("a", "b", "c");
        }
    }

    /** Its first frame, of the metadata only, is acknowledged while the file gets its name. */
    @Test
    @Tag("dart-F9")
    void shouldRememberAPromisedMessageOfWhichOnlyTheMetadataWereSettled() {
        for (CrashBench.End end : CrashBench.End.values()) {
            for (int killAt = 1; killAt < 25; killAt++) {
                try (CrashBench bench = new CrashBench(c -> c.keepBoth(true))) {
                    ScriptedServer server = bench.server(1).message(10, 1, named("m"), 1, 2);
                    ScriptedServer other = bench.server(2).message(20, 1, named("o"), 1, 1);
                    bench.until("a journal", () -> other.allowAll().isAllAcknowledged());
                    bench.wire.disk.renameLooks = 40;
                    bench.wire.disk.renameFailures = 1;
                    server.allowAll();
                    bench.until("begun", () -> server.acknowledged == 2);
                    bench.until("failed", () -> bench.wire.disk.renameFailures == 0);
                    bench.wire.disk.renameLooks = 3;
                    for (int i = 0; i < killAt; i++) {
                        bench.step();
                    }
                    bench.crash(end);
                    bench.until(end + ", killed at " + killAt, bench::isDone);
                    assertThat(bench.files()).containsEntry("m", CrashBench.hash(1, 1));
                }
            }
        }
    }

    /** The first frame of a message may have room for its metadata only. */
    @Test
    @Tag("dart-F9")
    void shouldRememberAMessageOfWhichOnlyTheMetadataHaveCome() {
        for (CrashBench.End end : CrashBench.End.values()) {
            try (CrashBench bench = new CrashBench(c -> {})) {
                ScriptedServer server = bench.server(1).message(10, 1, named("m"), 2, 3);
                server.allowed = 1;
                bench.until("begun", () -> server.acknowledged == 2);
                bench.crash(end);
                server.allowAll();
                bench.until("all", bench::isDone);
                assertThat(bench.files()).containsEntry("m", CrashBench.hash(2, 1)).hasSize(1);
                assertThat(bench.wire.errors).isEmpty();
            }
        }
    }
}
