package dev.verbena.cli.demo.transit;

import dev.verbena.agent.Environment;
import dev.verbena.dart.DartMessage;
import dev.verbena.dart.DartReceiver;
import dev.verbena.examples.pic.PicProgram;
import dev.verbena.examples.pic.RestartFile;
import dev.verbena.examples.pic.RestartNames;
import dev.verbena.examples.pic.StallSample;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Consumer;

/**
 * The receiver of the demo. {@link DartReceiver} stores every message before it calls {@link
 * #onMessage}; here items of unbuffered files are put together, and every file that is complete on
 * disk is read back, checked and analysed on a thread of its own, so that analysis holds up no
 * data.
 *
 * <p>It may be killed at any time: one that is started again on the same folder and port finds what
 * was stored, analyses it again, and goes on.
 */
public final class TransitReceiver implements AutoCloseable {
    private static final Path END = Path.of("");

    private final Environment environment;
    private final Path output;
    private final Path folder;
    private final DartReceiver receiver;
    private final RunAnalysis analysis;
    private final StagingRecord staging = new StagingRecord();
    private final BlockingQueue<Path> stored = new LinkedBlockingQueue<>();
    private final ItemFiles items;
    private final ArrivalJournal journal;
    private final Set<String> known = new HashSet<>();
    private final List<String> faults = new ArrayList<>();
    private final Consumer<String> progress;
    private final Thread analyst;

    /**
     * Starts, taking over what one before it stored.
     *
     * @param output folder with {@code restart}, {@code compare} and {@code job}
     * @param port to listen on, 0 for any
     * @param analysis gets every file; used by a thread of this object until {@link #finish}
     * @param progress gets a line for each file and each step analysed; any thread
     */
    public TransitReceiver(
            Environment environment,
            Path output,
            int port,
            RunAnalysis analysis,
            Consumer<String> progress) {
        this.environment = environment;
        this.output = output;
        this.folder = output.resolve("restart");
        this.analysis = analysis;
        this.progress = progress;
        this.items = new ItemFiles(folder);
        this.journal = new ArrivalJournal(output.resolve("job/arrivals.csv"));
        recover();
        this.receiver =
                DartReceiver.launch(
                        new DartReceiver.Context()
                                .environment(environment)
                                .listen("127.0.0.1", port)
                                .directory(folder.toString())
                                .handler(this::onMessage));
        this.analyst = new Thread(this::analyse, "analysis");
        analyst.setDaemon(true);
        analyst.start();
    }

    /** Port listened on. */
    public int port() {
        return receiver.port();
    }

    /** What was staged. */
    public StagingRecord staging() {
        return staging;
    }

    private synchronized void fault(String what) {
        faults.add(what);
        progress.accept("fault " + what);
    }

    // ---- what one before stored

    private void recover() {
        Map<String, StagingRecord.Arrival> seen = journal.read();
        items.recover().forEach(items::join);
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "*.vpic")) {
            for (Path path : files) {
                String name = path.getFileName().toString();
                if (RestartNames.step(name) < 0) {
                    putAside(path);
                } else {
                    take(name, seen.get(name), Files.size(path));
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(folder + ": cannot be read: " + e.getMessage(), e);
        }
    }

    /** A file that is stored, whether or not its arrival was noted before the kill. */
    private void take(String name, StagingRecord.Arrival seen, long length) {
        if (seen == null) {
            long now = environment.nanoClock().nanoTime();
            int rank = RestartNames.rank(name);
            note(name, new StagingRecord.Arrival(rank, RestartNames.step(name), length, 0, now));
        } else {
            take(name, seen);
        }
    }

    private void note(String name, StagingRecord.Arrival arrival) {
        journal.add(name, arrival);
        take(name, arrival);
    }

    private void take(String name, StagingRecord.Arrival arrival) {
        known.add(name);
        staging.add(arrival);
        progress.accept("file " + name + " " + arrival.length());
        stored.add(folder.resolve(name));
    }

    // ---- messages, on the receiver's thread

    private void onMessage(DartMessage message) {
        String variable = message.metadata().variable();
        if (message.isCorrupt()) {
            fault(message.metadata() + " arrived damaged");
        } else if (variable.equals(PicProgram.TIMING)) {
            onTiming(message);
        } else if (variable.equals(PicProgram.RESTART) || variable.equals(PicProgram.COMPARED)) {
            onFile(message, message.fileName(), message.length());
        } else if (variable.equals(PicProgram.RESTART_ITEM)
                || variable.equals(PicProgram.COMPARED_ITEM)) {
            onItem(message);
        } else {
            fault("a message with the unknown variable '" + variable + "'");
        }
    }

    private void onTiming(DartMessage message) {
        int rank = message.metadata().rank();
        byte[] bytes = new byte[message.length()];
        message.buffer().getBytes(message.offset(), bytes);
        if (staging.isFirstReportOf(rank)) {
            for (String line : new String(bytes, StandardCharsets.UTF_8).lines().toList()) {
                try {
                    onTimes(line);
                } catch (IllegalArgumentException e) {
                    fault("rank " + rank + ": " + e.getMessage());
                }
            }
        }
        delete(folder.resolve(message.fileName()));
    }

    private void onTimes(String line) {
        int comma = line.indexOf(',');
        String kind = comma < 0 ? "" : line.substring(0, comma);
        String rest = line.substring(comma + 1);
        switch (kind) {
            case "staged" -> staging.add(StagingRecord.Cost.decode(rest));
            case "compared" -> staging.add(StallSample.decode(rest));
            case "transport" -> staging.explanation(rest);
            default -> throw new IllegalArgumentException("no line of times: '" + line + "'");
        }
    }

    private void onFile(DartMessage message, String name, long length) {
        if (!message.metadata().variable().startsWith(PicProgram.RESTART)) {
            putAside(folder.resolve(name));
            return;
        }
        if (!known.contains(name)) {
            note(
                    name,
                    new StagingRecord.Arrival(
                            message.metadata().rank(),
                            message.metadata().step(),
                            length,
                            message.serverId(),
                            environment.nanoClock().nanoTime()));
        }
    }

    /** Items of one process come in order; the last one completes the file. */
    private void onItem(DartMessage message) {
        String name = message.metadata().property("file");
        String number = message.metadata().property("item");
        boolean isGood = name != null && number != null && number.matches("[0-9]{1,4}");
        if (!isGood || !name.matches("[a-z0-9-]+\\.vpic")) {
            fault(message.metadata() + " is not an item of a restart file");
            return;
        }
        Path stored = folder.resolve(message.fileName());
        if (known.contains(name)) {
            delete(stored);
            return;
        }
        if (!items.add(name, Integer.parseInt(number), stored)) {
            fault(name + ": item " + number + " came too early");
        }
        if ("true".equals(message.metadata().property("last"))) {
            onFile(message, name, items.join(name));
        }
    }

    /** Files of the comparison are kept apart; they are compared at the end, and not analysed. */
    private void putAside(Path path) {
        Path target = output.resolve("compare").resolve(path.getFileName());
        try {
            Files.move(path, target, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot write " + target + ": " + e.getMessage(), e);
        }
    }

    private static void delete(Path path) {
        try {
            Files.deleteIfExists(path);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot delete " + path + ": " + e.getMessage(), e);
        }
    }

    // ---- analysis, on its own thread

    private void analyse() {
        try {
            for (Path path = stored.take(); path != END; path = stored.take()) {
                try {
                    RestartFile file = RestartFile.read(path);
                    if (analysis.add(file)) {
                        progress.accept("analysed " + file.step());
                    }
                } catch (RuntimeException e) {
                    fault(e.getMessage());
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Waits until all servers have sent everything, and analyses the rest.
     *
     * @param fileCount restart files expected
     * @return checks of staging, to be followed by those of the analysis
     */
    public List<Check> finish(int serverCount, int fileCount, long timeoutNs)
            throws InterruptedException {
        boolean isFinished = receiver.awaitFinished(serverCount, timeoutNs);
        stored.add(END);
        analyst.join();
        Path lists = output.resolve("job");
        HashCheck compared = HashCheck.of(lists, "compared", output.resolve("compare"));
        HashCheck sent = HashCheck.of(lists, "sent", folder);
        staging.compared(sent.expectedCount(), sent.equalCount());
        List<Check> checks = new ArrayList<>();
        synchronized (this) {
            int found = staging.arrivals().size();
            checks.add(
                    Check.of(
                            "every restart file arrived",
                            isFinished && found == fileCount && items.isEmpty(),
                            found + " of " + fileCount + " files, stored and forced to disk"));
            checks.add(sent.check("every file is what was sent", fileCount));
            if (compared.expectedCount() > 0) {
                checks.add(
                        compared.check(
                                "all ways of output stored the same", compared.expectedCount()));
            }
            checks.add(
                    Check.of(
                            "nothing was damaged",
                            faults.isEmpty() && receiver.statistics().corruptCount() == 0,
                            faults.isEmpty()
                                    ? "checksums of messages and stored files are right"
                                    : String.join("; ", faults)));
        }
        return checks;
    }

    @Override
    public void close() {
        receiver.close();
        analyst.interrupt();
    }
}
