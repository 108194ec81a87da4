package dev.verbena.cli.chaos;

import dev.verbena.cli.VerbenaCommand;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;

/** Processes of {@code verbena dart} in one folder, with a wire between servers and receiver. */
final class Staging implements AutoCloseable {
    final ChaosProxy proxy = new ChaosProxy();
    final List<ChaosProcess> all = new ArrayList<>();
    private final Path folder;
    private final String config;

    Staging(Path folder) throws IOException {
        this.folder = folder;
        this.config = folder.resolve("job.conf").toString();
    }

    ChaosProcess command(String name, List<String> prefix, String... arguments) {
        ChaosProcess process =
                ChaosProcess.start(
                        folder,
                        name + "." + all.size(),
                        prefix,
                        VerbenaCommand.class,
                        List.of(arguments));
        all.add(process);
        return process;
    }

    String config() {
        return config;
    }

    ChaosProcess client(List<String> prefix, String scheme, int number, long seed) {
        ChaosProcess client =
                ChaosProcess.start(
                        folder,
                        "client." + number,
                        prefix,
                        ChaosClient.class,
                        List.of(config, scheme, "" + number, "0", Long.toString(seed)));
        all.add(client);
        return client;
    }

    ChaosProcess receiver(Path directory, List<String> prefix) throws InterruptedException {
        ChaosProcess receiver =
                command(
                        "receiver",
                        prefix,
                        "dart",
                        "receive",
                        "--listen=127.0.0.1:0",
                        "--directory=" + directory);
        String address = receiver.awaitLine("listening on");
        proxy.target(Integer.parseInt(address.substring(address.lastIndexOf(':') + 1)));
        return receiver;
    }

    ChaosProcess master() throws InterruptedException {
        return master(List.of());
    }

    ChaosProcess master(List<String> prefix, String... options) throws InterruptedException {
        List<String> line =
                new ArrayList<>(
                        List.of(
                                "dart",
                                "master",
                                "--transport=shm",
                                "--config=" + config,
                                "--receiver=127.0.0.1:" + proxy.port()));
        line.addAll(List.of(options));
        ChaosProcess master = command("master", prefix, line.toArray(String[]::new));
        master.awaitLine("master ready");
        return master;
    }

    ChaosProcess send(Path source) {
        return send(source, 60);
    }

    /** Gives up when nothing was confirmed for so long. */
    ChaosProcess send(Path source, int timeoutSeconds) {
        return command(
                "send",
                List.of(),
                "dart",
                "send",
                "--transport=shm",
                "--timeout=" + timeoutSeconds,
                "--config=" + config,
                source.toString());
    }

    /** Files of these lengths with bytes that follow from their number. */
    static Path files(Path folder, int... lengths) throws IOException {
        Files.createDirectories(folder.resolve("below"));
        for (int i = 0; i < lengths.length; i++) {
            byte[] bytes = new byte[lengths[i]];
            new Random(i).nextBytes(bytes);
            Files.write(folder.resolve(i % 2 == 0 ? "file-" + i : "below/file-" + i), bytes);
        }
        return folder;
    }

    /**
     * What is different, and what of ours was left behind; empty if nothing. Half messages of a
     * server that was killed may stay: it might come back.
     */
    static List<String> differences(Path source, Path arrived) throws IOException {
        List<String> found = new ArrayList<>();
        Path got = arrived.resolve(source.getFileName());
        try (Stream<Path> files = Files.walk(source)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                Path other = got.resolve(source.relativize(file).toString());
                if (!Files.exists(other)) {
                    found.add(file + " is missing");
                } else if (Files.mismatch(file, other) >= 0) {
                    found.add(file + " differs");
                }
            }
        }
        try (Stream<Path> files = Files.list(arrived)) {
            files.filter(Files::isRegularFile)
                    .map(file -> file.getFileName().toString())
                    .filter(name -> !name.startsWith(".") || name.startsWith(".verbena-part"))
                    .forEach(name -> found.add(name + " was left behind"));
        }
        return found;
    }

    @Override
    public void close() throws Exception {
        for (ChaosProcess process : all) {
            process.kill();
        }
        proxy.close();
    }
}
