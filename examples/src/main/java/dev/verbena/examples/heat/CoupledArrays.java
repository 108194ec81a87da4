package dev.verbena.examples.heat;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import dev.verbena.agent.RealEnvironment;
import dev.verbena.nessie.nnti.NntiBuffer;
import dev.verbena.nessie.service.ArrayClient;
import dev.verbena.nessie.service.ArrayServer;
import dev.verbena.nessie.service.ArrayServerOptions;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.Transports;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Couples two programs of different decomposition through the array service: two processes compute
 * one half of a heated rod, three the other. Each step is a version of one array. A process puts
 * its piece and gets the cells beside it, no matter which process computed them. This process has
 * the servers; it gets each step whole and compares it with the rod computed at once, bit for bit.
 *
 * <p>Run: {@code ./verbena couple arrays [STEPS]}.
 */
public final class CoupledArrays {
    private static final int[] PARTS = {2, 3};

    private CoupledArrays() {}

    /** The number of steps; or, for a process of a program: JOB STEPS FIRST COUNT URLS. */
    public static void main(String[] arguments) throws Exception {
        if (arguments.length == 5) {
            RodProgram.compute(arguments);
        } else if (arguments.length > 1
                || arguments.length == 1 && !arguments[0].matches("[1-9][0-9]{0,3}")) {
            System.err.println("the number of steps (1 to 9999) is expected: couple arrays 100");
            System.exit(2);
        } else {
            int steps = arguments.length == 0 ? 100 : Integer.parseInt(arguments[0]);
            System.out.println(couple(steps));
        }
    }

    /** Everything; what was compared. */
    static String couple(int steps) throws Exception {
        String job = "arrays" + ProcessHandle.current().pid();
        Path directory = Files.createTempDirectory("coupled-arrays");
        List<Process> parts = new ArrayList<>();
        try (RealEnvironment environment = RealEnvironment.builder().job(job).build();
                ArrayServer first = serve(environment, job, directory, 0);
                ArrayServer second = serve(environment, job, directory, 1)) {
            List<String> urls = List.of(first.url(), second.url());
            for (int program = 0; program < PARTS.length; program++) {
                int count = RodProgram.CELLS / PARTS.length / PARTS[program];
                for (int part = 0; part < PARTS[program]; part++) {
                    int from = program * RodProgram.CELLS / PARTS.length + part * count;
                    parts.add(start(job, steps, from, count, String.join(",", urls)));
                }
            }
            compare(job, steps, urls);
            for (Process part : parts) {
                if (!part.waitFor(30, TimeUnit.SECONDS) || part.exitValue() != 0) {
                    throw new IllegalStateException("did not end in order: " + part.info());
                }
            }
        } finally {
            parts.forEach(Process::destroyForcibly);
            try (Stream<Path> files = Files.walk(directory)) {
                files.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(File::delete);
            }
        }
        return "%s steps of programs of %s and %s processes equal the whole rod bit for bit"
                .formatted(steps, PARTS[0], PARTS[1]);
    }

    private static ArrayServer serve(
            RealEnvironment environment, String job, Path directory, int place) {
        ArrayServerOptions options =
                ArrayServerOptions.DEFAULT.withPlace(place, 2).withVersionsKept(1);
        return ArrayServer.start(
                environment,
                Transports.open("shm", new TransportContext().job(job)),
                directory.resolve("server" + place).toString(),
                options);
    }

    private static Process start(String job, int steps, int from, int count, String urls)
            throws IOException {
        String java = System.getProperty("java.home") + File.separator + "bin/java";
        List<String> command = new ArrayList<>(List.of(java, "-Xmx128m", "-cp"));
        command.addAll(
                List.of(System.getProperty("java.class.path"), CoupledArrays.class.getName()));
        command.addAll(List.of(job, "" + steps, "" + from, "" + count, urls));
        return new ProcessBuilder(command).inheritIO().start();
    }

    private static void compare(String job, int steps, List<String> urls) {
        HeatRod whole = new HeatRod(0, RodProgram.CELLS);
        try (RealEnvironment environment = RealEnvironment.builder().job(job).build();
                ArrayClient client = RodProgram.connect(environment, job, urls)) {
            NntiBuffer cells = client.allocate(8 * RodProgram.CELLS);
            for (int step = 0; step <= steps; step++) {
                client.get("rod", step, RodProgram.rod(step).whole(), cells, RodProgram.LIMIT_MS);
                for (int i = 0; i < RodProgram.CELLS; i++) {
                    if (cells.window().getDouble(8 * i, LITTLE_ENDIAN) != whole.cell(i)) {
                        throw new IllegalStateException("step " + step + ", cell " + i);
                    }
                }
                // Whoever has put this step has what it needs of the step before, which goes.
                client.seal("rod", step);
                whole.advance(HeatRod.HOT, HeatRod.COLD);
            }
        }
    }
}
