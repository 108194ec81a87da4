package dev.verbena.cli.stage.demo;

import dev.verbena.cli.terminal.ChildProcess;
import dev.verbena.cli.terminal.Messages;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** A staging server as a process of its own. One thread. */
final class DemoServer implements AutoCloseable {
    private static final long LOOK_MS = 50;
    private static final long START_MS = 60_000;
    private static final long END_MS = 90_000;

    private final ChildProcess process;
    private final Path address;

    /**
     * Started, and waited for.
     *
     * @param folder gets its address, its log and what does not fit into memory
     * @param memory folder of its own in a memory file system
     */
    DemoServer(String name, Path folder, Path memory, String sink) throws InterruptedException {
        address = folder.resolve(name + ".address");
        List<String> options = new ArrayList<>();
        for (String property : List.of("verbena.home", "verbena.cache")) {
            String value = System.getProperty(property);
            if (value != null) {
                options.add("-D" + property + "=" + value);
            }
        }
        process =
                ChildProcess.start(
                        "the staging server (" + name + ")",
                        folder.resolve(name + ".log"),
                        Map.of(),
                        options,
                        List.of(
                                "stage",
                                "server",
                                "--config=" + address,
                                "--memory=" + memory + ":64m",
                                "--disk=" + folder.resolve(name + "-spilled"),
                                "--sink=" + sink),
                        line -> {});
        for (long waited = 0; !ChildProcess.isThere(address); waited += LOOK_MS) {
            if (process.waitFor(LOOK_MS) || waited > START_MS) {
                process.end(0);
                throw new Messages.Failure(process.exitSummary());
            }
        }
    }

    /** The file with its transport's address. */
    String address() {
        return address.toString();
    }

    /** Ends it in order. */
    @Override
    public void close() {
        process.stop();
        process.end(END_MS);
    }
}
