package dev.verbena.examples.heat;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import dev.verbena.agent.Environment;
import dev.verbena.dart.DartMessage;
import dev.verbena.dart.DartReceiver;
import dev.verbena.dart.DartSteering;
import dev.verbena.dart.DartStep;
import dev.verbena.dart.DartStepContext;
import dev.verbena.dart.DartStepHandler;
import java.util.concurrent.CompletableFuture;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Gets whole steps of both simulations; when both have come as far, every part gets its neighbours'
 * ends. Compares each field that comes with the whole rod, computed here at once.
 */
final class Coupler implements DartStepHandler, AutoCloseable {
    private static final int PARTS = HeatPart.SIMULATIONS * HeatPart.RANKS;
    private static final long TIMEOUT_NS = 60_000_000_000L;
    private static final int CELLS = PARTS * HeatPart.CELLS;

    private final int steps;
    private final double[][] whole;
    private final double[][] edges = new double[PARTS][2];
    private final long[] here = new long[HeatPart.SIMULATIONS];
    private final UnsafeBuffer out = new UnsafeBuffer(new byte[24]);
    private final CompletableFuture<String> result = new CompletableFuture<>();
    private final DartReceiver receiver;
    private int compared;

    Coupler(int steps, Environment environment) {
        this.steps = steps;
        java.util.Arrays.fill(here, -1);
        whole = new double[steps + 1][CELLS];
        HeatRod rod = new HeatRod(0, CELLS);
        for (int step = 0; step <= steps; step++) {
            for (int i = 0; i < CELLS; i++) {
                whole[step][i] = rod.cell(i);
            }
            rod.advance(HeatRod.HOT, HeatRod.COLD);
        }
        // Last: it may call the handler from now on.
        receiver =
                DartReceiver.launch(
                        new DartReceiver.Context()
                                .environment(environment)
                                .steps(
                                        new DartStepContext(this)
                                                .deadlineNs(TIMEOUT_NS)
                                                .onException(DartStepContext.OnException.STOP)));
    }

    /** Gets the steps and takes the answers. */
    DartReceiver receiver() {
        return receiver;
    }

    @Override
    public void close() {
        receiver.close();
    }

    /** What was compared; fails with the first exception of the handler. */
    CompletableFuture<String> result() {
        return result;
    }

    @Override
    public void onStep(DartStep step) {
        try {
            take(step);
            long behind = Math.min(here[0], here[1]);
            if (behind == step.step() && behind < steps) {
                steer(behind);
                exchange(behind);
            } else if (behind == steps) {
                result.complete(
                        ("%s steps of %s simulations; %s fields equal the whole "
                                        + "rod bit for bit")
                                .formatted(steps, HeatPart.SIMULATIONS, compared));
            }
        } catch (RuntimeException e) {
            result.completeExceptionally(e);
            throw e;
        }
    }

    private void take(DartStep step) {
        if (!step.isComplete()) {
            throw new IllegalStateException(step + " is not complete: " + step.missing());
        }
        here[step.applicationId()] = step.step();
        for (DartMessage message : step.messages()) {
            int part = step.applicationId() * HeatPart.RANKS + message.metadata().rank();
            if (message.metadata().variable().equals("edges")) {
                edges[part][0] = cell(message, 0);
                edges[part][1] = cell(message, 1);
            } else {
                compare(message, whole[(int) step.step()], part * HeatPart.CELLS);
            }
        }
    }

    private static double cell(DartMessage message, int i) {
        return message.buffer().getDouble(message.offset() + 8 * i, LITTLE_ENDIAN);
    }

    private void compare(DartMessage field, double[] expected, int first) {
        for (int i = 0; i < HeatPart.CELLS; i++) {
            long bits = Double.doubleToRawLongBits(cell(field, i));
            if (bits != Double.doubleToRawLongBits(expected[first + i])) {
                throw new IllegalStateException(
                        field.metadata() + ": cell " + (first + i) + " differs from the whole rod");
            }
        }
        compared++;
    }

    /** Output every 20 steps, from the middle on every 5; and an end. */
    private void steer(long step) {
        if (step == 0) {
            steer(new DartSteering(DartSteering.OUTPUT_EVERY).number(20).fromStep(1));
        } else if (step == steps / 2) {
            steer(new DartSteering(DartSteering.OUTPUT_EVERY).number(5).fromStep(steps / 2 + 1));
            steer(new DartSteering(DartSteering.STOP).fromStep(steps));
        }
    }

    private void steer(DartSteering command) {
        for (int application = 0; application < HeatPart.SIMULATIONS; application++) {
            check(receiver.steerAll(application, command));
        }
    }

    private void exchange(long step) {
        for (int part = 0; part < PARTS; part++) {
            double left = part == 0 ? HeatRod.HOT : edges[part - 1][1];
            double right = part == PARTS - 1 ? HeatRod.COLD : edges[part + 1][0];
            out.putLong(0, step, LITTLE_ENDIAN);
            out.putDouble(8, left, LITTLE_ENDIAN);
            out.putDouble(16, right, LITTLE_ENDIAN);
            int application = part / HeatPart.RANKS;
            int rank = part % HeatPart.RANKS;
            check(receiver.send(application, rank, HeatPart.BOUNDARY, out, 0, 24));
        }
    }

    private static void check(int answer) {
        if (answer != DartReceiver.ACCEPTED) {
            throw new IllegalStateException("cannot answer a part of the rod: " + answer);
        }
    }
}
