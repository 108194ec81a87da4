package dev.verbena.savime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.agent.Await;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.savime.wire.StgFlags;
import dev.verbena.savime.wire.StgStatus;
import dev.verbena.savime.wire.StgType;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Commands behind datasets of whose failure their server does not know. */
@Timeout(120)
class StagingCommandsTest {
    @TempDir Path folder;
    private final RecordingSink sink = new RecordingSink(1);

    @Test
    @Tag("savime-11")
    void shouldNotRunACommandBehindADatasetThatNoServerGot() throws Exception {
        try (StagingFixture stage = new StagingFixture(folder, false).launch(sink)) {
            StagingServer server =
                    stage.connect(stage.config().connectTimeout(Duration.ofMillis(200)));
            OffHeapMemory memory = stage.memory(1, 800);
            assertThat(server.run("first").text()).isEqualTo(sink.answer);
            stage.stop();
            CompletableFuture<Receipt> gone =
                    server.dataset("gone", ElementType.DOUBLE).write(memory);
            assertThatThrownBy(gone::join).hasMessageContaining("SERVER_LOST");
            stage.launch(sink);
            Await.until(
                    "it is connected again", () -> !isFailed(server.runAsync("now", true, false)));

            assertThatThrownBy(() -> server.run("behind"))
                    .hasMessageContaining("PREDECESSOR_FAILED")
                    .hasMessageContaining("gone");
            assertThat(server.run("last").text()).isEqualTo(sink.answer);
            assertThat(sink.order).containsExactly("first", "now", "last");
        }
    }

    private static boolean isFailed(CompletableFuture<CommandResult> result) {
        return result.handle((done, failure) -> failure != null).join();
    }

    @Test
    @Tag("savime-11")
    void shouldLetTheClientSayWhatFailedBeforeACommand() throws Exception {
        try (StagingFixture stage = new StagingFixture(folder, true).launch(sink);
                RawClient client = new RawClient(stage.service.port()).hello(1, 1 << 20, 1, 0)) {
            assertThat(client.open("", 4096)).isEqualTo(-StgStatus.BAD_NAME);
            client.run("known", StgFlags.FLAG_FAILURES_KNOWN);
            assertThat(client.read(StgType.RUN_RESULT).status()).isZero();
            client.run("next", 0);
            assertThat(client.read(StgType.RUN_RESULT).status()).isZero();
            client.run("behind", StgFlags.FLAG_FAILURES_KNOWN | StgFlags.FLAG_BEHIND_FAILED);
            assertThat(client.read(StgType.RUN_RESULT).status())
                    .isEqualTo(StgStatus.PREDECESSOR_FAILED);
            assertThat(sink.order).containsExactly("known", "next");
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    @Tag("savime-9")
    void shouldKeepTheOrderOfLongAndShortCommands(int threads) throws Exception {
        try (StagingFixture stage = new StagingFixture(folder, true).launch(sink);
                StagingFixture other = new StagingFixture(folder.resolve("other"), true)) {
            other.launch(sink);
            StagingServer.Config config = stage.config().ioThreads(threads);
            StagingServer server =
                    stage.connect(threads == 1 ? config : config.address(other.address()));
            List<String> texts = new ArrayList<>();
            List<CompletableFuture<CommandResult>> results = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                String text = "c" + i + "-".repeat(i % 2 == 0 ? 2000 : 0);
                texts.add(text);
                results.add(server.runAsync(text));
            }
            results.forEach(CompletableFuture::join);
            assertThat(sink.order).containsExactlyElementsOf(texts);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldRunLongCommandsAtOnce(boolean isTcp) throws Exception {
        try (StagingFixture stage = new StagingFixture(folder, isTcp).launch(sink)) {
            StagingServer server = stage.connect(stage.config().ioThreads(isTcp ? 2 : 1));
            for (int i = 0; i < 20; i++) {
                String text = "c".repeat(2000 + i);
                assertThat(server.runAsync(text, true, false).join().text()).isEqualTo(sink.answer);
            }
            assertThat(sink.order).hasSize(20);
        }
    }

    /** A transport reads them still. */
    @Test
    void shouldCloseTheOtherTextsWhereOneIsHeld() throws Exception {
        try (StagingFixture stage = new StagingFixture(folder, true).launch(sink)) {
            StagingServer server = stage.connect();
            List<OffHeapMemory> texts = List.of(stage.memory(1, 8), stage.memory(2, 8));
            texts.forEach(text -> text.acquire("a transport"));
            texts.forEach(server::closeSoon);
            texts.get(1).release("a transport");
            assertThatThrownBy(server::closeNow).hasMessageContaining("a transport");
            assertThat(texts.get(1).isClosed()).isTrue();
            texts.get(0).release("a transport");
        }
    }

    @Test
    void shouldRefuseLongCommandsForWhichTheQueueHasNoRoom() throws Exception {
        try (StagingFixture stage = new StagingFixture(folder, true);
                StagingServer away =
                        stage.connect(
                                new StagingServer.Config()
                                        .environment(stage.environment)
                                        .address("127.0.0.1:1")
                                        .queue(1000, OnFull.FAIL))) {
            away.dataset("d", ElementType.DOUBLE).write(stage.memory(1, 800));
            CompletableFuture<CommandResult> result = away.runAsync("c".repeat(2000));
            assertThatThrownBy(result::join).hasMessageContaining("the queue is full: 1000 bytes");
            away.closeNow();
        }
    }

    /** The server forgets a client that is away and has nothing there. */
    @Test
    @Tag("savime-11")
    void shouldNotRunACommandBehindADatasetThatWasRefusedBeforeTheConnectionWasLost()
            throws Exception {
        try (StagingFixture stage = new StagingFixture(folder, true)) {
            stage.launch(stage.context(sink).memory(stage.memory, 800).pool(0));
            try (MessageRelay relay = new MessageRelay(stage.service.port())) {
                StagingServer server = stage.connect(config(stage, relay));
                CompletableFuture<Receipt> refused =
                        server.dataset("refused", ElementType.DOUBLE)
                                .place(StagedDataset.Place.MEMORY)
                                .write(stage.memory(1, 1600));
                assertThatThrownBy(refused::join).hasMessageContaining("NO_SPACE");
                relay.cut();
                Await.until("it is connected again", () -> relay.connects.get() == 2);
                assertThatThrownBy(() -> server.run("behind"))
                        .hasMessageContaining("PREDECESSOR_FAILED, refused");
                assertThat(server.run("last").text()).isEqualTo(sink.answer);
            }
        }
    }

    private static StagingServer.Config config(StagingFixture stage, MessageRelay relay) {
        return new StagingServer.Config()
                .environment(stage.environment)
                .address(relay.address())
                .heartbeat(Duration.ofMillis(250));
    }

    /** With several servers its text waits until the sink has the datasets before it. */
    @Test
    @Tag("savime-11")
    void shouldRunALongCommandWhoseClientComesBack() throws Exception {
        sink.hold();
        try (StagingFixture stage = new StagingFixture(folder, true).launch(sink);
                MessageRelay relay = new MessageRelay(stage.service.port())) {
            StagingServer server = stage.connect(config(stage, relay).address("127.0.0.1:1"));
            server.dataset("d", ElementType.DOUBLE).write(stage.memory(1, 800)).join();
            String text = "c".repeat(2000);
            CompletableFuture<CommandResult> result = server.runAsync(text);
            Await.until("its text", () -> relay.done.get() == 2);
            relay.cut();
            Await.until("it is connected again", () -> relay.connects.get() == 2);
            sink.openAll();
            assertThat(result.join().text()).isEqualTo(sink.answer);
            assertThat(sink.order).containsExactly("d", text);
        }
    }

    @Test
    void shouldDropTheTextOfACommandThatWasLost() throws Exception {
        try (StagingFixture stage = new StagingFixture(folder, true).launch(sink);
                MessageRelay relay = new MessageRelay(stage.service.port())) {
            relay.lostType = StgType.RUN;
            StagingServer server = stage.connect(config(stage, relay));
            CompletableFuture<CommandResult> result = server.runAsync("c".repeat(2000));
            Await.until("it is lost", () -> relay.dropped.get() == 1);
            assertThat(StagingFixture.staged(stage.memory)).isNotEmpty();
            relay.lostType = 0;
            relay.cut();
            assertThatThrownBy(result::join).hasMessageContaining("SERVER_LOST");
            Await.until("it is gone", () -> StagingFixture.staged(stage.memory).isEmpty());
            assertThat(server.run("next").text()).isEqualTo(sink.answer);
            assertThat(sink.order).containsExactly("next");
        }
    }

    /** That the sink has the dataset was said on the connection that is lost. */
    @Test
    void shouldAskByAnotherConnectionForWhatOneThatStaysLostWasToTell() throws Exception {
        try (StagingFixture stage = new StagingFixture(folder, true).launch(sink);
                MessageRelay relay = new MessageRelay(stage.service.port())) {
            relay.lostType = StgType.DATASET_EVENT;
            StagingServer server =
                    stage.connect(
                            config(stage, relay)
                                    .ioThreads(2)
                                    .connectTimeout(Duration.ofMillis(200)));
            Await.until("both are connected", () -> relay.connects.get() == 2);
            server.dataset("d", ElementType.DOUBLE).write(stage.memory(1, 800)).join();
            Await.until("the sink has it", () -> relay.dropped.get() == 1);
            relay.cutFirst();
            server.drain(Duration.ofSeconds(20));
        }
    }

    @Test
    void shouldDropTheTextOfACommandWhoseClientStaysAway() throws Exception {
        try (StagingFixture stage = new StagingFixture(folder, true)) {
            stage.launch(stage.context(sink).resume(Duration.ofMillis(300)));
            try (RawClient client = new RawClient(stage.service.port()).hello(1, 1 << 20, 1, 0)) {
                long id = client.open("text", 4096, "command");
                client.block(id, 0, 0, new byte[4096]);
                assertThat(client.sync(id, 4096)).isZero();
                assertThat(StagingFixture.staged(stage.memory)).isNotEmpty();
            }
            Await.until("it is gone", () -> StagingFixture.staged(stage.memory).isEmpty());
        }
        assertThat(sink.order).isEmpty();
    }
}
