package dev.verbena.nessie.service;

import dev.verbena.JavaProcess;
import dev.verbena.agent.RealEnvironment;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.Transports;
import java.io.IOException;
import java.nio.file.Path;

/** A server as a process of its own, and the program that it runs: {@code JOB DIRECTORY}. */
final class ArrayProcess extends JavaProcess {
    private final String url;

    private ArrayProcess(String... arguments) throws IOException {
        super(arguments);
        url = await("url ");
    }

    static ArrayProcess start(String job, Path directory) throws IOException {
        return new ArrayProcess(job, directory.toString());
    }

    String url() {
        return url;
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
