package dev.verbena.examples.transit;

import dev.verbena.agent.Environment;
import dev.verbena.dart.DartMessage;
import dev.verbena.dart.DartReceiver;
import dev.verbena.examples.pic.PicProgram;
import dev.verbena.examples.pic.RestartFile;
import dev.verbena.examples.pic.RestartNames;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Consumer;

/**
 * The receiver of the demo. {@link DartReceiver} stores every message before it calls {@link
 * #onMessage}; here items of unbuffered files are put together, and every file that is complete on
 * disk is read back, checked and analysed on a thread of its own, so that analysis holds up no
 * data.
 */
public final class TransitReceiver implements AutoCloseable {
    private static final Path END = Path.of("");

    private final Environment environment;
    private final Path folder;
    private final DartReceiver receiver;
    private final RunAnalysis analysis;
    private final StagingRecord staging = new StagingRecord();
    private final BlockingQueue<Path> stored = new LinkedBlockingQueue<>();
    private final Map<String, List<Path>> items = new HashMap<>();
    private final List<String> faults = new ArrayList<>();
    private final Consumer<String> progress;
    private final Thread analyst;

    /**
     * Starts.
     *
     * @param folder where restart files go
     * @param port to listen on, 0 for any
     * @param analysis gets every file; used by a thread of this object until {@link #finish}
     * @param progress gets a line for each file and each step analysed; any thread
     */
    public TransitReceiver(
            Environment environment,
            Path folder,
            int port,
            RunAnalysis analysis,
            Consumer<String> progress) {
        this.environment = environment;
        this.folder = folder;
        this.analysis = analysis;
        this.progress = progress;
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

    private void onMessage(DartMessage message) {
        String variable = message.metadata().variable();
        if (message.isCorrupt()) {
            fault(message.metadata() + " arrived damaged");
        } else if (variable.equals(PicProgram.TIMING)) {
            onTiming(message);
        } else if (variable.equals(PicProgram.RESTART)) {
            onFile(message, folder.resolve(message.fileName()), message.length());
        } else if (variable.equals(PicProgram.RESTART_ITEM)) {
            onItem(message);
        } else {
            fault("a message with the unknown variable '" + variable + "'");
        }
    }

    private void onTiming(DartMessage message) {
        byte[] bytes = new byte[message.length()];
        message.buffer().getBytes(message.offset(), bytes);
        String explanation = message.metadata().property("transport");
        staging.explanation(explanation == null ? "" : explanation);
        for (String line : new String(bytes, StandardCharsets.UTF_8).lines().toList()) {
            try {
                staging.add(StagingRecord.Cost.decode(line));
            } catch (IllegalArgumentException e) {
                fault("rank " + message.metadata().rank() + ": " + e.getMessage());
            }
        }
        delete(folder.resolve(message.fileName()));
    }

    private void onFile(DartMessage message, Path path, long length) {
        staging.add(
                new StagingRecord.Arrival(
                        message.metadata().rank(),
                        message.metadata().step(),
                        length,
                        message.serverId(),
                        environment.nanoClock().nanoTime()));
        progress.accept("file " + path.getFileName() + " " + length);
        stored.add(path);
    }

    /** Items of one process come in order; the last one completes the file. */
    private void onItem(DartMessage message) {
        String key = message.metadata().property("file");
        String number = message.metadata().property("item");
        if (key == null || number == null || RestartNames.step(key) < 0) {
            fault(message.metadata() + " is not an item of a restart file");
            return;
        }
        List<Path> parts = items.computeIfAbsent(key, name -> new ArrayList<>());
        if (!number.equals(Integer.toString(parts.size()))) {
            fault(key + ": item " + number + " where item " + parts.size() + " was due");
        }
        parts.add(folder.resolve(message.fileName()));
        if ("true".equals(message.metadata().property("last"))) {
            items.remove(key);
            Path whole = folder.resolve(key);
            onFile(message, whole, join(parts, whole));
        }
    }

    /** Makes one file of many, durable before the many are deleted. */
    private long join(List<Path> parts, Path whole) {
        Path fresh = folder.resolve(whole.getFileName() + ".new");
        try (FileChannel out =
                FileChannel.open(
                        fresh,
                        StandardOpenOption.CREATE,
                        StandardOpenOption.TRUNCATE_EXISTING,
                        StandardOpenOption.WRITE)) {
            for (Path part : parts) {
                out.write(ByteBuffer.wrap(Files.readAllBytes(part)));
            }
            out.force(true);
            Files.move(fresh, whole, StandardCopyOption.ATOMIC_MOVE);
            parts.forEach(TransitReceiver::delete);
            return out.size();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot write " + whole + ": " + e.getMessage(), e);
        }
    }

    private static void delete(Path path) {
        try {
            Files.deleteIfExists(path);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot delete " + path + ": " + e.getMessage(), e);
        }
    }

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
        List<Check> checks = new ArrayList<>();
        synchronized (this) {
            int found = staging.arrivals().size();
            checks.add(
                    Check.of(
                            "every restart file arrived",
                            isFinished && found == fileCount && items.isEmpty(),
                            found + " of " + fileCount + " files, stored and forced to disk"));
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
