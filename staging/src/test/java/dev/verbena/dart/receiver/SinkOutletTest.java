package dev.verbena.dart.receiver;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.Await;
import dev.verbena.dart.DartMetadata;
import dev.verbena.dart.DartReceiver;
import dev.verbena.dart.Settings;
import dev.verbena.dart.SinkStatistics;
import dev.verbena.dart.WireEnvironment;
import dev.verbena.dart.config.ReceiverSettings;
import dev.verbena.dart.store.InboundMessage;
import dev.verbena.dart.store.MessageFiles;
import dev.verbena.dart.wire.FrameFlyweight;
import dev.verbena.staging.sink.Sink;
import dev.verbena.staging.sink.SinkDataset;
import dev.verbena.staging.sink.SinkSession;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * How long messages wait whose files are not there; in virtual time. The sink reads files of the
 * real directory, the receiver those of a disk in memory.
 */
@Timeout(120)
class SinkOutletTest {
    private static final UUID JOB = new UUID(8, 9);
    private static final int LENGTH = 800;
    private static final long KEPT_NS = 600_000_000_000L;
    private static final long RETRY_FIRST_NS = 200_000_000L;
    private static final long RETRY_LAST_NS = 30_000_000_000L;
    private static final String LOCK = ".receiving-lock";

    @TempDir Path directory;

    private final WireEnvironment wire = new WireEnvironment();
    private final List<InboundMessage> refused = new ArrayList<>();
    private MessageFiles files;
    private ReceiverShared shared;
    private SinkOutlet outlet;

    /** Takes all. */
    private record Taking() implements Sink, SinkSession {
        @Override
        public int sessionsMax() {
            return 1;
        }

        @Override
        public SinkSession open() {
            return this;
        }

        @Override
        public void transfer(SinkDataset dataset, FileChannel data) {}

        @Override
        public String command(String text) {
            return "";
        }

        @Override
        public void close() {}
    }

    @BeforeEach
    void begin() {
        ReceiverSettings settings =
                Settings.of(
                        new DartReceiver.Context()
                                .environment(wire)
                                .directory(directory.toString())
                                .sink(new Taking()));
        files = new MessageFiles(settings);
        shared = new ReceiverShared(settings, files, null);
        outlet = new SinkOutlet(shared, refused::add);
    }

    @AfterEach
    void end() {
        outlet.close();
        files.close();
    }

    /** A message of one step; its file has so many bytes. */
    private InboundMessage waiting(long sequence, int fileLength) {
        UnsafeBuffer block = new UnsafeBuffer(new byte[DartMetadata.LENGTH_MAX]);
        DartMetadata metadata = new DartMetadata().name("m" + sequence).step(1);
        int length = metadata.payload(LENGTH, false, 0).encode(block, 0);
        InboundMessage message = new InboundMessage();
        message.begin(7, 0, 0, sequence);
        message.decode(block, 0, length);
        message.job(JOB);
        files.begin(message);
        UnsafeBuffer frame = new UnsafeBuffer(new byte[FrameFlyweight.LENGTH + LENGTH]);
        message.took(new FrameFlyweight().begin(frame, 0, FrameFlyweight.DATA), LENGTH, 1);
        wire.disk.put(message.fileName(), new byte[fileLength]);
        message.held(true);
        outlet.addOfStep(message);
        return message;
    }

    private void until(String what, BooleanSupplier condition) {
        Await.until(
                what,
                () -> {
                    outlet.doWork(wire.clock.nanoTime());
                    return condition.getAsBoolean();
                });
    }

    /** One more try, after so long; all wait. */
    private void tryInVain(long afterNs) {
        int told = wire.errors.size();
        wire.clock.advanceNs(afterNs);
        until("tried", () -> wire.errors.size() > told);
        assertThat(wire.errors)
                .last()
                .extracting(Throwable::getMessage)
                .asString()
                .startsWith("a stored message cannot be read, and waits: ");
        assertThat(outlet.statistics().waitingCount()).isEqualTo(4);
    }

    private String told() {
        return wire.errors.stream().map(Throwable::getMessage).toList().toString();
    }

    @Test
    void shouldGiveUpWhatIsGoneForLongAndNothingElse() throws IOException {
        InboundMessage gone = waiting(1, LENGTH);
        InboundMessage cut = waiting(2, LENGTH - 100);
        InboundMessage hidden = waiting(3, LENGTH);
        InboundMessage whole = waiting(4, LENGTH);
        files.store().delete(gone.fileName());
        wire.disk.unreadable = hidden.fileName();
        tryInVain(0);
        tryInVain(KEPT_NS - 1);
        files.store().delete(LOCK);
        tryInVain(RETRY_LAST_NS);
        assertThat(shared.abandoned.get()).as("the directory itself is gone").isZero();

        wire.disk.put(LOCK, new byte[0]);
        wire.clock.advanceNs(RETRY_LAST_NS);
        until("two are given up", () -> outlet.statistics().waitingCount() == 2);
        assertThat(shared.abandoned.get()).isEqualTo(1);
        assertThat(gone.isHeld()).as("it is settled").isFalse();
        assertThat(refused).containsExactly(cut);
        assertThat(told())
                .contains("message 1 of client 7 is lost: its file " + gone.fileName() + " is gone")
                .contains("its file has 700 bytes instead of 800");
        assertThat(outlet.nextDeadlineNs())
                .as("nothing has been unreadable for long")
                .isEqualTo(wire.clock.nanoTime() + RETRY_FIRST_NS);

        for (InboundMessage message : List.of(hidden, whole)) {
            Files.write(directory.resolve(message.fileName()), new byte[LENGTH]);
        }
        wire.clock.advanceNs(RETRY_FIRST_NS);
        until("the others are taken", () -> outlet.statistics().waitingCount() == 0);
        assertThat(outlet.statistics()).isEqualTo(new SinkStatistics(2, 1, 0, 0));
    }
}
