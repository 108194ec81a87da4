package dev.verbena.dart.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.RealEnvironment;
import dev.verbena.dart.DartReceiver;
import dev.verbena.dart.Settings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
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
        assertThat(Files.size(folder.resolve(TEMPORARY))).isEqualTo(300);
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
        assertThat(files.isToComeAgain(promised(0))).isTrue();
    }
}
