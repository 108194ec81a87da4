package dev.verbena.portals.transport;

import dev.verbena.portals.EventQueue;
import dev.verbena.portals.MatchEntry;
import dev.verbena.portals.MatchEntryContext;
import dev.verbena.portals.MemoryDescriptor;
import dev.verbena.portals.MemoryDescriptorContext;
import dev.verbena.portals.PortalsCode;
import dev.verbena.portals.PortalsEventFlyweight;
import dev.verbena.portals.PortalsEventKind;
import dev.verbena.portals.PortalsException;
import dev.verbena.portals.PortalsInterface;
import dev.verbena.portals.PortalsMemory;
import dev.verbena.portals.PortalsOutcome;
import dev.verbena.transport.TransportException;
import org.agrona.ErrorHandler;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The Portals objects of one transport: interface, queues, the entries that every peer finds, and
 * the staging memory from which messages start. One thread.
 */
final class PortalsResources {
    /** Table entry of messages, and their match bits, as DART had them. */
    static final int MESSAGE_INDEX = 0;

    static final long MESSAGE_BITS = 4;

    /** Table entry of the system's messages. */
    static final int SYSTEM_INDEX = 1;

    /** Zero-byte puts that return credits. */
    static final long CREDIT_BITS = 3;

    /** Answers to connects, and disconnects. */
    static final long ANSWER_BITS = 5;

    /** Connects; there while the transport listens. */
    static final long REQUEST_BITS = 6;

    /** Takes nothing and is there while the transport listens: tells "full" from "not there". */
    static final long LISTENING_BITS = 7;

    /** User pointer of the descriptor that takes credits. */
    static final long CREDIT_POINTER = -1;

    /** Outcome: the target took or gave fewer bytes than it was asked for. */
    private static final int CUT = Short.MAX_VALUE;

    private static final int LOCAL_EVENTS = 16;
    private static final int BUFFERS_MAX = 16;
    private static final int ACCESS_INDEX = 0;

    final PortalsInterface ni;
    final EventQueue messageQueue;
    final EventQueue systemQueue;
    final EventQueue requestQueue;
    final EventQueue notifyQueue;
    final EventQueue localQueue;
    final ReceiveQueue messages;
    final ReceiveQueue answers;
    final UnsafeBuffer staging;
    final ControlRecord record;

    /** For messages and credits: logs nothing. */
    final MemoryDescriptor silent;

    /** For control records: its ACK says how many bytes were taken. */
    private final MemoryDescriptor acknowledged;

    private final PortalsEventFlyweight event = new PortalsEventFlyweight();
    private final int recordAt;
    private final int connectionsMax;
    private final ErrorHandler errors;
    private ReceiveQueue requests;

    /** Bytes that the target of the last put or get took or gave, -1 if no event says it. */
    private long acknowledgedLength;

    PortalsResources(PortalsInterface ni, ResourceSizes sizes, ErrorHandler errors) {
        this.ni = ni;
        this.errors = errors;
        this.connectionsMax = sizes.connectionsMax();
        messageQueue = ni.eventQueue(sizes.messageEvents());
        systemQueue = ni.eventQueue(sizes.systemEvents());
        requestQueue = ni.eventQueue(sizes.requestEvents());
        notifyQueue = ni.eventQueue(sizes.notifyEvents());
        localQueue = ni.eventQueue(LOCAL_EVENTS);
        messages =
                new ReceiveQueue(
                        ni,
                        messageQueue,
                        MESSAGE_INDEX,
                        MESSAGE_BITS,
                        sizes.messageLengthMax(),
                        sizes.messagesPerDescriptor(),
                        BUFFERS_MAX,
                        errors);
        answers = controlQueue(systemQueue, ANSWER_BITS);
        expose(
                CREDIT_BITS,
                new MemoryDescriptorContext()
                        .acceptPut(true)
                        .truncate(true)
                        .startEvents(false)
                        .userPointer(CREDIT_POINTER)
                        .queue(systemQueue));
        recordAt = MessageHeader.space(sizes.messageLengthMax());
        int stagingLength = recordAt + MessageHeader.space(ControlRecord.LENGTH);
        PortalsMemory memory = ni.allocate(stagingLength);
        staging = memory.buffer(0, stagingLength);
        record = new ControlRecord(staging, recordAt + MessageHeader.LENGTH);
        MemoryDescriptorContext rules =
                new MemoryDescriptorContext().memory(memory).startEvents(false).endEvents(false);
        silent = ni.bind(rules, MemoryDescriptor.RETAIN);
        acknowledged = ni.bind(rules.endEvents(true).queue(localQueue), MemoryDescriptor.RETAIN);
    }

    private ReceiveQueue controlQueue(EventQueue queue, long bits) {
        return new ReceiveQueue(
                ni,
                queue,
                SYSTEM_INDEX,
                bits,
                ControlRecord.LENGTH,
                ResourceSizes.recordsPerDescriptor(connectionsMax),
                BUFFERS_MAX,
                errors);
    }

    private void expose(long bits, MemoryDescriptorContext rules) {
        MatchEntry entry =
                Registrations.patiently(
                        () ->
                                ni.attach(
                                        SYSTEM_INDEX,
                                        new MatchEntryContext().matchBits(bits).before()));
        Registrations.patiently(() -> entry.attach(rules, MemoryDescriptor.RETAIN));
    }

    /** Lets connects in. Idempotent. */
    void listen() {
        if (requests == null) {
            requests = controlQueue(requestQueue, REQUEST_BITS);
            expose(
                    LISTENING_BITS,
                    new MemoryDescriptorContext()
                            .acceptPut(true)
                            .startEvents(false)
                            .endEvents(false));
        }
    }

    /** Null while the transport does not listen. */
    ReceiveQueue requests() {
        return requests;
    }

    /** Fills up the lists that are short because an earlier try failed; waits for the lock once. */
    void refill() {
        if (messages.refill() && answers.refill() && requests != null) {
            requests.refill();
        }
    }

    /** Sends the message that stands in the staging memory. */
    int putMessage(long target, int length, long headerBits) {
        return silent.put(
                0,
                MessageHeader.space(length),
                false,
                target,
                MESSAGE_INDEX,
                ACCESS_INDEX,
                MESSAGE_BITS,
                0,
                headerBits);
    }

    int putCredits(long target, long headerBits) {
        return silent.put(
                0, 0, false, target, SYSTEM_INDEX, ACCESS_INDEX, CREDIT_BITS, 0, headerBits);
    }

    /** Sends the record that stands in the staging memory. */
    int putRecord(long target, long bits) {
        MessageHeader.write(staging, recordAt, 0, ControlRecord.LENGTH, 0);
        int outcome =
                acknowledged.put(
                        recordAt,
                        MessageHeader.space(ControlRecord.LENGTH),
                        true,
                        target,
                        SYSTEM_INDEX,
                        ACCESS_INDEX,
                        bits,
                        0,
                        0);
        takeLocalEvents(ControlRecord.LENGTH);
        return outcome;
    }

    /** Whether a process listens whose queue of connects is full. */
    boolean isListening(long target) {
        return silent.put(0, 0, false, target, SYSTEM_INDEX, ACCESS_INDEX, LISTENING_BITS, 0, 0)
                == PortalsOutcome.DELIVERED;
    }

    /**
     * Puts and takes the acknowledgement, which is there when the call returns, unless a peer sits
     * on the lock of this interface: then the outcome has to do.
     */
    int put(
            MemoryDescriptor from,
            long offset,
            long length,
            long target,
            int portalIndex,
            long bits,
            long remoteOffset,
            long headerBits) {
        int outcome =
                from.put(
                        offset,
                        length,
                        true,
                        target,
                        portalIndex,
                        ACCESS_INDEX,
                        bits,
                        remoteOffset,
                        headerBits);
        return wholeOrCut(outcome, length);
    }

    /**
     * Gets and takes the reply, as {@link #put} does. A reply that found no descriptor is a peer on
     * that lock too, for the descriptor is there as long as its region.
     */
    int get(
            MemoryDescriptor to,
            long offset,
            long length,
            long target,
            int portalIndex,
            long bits,
            long remoteOffset) {
        int outcome = to.get(offset, length, target, portalIndex, ACCESS_INDEX, bits, remoteOffset);
        int end = wholeOrCut(outcome, length);
        return end == PortalsOutcome.REPLY_DROPPED ? PortalsOutcome.STALLED : end;
    }

    private int wholeOrCut(int outcome, long length) {
        takeLocalEvents(length);
        boolean isCut = acknowledgedLength >= 0 && acknowledgedLength != length;
        return outcome == PortalsOutcome.DELIVERED && isCut ? CUT : outcome;
    }

    /** Whether the target has it, though perhaps not all of it. */
    static boolean isAtTarget(int outcome) {
        return outcome == PortalsOutcome.DELIVERED || outcome == CUT;
    }

    /** Events of other lengths are those of earlier operations, logged late. */
    private void takeLocalEvents(long wanted) {
        acknowledgedLength = -1;
        while (localQueue.poll(event) != EventQueue.EMPTY) {
            int kind = event.kind();
            if ((kind == PortalsEventKind.ACK || kind == PortalsEventKind.REPLY_END)
                    && event.requestedLength() == wanted
                    && event.failure() == 0) {
                acknowledgedLength = event.length();
            }
        }
    }

    /** True if nothing was started and a later attempt may succeed. */
    static boolean isToBeRetried(int outcome) {
        return outcome == -PortalsCode.NO_SPACE || outcome == PortalsOutcome.STALLED;
    }

    /** True if the process is not there any more. */
    static boolean isPeerGone(int outcome) {
        return outcome == PortalsOutcome.UNREACHABLE || outcome == PortalsOutcome.PEER_DIED;
    }

    /**
     * Number to pass to {@code await}.
     *
     * @throws TransportException naming a file of our memory that somebody cut
     */
    int bell() {
        try {
            return ni.doorbell();
        } catch (PortalsException e) {
            throw new TransportException(e.getMessage(), 0, e);
        }
    }

    /** Whether an answer of a peer may not have been looked at yet. */
    boolean hasRecords() {
        return !systemQueue.isEmpty() || answers.isClosing();
    }

    /** Any event that was not taken. */
    boolean hasEvents() {
        return !messageQueue.isEmpty()
                || !systemQueue.isEmpty()
                || !requestQueue.isEmpty()
                || !notifyQueue.isEmpty();
    }
}
