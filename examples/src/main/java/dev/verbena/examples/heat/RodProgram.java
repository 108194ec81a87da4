package dev.verbena.examples.heat;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import dev.verbena.agent.RealEnvironment;
import dev.verbena.nessie.nnti.NntiBuffer;
import dev.verbena.nessie.service.ArrayClient;
import dev.verbena.nessie.service.ArrayDescription;
import dev.verbena.nessie.service.ArrayType;
import dev.verbena.staging.metadata.Box;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.Transports;
import java.util.List;

/** A process of a program: some cells of the rod. Knows the array, and nothing of its partners. */
final class RodProgram {
    static final int CELLS = 120;
    static final long LIMIT_MS = 60_000;

    private RodProgram() {}

    static ArrayDescription rod(long step) {
        return new ArrayDescription("rod", step, ArrayType.FLOAT64, Box.whole(CELLS));
    }

    static ArrayClient connect(RealEnvironment environment, String job, List<String> urls) {
        return ArrayClient.connect(
                Transports.open("shm", new TransportContext().job(job)),
                urls,
                LIMIT_MS,
                environment.errorHandler());
    }

    /** Runs with JOB STEPS FIRST COUNT URLS. */
    static void compute(String[] arguments) {
        int steps = Integer.parseInt(arguments[1]);
        int from = Integer.parseInt(arguments[2]);
        int count = Integer.parseInt(arguments[3]);
        HeatRod part = new HeatRod(from, count);
        try (RealEnvironment environment = RealEnvironment.builder().job(arguments[0]).build();
                ArrayClient client =
                        connect(environment, arguments[0], List.of(arguments[4].split(",")))) {
            NntiBuffer cells = client.allocate(8 * count);
            NntiBuffer beside = client.allocate(8);
            for (int step = 0; step <= steps; step++) {
                for (int i = 0; i < count; i++) {
                    cells.window().putDouble(8 * i, part.cell(i), LITTLE_ENDIAN);
                }
                client.put(rod(step), Box.of(new long[] {from}, new long[] {count}), cells);
                double left = from == 0 ? HeatRod.HOT : cell(client, step, from - 1, beside);
                double right =
                        from + count == CELLS
                                ? HeatRod.COLD
                                : cell(client, step, from + count, beside);
                part.advance(left, right);
            }
        }
    }

    private static double cell(ArrayClient client, int step, int at, NntiBuffer memory) {
        client.get("rod", step, Box.of(new long[] {at}, new long[] {1}), memory, LIMIT_MS);
        return memory.window().getDouble(0, LITTLE_ENDIAN);
    }
}
