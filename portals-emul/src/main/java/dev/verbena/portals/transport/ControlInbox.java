package dev.verbena.portals.transport;

import dev.verbena.portals.EventQueue;
import dev.verbena.portals.PortalsEventFlyweight;
import dev.verbena.portals.PortalsProcess;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.core.ConnectionLife;
import dev.verbena.transport.core.EventRing;

/**
 * Takes control records and returned credits out of their queues, checks them and hands them to
 * {@link Connections}. One thread.
 */
final class ControlInbox {
    private static final int RECORDS_MAX = 256;

    private final PortalsResources resources;
    private final EventRing ring;
    private final TransportContext context;
    private final Connections connections;
    private final PortalsEventFlyweight event = new PortalsEventFlyweight();
    private final PortalsEventFlyweight requestEvent = new PortalsEventFlyweight();
    private final ReceiveQueue.Consumer onAnswer = this::onAnswer;
    private final ReceiveQueue.Consumer onRequest = this::onRequest;
    private final Runnable onCredits = this::onCredits;
    private boolean isTaking;

    ControlInbox(
            PortalsResources resources,
            EventRing ring,
            TransportContext context,
            Connections connections) {
        this.resources = resources;
        this.ring = ring;
        this.context = context;
        this.connections = connections;
    }

    /**
     * Takes what came to the system queue, up to a bound, and fills up lists that are short. Does
     * nothing inside itself.
     */
    void take() {
        if (isTaking) {
            return;
        }
        isTaking = true;
        try {
            takeAll();
        } finally {
            isTaking = false;
        }
    }

    private void takeAll() {
        resources.refill();
        if (!resources.systemQueue.isEmpty() || resources.answers.isClosing()) {
            takeAnswers();
        }
        if (resources.requests() != null
                && (!resources.requestQueue.isEmpty() || resources.requests().isClosing())) {
            takeRequests();
        }
    }

    private void takeAnswers() {
        for (int i = 0; i < RECORDS_MAX && !ring.isBacklogged(); i++) {
            int answer = resources.systemQueue.poll(event);
            if (answer == EventQueue.EMPTY) {
                break;
            }
            if (answer == EventQueue.DROPPED) {
                resources.answers.onLoss();
            }
            if (event.userPointer() == PortalsResources.CREDIT_POINTER) {
                onCredits();
            } else {
                resources.answers.onEvent(event, onAnswer);
            }
        }
        if (resources.answers.isClosing()
                && resources.answers.recover(event, onAnswer, onCredits)) {
            connections.onLoss();
        }
    }

    private void takeRequests() {
        ReceiveQueue requests = resources.requests();
        for (int i = 0; i < RECORDS_MAX && !ring.isBacklogged(); i++) {
            int answer = resources.requestQueue.poll(requestEvent);
            if (answer == EventQueue.EMPTY) {
                break;
            }
            if (answer == EventQueue.DROPPED) {
                requests.onLoss();
            }
            requests.onEvent(requestEvent, onRequest);
        }
        if (requests.isClosing()) {
            requests.recover(requestEvent, onRequest, () -> {});
        }
    }

    private void onCredits() {
        PortalsConnection c = connections.find(MessageHeader.connection(event.headerData()));
        if (c != null && c.isFrom(event)) {
            connections.onCredits(c, event.headerData());
        }
    }

    private void onRequest(
            ReceiveBuffer buffer, int at, int to, int length, PortalsEventFlyweight from) {
        try {
            ControlRecord record = new ControlRecord(buffer.bytes, at);
            if (isKnown(from) && isGood(record, length, from) && isRequestType(record, from)) {
                connections.offer(record, from);
            }
        } finally {
            resources.requests().release(buffer);
        }
    }

    /** Who asks stands in the event only. */
    private boolean isKnown(PortalsEventFlyweight from) {
        return from != null || refuse("its event was lost", null);
    }

    private boolean isRequestType(ControlRecord record, PortalsEventFlyweight from) {
        return record.type() == ConnectionLife.CONNECT || refuse("type " + record.type(), from);
    }

    private boolean isGood(ControlRecord record, int length, PortalsEventFlyweight from) {
        if (length != ControlRecord.LENGTH) {
            return refuse("length " + length, from);
        }
        String fault = record.fault();
        return fault.isEmpty() || refuse(fault, from);
    }

    /** Reports a record that makes no sense; answers false. */
    boolean refuse(String what, PortalsEventFlyweight from) {
        Object who = from == null ? "unknown" : PortalsProcess.of(from.process());
        context.errorHandler()
                .onError(
                        new IllegalStateException(
                                "record from process %s refused: %s".formatted(who, what)));
        return false;
    }

    private void onAnswer(
            ReceiveBuffer buffer, int at, int to, int length, PortalsEventFlyweight from) {
        try {
            ControlRecord record = new ControlRecord(buffer.bytes, at);
            if (isGood(record, length, from)) {
                connections.onAnswer(record, from);
            }
        } finally {
            resources.answers.release(buffer);
        }
    }
}
