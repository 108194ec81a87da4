package dev.verbena.examples.cluster;

import dev.verbena.agent.JobGroup;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.BitSet;
import java.util.concurrent.TimeUnit;

/**
 * A service beside an MPI program in one job. The MPI program knows of no other program: it runs
 * with {@code libverbena-commsplit}, this one under {@code verbena mpi-hold}.
 *
 * <p>The application {@code store} publishes its address in a file, takes a report from each rank
 * of the MPI program and answers it. Every other application only waits for the end. The {@link
 * JobGroup} has the held processes and no others.
 *
 * <p>Run, with {@code VERBENA_RENDEZVOUS} naming a folder or a rendezvous server:
 *
 * <pre>
 * mpirun -n 4 env LD_PRELOAD=$(./verbena commsplit openmpi) ./simulation 4 ADDRESS_FILE \
 *     : -n 1 ./verbena mpi-hold -- java -cp "cli/target/dist/lib/*" -Dverbena.app=store \
 *           dev.verbena.examples.cluster.HeldService ADDRESS_FILE 4
 * </pre>
 */
public final class HeldService {
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(120);
    private static final int LINE_MAX = 64;

    private HeldService() {}

    /** The arguments are the file for the address, and how many ranks report. */
    public static void main(String[] arguments) throws IOException {
        Path file = Path.of(arguments[0]);
        int ranks = Integer.parseInt(arguments[1]);
        try (JobGroup job = JobGroup.discover("", TIMEOUT_NS)) {
            if (job.identity().application().equals("store")) {
                serve(file, ranks);
            }
            job.barrier(TIMEOUT_NS);
            System.out.println(
                    "%s: rank %s of %s held processes"
                            .formatted(
                                    job.identity().application(),
                                    job.identity().rank(),
                                    job.identity().size()));
        }
    }

    private static void serve(Path file, int ranks) throws IOException {
        InetAddress host = InetAddress.getLocalHost();
        try (ServerSocket socket = new ServerSocket(0, ranks, host)) {
            socket.setSoTimeout((int) TimeUnit.NANOSECONDS.toMillis(TIMEOUT_NS));
            publish(file, host.getHostAddress() + " " + socket.getLocalPort() + "\n");
            BitSet reported = new BitSet();
            while (reported.cardinality() < ranks) {
                try (Socket connection = socket.accept()) {
                    connection.setSoTimeout(socket.getSoTimeout());
                    reported.set(rankOf(connection));
                    connection.getOutputStream().write("ok\n".getBytes(StandardCharsets.US_ASCII));
                }
            }
            System.out.println("store: " + reported.cardinality() + " ranks reported");
        }
    }

    /** Who reads finds no file or a complete one. */
    private static void publish(Path file, String text) throws IOException {
        Path next = file.resolveSibling(file.getFileName() + ".next");
        Files.writeString(next, text);
        Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
    }

    private static int rankOf(Socket connection) throws IOException {
        BufferedReader reader =
                new BufferedReader(
                        new InputStreamReader(
                                connection.getInputStream(), StandardCharsets.US_ASCII),
                        LINE_MAX);
        String text = reader.readLine();
        if (text == null) {
            throw new IOException("a rank ended before its report");
        }
        return Integer.parseInt(text.split(" ", 2)[0]);
    }
}
