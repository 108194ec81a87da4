package dev.verbena.cli.flesnet;

import dev.verbena.cli.terminal.ChildProcess;
import dev.verbena.cli.terminal.CliCommand;
import dev.verbena.cli.terminal.Columns;
import dev.verbena.cli.terminal.OutputFolder;
import dev.verbena.cli.terminal.OwnedFolder;
import dev.verbena.cli.terminal.Termination;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

/** {@code flesnet run}. */
@Command(
        name = "run",
        description = "A whole system on this machine, one process for each node.",
        sortOptions = false)
public final class FlesnetRunCommand extends CliCommand {
    private static final int NODES_MAX = 64;
    private static final long LOOK_MS = 100;
    private static final long TABLE_NS = 1_000_000_000L;

    @Option(
            names = "--archives",
            paramLabel = "DIR",
            description = "Each compute node writes its timeslices to DIR/compute-INDEX.tsa.")
    private Path archives;

    @Option(names = "--zstd", description = "Compress the archives.")
    private boolean isCompressed;

    /** For compute nodes, which look at it. */
    @Option(names = "--unchecked", description = "Do not look at the contents.")
    private boolean isUnchecked;

    @Mixin private FlesnetOptions options;

    @Mixin private SourceOptions sources;

    private final Map<String, long[]> progress = new ConcurrentSkipListMap<>();
    private RunNodes nodes;
    private RunTable table;

    @Override
    public Integer call() throws Exception {
        inRange("--inputs", options.inputs, 1, NODES_MAX);
        inRange("--computes", options.computes, 1, NODES_MAX);
        options.check();
        sources.check();
        if (isCompressed && archives == null) {
            throw wrong("--zstd needs --archives");
        }
        if (archives != null) {
            OutputFolder.write("--archives", archives, () -> Files.createDirectories(archives));
        }
        Path temporary = Path.of(System.getProperty("java.io.tmpdir")).toAbsolutePath();
        OwnedFolder.removeLeft(temporary);
        Path folder = OwnedFolder.create(temporary);
        nodes = new RunNodes(options.isShrinking);
        long begin = System.nanoTime();
        table = new RunTable(sources.timeslices(), begin);
        try (Termination termination = new Termination(10_000)) {
            String job = "flesnet" + ProcessHandle.current().pid();
            for (int c = 0; c < options.computes; c++) {
                List<String> archive =
                        archives == null
                                ? List.of()
                                : List.of("--archive=" + archives.resolve("compute-" + c + ".tsa"));
                nodes.addCompute(start("compute", c, folder, job, archive));
            }
            for (int i = 0; i < options.inputs; i++) {
                nodes.addInput(start("input", i, folder, job, List.of()));
            }
            boolean isWhole = await(termination);
            double seconds = (System.nanoTime() - begin) / 1e9;
            RunTable whole = new RunTable(sources.timeslices(), begin);
            whole.lines(progress, System.nanoTime(), Columns.width()).forEach(this::say);
            say("%.1f s".formatted(seconds));
            return isWhole ? 0 : 1;
        } finally {
            nodes.end();
            OwnedFolder.delete(folder);
        }
    }

    private ChildProcess start(String role, int index, Path folder, String job, List<String> more) {
        List<String> words = new ArrayList<>(List.of("flesnet", role, Integer.toString(index)));
        words.add("--directory=" + folder);
        words.add("--job=" + job);
        words.addAll(passedOn(role));
        words.addAll(more);
        return ChildProcess.start(
                role + " " + index, null, Map.of(), List.of("-Xmx256m"), words, this::onProgress);
    }

    /** Those of this command's own options that a node has, too. */
    private List<String> passedOn(String role) {
        CommandSpec node = spec.parent().subcommands().get(role).getCommandSpec();
        return given(each -> !each.inherited() && node.findOption(each.longestName()) != null);
    }

    private void onProgress(String message) {
        String[] words = message.split(" ");
        if (words.length == 4) {
            progress.put(
                    words[0] + " " + words[1],
                    new long[] {Long.parseLong(words[2]), Long.parseLong(words[3])});
        }
    }

    private boolean await(Termination termination) throws InterruptedException {
        boolean isScreen = Columns.isScreen();
        long shown = System.nanoTime();
        while (nodes.isAnyAlive()) {
            if (termination.await(LOOK_MS)) {
                return false;
            }
            tellLost();
            if (System.nanoTime() - shown > TABLE_NS) {
                shown = System.nanoTime();
                show(isScreen);
            }
        }
        tellLost();
        return nodes.lostCount() == 0;
    }

    private void tellLost() {
        for (String each : nodes.takeLost(released() > 0)) {
            err().println("verbena flesnet run: " + each);
            err().flush();
        }
    }

    /** The least of all inputs. */
    private long released() {
        return progress.entrySet().stream()
                .filter(each -> each.getKey().startsWith("input"))
                .mapToLong(each -> each.getValue()[0])
                .min()
                .orElse(0);
    }

    private void show(boolean isScreen) {
        if (!isScreen) {
            say("timeslices released: " + released());
            return;
        }
        List<String> lines = table.lines(progress, System.nanoTime(), Columns.width());
        // At once, so that a screen does not flicker.
        out().print(Columns.CLEAR + String.join(System.lineSeparator(), lines));
        say("");
    }
}
