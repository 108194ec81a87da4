package dev.verbena.agent;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.EventType;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;

/**
 * Events of JDK Flight Recorder. Each call looks first whether the recorder is up and the event is
 * recorded, reads of two fields, and makes the event object only then. Loaded only where the module
 * {@code jdk.jfr} is there.
 */
final class FlightRecorderEvents implements StagingEvents {
    FlightRecorderEvents() {}

    /** Asked for only while a recording runs: the first question sets the recorder up. */
    private static final class Types {
        static final EventType SENT = EventType.getEventType(Sent.class);
        static final EventType PULLED = EventType.getEventType(Pulled.class);
        static final EventType STREAMED = EventType.getEventType(Streamed.class);
        static final EventType SPILLED = EventType.getEventType(Spilled.class);
        static final EventType RECEIVED = EventType.getEventType(Received.class);
        static final EventType REGISTERED = EventType.getEventType(Registered.class);
        static final EventType PEER_LOST = EventType.getEventType(PeerLost.class);
        static final EventType ERROR = EventType.getEventType(Reported.class);

        private Types() {}
    }

    private static boolean isRecorderUp() {
        return FlightRecorder.isInitialized();
    }

    @Override
    public void sent(int client, long length, long waitNs, long callNs) {
        if (isRecorderUp() && Types.SENT.isEnabled()) {
            Sent event = new Sent();
            event.client = client;
            event.length = length;
            event.waited = waitNs;
            event.call = callNs;
            event.commit();
        }
    }

    @Override
    public void pulled(int client, long sequence, long length, long pullNs) {
        if (isRecorderUp() && Types.PULLED.isEnabled()) {
            Pulled event = new Pulled();
            event.pull = pullNs;
            event.commit(client, sequence, length);
        }
    }

    @Override
    public void streamed(int client, long sequence, long length, long queueNs, long streamNs) {
        if (isRecorderUp() && Types.STREAMED.isEnabled()) {
            Streamed event = new Streamed();
            event.queued = queueNs;
            event.stream = streamNs;
            event.commit(client, sequence, length);
        }
    }

    @Override
    public void spilled(int client, long sequence, long length) {
        if (isRecorderUp() && Types.SPILLED.isEnabled()) {
            new Spilled().commit(client, sequence, length);
        }
    }

    @Override
    public void received(int client, long sequence, long length) {
        if (isRecorderUp() && Types.RECEIVED.isEnabled()) {
            new Received().commit(client, sequence, length);
        }
    }

    @Override
    public void registered(int client, int server) {
        if (isRecorderUp() && Types.REGISTERED.isEnabled()) {
            Registered event = new Registered();
            event.client = client;
            event.server = server;
            event.commit();
        }
    }

    @Override
    public void peerLost(String who, String reason) {
        if (isRecorderUp() && Types.PEER_LOST.isEnabled()) {
            PeerLost event = new PeerLost();
            event.who = who;
            event.reason = reason;
            event.commit();
        }
    }

    @Override
    public void error(Throwable error) {
        if (isRecorderUp() && Types.ERROR.isEnabled()) {
            Reported event = new Reported();
            event.type = error.getClass().getName();
            event.text = error.getMessage();
            event.commit();
        }
    }

    /** What is recorded of a part of a message, or of a whole one. */
    @Category({"Verbena", "Staging"})
    @StackTrace(false)
    private abstract static class PartEvent extends Event {
        @Label("Client")
        int client;

        @Label("Sequence")
        long sequence;

        @Label("Length")
        @DataAmount
        long length;

        final void commit(int ofClient, long withSequence, long ofLength) {
            client = ofClient;
            sequence = withSequence;
            length = ofLength;
            commit();
        }
    }

    @Name("dev.verbena.Sent")
    @Label("Message Sent")
    @Description("A client has handed over a message")
    @Category({"Verbena", "Staging"})
    @StackTrace(false)
    private static final class Sent extends Event {
        @Label("Client")
        int client;

        @Label("Length")
        @DataAmount
        long length;

        @Label("Waited for an Earlier Message")
        @Timespan
        long waited;

        @Label("Time in the Call")
        @Timespan
        long call;
    }

    @Name("dev.verbena.Pulled")
    @Label("Part Pulled")
    @Description("A server has read a part of a message out of a client's memory")
    private static final class Pulled extends PartEvent {
        @Label("Time of the Pull")
        @Timespan
        long pull;
    }

    @Name("dev.verbena.Streamed")
    @Label("Part Streamed")
    @Description("The receiver has acknowledged a part; its buffer is free")
    private static final class Streamed extends PartEvent {
        @Label("Time Queued")
        @Timespan
        long queued;

        @Label("Time of Streaming")
        @Timespan
        long stream;
    }

    @Name("dev.verbena.Spilled")
    @Label("Part Spilled")
    @Description("A server has put a part onto its own disk because the receiver does not take it")
    private static final class Spilled extends PartEvent {}

    @Name("dev.verbena.Received")
    @Label("Message Received")
    @Description("A receiver has a whole message, on its disk if it has a folder")
    private static final class Received extends PartEvent {}

    @Name("dev.verbena.Registered")
    @Label("Client Registered")
    @Description("A client has found its server")
    @Category({"Verbena", "Staging"})
    @StackTrace(false)
    private static final class Registered extends Event {
        @Label("Client")
        int client;

        @Label("Server")
        int server;
    }

    @Name("dev.verbena.PeerLost")
    @Label("Peer Lost")
    @Description("A peer died, froze or went")
    @Category({"Verbena", "Staging"})
    @StackTrace(false)
    private static final class PeerLost extends Event {
        @Label("Who")
        String who;

        @Label("Reason")
        String reason;
    }

    @Name("dev.verbena.Error")
    @Label("Error Reported")
    @Description("Something went to the environment's error handler")
    @Category("Verbena")
    private static final class Reported extends Event {
        @Label("Type")
        String type;

        @Label("Text")
        String text;
    }
}
