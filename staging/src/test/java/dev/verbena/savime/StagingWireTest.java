package dev.verbena.savime;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.Await;
import dev.verbena.memory.OffHeapMemory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A client whose messages a relay sees. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class StagingWireTest {
    private static final int BLOCK = 64 << 10;

    @TempDir Path folder;
    private final RecordingSink sink = new RecordingSink(2);
    private StagingFixture stage;
    private MessageRelay relay;
    private StagingServer server;

    @BeforeEach
    void start() throws Exception {
        stage = new StagingFixture(folder, true).launch(sink);
        relay = new MessageRelay(stage.service.port());
        server =
                stage.connect(
                        new StagingServer.Config()
                                .environment(stage.environment)
                                .job(stage.job)
                                .address(relay.address())
                                .blockSize(BLOCK)
                                .heartbeat(Duration.ofMillis(100)));
    }

    @AfterEach
    void stop() throws Exception {
        server.closeNow();
        relay.close();
        stage.close();
    }

    @Test
    @Tag("savime-16")
    @Tag("savime-17")
    void shouldUseAsManyBlocksAsNeeded() throws Exception {
        OffHeapMemory memory = stage.memory(1, 3 * BLOCK + 1);
        server.dataset("more", ElementType.CHAR).write(memory).join();
        assertThat(relay.blocks).containsExactly(BLOCK, BLOCK, BLOCK, 1);
        relay.blocks.clear();
        server.dataset("less", ElementType.CHAR).write(memory, 0, BLOCK - 1).join();
        assertThat(relay.blocks).containsExactly(BLOCK - 1);
    }

    @Test
    @Tag("savime-4")
    void shouldWaitForEarlierTasksOnly() throws Exception {
        OffHeapMemory memory = stage.memory(1, 800);
        relay.syncs.drainPermits();
        CompletableFuture<Receipt> earlier = server.dataset("a", ElementType.DOUBLE).write(memory);
        Thread waiting = new Thread(server::sync, "waits-for-sync");
        waiting.start();
        Await.until(
                "sync waits",
                () ->
                        waiting.getState() == Thread.State.WAITING
                                || waiting.getState() == Thread.State.TIMED_WAITING);
        CompletableFuture<Receipt> later = server.dataset("b", ElementType.DOUBLE).write(memory);
        assertThat(earlier).isNotDone();
        relay.syncs.release();
        waiting.join(Duration.ofSeconds(60).toMillis());
        assertThat(waiting.isAlive()).isFalse();
        assertThat(earlier).isDone();
        assertThat(later).isNotDone();
        relay.syncs.release();
        later.join();
    }
}
