package dev.verbena.examples.rpc;

import dev.verbena.agent.Environment;
import dev.verbena.agent.RealEnvironment;
import dev.verbena.examples.rpc.wire.Series;
import dev.verbena.examples.rpc.wire.SeriesConstants;
import dev.verbena.examples.rpc.wire.Summary;
import dev.verbena.nessie.NessieClient;
import dev.verbena.nessie.NessieServer;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.Transports;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Has a series summarized by the {@link SummaryService}, here in the same process.
 *
 * <p>Run: {@code java -cp 'cli/target/dist/lib/*' dev.verbena.examples.rpc.SummaryClient [SCHEME]}
 */
public final class SummaryClient {
    private static final int COUNT = 1_000_000;
    private static final long TIMEOUT_MS = 10_000;

    private SummaryClient() {}

    /** Runs it; the argument is the scheme of the transport. */
    public static void main(String[] arguments) {
        String scheme = arguments.length == 0 ? "shm" : arguments[0];
        String job = "summary" + ProcessHandle.current().pid();
        try (RealEnvironment environment = RealEnvironment.builder().job(job).build()) {
            System.out.println(run(environment, scheme, job));
        }
    }

    /** What the server says of the numbers from 0 on. */
    static Summary run(Environment environment, String scheme, String job) {
        ByteBuffer numbers =
                ByteBuffer.allocateDirect(COUNT * Double.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < COUNT; i++) {
            numbers.putDouble(i * Double.BYTES, i);
        }
        TransportContext context = new TransportContext().job(job);
        try (NessieServer server =
                        SummaryService.start(environment, Transports.open(scheme, context));
                NessieClient client =
                        NessieClient.connect(
                                environment,
                                Transports.open(scheme, context),
                                server.url(),
                                TIMEOUT_MS)) {
            Series series = new Series();
            series.name().text("numbers");
            return client.call(SeriesConstants.SUMMARIZE, series, new Summary(), numbers).join();
        }
    }
}
