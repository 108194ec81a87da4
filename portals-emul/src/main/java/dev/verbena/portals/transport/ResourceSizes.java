package dev.verbena.portals.transport;

import dev.verbena.transport.TransportContext;

/**
 * How many events, descriptors and messages a transport needs room for. No event is lost among
 * peers that give as many credits as this one. Those that give more, or do not keep to the
 * contract, may overrun a queue: that costs time, but neither a message nor a credit, if it is not
 * the queue of notifications.
 */
record ResourceSizes(
        int messageLengthMax,
        int messagesPerDescriptor,
        int connectionsMax,
        int messageEvents,
        int systemEvents,
        int requestEvents,
        int notifyEvents,
        int registrationsMax) {
    /** Option: events of the message queue, for tests of its overflow. */
    static final String EVENTS_OPTION = "portals.messageEvents";

    /** Option: registered regions at a time. */
    static final String REGISTRATIONS_OPTION = "portals.registrationsMax";

    private static final long DESCRIPTOR_LENGTH_MAX = 1L << 30;
    private static final int SPARE_EVENTS = 64;
    private static final int REGISTRATIONS_DEFAULT = 1024;
    private static final int LOCAL_EVENTS = 16;
    private static final int OTHER_ENTRIES = 64;

    static ResourceSizes of(TransportContext context) {
        int slots = context.receiveSlotCount();
        int records = ReceiveQueue.LIST_LENGTH * recordsPerDescriptor(context.connectionsMax());
        long bytes = (long) MessageHeader.space(context.messageLengthMax()) * ((slots + 1) / 2);
        if (bytes > DESCRIPTOR_LENGTH_MAX) {
            throw new IllegalArgumentException(
                    ("messageLengthMax %s with receiveSlotCount %s needs descriptors of %s "
                                    + "bytes; at most %s")
                            .formatted(
                                    context.messageLengthMax(),
                                    slots,
                                    bytes,
                                    DESCRIPTOR_LENGTH_MAX));
        }
        String events = context.options().get(EVENTS_OPTION);
        String registrations = context.options().get(REGISTRATIONS_OPTION);
        return new ResourceSizes(
                context.messageLengthMax(),
                // Two descriptors hold all messages that may be under way.
                Math.max(2, (slots + 1) / 2),
                context.connectionsMax(),
                powerOfTwo(
                        events == null
                                ? slots + SPARE_EVENTS
                                : number(EVENTS_OPTION, events, 1 << 20)),
                // A peer may return each credit by itself, and all credits are as many as slots.
                powerOfTwo(records + slots + SPARE_EVENTS),
                powerOfTwo(records + SPARE_EVENTS),
                powerOfTwo(slots + SPARE_EVENTS),
                registrations == null
                        ? REGISTRATIONS_DEFAULT
                        : number(REGISTRATIONS_OPTION, registrations, 1 << 14));
    }

    static int recordsPerDescriptor(int connectionsMax) {
        return Math.max(32, connectionsMax);
    }

    /** Slots of all queues together, and half as much for queues laid out with gaps. */
    int eventSlots() {
        int sum = messageEvents + systemEvents + requestEvents + notifyEvents + LOCAL_EVENTS;
        return powerOfTwo(sum);
    }

    int matchEntriesMax() {
        return 2 * registrationsMax + OTHER_ENTRIES;
    }

    int descriptorsMax() {
        return 3 * registrationsMax + OTHER_ENTRIES;
    }

    /** Peers that hold a mapping of ours; more come and go with connects that are refused. */
    int initiatorsMax() {
        return 2 * connectionsMax + OTHER_ENTRIES;
    }

    private static int number(String option, String value, int max) {
        try {
            int number = Integer.parseInt(value);
            if (number >= 2 && number <= max) {
                return number;
            }
        } catch (NumberFormatException e) {
            // said below
        }
        throw new IllegalArgumentException(
                "option " + option + "=" + value + ": a number from 2 to " + max);
    }

    private static int powerOfTwo(int least) {
        return Integer.highestOneBit(Math.max(1, least - 1)) << 1;
    }
}
