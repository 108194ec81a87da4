package dev.verbena.dart.receiver;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.dart.AckMode;
import dev.verbena.dart.CrashBench;
import dev.verbena.dart.DartMetadata;
import dev.verbena.dart.DartWorld;
import dev.verbena.dart.ScriptedServer;
import dev.verbena.dart.store.InboundMessage;
import dev.verbena.dart.store.InboundStream;
import dev.verbena.dart.wire.FrameFlyweight;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Memory of a receiver without a directory, whose servers stay connected; in virtual time. */
@Timeout(120)
@Tag("dart-S7")
class ReceiverMemoryTest {
    private static final int BOUND = 1_000_000;
    private static final int LENGTH = 400_000;
    private static final int PARTS = 8;
    private static final long SILENCE_NS = 2_000_000_000L;

    private static CrashBench bench() {
        return new CrashBench(
                c -> {
                    c.directory("").ack(AckMode.DELIVERED);
                    c.unfinishedBytesMax(BOUND).silenceTimeoutNs(SILENCE_NS);
                });
    }

    /** A server with one message of each of its clients; their parts come by turns. */
    private static ScriptedServer server(CrashBench bench, int id, int clients) {
        ScriptedServer server = bench.server(id);
        for (int part = 0; part < PARTS; part++) {
            for (int client = 0; client < clients; client++) {
                long sequence = 1000L * id + client;
                DartMetadata metadata = new DartMetadata().name("m-" + sequence);
                server.part(client, sequence, metadata, LENGTH, part, PARTS);
            }
        }
        return server;
    }

    private static long held(CrashBench bench) {
        long bytes = 0;
        for (InboundStream stream : ((ReceiverEngine) bench.receiver.agent()).shared().streams) {
            for (InboundMessage message : stream.open().values()) {
                bytes += message.memoryLength();
            }
        }
        return bytes;
    }

    private static void stepAndCheck(CrashBench bench) {
        bench.step();
        assertThat(held(bench)).isLessThanOrEqualTo(2 * BOUND);
    }

    @Test
    void shouldLetServersWaitForEachOthersMemoryAndLoseNothing() {
        try (CrashBench bench = bench()) {
            int servers = 6;
            for (int id = 1; id <= servers; id++) {
                server(bench, id, 2);
            }
            // All of them are half received at once, as far as there is memory.
            bench.servers.forEach(server -> server.allowed = PARTS + 2);
            for (int i = 0; i < 300; i++) {
                stepAndCheck(bench);
            }
            assertThat(DartWorld.counter(bench.wire, "waits for memory")).isPositive();
            bench.servers.forEach(ScriptedServer::allowAll);
            while (!bench.isDone() && bench.steps < 10_000) {
                stepAndCheck(bench);
            }
            assertThat(bench.isDone()).as("%s", bench.wire.errors).isTrue();
            assertThat(bench.handled).doesNotHaveDuplicates().hasSize(2 * servers);
            assertThat(bench.wire.errors).isEmpty();
        }
    }

    /** It begins thousands of messages and ends none. */
    @Test
    void shouldServeOthersWhileOneServerTakesAllMemory() {
        try (CrashBench bench = bench()) {
            ScriptedServer greedy = server(bench, 1, 60);
            greedy.allowed = 60L * (PARTS - 1);
            for (int i = 0; i < 300; i++) {
                stepAndCheck(bench);
            }
            ScriptedServer honest = server(bench, 2, 2).allowAll();
            while (!honest.isAllAcknowledged() && bench.steps < 10_000) {
                stepAndCheck(bench);
            }
            assertThat(honest.isAllAcknowledged()).as("%s", bench.wire.errors).isTrue();
            assertThat(bench.handled).containsExactlyInAnyOrder(2000L, 2001L);
            assertThat(greedy.errors).contains(FrameFlyweight.ERROR_STORE);
            assertThat(bench.wire.errors)
                    .anyMatch(e -> e.getMessage().contains("unfinishedBytesMax"));
        }
    }

    /** What cannot be remembered of a client is not taken; its server stays connected. */
    @Test
    void shouldRefuseAMessageOfAClientThatIsOneTooMany() {
        try (CrashBench bench = bench()) {
            DartMetadata metadata = new DartMetadata().name("m");
            ScriptedServer server = bench.server(1).message(1, 5, metadata, 100, 1).allowAll();
            bench.until("all", bench::isDone);
            ReceiverEngine engine = (ReceiverEngine) bench.receiver.agent();
            InboundStream stream = engine.shared().streams.get(0);
            for (int client = 2; stream.hasRoomFor(-1); client++) {
                InboundMessage other = new InboundMessage();
                other.begin(client, 1, 0, 1);
                stream.delivered(other);
                stream.delivered().clear();
            }
            server.message(1, 6, metadata, 100, 1).message(-1, 7, metadata, 100, 1).allowAll();
            bench.until("told", () -> !bench.wire.errors.isEmpty());
            assertThat(bench.wire.errors.get(0))
                    .hasMessage(
                            "message 7 of client -1 is lost: more clients than this receiver"
                                    + " remembers of a server");
            assertThat(bench.handled).containsExactly(5L, 6L);
            assertThat(server.errors).isEmpty();
            assertThat(engine.statistics().abandonedCount()).isEqualTo(1);
        }
    }

    /** Nothing would be gained by waiting. */
    @Test
    void shouldTakeAMessageThatIsAloneWhateverItsLength() {
        try (CrashBench bench = bench()) {
            bench.server(1).message(1, 1, new DartMetadata().name("m"), 6 * BOUND, 20).allowAll();
            bench.until("all", bench::isDone);
            assertThat(bench.handled).containsExactly(1L);
            assertThat(bench.wire.errors).isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "disk"})
    void shouldTakeMessagesWhenTheirMemoryIsNotBounded(String directory) {
        try (CrashBench bench =
                new CrashBench(
                        c -> {
                            c.directory(directory).ack(AckMode.DELIVERED);
                            c.unfinishedBytesMax(Long.MAX_VALUE);
                        })) {
            server(bench, 1, 3).allowAll();
            bench.until("all", bench::isDone);
            assertThat(bench.handled).containsExactly(1000L, 1001L, 1002L);
            assertThat(bench.wire.errors).isEmpty();
        }
    }
}
