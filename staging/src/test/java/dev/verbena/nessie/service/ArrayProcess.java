package dev.verbena.nessie.service;

import dev.verbena.agent.RealEnvironment;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.Transports;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Path;

/** A server as a process of its own, and the program that it runs: {@code JOB DIRECTORY}. */
final class ArrayProcess implements AutoCloseable {
    private final Process process;
    private final String url;

    private ArrayProcess(Process process) throws IOException {
        this.process = process;
        BufferedReader out = new BufferedReader(new InputStreamReader(process.getInputStream()));
        StringBuilder all = new StringBuilder();
        String line;
        while ((line = out.readLine()) != null && !line.startsWith("url ")) {
            all.append(line).append('\n');
        }
        if (line == null) {
            throw new AssertionError("the process printed no address but:\n" + all);
        }
        url = line.substring("url ".length());
    }

    static ArrayProcess start(String job, Path directory) throws IOException {
        return new ArrayProcess(
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-Xmx256m",
                                "-XX:TieredStopAtLevel=1",
                                "-cp",
                                System.getProperty("java.class.path"),
                                ArrayProcess.class.getName(),
                                job,
                                directory.toString())
                        .redirectErrorStream(true)
                        .start());
    }

    String url() {
        return url;
    }

    /** {@code kill -9}. */
    @Override
    public void close() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    // ---- in the process

    public static void main(String[] arguments) throws Exception {
        try (RealEnvironment environment = RealEnvironment.builder().job(arguments[0]).build();
                ArrayServer server =
                        ArrayServer.start(
                                environment,
                                Transports.open("shm", new TransportContext().job(arguments[0])),
                                arguments[1],
                                ArrayServerOptions.DEFAULT.withMemory(1 << 16))) {
            System.out.println("url " + server.url());
            while (System.in.read() >= 0) {
                continue; // The end of the input ends this process.
            }
        }
    }
}
