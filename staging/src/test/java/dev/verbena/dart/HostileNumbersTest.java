package dev.verbena.dart;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.dart.step.OpenStep;
import dev.verbena.dart.step.StepGroup;
import dev.verbena.dart.store.JournalReader;
import dev.verbena.dart.store.JournalReaderTest;
import dev.verbena.dart.store.JournalRecord;
import dev.verbena.dart.wire.FrameFlyweight;
import dev.verbena.dart.wire.MetadataFlyweight;
import dev.verbena.dart.wire.PieceFlyweight;
import java.nio.ByteOrder;
import java.util.UUID;
import org.agrona.ExpandableArrayBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Numbers near the end of their range, with which sums and differences would wrap. */
@Timeout(60)
@Tag("dart-S7")
class HostileNumbersTest {
    private static final int LENGTH = 10_000;

    private static CrashBench bench() {
        return new CrashBench(c -> c.acceptGaps(true).silenceTimeoutNs(1L << 60));
    }

    private static ScriptedServer half(CrashBench bench) {
        ScriptedServer server = bench.server(1).message(7, 1, name("m-1"), LENGTH, 2);
        server.allowed = 1;
        bench.until("half", () -> server.acknowledged == 2);
        return server;
    }

    private static DartMetadata name(String name) {
        return new DartMetadata().name(name);
    }

    private static void completes(CrashBench bench, ScriptedServer server) {
        server.allowAll();
        bench.until("all", bench::isDone);
        assertThat(bench.handled).containsExactly(1L);
        assertThat(bench.files()).containsEntry("m-1", CrashBench.hash(LENGTH, 1));
    }

    @ParameterizedTest
    @ValueSource(longs = {Long.MAX_VALUE, Long.MAX_VALUE - 50})
    void shouldNotTakeAFrameFarBehindTheEndForOneThatIsKnown(long position) {
        try (CrashBench bench = bench()) {
            ScriptedServer server = half(bench);
            server.dropLast();
            server.frame(2, 7, 1, position, 0, new UnsafeBuffer(new byte[100])).allowAll();
            bench.until("refused", () -> !server.errors.isEmpty() || server.acknowledged > 2);
            assertThat(server.errors).contains(FrameFlyweight.ERROR_PROTOCOL);
            assertThat(server.acknowledged).isEqualTo(2);
            assertThat(bench.wire.errors)
                    .anyMatch(e -> e.getMessage().contains("position " + position));
            server.dropLast();
            server.part(7, 1, name("m-1"), LENGTH, 1, 2);
            completes(bench, server);
        }
    }

    @Test
    void shouldKeepAStreamWhoseServerSaysAnImpossibleNumber() {
        try (CrashBench bench = bench()) {
            ScriptedServer server = half(bench);
            server.disconnect();
            server.claimed = Long.MAX_VALUE;
            bench.until("refused", () -> !server.errors.isEmpty() || bench.steps > 2000);
            assertThat(server.errors).contains(FrameFlyweight.ERROR_PROTOCOL);
            server.claimed = -1;
            completes(bench, server);
        }
    }

    /** The receiver that is started next could not read it. */
    @Test
    void shouldRefuseAGapThatItsStateCannotHold() {
        try (CrashBench bench = bench()) {
            ScriptedServer server = half(bench);
            server.sayGap(Long.MAX_VALUE);
            bench.until("refused", () -> !bench.wire.errors.isEmpty());
            for (int i = 0; i < 50; i++) {
                bench.step();
            }
            bench.crash(CrashBench.End.KILL_AFTER_DISK);
            assertThat(bench.wire.errors).noneMatch(e -> e.getMessage().contains("no sense"));
            completes(bench, server);
        }
    }

    @Test
    void shouldReadNoStateWhoseNumbersWouldWrap() {
        ExpandableArrayBuffer buffer = new ExpandableArrayBuffer();
        JournalRecord record = new JournalRecord(buffer);
        int end =
                record.begin(0, JournalRecord.HEADER)
                        .putInt(JournalRecord.MAGIC)
                        .putInt(JournalRecord.VERSION)
                        .end();
        end =
                record.begin(end, JournalRecord.STREAM)
                        .putInt(1)
                        .putJob(new UUID(1, 2))
                        .putInt(3)
                        .putLong(Long.MAX_VALUE - 1)
                        .end();
        byte[] bytes = new byte[end];
        buffer.getBytes(0, bytes);
        JournalReader reader = new JournalReader();
        reader.read(new JournalReaderTest.Bytes(bytes));
        assertThat(reader.damage()).contains("makes no sense");
        assertThat(reader.streams()).isEmpty();
    }

    @Test
    void shouldRefuseAPayloadWhoseEndWouldWrap() {
        UnsafeBuffer block = new UnsafeBuffer(new byte[DartMetadata.LENGTH_MAX]);
        int length = name("n").payload(5, false, 0).encode(block, 0);
        block.putLong(16, FrameFlyweight.NUMBER_MAX, ByteOrder.LITTLE_ENDIAN);
        assertThatCode(() -> MetadataFlyweight.check(block, 0, length)).doesNotThrowAnyException();
        block.putLong(16, FrameFlyweight.NUMBER_MAX + 1, ByteOrder.LITTLE_ENDIAN);
        assertThatThrownBy(() -> MetadataFlyweight.check(block, 0, length))
                .hasMessageContaining("payload length");
    }

    @Test
    void shouldRefuseAPieceBehindWhichNoneCouldCome() {
        UnsafeBuffer memory = new UnsafeBuffer(new byte[PieceFlyweight.LENGTH_MAX]);
        PieceFlyweight piece = new PieceFlyweight();
        int length =
                piece.encode(memory, 0, Long.MAX_VALUE, PieceFlyweight.DATA, 1, new byte[9], 0);
        assertThat(piece.wrap(memory, 0, length)).isNotNull();
    }

    @Test
    void shouldNameTheHighestRankThatThereCanBe() {
        StepGroup group = new StepGroup(new UUID(1, 2), 0);
        OpenStep step = new OpenStep(group, 5, 0, 0);
        step.lost(Integer.MAX_VALUE, 1);
        assertThat(step.missingRanks()).containsExactly(Integer.MAX_VALUE);
        assertThat(step.missing()).contains("rank " + Integer.MAX_VALUE);
    }
}
