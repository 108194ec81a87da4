package dev.verbena.cli.experiment;

import dev.verbena.nsim.Machine;
import dev.verbena.nsim.dart.DartReport;
import dev.verbena.nsim.dart.DartSimulation;
import java.util.Locale;

/**
 * How long sends wait, measured beside simulated: DART's own agents, as many processes, messages,
 * servers and buffers, in virtual time. The simulator is told nothing of the measurement; all that
 * it knows of the machine is the receiver's rate. Waiting times are in knees, so that only the
 * shape is compared.
 *
 * @param clients processes
 * @param multiple compute time over the knee
 * @param measured mean waiting time over the knee, of processes that ran
 * @param simulated the same in the simulator
 */
record KneePrediction(int clients, double multiple, double measured, double simulated) {
    /**
     * Simulates a point that was measured.
     *
     * @param measuredWaitNs mean of its steps without the warm-up
     */
    static KneePrediction of(ExperimentPoint point, double measuredWaitNs) {
        double knee = point.kneeNs();
        return new KneePrediction(
                point.load().clients(),
                point.load().computeNs() / knee,
                measuredWaitNs / knee,
                simulatedWaitNs(point) / knee);
    }

    /** A steady state does not change: of very long runs the beginning is enough. */
    private static final int MESSAGES_MAX = 200;

    private static final int BUFFERS_MIN = 2;

    private static double simulatedWaitNs(ExperimentPoint point) {
        int buffers = point.service().buffers();
        if (buffers == 0) {
            // As a server does that expects so many processes.
            int share =
                    (point.load().clients() + point.service().servers() - 1)
                            / point.service().servers();
            buffers = Math.max(3, (3 * share + 1) / 2);
        }
        int warmUp = point.load().warmUp();
        int messages = Math.min(point.load().steps(), warmUp + MESSAGES_MAX);
        DartReport report =
                new DartSimulation()
                        .nodes(point.load().clients())
                        .servers(point.service().servers())
                        .receivers(1)
                        .messages(messages)
                        .warmUp(warmUp)
                        .length((int) point.load().size())
                        .computeNs(point.load().computeNs())
                        .inFlight(point.load().inFlight())
                        .buffers(Math.max(BUFFERS_MIN, buffers), point.service().bufferSize())
                        .streamRate((long) point.service().rate())
                        .machine(new Machine().set("level=message"))
                        .run();
        return (double) report.blockedMeanNs() / (messages - warmUp);
    }

    /** Simulated minus measured, in knees. */
    double deviation() {
        return simulated - measured;
    }

    /** For the summary. */
    String name() {
        return String.format(Locale.ROOT, "N %d, C %.2f knees: tw in knees", clients, multiple);
    }

    /** For the summary: both, and how far they are apart. */
    String text() {
        return String.format(
                Locale.ROOT,
                "%.3f measured, %.3f simulated, deviation %+.3f",
                measured,
                simulated,
                deviation());
    }
}
