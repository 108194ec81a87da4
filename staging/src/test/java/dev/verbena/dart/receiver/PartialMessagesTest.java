package dev.verbena.dart.receiver;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.AllocationMeter;
import dev.verbena.dart.CrashBench;
import dev.verbena.dart.DartMetadata;
import dev.verbena.dart.DartWorld;
import dev.verbena.dart.ScriptedServer;
import dev.verbena.dart.store.InboundMessage;
import dev.verbena.dart.store.InboundStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What half messages cost a receiver, in virtual time: memory, garbage, and long cycles. */
@Timeout(120)
class PartialMessagesTest {
    private static final int LENGTH = 100_000;
    private static final int BOUND = 1_000_000;

    private static DartMetadata named(long sequence) {
        return new DartMetadata().name("m-" + sequence);
    }

    private static CrashBench bench() {
        return new CrashBench(c -> c.unfinishedBytesMax(BOUND).silenceTimeoutNs(1L << 60));
    }

    /** Memory of messages that are half received or being stored. */
    private static long held(CrashBench bench) {
        long bytes = 0;
        for (InboundStream stream : ((ReceiverEngine) bench.receiver.agent()).shared().streams) {
            for (InboundMessage message : stream.open().values()) {
                bytes += message.memoryLength();
            }
            for (InboundMessage message : stream.storing()) {
                bytes += message.memoryLength();
            }
        }
        return bytes;
    }

    /** So many servers with so many processes each, that send their messages in parts, in turn. */
    private static void servers(CrashBench bench, int servers, int clients, int parts) {
        for (int id = 1; id <= servers; id++) {
            ScriptedServer server = bench.server(id);
            for (int part = 0; part < parts; part++) {
                for (int client = 0; client < clients; client++) {
                    long sequence = 1000L * id + client;
                    server.part(client, sequence, named(sequence), LENGTH, part, parts);
                }
            }
        }
    }

    private static void assertAllStored(CrashBench bench, int count) {
        assertThat(bench.files()).hasSize(count);
        bench.files()
                .forEach(
                        (name, hash) -> {
                            long sequence = Long.parseLong(name.substring(2));
                            assertThat(hash).isEqualTo(CrashBench.hash(LENGTH, sequence));
                        });
        assertThat(bench.handled).doesNotHaveDuplicates().hasSize(count);
    }

    /** They are not the first of their stream that is unsettled, and that one makes no progress. */
    @Test
    void shouldForceWhatHasWaitedLongestSoThatItCanBePutAside() {
        try (CrashBench bench = bench()) {
            int clients = 60;
            servers(bench, 1, clients, 4);
            ScriptedServer server = bench.servers.get(0);
            bench.wire.disk.stuck = "-1000-";
            server.allowed = clients / 2;
            bench.until("sent", () -> held(bench) >= BOUND * 3 / 2);
            // But for the one whose file hangs.
            bench.until("put aside", () -> held(bench) <= BOUND + 64 * 1024);
            assertThat(server.acknowledged).isEqualTo(1);
            bench.wire.disk.stuck = "";
            server.allowAll();
            bench.until("all", bench::isDone);
            assertAllStored(bench, clients);
            assertThat(bench.wire.errors).isEmpty();
        }
    }

    @Test
    @Tag("dart-F8")
    void shouldKeepTheBoundWithManyServers() {
        try (CrashBench bench = bench()) {
            int servers = 8;
            int clients = 60;
            servers(bench, servers, clients, 5);
            long most = 0;
            bench.servers.forEach(ScriptedServer::allowAll);
            while (!bench.isDone() && bench.steps < 100_000) {
                bench.wire.disk.isStuck = bench.steps < 500;
                bench.step();
                most = Math.max(most, held(bench));
            }
            assertThat(bench.isDone()).as("%s", bench.wire.errors).isTrue();
            assertAllStored(bench, servers * clients);
            // Of each connection a frame may be read that is not taken yet.
            assertThat(most).isLessThan(2L * BOUND + 2L * servers * LENGTH);
            assertThat(bench.wire.errors).isEmpty();
        }
    }

    /** Between two looks more may come than the bound: what is being stored then still counts. */
    @Test
    @Tag("dart-F8")
    void shouldKeepTheBoundBetweenTwoLooks() {
        try (CrashBench bench = bench()) {
            int servers = 6;
            int clients = 3;
            servers(bench, servers, clients, 1);
            bench.wire.disk.isStuck = true;
            bench.servers.forEach(ScriptedServer::allowAll);
            bench.until("being stored", () -> held(bench) >= servers * clients * LENGTH);
            for (int id = servers + 1; id <= 2 * servers; id++) {
                ScriptedServer server = bench.server(id);
                for (int client = 0; client < clients; client++) {
                    long sequence = 1000L * id + client;
                    server.part(client, sequence, named(sequence), LENGTH, 0, 1);
                }
            }
            for (int i = 0; i < 50; i++) {
                bench.step();
            }
            bench.servers.forEach(ScriptedServer::allowAll);
            long most = 0;
            for (int i = 0; i < 300; i++) {
                bench.step();
                most = Math.max(most, held(bench));
            }
            assertThat(most).isLessThan(2L * BOUND + 2L * servers * LENGTH);
            bench.wire.disk.isStuck = false;
            bench.until("all", bench::isDone);
            assertAllStored(bench, 2 * servers * clients);
        }
    }

    /** Frames wait for what is being stored, and nothing else would wake the receiver. */
    @Test
    @Tag("dart-F8")
    void shouldLookAgainSoonWhileFramesWait() {
        try (CrashBench bench = bench()) {
            servers(bench, 8, 20, 1);
            bench.servers.forEach(ScriptedServer::allowAll);
            bench.wire.disk.isStuck = true;
            ReceiverEngine engine = (ReceiverEngine) bench.receiver.agent();
            bench.until("crowded", () -> engine.shared().crowd > 0);
            for (int i = 0; i < 100; i++) {
                bench.step();
                assertThat(engine.shared().crowd).isPositive();
                assertThat(engine.nextDeadlineNs() - bench.wire.clock.nanoTime())
                        .isLessThanOrEqualTo(20_000_000);
            }
            bench.wire.disk.isStuck = false;
            bench.until("all", bench::isDone);
            assertAllStored(bench, 160);
        }
    }

    @Test
    @Tag("dart-S7")
    void shouldRefuseWhatIsBeyondTheWindow() {
        try (CrashBench bench = bench()) {
            servers(bench, 1, 30, 1);
            ScriptedServer server = bench.servers.get(0);
            server.isBoundless = true;
            bench.wire.disk.isStuck = true;
            server.allowAll();
            bench.until("refused", () -> !server.errors.isEmpty());
            assertThat(bench.wire.errors)
                    .anyMatch(e -> e.getMessage().contains("beyond the window that was granted"));
            assertThat(held(bench)).isLessThan(2L * ScriptedServer.WINDOW);
            bench.wire.disk.isStuck = false;
            server.isBoundless = false;
            bench.until("all", bench::isDone);
            assertAllStored(bench, 30);
        }
    }

    @Test
    void shouldAllocateNothingWhileMessagesArePutAside() throws Exception {
        try (CrashBench bench = bench()) {
            servers(bench, 20, 10, 2);
            bench.servers.forEach(server -> server.allowed = 10);
            ReceiverEngine engine = (ReceiverEngine) bench.receiver.agent();
            bench.until(
                    "put aside",
                    () ->
                            bench.servers.stream().allMatch(s -> s.acknowledged == 11)
                                    && held(bench) <= BOUND);
            bench.until(
                    "shown", () -> DartWorld.counter(bench.wire, "half messages put aside") > 150);
            assertThat(AllocationMeter.requireNone(() -> cycles(bench, engine))).isPositive();
            bench.servers.forEach(ScriptedServer::allowAll);
            bench.until("all", bench::isDone);
            assertAllStored(bench, 200);
        }
    }

    private static void cycles(CrashBench bench, ReceiverEngine engine) {
        for (int i = 0; i < 2_000; i++) {
            engine.doWork();
            // Less than a heartbeat in hundreds of rounds.
            bench.wire.clock.advanceNs(1_000);
        }
    }

    /** Also when the receiver is started again, which must not read all of them at once. */
    @ParameterizedTest
    @EnumSource
    @Tag("dart-F9")
    void shouldGoOnWithManyHalvesWithoutReadingThemAllAgain(CrashBench.End end) {
        try (CrashBench bench = bench()) {
            servers(bench, 10, 10, 2);
            bench.servers.forEach(server -> server.allowed = 10);
            bench.until(
                    "half",
                    () -> bench.servers.stream().allMatch(server -> server.acknowledged == 11));
            long readBefore = bench.wire.disk.bytesRead;
            bench.crash(end);
            assertThat(held(bench)).isZero();
            assertThat(bench.wire.disk.bytesRead - readBefore).isLessThan(100 * LENGTH / 10);
            bench.servers.forEach(ScriptedServer::allowAll);
            bench.until("all", bench::isDone);
            assertAllStored(bench, 100);
            assertThat(bench.wire.errors).isEmpty();
        }
    }

    /** The settled beginning of a long message is read again in pieces, between other work. */
    @Test
    @Tag("dart-F7")
    void shouldReadABoundedPieceInACycleWhenALongMessageGoesBack() {
        int length = 12_000_000;
        try (CrashBench bench =
                new CrashBench(c -> c.unfinishedBytesMax(BOUND * 50L).silenceTimeoutNs(1L << 60))) {
            ScriptedServer server = bench.server(1);
            server.message(1, 7, named(7), length, 40).allowAll();
            bench.wire.disk.capacity = 9_000_000;
            bench.until("full", () -> !server.errors.isEmpty());
            bench.wire.disk.capacity = Long.MAX_VALUE;
            long most = 0;
            while (!bench.isDone() && bench.steps < 100_000) {
                long before = bench.wire.disk.bytesRead;
                bench.step();
                most = Math.max(most, bench.wire.disk.bytesRead - before);
            }
            assertThat(bench.isDone()).isTrue();
            assertThat(bench.files()).containsEntry("m-7", CrashBench.hash(length, 7));
            assertThat(bench.handled).containsExactly(7L);
            assertThat(bench.wire.disk.bytesRead).isGreaterThan(5_000_000);
            assertThat(most).isPositive().isLessThanOrEqualTo(2 * 1024 * 1024);
        }
    }

    /** Its server goes away while its beginning is read and summed up again. */
    @Test
    @Tag("dart-F15")
    void shouldKeepTheChecksumWhenWhatIsReadAgainIsPutAside() {
        int length = 12_000_000;
        try (CrashBench bench = bench()) {
            ScriptedServer server = bench.server(1).message(1, 7, named(7), length, 40);
            server.allowed = 39;
            bench.until("nearly all", () -> server.acknowledged == 40);
            bench.crash(CrashBench.End.KILL);
            server.allowAll();
            bench.until("some is read again", () -> held(bench) > 0);
            // The connection whose frame waits is replaced by another, and that one ends.
            server.disconnect();
            server.allowed = 39;
            bench.step();
            bench.step();
            server.isAway = true;
            bench.until("put aside again", () -> held(bench) == 0);
            server.allowAll();
            server.isAway = false;
            bench.until("all", bench::isDone);
            assertThat(bench.wire.errors).isEmpty();
            assertThat(bench.handled).containsExactly(7L);
        }
    }

    /** Their servers are made up and never come back; the receiver is even started again. */
    @Test
    @Tag("dart-S7")
    void shouldServeAServerWhenStrangersHaveFilledTheTableWithHalfMessages() {
        try (CrashBench bench = bench()) {
            for (int id = 1; id <= StreamTable.STREAMS_MAX + 20; id++) {
                leaveHalf(bench, id);
            }
            serve(bench, 5000);
            bench.crash(CrashBench.End.KILL);
            for (int id = 6000; id <= 6020; id++) {
                leaveHalf(bench, id);
            }
            serve(bench, 7000);
        }
    }

    @Test
    @Tag("dart-S7")
    void shouldGiveUpHalvesOfServersThatStayAway() {
        long keptNs = 2_000_000_000L;
        try (CrashBench bench =
                new CrashBench(c -> c.halfKeptNs(keptNs).silenceTimeoutNs(1L << 60))) {
            leaveHalf(bench, 1);
            bench.until("forgotten", () -> bench.wire.disk.names("-0").isEmpty());
            assertThat(bench.wire.errors).anyMatch(e -> e.getMessage().contains("halfKeptNs"));
            assertThat(((ReceiverEngine) bench.receiver.agent()).shared().streams).isEmpty();
        }
    }

    private static void leaveHalf(CrashBench bench, int id) {
        ScriptedServer stranger = bench.server(id).message(0, 1, named(id), 100, 2);
        stranger.allowed = 1;
        bench.until("half", () -> stranger.acknowledged == 2);
        stranger.disconnect();
        bench.servers.remove(stranger);
        bench.step();
    }

    private static void serve(CrashBench bench, int id) {
        ScriptedServer server = bench.server(id);
        for (int client = 0; client < 3; client++) {
            server.message(client, id + client, named(id + client), LENGTH, 3);
        }
        server.allowAll();
        bench.until("served", server::isAllAcknowledged);
        for (int client = 0; client < 3; client++) {
            assertThat(bench.files())
                    .containsEntry("m-" + (id + client), CrashBench.hash(LENGTH, id + client));
        }
        bench.servers.remove(server);
    }

    /** A process comes back to its server, and sends again what had failed when it went. */
    @ParameterizedTest
    @EnumSource
    @Tag("dart-F10")
    void shouldStoreAMessageThatComesBehindALaterOne(CrashBench.End end) {
        try (CrashBench bench = bench()) {
            ScriptedServer server = bench.server(1);
            for (long sequence : new long[] {5, 7, 6, 7, 6, 8}) {
                server.message(1, sequence, named(sequence), LENGTH, 2);
            }
            server.allowed = 5;
            bench.until("6 is half received", () -> server.acknowledged == 6);
            bench.crash(end);
            server.allowAll();
            bench.until("all", bench::isDone);
            assertAllStored(bench, 4);
            bench.crash(end);
            server.message(1, 6, named(6), LENGTH, 1).message(1, 9, named(9), LENGTH, 1);
            server.allowAll();
            bench.until("all again", bench::isDone);
            assertAllStored(bench, 5);
            assertThat(bench.wire.errors).isEmpty();
        }
    }

    /** A message before what is left of it could not be stored. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Tag("dart-F7")
    void shouldGiveUpAMessageOnceWhenItsFramesComeAgain(boolean isBegunSettled) {
        try (CrashBench bench = bench()) {
            ScriptedServer server = bench.server(1);
            if (isBegunSettled) {
                server.part(1, 6, named(6), LENGTH, 0, 3);
            }
            server.message(3, 3, named(3), LENGTH, 1).message(2, 2, named(2), LENGTH, 1);
            if (!isBegunSettled) {
                server.part(1, 6, named(6), LENGTH, 0, 3);
            }
            server.part(1, 6, named(6), LENGTH, 1, 3);
            server.message(1, 7, named(7), LENGTH, 1).message(1, 8, named(8), LENGTH, 2);
            server.allowed = isBegunSettled ? 1 : 0;
            bench.until("begun", () -> server.acknowledged == 1 + server.allowed);
            bench.wire.disk.stuck = "-3-3-";
            bench.wire.disk.failing = "-2-2-";
            bench.wire.disk.failures = 1;
            // Message 8 is begun, or not.
            server.allowed = isBegunSettled ? 5 : 6;
            bench.until("given up", () -> bench.receiver.statistics().abandonedCount() == 1);
            for (int i = 0; i < 10; i++) {
                bench.step();
            }
            bench.wire.disk.stuck = "";
            bench.until("one has failed", () -> !server.errors.isEmpty());
            server.allowAll();
            bench.until("all", bench::isDone);
            assertAllStored(bench, 4);
            assertThat(bench.receiver.statistics().abandonedCount()).isEqualTo(1);
            assertThat(bench.receiver.statistics().protocolErrorCount()).isZero();
        }
    }

    /** No further frame comes that would find it out: the server waits for acknowledgements. */
    @Test
    @Tag("dart-F7")
    void shouldNoticeThatForcingAHalfMessageHasFailed() {
        try (CrashBench bench = bench()) {
            servers(bench, 1, 1, 2);
            ScriptedServer server = bench.servers.get(0);
            server.allowed = 1;
            bench.wire.disk.failing = "-1000-";
            bench.wire.disk.failures = 1;
            bench.until("acknowledged", () -> server.acknowledged == 2);
            assertThat(bench.wire.errors).anyMatch(e -> e.getMessage().contains("forcing"));
            server.allowAll();
            bench.until("all", bench::isDone);
            assertAllStored(bench, 1);
        }
    }
}
