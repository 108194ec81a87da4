package dev.verbena.examples.cluster;

import dev.verbena.agent.JobGroup;
import dev.verbena.agent.RealEnvironment;
import dev.verbena.dart.AckMode;
import dev.verbena.dart.DartClient;
import dev.verbena.dart.DartMetadata;
import dev.verbena.dart.DartReceiver;
import dev.verbena.dart.DartServer;
import dev.verbena.memory.RegisteredRegion;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/**
 * A staging job whose processes a launcher starts on one host or several: {@code mpirun}, {@code
 * mpiexec}, or {@code srun} of Slurm. What a process does is its application name: receiver,
 * master, slave; all others compute and send. Each host with compute processes has one master,
 * which they reach through the software NIC; all masters stream to the receiver.
 *
 * <p>A compute process writes the name of each confirmed field into the file {@code
 * confirmed-RANK}. Started again, it goes on behind the last one.
 *
 * <p>Run, with {@code VERBENA_RENDEZVOUS} naming a folder that all processes see:
 *
 * <pre>
 * J="java -cp cli/target/dist/lib/*"; M="dev.verbena.examples.cluster.MpiStaging OUTPUT [STEPS [STEP_MS]]"
 * mpirun --oversubscribe -n 1 $J -Dverbena.app=receiver $M : -n 1 $J -Dverbena.app=master $M \
 *     : -n 1 $J -Dverbena.app=slave $M : -n 4 $J -Dverbena.app=sim $M
 * </pre>
 */
public final class MpiStaging {
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(60);
    private static final int LENGTH = 1 << 20;

    private final RealEnvironment environment;
    private final Path folder;
    private final int steps;
    private final long stepMs;
    private final InetAddress host = host();

    private MpiStaging(RealEnvironment environment, Path folder, int steps, long stepMs) {
        this.environment = environment;
        this.folder = folder;
        this.steps = steps;
        this.stepMs = stepMs;
    }

    /**
     * The arguments are a folder that all processes see, for configuration files and for what
     * arrives, the number of steps (5), and the milliseconds that a step computes (0).
     */
    public static void main(String[] arguments) throws Exception {
        Path folder = Path.of(arguments[0]).toAbsolutePath();
        int steps = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 5;
        long stepMs = arguments.length > 2 ? Long.parseLong(arguments[2]) : 0;
        String role = System.getProperty("verbena.app", "sim");
        try (RealEnvironment environment = RealEnvironment.builder().application(role).build()) {
            MpiStaging staging = new MpiStaging(environment, folder, steps, stepMs);
            switch (role) {
                case "receiver" -> staging.receive();
                case "master", "slave" -> staging.serve(role);
                default -> staging.compute();
            }
        }
    }

    /** A host's name in the network; a machine without one is alone. */
    private static InetAddress host() {
        try {
            return InetAddress.getLocalHost();
        } catch (UnknownHostException e) {
            return InetAddress.getLoopbackAddress();
        }
    }

    private String configurationFile() {
        return folder.resolve("dart-" + host.getHostName() + ".conf").toString();
    }

    private void receive() {
        try (DartReceiver receiver =
                        DartReceiver.launch(
                                new DartReceiver.Context()
                                        .environment(environment)
                                        .listen(host.getHostAddress(), 0)
                                        .directory(folder.toString())
                                        .ack(AckMode.DURABLE));
                JobGroup job =
                        JobGroup.discover(
                                "tcp://" + host.getHostAddress() + ":" + receiver.port(),
                                TIMEOUT_NS)) {
            job.barrier(10 * TIMEOUT_NS); // all have sent
            int servers = count(job, "master") + count(job, "slave");
            if (!receiver.awaitFinished(servers, 2 * TIMEOUT_NS)) {
                throw new IllegalStateException("the servers have not finished");
            }
            System.out.println("receiver: " + receiver.statistics().messageCount() + " messages");
            job.barrier(2 * TIMEOUT_NS);
        }
    }

    @SuppressWarnings("try") // closed before the others are waited for
    private void serve(String role) {
        try (JobGroup job = JobGroup.discover(host.getHostName(), TIMEOUT_NS)) {
            URI receiver = URI.create(job.application("receiver").get(0).uri());
            DartServer.Context context =
                    new DartServer.Context()
                            .environment(environment)
                            .configurationFile(configurationFile())
                            .clientCount(countHere(job, "sim"))
                            .receiver(receiver.getHost(), receiver.getPort());
            if (role.equals("master")) {
                context.master().serverCount(1 + countHere(job, "slave"));
            } else {
                context.slave();
            }
            try (DartServer server = DartServer.launch(context)) {
                server.awaitReady(TIMEOUT_NS);
                job.barrier(10 * TIMEOUT_NS); // all have sent
                server.close();
                System.out.println(
                        role + ": " + server.statistics().transferredCount() + " messages");
            }
            job.barrier(2 * TIMEOUT_NS);
        }
    }

    private static int count(JobGroup job, String application) {
        return job.applications().contains(application) ? job.application(application).size() : 0;
    }

    /** Processes of an application on this host; they gave its name as their address. */
    private int countHere(JobGroup job, String application) {
        if (count(job, application) == 0) {
            return 0;
        }
        return (int)
                job.application(application).stream()
                        .filter(member -> member.uri().equals(host.getHostName()))
                        .count();
    }

    private void compute() throws InterruptedException {
        try (JobGroup job = JobGroup.discover(host.getHostName(), TIMEOUT_NS)) {
            ConfirmedFields confirmed =
                    new ConfirmedFields(folder.resolve("confirmed-" + job.rank()));
            try (DartClient client =
                    DartClient.connect(
                            new DartClient.Context()
                                    .environment(environment)
                                    .configurationFile(configurationFile())
                                    .bootTimeoutNs(TIMEOUT_NS)
                                    .rank(job.rank()))) {
                RegisteredRegion region = client.allocate(LENGTH);
                DartMetadata metadata = new DartMetadata();
                for (int step = confirmed.count() + 1; step <= steps; step++) {
                    TimeUnit.MILLISECONDS.sleep(stepMs); // here a simulation computes
                    // It fills the region when the last send has left.
                    while (client.wouldBlock()) {
                        Thread.onSpinWait();
                    }
                    region.buffer(0, LENGTH).setMemory(0, LENGTH, (byte) (16 * job.rank() + step));
                    String name = "field-" + job.rank() + "-" + step;
                    metadata.name(name).rank(job.rank()).step(step);
                    client.send(region, 0, LENGTH, metadata, step)
                            .onFinal(ticket -> confirmed.add(name, ticket.state()));
                }
                client.flush(2 * TIMEOUT_NS);
            }
            System.out.println("sim " + job.rank() + " of " + job.size() + ": sent " + steps);
            job.barrier(10 * TIMEOUT_NS); // all have sent
            job.barrier(2 * TIMEOUT_NS);
        }
    }
}
