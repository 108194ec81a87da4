package dev.verbena.portals.transport;

import dev.verbena.portals.EventQueue;
import dev.verbena.portals.PortalsEventFlyweight;
import dev.verbena.portals.PortalsEventKind;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportHandler;
import dev.verbena.transport.core.EventRing;
import dev.verbena.transport.core.RecordInbox;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * The duty cycle of {@code poll}: completions and what happened to connections, messages,
 * notifications; now and then the clock. Allocates nothing unless events were lost. One thread.
 */
final class Inbox extends RecordInbox<Connections, MessageSlots> {
    private static final int SPARE_SLOTS = 64;

    private final PortalsResources resources;
    private final ControlInbox records;
    private final Registrations registrations;
    private final TransportContext context;
    private final PortalsEventFlyweight message = new PortalsEventFlyweight();
    private final PortalsEventFlyweight notification = new PortalsEventFlyweight();
    private final Deque<Found> found = new ArrayDeque<>();
    private final ReceiveQueue.Consumer onMessage = this::onMessage;
    private final ReceiveQueue.Consumer onFound =
            (buffer, at, connection, length, none) ->
                    found.add(new Found(buffer, at, connection, length));
    private TransportHandler handler;
    private int delivered;

    // Taken from their queues; they wait until their connection was told of.
    private boolean isMessageHeld;
    private boolean isNotificationHeld;

    /** A message whose event was lost. */
    private record Found(ReceiveBuffer buffer, int at, int connection, int length) {}

    Inbox(
            PortalsResources resources,
            EventRing ring,
            Connections connections,
            Registrations registrations,
            TransportContext context) {
        super(
                ring,
                connections,
                new MessageSlots(context.receiveSlotCount() + SPARE_SLOTS, resources.messages));
        this.resources = resources;
        this.records = connections.records();
        this.registrations = registrations;
        this.context = context;
    }

    @Override
    protected void takeEvents() {
        records.take();
    }

    @Override
    protected int serve(TransportHandler handler, int limit) {
        int count = messages(handler, limit);
        boolean isConnectionUntold = hasUndelivered() && !ring.isEmpty();
        return isConnectionUntold ? count : count + notifications(handler, limit - count);
    }

    @Override
    protected boolean hasArrived() {
        return resources.hasEvents() || hasUndelivered();
    }

    @Override
    protected void settleEnds() {
        if (!hasUndelivered()) {
            super.settleEnds();
        }
    }

    private boolean hasUndelivered() {
        return isMessageHeld || isNotificationHeld || isRecovering();
    }

    private boolean isRecovering() {
        return resources.messages.isClosing() || !found.isEmpty();
    }

    private int messages(TransportHandler handler, int limit) {
        this.handler = handler;
        delivered = 0;
        // A handler that sends may have had a connection's ACCEPT taken: that is delivered first.
        for (int turns = 0;
                turns < limit && !slots.isFull() && !ring.hasConnectionEvents();
                turns++) {
            if (!isMessageHeld && isRecovering()) {
                if (!recover()) {
                    break;
                }
                continue;
            }
            int answer = isMessageHeld ? EventQueue.EVENT : resources.messageQueue.poll(message);
            if (answer == EventQueue.EMPTY) {
                break;
            }
            if (answer == EventQueue.DROPPED) {
                resources.messages.onLoss();
                continue;
            }
            isMessageHeld = isEarly(MessageHeader.connection(message.headerData()));
            if (isMessageHeld) {
                break;
            }
            resources.messages.onEvent(message, onMessage);
        }
        return delivered;
    }

    /**
     * Whether something overtook its connection's ACCEPT, which was put before it, in the queues.
     * That is looked for now, and the handler is to hear of the connection first. One look takes a
     * bounded number of records: what is early stays so until there is none left to look at.
     */
    private boolean isEarly(int handle) {
        PortalsConnection c = connections.find(handle);
        if (c == null || c.state != PortalsConnection.CONNECTING) {
            return false;
        }
        records.take();
        return c.state != PortalsConnection.CONNECTING || resources.hasRecords();
    }

    /** One step after a loss of events; false if a peer is still at it, or the next is early. */
    private boolean recover() {
        if (resources.messages.isClosing()) {
            if (!resources.messages.recover(message, onFound, () -> {})) {
                return false;
            }
            connections.onLoss();
        }
        Found next = found.peek();
        if (next != null) {
            if (isEarly(next.connection)) {
                return false;
            }
            found.remove();
            onMessage(next.buffer, next.at, next.connection, next.length, null);
        }
        return true;
    }

    private void onMessage(
            ReceiveBuffer buffer, int at, int handle, int length, PortalsEventFlyweight from) {
        PortalsConnection c = connections.find(handle);
        if (c == null || !isExpected(c, buffer, at, from)) {
            resources.messages.release(buffer);
            return;
        }
        c.onMessageReceived();
        if (from != null) {
            connections.taken(c, MessageHeader.taken(from.headerData()));
        }
        long token = slots.take(buffer, handle);
        delivered++;
        try {
            handler.onMessage(handle, c.context, buffer.bytes, at, length, token);
        } finally {
            if (slots.isToBeReleased(token)) {
                free(token);
            }
        }
    }

    private boolean isExpected(
            PortalsConnection c, ReceiveBuffer buffer, int at, PortalsEventFlyweight from) {
        if (c.state != PortalsConnection.CONNECTED && c.state != PortalsConnection.ENDING) {
            return false;
        }
        if (from != null && !c.isFrom(from)) {
            return false;
        }
        int number = buffer.bytes.getInt(at - MessageHeader.LENGTH + MessageHeader.NUMBER_OFFSET);
        if (number != c.receivedCount) {
            context.errorHandler()
                    .onError(
                            new IllegalStateException(
                                    "%s: message %s came where %s was expected"
                                            .formatted(c, number, c.receivedCount)));
            return false;
        }
        return true;
    }

    private int notifications(TransportHandler handler, int limit) {
        PortalsEventFlyweight event = notification;
        int count = 0;
        for (int turns = 0; turns < limit && !ring.hasConnectionEvents(); turns++) {
            if (!isNotificationHeld && resources.notifyQueue.poll(event) == EventQueue.EMPTY) {
                break;
            }
            isNotificationHeld = isEarly(MessageHeader.connection(event.headerData()));
            if (isNotificationHeld) {
                break;
            }
            if (event.kind() != PortalsEventKind.PUT_END || event.failure() != 0) {
                continue;
            }
            int handle = MessageHeader.connection(event.headerData());
            PortalsConnection c = connections.find(handle);
            if (c == null
                    || (c.state != PortalsConnection.CONNECTED
                            && c.state != PortalsConnection.ENDING)
                    || !c.isFrom(event)) {
                continue;
            }
            PortalsRegion region = registrations.find(event.userPointer());
            connections.credits().onReleased(handle);
            if (region == null) {
                continue; // closed meanwhile
            }
            count++;
            handler.onNotify(
                    handle,
                    c.context,
                    MessageHeader.tag(event.headerData()),
                    region.id(),
                    event.offset(),
                    event.length());
        }
        return count;
    }

    void close() {
        found.clear();
        resources.messages.close();
    }
}
