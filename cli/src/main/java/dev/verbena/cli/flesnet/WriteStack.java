package dev.verbena.cli.flesnet;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.verbena.cli.flesnet.WriteLoad.Measured;
import dev.verbena.cli.terminal.ChildProcess;
import dev.verbena.cli.terminal.Messages;
import dev.verbena.cli.transfer.MpiProgram;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * What carries the writes of figures 3 to 5: a transport, with a process for each sender and
 * receiver, or Open MPI.
 *
 * @param name of its line
 * @param program in C; null: a transport of this name
 */
record WriteStack(String name, Path program) {
    private static final String URI_MARK = "uri ";
    private static final long START_SECONDS = 60;
    private static final long RUN_MS = 120_000;
    private static final long END_MS = 5_000;

    /**
     * Measures everything once.
     *
     * @param processes half of them senders
     * @return of each sender and each size
     */
    List<Measured> measure(WriteLoad load, int processes) throws IOException, InterruptedException {
        List<Measured> all =
                program == null ? ofTransport(load, processes / 2) : ofMpi(load, processes);
        int expected = processes / 2 * load.sizes().size() * (load.isMixed() ? 2 : 1);
        if (all.size() != expected) {
            throw new Messages.Failure("%s: %s figures of %s", name, all.size(), expected);
        }
        return all;
    }

    private List<Measured> ofTransport(WriteLoad load, int pairs) throws InterruptedException {
        String job =
                "flesnet-write%s-%s".formatted(ProcessHandle.current().pid(), System.nanoTime());
        List<ChildProcess> children = new ArrayList<>();
        ConcurrentLinkedQueue<Measured> results = new ConcurrentLinkedQueue<>();
        try {
            List<String> uris = new ArrayList<>();
            for (int i = 0; i < pairs; i++) {
                uris.add("--to=" + receiver(load, job, pairs, children));
            }
            for (int i = 0; i < pairs; i++) {
                List<String> words = words(job, pairs);
                words.add("--sender=" + i);
                words.addAll(uris);
                words.addAll(load.words());
                children.add(start("sender " + i, words, line -> results.add(Measured.of(line))));
            }
            for (ChildProcess child : children) {
                if (!child.waitFor(RUN_MS) || child.exitCode() != 0) {
                    throw new Messages.Failure("%s: %s", name, child.exitSummary());
                }
            }
        } finally {
            children.forEach(child -> child.end(child.isAlive() ? 0 : END_MS));
        }
        return List.copyOf(results);
    }

    /** Starts one; its address. */
    private String receiver(WriteLoad load, String job, int pairs, List<ChildProcess> children)
            throws InterruptedException {
        BlockingQueue<String> said = new LinkedBlockingQueue<>();
        List<String> words = words(job, pairs);
        words.addAll(load.words());
        children.add(start("receiver", words, said::add));
        String line = said.poll(START_SECONDS, TimeUnit.SECONDS);
        if (line == null) {
            throw new Messages.Failure(
                    "%s: %s", name, children.get(children.size() - 1).exitSummary());
        }
        return line.substring(URI_MARK.length());
    }

    private List<String> words(String job, int pairs) {
        return new ArrayList<>(
                List.of(
                        "flesnet",
                        "write-peer",
                        "--transport=" + name,
                        "--job=" + job,
                        "--senders=" + pairs));
    }

    private ChildProcess start(
            String role, List<String> words, java.util.function.Consumer<String> messages) {
        return ChildProcess.start(
                name + ", " + role, null, Map.of(), List.of("-Xmx256m"), words, messages);
    }

    private List<Measured> ofMpi(WriteLoad load, int processes)
            throws IOException, InterruptedException {
        Process process =
                new ProcessBuilder(MpiProgram.command(program, processes, load.words()))
                        .redirectErrorStream(true)
                        .start();
        try {
            process.getOutputStream().close();
            String said = new String(process.getInputStream().readAllBytes(), UTF_8);
            if (process.waitFor() != 0) {
                throw new Messages.Failure("%s: %s", name, said.strip());
            }
            return said.lines().map(Measured::of).filter(Objects::nonNull).toList();
        } finally {
            process.destroyForcibly();
        }
    }
}
