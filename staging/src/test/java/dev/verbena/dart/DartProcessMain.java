package dev.verbena.dart;

import dev.verbena.agent.RealEnvironment;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * One process of {@link DartProcessesContract}: {@code ROLE SCHEME JOB CONF PORT DIRECTORY RANK
 * COUNT}. Prints what the test waits for; a server stops in order at the end of its input.
 */
final class DartProcessMain {
    static final int LENGTH = 300_000;
    private static final long LIMIT_NS = 60_000_000_000L;

    private DartProcessMain() {}

    public static void main(String[] arguments) throws Exception {
        String scheme = arguments[1];
        String job = arguments[2];
        try (RealEnvironment environment = RealEnvironment.builder().job(job).build()) {
            switch (arguments[0]) {
                case "receiver" -> receive(environment, arguments[5]);
                case "steps" -> receiveSteps(environment);
                case "client" -> send(environment, scheme, job, arguments);
                default -> serve(environment, scheme, job, arguments);
            }
        }
    }

    private static void awaitEndOfInput() throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        while (in.readLine() != null) {
            // Only the end counts.
        }
    }

    private static void receive(RealEnvironment environment, String directory) throws IOException {
        try (DartReceiver receiver =
                DartReceiver.launch(
                        new DartReceiver.Context().environment(environment).directory(directory))) {
            System.out.println("port " + receiver.port());
            boolean isFinished = receiver.awaitFinished(2, 10 * LIMIT_NS);
            System.out.println("finished " + isFinished + " " + receiver.statistics());
        }
    }

    /** Puts steps of two ranks together and prints each. */
    private static void receiveSteps(RealEnvironment environment) throws IOException {
        DartStepContext steps =
                new DartStepContext(
                        step -> {
                            String what = step.isComplete() ? "complete" : step.missing();
                            System.out.println("step " + step.step() + " " + what);
                        });
        steps.rankCount(2).messagesPerRank(1).openStepsMax(1000).deadlineNs(10 * LIMIT_NS);
        try (DartReceiver receiver =
                DartReceiver.launch(
                        new DartReceiver.Context().environment(environment).steps(steps))) {
            System.out.println("port " + receiver.port());
            awaitEndOfInput();
        }
    }

    private static void serve(
            RealEnvironment environment, String scheme, String job, String[] arguments)
            throws IOException {
        DartServer.Context context =
                new DartServer.Context()
                        .environment(environment)
                        .transport(scheme)
                        .transportJob(job)
                        .configurationFile(arguments[3])
                        .receiver("127.0.0.1", Integer.parseInt(arguments[4]))
                        .serverCount(2)
                        .bufferCount(4)
                        .bufferSize(256 * 1024);
        boolean isMaster = arguments[0].equals("master");
        try (DartServer server = DartServer.launch(isMaster ? context.master() : context.slave())) {
            server.awaitReady(LIMIT_NS);
            System.out.println("ready " + server.serverId());
            awaitEndOfInput();
            server.requestStop();
            System.out.println("stopped " + server.awaitStopped(LIMIT_NS));
            System.out.println(server.statistics());
        }
    }

    private static void send(
            RealEnvironment environment, String scheme, String job, String[] arguments)
            throws Exception {
        int rank = Integer.parseInt(arguments[6]);
        int count = Integer.parseInt(arguments[7]);
        try (DartClient client =
                DartClient.connect(
                        new DartClient.Context()
                                .environment(environment)
                                .transport(scheme)
                                .transportJob(job)
                                .configurationFile(arguments[3])
                                .rank(rank)
                                .checksum(true))) {
            System.out.println("connected " + client.clientId() + " " + client.serverId());
            DartMetadata metadata = new DartMetadata().rank(rank);
            for (int i = 0; i < count; i++) {
                UnsafeBuffer data = DartWorld.bytes(LENGTH, 1000L * rank + i);
                DartTicket ticket =
                        client.sendCopy(
                                data, 0, LENGTH, metadata.name("r" + rank + "-" + i).step(i), i);
                System.out.println("sent " + ticket.sequence());
                TimeUnit.MILLISECONDS.sleep(2);
            }
        }
        System.out.println("closed");
    }
}
