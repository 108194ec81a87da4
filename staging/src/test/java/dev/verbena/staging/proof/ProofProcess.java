package dev.verbena.staging.proof;

import dev.verbena.agent.AgentThread;
import dev.verbena.agent.RealEnvironment;
import dev.verbena.staging.host.AgentHost;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.Transports;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;

/**
 * A service or a client as a process of its own, to be killed, and the program that it runs: {@code
 * service JOB PATH} or {@code client JOB PATH ID COUNT}.
 */
final class ProofProcess implements AutoCloseable {
    static final long BYTES_MAX = 256 * 1024;

    private final Process process;
    private final BufferedReader out;

    private ProofProcess(Process process) {
        this.process = process;
        this.out = new BufferedReader(new InputStreamReader(process.getInputStream()));
    }

    static ProofProcess start(String... arguments) throws IOException {
        String[] command = new String[arguments.length + 6];
        command[0] = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        command[1] = "-Xmx128m";
        command[2] = "-XX:TieredStopAtLevel=1";
        command[3] = "-cp";
        command[4] = System.getProperty("java.class.path");
        command[5] = ProofProcess.class.getName();
        System.arraycopy(arguments, 0, command, 6, arguments.length);
        return new ProofProcess(new ProcessBuilder(command).redirectErrorStream(true).start());
    }

    /** Reads on to the line that begins like this. */
    void await(String word) throws IOException {
        StringBuilder all = new StringBuilder();
        String line;
        while ((line = out.readLine()) != null) {
            if (line.startsWith(word)) {
                return;
            }
            all.append(line).append('\n');
        }
        throw new AssertionError("no line '" + word + "' but:\n" + all);
    }

    /** {@code kill -9}, and waits until the process is no more. */
    @Override
    public void close() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    // ---- in the process

    public static void main(String[] arguments) throws IOException {
        try (RealEnvironment environment = RealEnvironment.builder().job(arguments[1]).build()) {
            if (arguments[0].equals("service")) {
                serve(environment, arguments[1], arguments[2]);
            } else {
                send(environment, arguments);
            }
        }
    }

    private static void serve(RealEnvironment environment, String job, String path)
            throws IOException {
        ProofService service =
                new ProofService(
                        environment,
                        () -> Transports.open("shm", new TransportContext().job(job)),
                        path,
                        BYTES_MAX);
        try (AgentHost host = new AgentHost(environment, IllegalStateException::new)) {
            service.onReady(
                    host.start(AgentThread.builder("proof", environment).agent(service))::wakeup);
            long said = -1;
            while (System.in.available() == 0) {
                if (service.savedCount.get() > said) {
                    said = service.savedCount.get();
                    System.out.println("saved " + said);
                }
                LockSupport.parkNanos(1_000_000);
            }
        }
    }

    private static void send(RealEnvironment environment, String[] arguments) {
        int id = Integer.parseInt(arguments[3]);
        int count = Integer.parseInt(arguments[4]);
        try (ProofClient client =
                new ProofClient(
                        environment,
                        Transports.open("shm", new TransportContext().job(arguments[1])),
                        arguments[2],
                        id)) {
            long offered = 0;
            long said = -1;
            while (client.savedCount < count) {
                if (offered < count
                        && client.offer(
                                ProofTest.content(id, offered + 1),
                                ProofTest.length(offered + 1))) {
                    offered++;
                }
                if (client.doWork() == 0) {
                    LockSupport.parkNanos(100_000);
                }
                if (client.savedCount > said) {
                    said = client.savedCount;
                    System.out.println("confirmed " + said);
                }
            }
            System.out.println("done");
        }
    }
}
