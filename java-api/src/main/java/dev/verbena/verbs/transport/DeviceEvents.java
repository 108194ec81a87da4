package dev.verbena.verbs.transport;

import dev.verbena.verbs.AsyncEvent;
import dev.verbena.verbs.GidEntry;
import dev.verbena.verbs.QueuePair;
import dev.verbena.verbs.VerbsException;

/**
 * What the device tells without being asked ({@code ibv_get_async_event}): it is gone, its port is
 * down, its address is another one, a queue failed. Read about once a second, and each time ended
 * in what the contract has for it: lost peers, an entry for the error handler, a word in {@code
 * explain()}. Owned by the transport's thread.
 */
final class DeviceEvents {
    /** Events in one look; a device that tells without end must not keep the owner. */
    private static final int EVENTS_MAX = 64;

    private final VerbsResources resources;
    private final VerbsConnections connections;
    private String portProblem = "";
    private String addressProblem = "";

    /** Events that ask for nothing to be done, and the last of them. */
    private long otherCount;

    private String other = "";

    DeviceEvents(VerbsResources resources, VerbsConnections connections) {
        this.resources = resources;
        this.connections = connections;
    }

    private String device() {
        return "RDMA device " + resources.device.info().name();
    }

    /** What {@code explain()} adds. */
    String explain() {
        StringBuilder text = new StringBuilder();
        for (String problem : new String[] {resources.lost(), portProblem, addressProblem}) {
            text.append(problem.isEmpty() ? "" : "; ").append(problem);
        }
        if (otherCount > 0) {
            text.append("; other events of the device: ").append(otherCount);
            text.append(", the last was ").append(other);
        }
        return text.toString();
    }

    /** Takes what there is. */
    void read() {
        try {
            for (int i = 0; i < EVENTS_MAX && !resources.isLost(); i++) {
                AsyncEvent event = resources.device.awaitEvent(0);
                if (event == null) {
                    return;
                }
                take(event);
            }
        } catch (VerbsException e) {
            connections.lose(e.getMessage());
        }
    }

    private void take(AsyncEvent event) {
        switch (event.type()) {
            case AsyncEvent.DEVICE_FATAL -> connections.lose("it was removed or has failed");
            case AsyncEvent.COMPLETION_QUEUE_ERROR -> connections.lose("completions were lost");
            case AsyncEvent.SHARED_RECEIVE_QUEUE_ERROR ->
                    connections.lose("its receives have failed");
            case AsyncEvent.PORT_ERROR, AsyncEvent.PORT_ACTIVE -> port(event);
            case AsyncEvent.GID_CHANGE, AsyncEvent.LID_CHANGE -> address(event);
            case AsyncEvent.QUEUE_PAIR_FATAL,
                    AsyncEvent.QUEUE_PAIR_REQUEST_ERROR,
                    AsyncEvent.QUEUE_PAIR_ACCESS_ERROR ->
                    pair(event);
            // Every pair that is retired says so.
            case AsyncEvent.LAST_RECEIVE_REACHED,
                    AsyncEvent.COMMUNICATION_ESTABLISHED,
                    AsyncEvent.SEND_QUEUE_DRAINED -> {}
            default -> note(event);
        }
    }

    private void note(AsyncEvent event) {
        otherCount++;
        other = event.typeName();
    }

    private void port(AsyncEvent event) {
        if (event.port() != resources.port()) {
            return; // of a port that is not ours
        }
        if (event.type() == AsyncEvent.PORT_ACTIVE) {
            portProblem = "";
            return;
        }
        portProblem = "port " + resources.port() + " of " + device() + " is down";
        resources.report(
                ("%s: a cable was pulled, or the network interface was switched off. "
                                + "Peers that it leads to are lost if it stays so for their timeout")
                        .formatted(portProblem));
    }

    /** Peers know the address that the port had when this transport was opened. */
    private void address(AsyncEvent event) {
        if (event.port() != resources.port()) {
            return;
        }
        GidEntry now = resources.device.gid(resources.port(), resources.gid.index());
        boolean isSame = now != null && now.gid().equals(resources.gid.gid());
        boolean isSameLid = resources.hasItsLid();
        String before = addressProblem;
        addressProblem =
                isSame && isSameLid
                        ? ""
                        : "the address by which peers know port %s of %s, %s, is no longer its own"
                                .formatted(resources.port(), device(), resources.gid.gid());
        if (before.isEmpty() && !addressProblem.isEmpty()) {
            resources.report(addressProblem + ": give it back, or open another transport");
        }
    }

    /**
     * A pair that refuses a peer's request tells it here, too; the peer hears of it from the NIC,
     * and asks for another pair. What fails otherwise is the end of its connection.
     */
    private void pair(AsyncEvent event) {
        VerbsConnection connection =
                event.object() instanceof QueuePair pair ? connections.connectionOf(pair) : null;
        boolean isRefusal = event.type() != AsyncEvent.QUEUE_PAIR_FATAL;
        if (connection == null || isRefusal && connection.in == event.object()) {
            note(event);
            return;
        }
        connections.die(connection, "is cut off: the device says " + event.typeName(), false);
    }
}
