package dev.verbena.cli.stage;

import dev.verbena.cli.terminal.CliCommand;
import dev.verbena.savime.StagingException;
import dev.verbena.savime.StagingServer;
import dev.verbena.staging.sink.TarText;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HexFormat;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code verbena stage sql}. */
@Command(
        name = "sql",
        description =
                "Ask the database behind a staging server, whose process runs the query: it changes"
                        + " nothing, and overtakes datasets that wait. Prints a line of the columns'"
                        + " names, and one for each row, columns divided by tabs.",
        sortOptions = false)
final class StageSql extends CliCommand {
    private static final int ROWS_MAX = 10_000_000;

    @Option(
            names = "--server",
            paramLabel = "ADDRESS",
            required = true,
            description = "HOST:PORT of the staging server, or the file with its address.")
    private String server;

    @Option(
            names = "--rows",
            paramLabel = "N",
            defaultValue = "1000",
            description = "Most rows; a line ... says that there are more. Default: 1000.")
    private int rows;

    @Option(
            names = "--seconds",
            paramLabel = "N",
            defaultValue = "90",
            description = "How long to wait for the answer. Default: 90.")
    private int seconds;

    @Option(
            names = "--token",
            paramLabel = "HEX",
            description = "32 hexadecimal digits that the server knows.")
    private String token;

    @Parameters(paramLabel = "QUERY", description = "One statement.")
    private String query;

    @Override
    public Integer call() throws Exception {
        inRange("--rows", rows, 1, ROWS_MAX);
        inRange("--seconds", seconds, 1, 86_400);
        StagingServer.Config config = new StagingServer.Config().address(address());
        // Sooner than the wait for the answer ends: its reason is the better one.
        config.connectTimeout(Duration.ofMillis(seconds * 900L));
        config.requestTimeout(Duration.ofSeconds(seconds));
        if (token != null) {
            if (!token.matches("[0-9a-fA-F]{32}")) {
                throw wrong("--token is not 32 hexadecimal digits");
            }
            config.token(HexFormat.of().parseHex(token.toLowerCase()));
        }
        StagingServer client = StagingServer.connect(config);
        try {
            String answer =
                    client.runAsync(TarText.query(query, rows), true, true)
                            .get(seconds, TimeUnit.SECONDS)
                            .text();
            out().print(answer);
            out().flush();
            return 0;
        } catch (ExecutionException e) {
            throw e.getCause() instanceof StagingException cause ? cause : e;
        } catch (TimeoutException e) {
            throw new IllegalStateException(
                    "no answer from %s within %s s".formatted(server, seconds), e);
        } finally {
            client.closeNow();
        }
    }

    private String address() {
        if (server.matches("[^/]+:[0-9]{1,5}") || Files.isRegularFile(Path.of(server))) {
            return server;
        }
        throw wrong("--server %s is neither HOST:PORT nor a file", server);
    }
}
