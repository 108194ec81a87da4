package dev.verbena.cli.stage.experiment;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.verbena.cli.terminal.ChildProcess;
import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.savime.ElementType;
import dev.verbena.savime.StagedDataset;
import dev.verbena.savime.StagingServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The compute process of the experiment; started by it. Each line on its standard input is a run:
 * {@code ADDRESS PLACE DATASETS BYTES BLOCK THREADS}. It answers {@code synced NANOSECONDS}, waits
 * for an empty line, so that it can be looked at with all its threads, and answers {@code closed}.
 */
@Command(
        name = "experiment-client",
        hidden = true,
        description = "The compute process of stage experiment.",
        mixinStandardHelpOptions = true)
public final class ExperimentClient implements Callable<Integer> {
    @Option(names = "--source", required = true)
    private Path source;

    @Option(names = "--length", required = true)
    private long length;

    @Option(names = "--transport", required = true)
    private String scheme;

    @Option(names = "--transport-job", required = true)
    private String job;

    private int runs;

    /** For picocli. */
    public ExperimentClient() {}

    @Override
    public Integer call() throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, UTF_8));
        try (OffHeapMemory mapped = OffHeapMemories.mapFile(source, 0, length, true)) {
            ChildProcess.sendToParent("ready");
            // The end of the input is the parent's.
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                String[] words = line.split(" ");
                StagingServer server = write(words, mapped);
                in.readLine();
                server.closeNow();
                ChildProcess.sendToParent("closed");
            }
        }
        return 0;
    }

    private StagingServer write(String[] words, OffHeapMemory mapped) {
        StagedDataset.Place place = StagedDataset.Place.valueOf(words[1]);
        int datasets = Integer.parseInt(words[2]);
        long bytes = Long.parseLong(words[3]);
        StagingServer.Config config =
                new StagingServer.Config()
                        .address(words[0])
                        .scheme(scheme)
                        .job(job)
                        .connectTimeout(Duration.ofMinutes(1))
                        .blockSize(Integer.parseInt(words[4]))
                        .ioThreads(Integer.parseInt(words[5]));
        runs++;
        long beginNs = System.nanoTime();
        StagingServer server = StagingServer.connect(config);
        for (int i = 0; i < datasets; i++) {
            server.dataset("run" + runs + "_" + i, ElementType.CHAR)
                    .place(place)
                    .write(mapped, 0, bytes);
        }
        server.sync(Duration.ofMinutes(30));
        ChildProcess.sendToParent("synced " + (System.nanoTime() - beginNs));
        return server;
    }
}
