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
import dev.verbena.transport.TransportException;
import java.util.ArrayList;
import java.util.List;
import org.agrona.ErrorHandler;
import org.agrona.concurrent.SystemNanoClock;

/**
 * A receive queue of variable-length messages: DART's list of three header descriptors.
 *
 * <p>Three match entries with the same match bits hang on one table index, each with a locally
 * managed descriptor. Messages fill the first, one behind the other. When less than the longest
 * message's space is left, Portals unlinks descriptor and entry, and messages match the next. The
 * unlinked buffer stays readable here. When its UNLINK event is taken, a spare buffer is appended
 * at the tail: the list is three long again. When all its messages are released, the buffer is
 * zeroed and becomes a spare. A descriptor is never reset: Portals allows that only while no event
 * waits.
 *
 * <p>A list that cannot be filled up now, because a peer is stopped while it holds the lock of this
 * interface, stays short until {@link #refill} is called again. One that stays so is reported.
 *
 * <p>Should events be lost (see {@link ResourceSizes}), the list is closed and replaced, and what
 * was not delivered is found by walking through the buffers in list order.
 *
 * <p>One thread.
 */
final class ReceiveQueue {
    /** Descriptors in the list. */
    static final int LIST_LENGTH = 3;

    /** Where messages go. */
    interface Consumer {
        /**
         * Takes one message; {@link #release} gives its place back, now or later.
         *
         * @param event null if the event was lost
         */
        void onMessage(
                ReceiveBuffer buffer,
                int at,
                int connection,
                int length,
                PortalsEventFlyweight event);
    }

    private final PortalsInterface ni;
    private final EventQueue queue;
    private final int portalIndex;
    private final long matchBits;
    private final int spaceMax;
    private final int bufferLength;
    private final int buffersMax;
    private final List<ReceiveBuffer> buffers = new ArrayList<>();
    private final MemoryDescriptorContext rules;
    private final ErrorHandler errors;
    private final Retry retry = new Retry(SystemNanoClock.INSTANCE);
    private int linkedCount;
    private long turns;
    private long unlinkCount;
    private long replacementCount;
    private long lossCount;
    private boolean isClosing;

    /**
     * Attaches the list.
     *
     * @param lengthMax longest message
     * @param count messages of that length that one descriptor takes
     * @param errors gets a report of a list that stays short
     */
    ReceiveQueue(
            PortalsInterface ni,
            EventQueue queue,
            int portalIndex,
            long matchBits,
            int lengthMax,
            int count,
            int buffersMax,
            ErrorHandler errors) {
        this.ni = ni;
        this.queue = queue;
        this.portalIndex = portalIndex;
        this.matchBits = matchBits;
        this.spaceMax = MessageHeader.space(lengthMax);
        this.bufferLength = Math.multiplyExact(spaceMax, count);
        this.buffersMax = buffersMax;
        this.errors = errors;
        this.rules =
                new MemoryDescriptorContext()
                        .acceptPut(true)
                        .startEvents(false)
                        .spaceMin(spaceMax)
                        .queue(queue);
        while (buffers.size() <= LIST_LENGTH) {
            make(); // one is spare, so that an ordinary turn of the list allocates nothing
        }
        Registrations.patiently(this::fill);
        replacementCount = 0;
    }

    /** Descriptors in the list. */
    int linkedCount() {
        return linkedCount;
    }

    /** Descriptors that used themselves up. */
    long unlinkCount() {
        return unlinkCount;
    }

    /** Descriptors appended since the start. */
    long replacementCount() {
        return replacementCount;
    }

    /** Times that events were lost. */
    long lossCount() {
        return lossCount;
    }

    /** Buffers that exist. */
    int bufferCount() {
        return buffers.size();
    }

    /** Bytes of one descriptor. */
    int bufferLength() {
        return bufferLength;
    }

    /** The buffer with this index, null if there is none. */
    ReceiveBuffer buffer(long index) {
        return index >= 0 && index < buffers.size() ? buffers.get((int) index) : null;
    }

    /** Events of a lost gap are being made up for: nothing else may be delivered meanwhile. */
    boolean isClosing() {
        return isClosing;
    }

    /**
     * One event of the queue. PUT_END: the message goes to the consumer, if it is whole. UNLINK:
     * the list is filled up again.
     */
    void onEvent(PortalsEventFlyweight event, Consumer consumer) {
        ReceiveBuffer buffer = buffer(event.userPointer());
        if (buffer == null
                || buffer.state != ReceiveBuffer.LINKED
                || buffer.descriptor.handle() != event.descriptorHandle()) {
            return; // of a descriptor that was replaced after a loss; its messages were found
        }
        if (event.kind() == PortalsEventKind.UNLINK) {
            if (!isClosing) { // else after the walk
                onUnlink(buffer);
            }
            return;
        }
        if (event.kind() != PortalsEventKind.PUT_END) {
            return;
        }
        buffer.written(event.offset() + event.length());
        if (event.failure() != 0) {
            skip(buffer, event); // its initiator died; the bytes are undefined
            return;
        }
        if (isClosing) {
            return; // found by the walk
        }
        take(buffer, (int) event.offset(), event.length(), event, consumer);
    }

    /** Makes undefined bytes a message that was delivered, so that a walk finds its way past. */
    private void skip(ReceiveBuffer buffer, PortalsEventFlyweight event) {
        int at = (int) event.offset();
        if (event.length() >= MessageHeader.LENGTH
                && at >= 0
                && at + event.length() <= bufferLength) {
            buffer.bytes.putInt(
                    at + MessageHeader.LENGTH_OFFSET, (int) event.length() - MessageHeader.LENGTH);
            buffer.bytes.putInt(at + MessageHeader.STATE_OFFSET, MessageHeader.TAKEN);
        }
    }

    /** Hands one message over unless its bytes contradict each other. */
    private boolean take(
            ReceiveBuffer buffer,
            int at,
            long space,
            PortalsEventFlyweight event,
            Consumer consumer) {
        if (space < MessageHeader.LENGTH || at < 0 || at + space > bufferLength) {
            return false;
        }
        int length = buffer.bytes.getInt(at + MessageHeader.LENGTH_OFFSET);
        if (length < 0
                || length > space - MessageHeader.LENGTH
                || buffer.bytes.getInt(at + MessageHeader.STATE_OFFSET) != MessageHeader.FRESH) {
            return false;
        }
        buffer.bytes.putInt(at + MessageHeader.STATE_OFFSET, MessageHeader.TAKEN);
        buffer.hold();
        int connection =
                event == null
                        ? buffer.bytes.getInt(at + MessageHeader.CONNECTION_OFFSET)
                        : MessageHeader.connection(event.headerData());
        consumer.onMessage(buffer, at + MessageHeader.LENGTH, connection, length, event);
        return true;
    }

    /** A message's place is not needed any more. */
    void release(ReceiveBuffer buffer) {
        buffer.release();
        if (buffer.isDone()) {
            buffer.clear();
            refill();
        }
    }

    private void onUnlink(ReceiveBuffer buffer) {
        unlinkCount++;
        unlinked(buffer);
        refill();
    }

    private void unlinked(ReceiveBuffer buffer) {
        buffer.unlinked();
        linkedCount--;
        if (buffer.isDone()) {
            buffer.clear();
        }
    }

    /**
     * Fills the list up if it is short. One try: what a held lock or a lack of space forbids is
     * left to a later call, and senders are pushed back meanwhile.
     *
     * @return false if that waited without success, as for the lock
     */
    boolean refill() {
        if (isClosing || linkedCount == LIST_LENGTH || !retry.isDue()) {
            return true;
        }
        try {
            fill();
            retry.succeeded();
        } catch (PortalsException e) {
            if (e.code() != PortalsCode.NO_SPACE) {
                throw e;
            }
            if (retry.failed()) {
                // The code is one for all that it may be.
                tell(
                        "short, with %s of %s descriptors (the NIC's tables are full, its memory is"
                                        .formatted(linkedCount, LIST_LENGTH)
                                + " used up, or a peer is stopped while it holds the lock), "
                                + e.getMessage(),
                        e);
            }
            return !retry.hasWaited();
        }
        return true;
    }

    private void tell(String state, PortalsException why) {
        String what =
                "table entry %s, match bits %s: for seconds the list has been %s"
                        .formatted(portalIndex, matchBits, state);
        errors.onError(new TransportException(what, 0, why));
    }

    /** Appends spares, or new buffers, until the list is full; answers how long it is. */
    private int fill() {
        while (linkedCount < LIST_LENGTH) {
            ReceiveBuffer spare = spare();
            if (spare == null) {
                break; // the next release fills the list; senders are pushed back meanwhile
            }
            append(spare);
        }
        return linkedCount;
    }

    private ReceiveBuffer spare() {
        for (int i = 0; i < buffers.size(); i++) {
            ReceiveBuffer buffer = buffers.get(i);
            if (buffer.state == ReceiveBuffer.SPARE) {
                return buffer;
            }
        }
        return buffers.size() >= buffersMax ? null : make();
    }

    private ReceiveBuffer make() {
        ReceiveBuffer made =
                new ReceiveBuffer(buffers.size(), ni.allocate(bufferLength), bufferLength);
        buffers.add(made);
        return made;
    }

    /** Any step may fail. An entry that got no descriptor matches nothing; it is renewed next. */
    private void append(ReceiveBuffer buffer) {
        rules.memory(buffer.memory).userPointer(buffer.index);
        if (buffer.entry != null) {
            buffer.entry.renew(MatchEntry.AFTER);
        } else {
            buffer.entered(
                    ni.attach(portalIndex, new MatchEntryContext().matchBits(matchBits).unlink()));
        }
        if (buffer.descriptor != null) {
            buffer.entry.attachAgain(rules, MemoryDescriptor.UNLINK);
        } else {
            buffer.attach(rules);
        }
        buffer.linked(++turns);
        linkedCount++;
        replacementCount++;
    }

    // ---- after a loss of events ----

    /**
     * Events were lost: from now on nothing is taken from events until {@link #recover} is done.
     */
    void onLoss() {
        lossCount++;
        isClosing = true;
    }

    /**
     * Closes the list, so that nothing moves in it any more, and delivers what was not delivered in
     * list order.
     *
     * @param onForeign takes an event that the queue holds for somebody else
     * @return false while a peer's put is still in progress, or a peer is stopped while it holds
     *     the lock of this interface: call again later
     */
    boolean recover(PortalsEventFlyweight event, Consumer consumer, Runnable onForeign) {
        if (!retry.isDue()) {
            return false;
        }
        for (int i = 0; i < buffers.size(); i++) {
            ReceiveBuffer buffer = buffers.get(i);
            if (buffer.state == ReceiveBuffer.LINKED && !buffer.descriptor.withdraw()) {
                if (retry.failed()) {
                    tell("closed after a loss of events, as a put into it has not ended", null);
                }
                return false;
            }
        }
        retry.succeeded();
        // Nobody writes here any more; what the queue still holds of it is found by the walk, too.
        while (queue.poll(event) != EventQueue.EMPTY) {
            if (buffer(event.userPointer()) == null) {
                onForeign.run();
            }
            onEvent(event, consumer);
        }
        long walked = 0;
        for (ReceiveBuffer next = after(walked); next != null; next = after(walked)) {
            walked = next.turn;
            walk(next, consumer);
        }
        for (int i = 0; i < buffers.size(); i++) {
            ReceiveBuffer buffer = buffers.get(i);
            if (buffer.state == ReceiveBuffer.LINKED) {
                unlinkCount++;
                unlinked(buffer);
            }
        }
        isClosing = false;
        refill();
        return true;
    }

    /** The linked buffer whose turn comes next. */
    private ReceiveBuffer after(long turn) {
        ReceiveBuffer next = null;
        for (int i = 0; i < buffers.size(); i++) {
            ReceiveBuffer buffer = buffers.get(i);
            if (buffer.state == ReceiveBuffer.LINKED
                    && buffer.turn > turn
                    && (next == null || buffer.turn < next.turn)) {
                next = buffer;
            }
        }
        return next;
    }

    private void walk(ReceiveBuffer buffer, Consumer consumer) {
        buffer.hold(); // keeps it whole while its messages come and go
        int at = 0;
        while (at <= bufferLength - MessageHeader.LENGTH) {
            int state = buffer.bytes.getInt(at + MessageHeader.STATE_OFFSET);
            int length = buffer.bytes.getInt(at + MessageHeader.LENGTH_OFFSET);
            if ((state != MessageHeader.FRESH && state != MessageHeader.TAKEN)
                    || length < 0
                    || length > spaceMax - MessageHeader.LENGTH) {
                break;
            }
            int space = MessageHeader.space(length);
            buffer.written(at + space);
            if (state == MessageHeader.FRESH) {
                take(buffer, at, space, null, consumer);
            }
            at += space;
        }
        buffer.written(at + spaceMax);
        release(buffer);
    }

    /** Forgets buffers and entries; the interface closes them. */
    void close() {
        buffers.clear();
        linkedCount = 0;
    }
}
