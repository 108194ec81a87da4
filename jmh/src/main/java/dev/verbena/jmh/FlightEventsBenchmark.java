package dev.verbena.jmh;

import dev.verbena.agent.RealEnvironment;
import dev.verbena.agent.StagingEvents;
import jdk.jfr.Recording;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.TearDown;

/**
 * What an event of the flight recorder costs the one who tells it. Run with {@code -prof gc}:
 * without a recording the normalised allocation rate must stay below 0.1 B/op.
 */
@Fork(1)
public class FlightEventsBenchmark extends OperationBenchmark {
    /** Nobody listens; the recorder was never asked for; it runs without, or with, this event. */
    @Param({"none", "off", "disabled", "recorded"})
    public String recording;

    private RealEnvironment environment;
    private Recording running;
    private StagingEvents events;
    private int client;

    /** Starts a recording, if one is wanted. */
    @Setup(Level.Trial)
    public void open() {
        environment = RealEnvironment.create();
        events = recording.equals("none") ? StagingEvents.NONE : environment.events();
        if (recording.equals("disabled") || recording.equals("recorded")) {
            running = new Recording();
            running.setMaxSize(16L << 20);
            if (recording.equals("recorded")) {
                running.enable("dev.verbena.Sent");
            } else {
                running.disable("dev.verbena.Sent");
            }
            running.start();
        }
    }

    /** Ends the recording. */
    @TearDown(Level.Trial)
    public void close() {
        if (running != null) {
            running.close();
        }
        environment.close();
    }

    /** A message was sent. */
    @Benchmark
    public void sent() {
        events.sent(client++, 1 << 20, 20, 800);
    }
}
