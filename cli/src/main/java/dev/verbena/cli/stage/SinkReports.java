package dev.verbena.cli.stage;

import dev.verbena.staging.sink.SinkWatch;
import java.io.IOException;
import org.agrona.ErrorHandler;

/** Says how a staging server's sink is: a line for people, an event for programs. Thread-safe. */
final class SinkReports implements SinkWatch {
    private final String sink;
    private final ErrorHandler reports;
    private final StepEvents events;

    /**
     * Of this sink.
     *
     * @param uri as it was given
     */
    SinkReports(String uri, ErrorHandler reports, StepEvents events) {
        this.sink = "sink " + uri;
        this.reports = reports;
        this.events = events;
    }

    private void report(String event, String text) {
        reports.onError(new IOException(sink + text));
        events.sink(event);
    }

    @Override
    public void away(String why) {
        report("sink away", " is away (" + why + "): datasets wait, it is tried again");
    }

    @Override
    public void back() {
        report("sink back", " is back");
    }

    @Override
    public void wedged() {
        String what =
                " has taken nothing of an upload for a minute; if it does not go on: start it again";
        report("sink wedged", what);
    }

    @Override
    public void restarted() {
        report("sink restarted", " was started again: make its arrays again (create_tar)");
    }
}
