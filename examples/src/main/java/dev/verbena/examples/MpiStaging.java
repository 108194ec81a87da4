package dev.verbena.examples;

import dev.verbena.agent.JobGroup;
import dev.verbena.agent.RealEnvironment;
import dev.verbena.dart.AckMode;
import dev.verbena.dart.DartClient;
import dev.verbena.dart.DartMetadata;
import dev.verbena.dart.DartReceiver;
import dev.verbena.dart.DartServer;
import dev.verbena.memory.RegisteredRegion;
import java.net.URI;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/**
 * A staging job whose processes a launcher starts: {@code mpirun}, or {@code srun} of Slurm. What a
 * process does is its application name: receiver, master, slave; all others compute and send.
 *
 * <p>Run, with {@code VERBENA_RENDEZVOUS} naming a folder that all processes see:
 *
 * <pre>
 * J="java -cp cli/target/dist/lib/*"; M="dev.verbena.examples.MpiStaging OUTPUT"
 * mpirun --oversubscribe -n 1 $J -Dverbena.app=receiver $M : -n 1 $J -Dverbena.app=master $M \
 *     : -n 1 $J -Dverbena.app=slave $M : -n 4 $J -Dverbena.app=sim $M
 * </pre>
 */
public final class MpiStaging {
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(60);
    private static final int STEPS = 5;
    private static final int LENGTH = 1 << 20;

    private MpiStaging() {}

    /** The argument is a folder for the configuration file and for what arrives. */
    public static void main(String[] arguments) throws Exception {
        Path folder = Path.of(arguments[0]).toAbsolutePath();
        String role = System.getProperty("verbena.app", "sim");
        try (RealEnvironment environment = RealEnvironment.builder().application(role).build()) {
            switch (role) {
                case "receiver" -> receive(environment, folder);
                case "master", "slave" -> serve(environment, role, folder);
                default -> compute(environment, folder);
            }
        }
    }

    private static void receive(RealEnvironment environment, Path folder) {
        try (DartReceiver receiver =
                        DartReceiver.launch(
                                new DartReceiver.Context()
                                        .environment(environment)
                                        .listen("127.0.0.1", 0)
                                        .directory(folder.toString())
                                        .ack(AckMode.DURABLE));
                JobGroup job =
                        JobGroup.discover("tcp://127.0.0.1:" + receiver.port(), TIMEOUT_NS)) {
            job.barrier(2 * TIMEOUT_NS); // all have sent
            if (!receiver.awaitFinished(1 + slaveCount(job), 2 * TIMEOUT_NS)) {
                throw new IllegalStateException("the servers have not finished");
            }
            System.out.println("receiver: " + receiver.statistics().messageCount() + " messages");
            job.barrier(2 * TIMEOUT_NS);
        }
    }

    @SuppressWarnings("try") // closed before the others are waited for
    private static void serve(RealEnvironment environment, String role, Path folder) {
        try (JobGroup job = JobGroup.discover("", TIMEOUT_NS)) {
            URI receiver = URI.create(job.application("receiver").get(0).uri());
            DartServer.Context context =
                    new DartServer.Context()
                            .environment(environment)
                            .configurationFile(folder.resolve("dart.conf").toString())
                            .clientCount(job.application("sim").size())
                            .receiver(receiver.getHost(), receiver.getPort());
            if (role.equals("master")) {
                context.master().serverCount(1 + slaveCount(job));
            } else {
                context.slave();
            }
            try (DartServer server = DartServer.launch(context)) {
                server.awaitReady(TIMEOUT_NS);
                job.barrier(2 * TIMEOUT_NS); // all have sent
                server.close();
                System.out.println(
                        role + ": " + server.statistics().transferredCount() + " messages");
            }
            job.barrier(2 * TIMEOUT_NS);
        }
    }

    private static int slaveCount(JobGroup job) {
        return job.applications().contains("slave") ? job.application("slave").size() : 0;
    }

    private static void compute(RealEnvironment environment, Path folder) {
        try (JobGroup job = JobGroup.discover("", TIMEOUT_NS)) {
            try (DartClient client =
                    DartClient.connect(
                            new DartClient.Context()
                                    .environment(environment)
                                    .configurationFile(folder.resolve("dart.conf").toString())
                                    .rank(job.rank()))) {
                RegisteredRegion region = client.allocate(LENGTH);
                DartMetadata metadata = new DartMetadata();
                for (int step = 1; step <= STEPS; step++) {
                    // Here a simulation computes; it fills the region when the last send has left.
                    while (client.wouldBlock()) {
                        Thread.onSpinWait();
                    }
                    region.buffer(0, LENGTH).setMemory(0, LENGTH, (byte) (16 * job.rank() + step));
                    metadata.name("field-" + job.rank() + "-" + step).rank(job.rank()).step(step);
                    client.send(region, 0, LENGTH, metadata, step);
                }
                client.flush(TIMEOUT_NS);
            }
            System.out.println("sim " + job.rank() + " of " + job.size() + ": sent " + STEPS);
            job.barrier(2 * TIMEOUT_NS); // all have sent
            job.barrier(2 * TIMEOUT_NS);
        }
    }
}
