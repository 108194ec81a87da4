package dev.verbena.dart.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.Await;
import dev.verbena.agent.DurableStore.DurableFile;
import dev.verbena.agent.RealEnvironment;
import dev.verbena.dart.DartReceiver;
import dev.verbena.dart.Settings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.agrona.DirectBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a receiver makes of files that an earlier one left, of which its journal tells. */
class MessageFilesTest {
    private static final String TEMPORARY = MessageFiles.TEMPORARY_PREFIX + "0-1-1-7";

    @TempDir Path folder;
    private final RealEnvironment environment = RealEnvironment.create();
    private MessageFiles files;

    @BeforeEach
    void open() {
        files =
                new MessageFiles(
                        Settings.of(
                                new DartReceiver.Context()
                                        .environment(environment)
                                        .directory(folder.toString())));
    }

    @AfterEach
    void close() {
        files.close();
        environment.close();
    }

    private InboundMessage promised(long settledEnd) {
        InboundMessage message = new InboundMessage();
        message.metadata.payload(1000, false, 0);
        message.state = InboundMessage.PROMISING;
        message.promiseRound = ReceiverJournal.EARLIER;
        message.fileName = "final";
        message.temporaryName = TEMPORARY;
        message.settledEnd = settledEnd;
        message.isBegunSettled = settledEnd > 0;
        return message;
    }

    @Test
    @Tag("dart-F7")
    void shouldGoOnWithAMessageThatWasTakenBackAfterItsNameWasPromised() throws IOException {
        Files.write(folder.resolve(TEMPORARY), new byte[400]);
        // An older file of that name is not this message.
        Files.write(folder.resolve("final"), new byte[1000]);
        InboundMessage message = promised(300);
        assertThat(files.isToComeAgain(message)).isFalse();
        assertThat(files.resume(message)).isEmpty();
        assertThat(message.state).isEqualTo(InboundMessage.RECEIVING);
        assertThat(message.received).isEqualTo(300);
        // Behind what the store has to do before.
        Await.until("cut", () -> folder.resolve(TEMPORARY).toFile().length() == 300);
        message.file.close();
    }

    @Test
    @Tag("dart-F7")
    void shouldLetAMessageComeAgainOfWhichNothingWasSettled() throws IOException {
        Files.write(folder.resolve(TEMPORARY), new byte[0]);
        assertThat(files.isToComeAgain(promised(0))).isTrue();
    }

    @Test
    void shouldStoreWhatIsWhole() throws IOException {
        Files.write(folder.resolve(TEMPORARY), new byte[1000]);
        InboundMessage message = promised(0);
        assertThat(files.isToComeAgain(message)).isFalse();
        assertThat(files.resume(message)).isEmpty();
        assertThat(message.state).isEqualTo(InboundMessage.PROMISING);
        message.file.close();
    }

    @Test
    void shouldTakeAFileWithItsNameForStored() throws IOException {
        Files.write(folder.resolve("final"), new byte[1000]);
        InboundMessage message = promised(0);
        assertThat(files.isToComeAgain(message)).isFalse();
        assertThat(files.resume(message)).isEmpty();
        assertThat(message.state).isEqualTo(InboundMessage.RENAMED);
    }

    @Test
    @Tag("dart-F7")
    void shouldLeaveSomethingOfWhatItDiscardsAfterAPromise() throws IOException {
        Files.write(folder.resolve(TEMPORARY), new byte[1000]);
        InboundMessage message = promised(0);
        assertThat(files.resume(message)).isEmpty();
        files.discard(message);
        Await.until("cut to nothing", () -> files.isToComeAgain(promised(0)));
    }

    /** A file of which the store still has to read this much. */
    private static final class Borrowing implements DurableFile {
        private boolean isBorrowing = true;
        private long position;

        @Override
        public int append(DirectBuffer buffer, int offset, int length) {
            throw new AssertionError("copied");
        }

        @Override
        public int appendStable(DirectBuffer buffer, int offset, int length) {
            position += length;
            return length;
        }

        @Override
        public boolean isBorrowing() {
            return isBorrowing;
        }

        @Override
        public void force() {}

        @Override
        public long position() {
            return position;
        }

        @Override
        public long forcedPosition() {
            return -1;
        }

        @Override
        public String error() {
            return "";
        }

        @Override
        public void close() {}
    }

    @Test
    void shouldUseMemoryAgainOnlyIfTheStoreHasReadIt() {
        for (boolean isBorrowing : new boolean[] {true, false}) {
            InboundMessage message = new InboundMessage();
            message.temporaryName = TEMPORARY;
            message.makeRoomAtStart(100);
            int length = message.memoryLength();
            Borrowing file = new Borrowing();
            message.openFile(file);
            assertThat(files.hasRoom(message, message.memory, 0, 100)).isTrue();
            file.isBorrowing = isBorrowing;
            files.discard(message);
            assertThat(message.memoryLength()).isEqualTo(isBorrowing ? 0 : length);
        }
    }
}
