package dev.verbena.staging.proof;

import dev.verbena.JavaProcess;
import dev.verbena.agent.AgentThread;
import dev.verbena.agent.RealEnvironment;
import dev.verbena.staging.host.AgentHost;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.Transports;
import java.io.IOException;
import java.util.concurrent.locks.LockSupport;

/**
 * A service or a client as a process of its own, to be killed, and the program that it runs: {@code
 * service JOB PATH} or {@code client JOB PATH ID COUNT}.
 */
final class ProofProcess extends JavaProcess {
    static final long BYTES_MAX = 256 * 1024;

    private ProofProcess(String... arguments) throws IOException {
        super(arguments);
    }

    static ProofProcess start(String... arguments) throws IOException {
        return new ProofProcess(arguments);
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
