package dev.verbena.examples.heat;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import dev.verbena.agent.Environment;
import dev.verbena.dart.DartClient;
import dev.verbena.dart.DartMetadata;
import dev.verbena.dart.DartReverseHandler;
import dev.verbena.dart.DartSteering;
import dev.verbena.dart.ElementType;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * A compute process: one part of one half of the rod. In each step it hands over its two end cells,
 * and its whole field when output is wanted, then waits for its neighbours' ends. It ends when it
 * is told to.
 */
final class HeatPart implements DartReverseHandler {
    static final int SIMULATIONS = 2;
    static final int RANKS = 2;
    static final int CELLS = 32;

    /** Type of a message with boundary values: step, left, right; 8 bytes each. */
    static final int BOUNDARY = 1;

    private static final long TIMEOUT_NS = 60_000_000_000L;

    private final HeatRod rod;
    private long boundaryStep = -1;
    private double left;
    private double right;
    private long stopAt = Long.MAX_VALUE;
    private long outputEvery;
    private long outputEveryFrom;
    private long outputEveryNext;

    private HeatPart(int application, int rank) {
        rod = new HeatRod((application * RANKS + rank) * CELLS, CELLS);
    }

    /** Runs until told to stop; the number of the last step. */
    static long run(
            Environment environment,
            String scheme,
            String job,
            String configuration,
            int application,
            int rank) {
        try (DartClient client =
                DartClient.connect(
                        new DartClient.Context()
                                .environment(environment)
                                .transport(scheme)
                                .transportJob(job)
                                .configurationFile(configuration)
                                .applicationId(application)
                                .rank(rank)
                                .rankCount(RANKS)
                                .inbox(4))) {
            return new HeatPart(application, rank).simulate(client);
        }
    }

    private long simulate(DartClient client) {
        UnsafeBuffer field = new UnsafeBuffer(new byte[8 * CELLS]);
        UnsafeBuffer edges = new UnsafeBuffer(new byte[16]);
        DartMetadata metadata = new DartMetadata().elementType(ElementType.FLOAT64);
        for (long step = 0; ; step++) {
            if (step == stopAt || isOutputWanted(step)) {
                for (int i = 0; i < CELLS; i++) {
                    field.putDouble(8 * i, rod.cell(i), LITTLE_ENDIAN);
                }
                metadata.variable("field").shape(CELLS).step(step).endOfStep(false);
                client.sendCopy(field, 0, field.capacity(), metadata, 0);
            }
            edges.putDouble(0, rod.cell(0), LITTLE_ENDIAN);
            edges.putDouble(8, rod.cell(CELLS - 1), LITTLE_ENDIAN);
            metadata.variable("edges").shape(2).step(step).endOfStep(true);
            client.sendCopy(edges, 0, edges.capacity(), metadata, 0);
            if (step == stopAt) {
                return step;
            }
            while (boundaryStep < step) {
                if (client.receive(this, 8, TIMEOUT_NS) == 0) {
                    throw new IllegalStateException("no boundary values of step " + step);
                }
            }
            rod.advance(left, right);
        }
    }

    private boolean isOutputWanted(long step) {
        if (outputEveryNext > 0 && step >= outputEveryFrom) {
            outputEvery = outputEveryNext;
            outputEveryNext = 0;
        }
        return outputEvery > 0 && step % outputEvery == 0;
    }

    @Override
    public void onMessage(int type, DirectBuffer buffer, int offset, int length) {
        if (type == BOUNDARY) {
            boundaryStep = buffer.getLong(offset, LITTLE_ENDIAN);
            left = buffer.getDouble(offset + 8, LITTLE_ENDIAN);
            right = buffer.getDouble(offset + 16, LITTLE_ENDIAN);
        }
    }

    @Override
    public void onSteering(DartSteering command) {
        if (command.code() == DartSteering.STOP) {
            stopAt = command.fromStep();
        } else if (command.code() == DartSteering.OUTPUT_EVERY) {
            outputEveryNext = command.number();
            outputEveryFrom = command.fromStep();
        }
    }
}
