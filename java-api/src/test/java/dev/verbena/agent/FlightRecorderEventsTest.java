package dev.verbena.agent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.AllocationMeter;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class FlightRecorderEventsTest {
    private static final int CALLS = 100_000;
    private static final int ROUNDS = 20;

    @TempDir Path folder;

    private static void everyEvent(StagingEvents events, int i) {
        events.sent(i, 1000, 20, 30);
        events.pulled(i, i, 1000, 40);
        events.streamed(i, i, 1000, 50, 60);
        events.spilled(i, i, 1000);
        events.received(i, i, 1000);
        events.registered(i, 1);
        events.peerLost("somebody", "gone");
    }

    private static void manyEvents(StagingEvents events) {
        for (int i = 0; i < CALLS; i++) {
            everyEvent(events, i);
        }
    }

    private static long bestNs(StagingEvents events) {
        long best = Long.MAX_VALUE;
        for (int round = 0; round < ROUNDS; round++) {
            long begin = System.nanoTime();
            manyEvents(events);
            best = Math.min(best, System.nanoTime() - begin);
        }
        return best;
    }

    @Test
    void shouldCostNothingWhenNothingIsRecorded() {
        try (RealEnvironment environment = environment()) {
            StagingEvents events = environment.events();
            assertThat(events).isNotSameAs(StagingEvents.NONE);
            AllocationMeter.requireNone(() -> manyEvents(events));
            // Some ns each; the limit leaves room for a busy machine and an interpreter.
            double eachNs = bestNs(events) / (7.0 * CALLS);
            assertThat(eachNs).as("ns for an event that is off").isLessThan(100);
        }
    }

    @Test
    void shouldRecordWhatHappenedAndStopWhenTheRecordingStops() throws Exception {
        Path file = folder.resolve("events.jfr");
        try (RealEnvironment environment = environment();
                Recording recording = new Recording()) {
            // Events that nobody mentions are on.
            recording.disable("dev.verbena.Pulled");
            recording.start();
            everyEvent(environment.events(), 7);
            environment.errorHandler().onError(new IOException("disk on fire"));
            recording.stop();
            everyEvent(environment.events(), 8);
            recording.dump(file);
        }
        List<RecordedEvent> events =
                RecordingFile.readAllEvents(file).stream()
                        .filter(event -> event.getEventType().getName().startsWith("dev.verbena"))
                        .toList();
        assertThat(events)
                .extracting(event -> event.getEventType().getName())
                .containsExactlyInAnyOrder(
                        "dev.verbena.Sent",
                        "dev.verbena.Streamed",
                        "dev.verbena.Spilled",
                        "dev.verbena.Received",
                        "dev.verbena.Registered",
                        "dev.verbena.PeerLost",
                        "dev.verbena.Error");
        for (RecordedEvent event : events) {
            switch (event.getEventType().getName()) {
                case "dev.verbena.Sent" -> {
                    assertThat(event.getInt("client")).isEqualTo(7);
                    assertThat(event.getLong("length")).isEqualTo(1000);
                    assertThat(event.getDuration("waited")).isEqualTo(Duration.ofNanos(20));
                    assertThat(event.getDuration("call")).isEqualTo(Duration.ofNanos(30));
                }
                case "dev.verbena.PeerLost" ->
                        assertThat(event.getString("reason")).isEqualTo("gone");
                case "dev.verbena.Error" ->
                        assertThat(event.getString("text")).isEqualTo("disk on fire");
                default -> assertThat(event.getInt("client")).isEqualTo(7);
            }
        }
    }

    private RealEnvironment environment() {
        return RealEnvironment.builder().shmDirectory(folder).errorHandler(e -> {}).build();
    }
}
