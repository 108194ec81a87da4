package dev.verbena.savime;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.Await;
import dev.verbena.agent.RealEnvironment;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A client that has more to say than there is room for while a server does not read. */
@Timeout(120)
class StagingBacklogTest {
    @Test
    void shouldAnswerEveryCommandHoweverManyWait() throws Exception {
        try (ScriptedStagingServer server = new ScriptedStagingServer();
                RealEnvironment environment = RealEnvironment.create()) {
            CompletableFuture<Void> serving = CompletableFuture.runAsync(() -> serve(server));
            StagingServer.Config config =
                    new StagingServer.Config()
                            .environment(environment)
                            .job("backlog" + ProcessHandle.current().pid())
                            .address(server.address());
            List<CompletableFuture<CommandResult>> results = new ArrayList<>();
            try (StagingServer client = StagingServer.connect(config)) {
                results.add(client.runAsync("wait"));
                String command = "x".repeat(900);
                // Some megabytes more than both sockets hold here, which are sent until they stop.
                for (int i = 0; i < 60_000; i++) {
                    results.add(client.runAsync(command));
                }
                long untilNs = System.nanoTime() + 3_000_000_000L;
                Await.until("all that can go", () -> System.nanoTime() - untilNs > 0);
                server.goOn.release();
                for (CompletableFuture<CommandResult> result : results) {
                    assertThat(result.get(100, TimeUnit.SECONDS).text()).startsWith("12345678");
                }
            }
            serving.join();
        }
    }

    private static void serve(ScriptedStagingServer server) {
        try {
            server.serve(1);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
