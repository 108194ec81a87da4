package dev.verbena.examples.heat;

import dev.verbena.agent.RealEnvironment;
import dev.verbena.dart.DartReceiver;
import dev.verbena.dart.DartServer;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Couples two simulations through one receiver: starts a master server, a slave server and two
 * processes of each simulation, as processes of their own; this process is the coupler.
 *
 * <p>Run: {@code ./verbena couple [shm|portals] [STEPS]}, or {@code java -cp
 * 'cli/target/dist/lib/*' dev.verbena.examples.heat.CoupledHeat}. It says what it compared and
 * exits with 0, or with 1 and the reason.
 */
public final class CoupledHeat {
    private static final long TIMEOUT_NS = 60_000_000_000L;

    /** Words that the coupler starts another process with. */
    private static final int STARTED = 6;

    private CoupledHeat() {}

    /** Runs the coupler, or, with a role as first argument, one of the other processes. */
    public static void main(String[] arguments) throws Exception {
        String first = arguments.length == 0 ? "shm" : arguments[0];
        boolean isStarted = arguments.length == STARTED;
        if (isStarted && first.equals("server")) {
            serve(arguments);
        } else if (isStarted && first.equals("part")) {
            compute(arguments);
        } else {
            String steps = arguments.length < 2 ? "100" : arguments[1];
            boolean isTooMany = arguments.length > 2;
            if (isTooMany
                    || !first.matches("shm|portals|gni")
                    || !steps.matches("[1-9][0-9]{0,5}")) {
                System.err.println(
                        ("'%s': the transport (shm, portals or gni) and the number of steps (1 "
                                        + "to 999999) are expected, for example: ./verbena couple shm 100")
                                .formatted(String.join(" ", arguments)));
                System.exit(2);
            }
            System.out.println(couple(first, Integer.parseInt(steps)));
        }
    }

    /** Everything; what was compared. */
    static String couple(String scheme, int steps) throws Exception {
        String job = "heat" + ProcessHandle.current().pid();
        Path directory = Files.createTempDirectory("coupled-heat");
        String configuration = directory.resolve("dart.conf").toString();
        List<Process> servers = new ArrayList<>();
        List<Process> parts = new ArrayList<>();
        // The environment first: it makes off-heap memory usable.
        try (RealEnvironment environment = RealEnvironment.builder().job(job).build();
                Coupler coupler = new Coupler(steps, environment)) {
            DartReceiver receiver = coupler.receiver();
            String port = Integer.toString(receiver.port());
            for (String role : List.of("master", "slave")) {
                servers.add(start("server", role, scheme, job, configuration, port));
            }
            for (int part = 0; part < HeatPart.SIMULATIONS * HeatPart.RANKS; part++) {
                String application = Integer.toString(part / HeatPart.RANKS);
                String rank = Integer.toString(part % HeatPart.RANKS);
                parts.add(start("part", scheme, job, configuration, application, rank));
            }
            String result = coupler.result().get(120, TimeUnit.SECONDS);
            end(parts);
            for (Process server : servers) {
                server.getOutputStream().close(); // Asks it to finish.
            }
            end(servers);
            return result;
        } finally {
            for (List<Process> all : List.of(parts, servers)) {
                all.forEach(Process::destroyForcibly);
            }
            for (File file : directory.toFile().listFiles()) {
                file.delete();
            }
            Files.delete(directory);
        }
    }

    private static Process start(String... arguments) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(System.getProperty("java.home") + File.separator + "bin/java");
        command.addAll(List.of("-Xmx128m", "-cp", System.getProperty("java.class.path")));
        command.add(CoupledHeat.class.getName());
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command)
                .redirectOutput(ProcessBuilder.Redirect.INHERIT)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }

    private static void end(List<Process> processes) throws InterruptedException {
        for (Process process : processes) {
            if (!process.waitFor(30, TimeUnit.SECONDS) || process.exitValue() != 0) {
                throw new IllegalStateException("did not end in order: " + process.info());
            }
        }
    }

    private static void serve(String[] arguments) throws IOException {
        try (RealEnvironment environment = RealEnvironment.builder().job(arguments[3]).build()) {
            DartServer.Context context =
                    new DartServer.Context()
                            .environment(environment)
                            .transport(arguments[2])
                            .transportJob(arguments[3])
                            .configurationFile(arguments[4])
                            .receiver("127.0.0.1", Integer.parseInt(arguments[5]))
                            .serverCount(2)
                            .bufferSize(64 * 1024)
                            .bufferCount(16);
            boolean isMaster = arguments[1].equals("master");
            try (DartServer server =
                    DartServer.launch(isMaster ? context.master() : context.slave())) {
                server.awaitReady(TIMEOUT_NS);
                while (System.in.read() >= 0) {
                    continue; // The end of the input ends this process; see close().
                }
            }
        }
    }

    private static void compute(String[] arguments) {
        try (RealEnvironment environment = RealEnvironment.builder().job(arguments[2]).build()) {
            HeatPart.run(
                    environment,
                    arguments[1],
                    arguments[2],
                    arguments[3],
                    Integer.parseInt(arguments[4]),
                    Integer.parseInt(arguments[5]));
        }
    }
}
