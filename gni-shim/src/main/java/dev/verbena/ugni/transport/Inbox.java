package dev.verbena.ugni.transport;

import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportHandler;
import dev.verbena.transport.core.EventRing;
import dev.verbena.transport.core.Ranges;
import dev.verbena.transport.core.ReadyList;
import dev.verbena.ugni.bindings.ugni;
import org.agrona.UnsafeApi;
import org.agrona.concurrent.SystemNanoClock;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The duty cycle of {@code poll}: completions and what happened to connections, messages and
 * notifications; now and then the clock. Allocates nothing. One thread.
 */
final class Inbox {
    private static final int CLOCK_PERIOD = 64;
    private static final int IDLE_POLLS = 64;
    private static final int SPARE_SLOTS = 64;
    private static final int EVENTS_MAX = 1024;
    private static final int HANDLE_MASK = Integer.MAX_VALUE;
    private static final int NONSENSE = -1;

    private final GniResources resources;
    private final EventRing ring;
    private final ReadyList ready;
    private final Engine engine;
    private final Connections connections;
    private final Registrations registrations;
    private final MessageSlots slots;
    private int pollsToClock = CLOCK_PERIOD;
    private int idlePolls;

    /** Endpoint of the short message that a handler sees in its mailbox; 0: none. */
    private long shown;

    Inbox(
            GniResources resources,
            EventRing ring,
            ReadyList ready,
            Engine engine,
            Connections connections,
            Registrations registrations,
            TransportContext context) {
        this.resources = resources;
        this.ring = ring;
        this.ready = ready;
        this.engine = engine;
        this.connections = connections;
        this.registrations = registrations;
        this.slots =
                new MessageSlots(
                        context.receiveSlotCount() + SPARE_SLOTS, context.messageLengthMax());
    }

    int poll(TransportHandler handler, int limit) {
        if (--pollsToClock <= 0) {
            pollsToClock = CLOCK_PERIOD;
            connections.onTime(SystemNanoClock.INSTANCE.nanoTime());
        }
        engine.takeEvents();
        takeEvents();
        int count = deliver(handler, limit);
        int waiting = ready.count();
        for (int i = 0; i < waiting && count < limit; i++) {
            GniConnection c = connections.at(ready.next());
            boolean hasReturned = false;
            try {
                count += serve(c, handler, limit - count);
                hasReturned = true;
            } finally {
                if (!hasReturned) {
                    ready.add(c.index); // the handler threw: the rest is still there
                }
            }
        }
        connections.settleEnds();
        count += deliver(handler, limit - count);
        if (count > 0) {
            idlePolls = 0;
        } else if (++idlePolls == IDLE_POLLS) {
            connections.credits().tellAll();
            idlePolls = 0;
        }
        return count;
    }

    private int deliver(TransportHandler handler, int limit) {
        int count = 0;
        while (count < limit && !ring.isEmpty()) {
            count++;
            ring.deliver(handler);
        }
        return count;
    }

    /** Anything to poll beside what is in the ring. */
    boolean hasWork() {
        engine.takeEvents();
        takeEvents();
        connections.settleEnds();
        return !ready.isEmpty();
    }

    /** What peers wrote: to mailboxes, or to the control mailbox. */
    private void takeEvents() {
        for (int i = 0; i < EVENTS_MAX; i++) {
            int answer = ugni.vgn_cq_get(resources.eventQueue, resources.at(0));
            if (answer == -Gni.NOT_DONE || answer == -Gni.INVALID_STATE) {
                return;
            }
            if (answer < 0) {
                onOverrun();
                continue;
            }
            int event = (int) resources.scratch.getLong(0) & HANDLE_MASK;
            if (event == ControlMailbox.EVENT) {
                connections.records.take();
            } else {
                GniConnection c = connections.find(event);
                if (c != null) {
                    ready.add(c.index);
                }
            }
        }
    }

    /** Events were lost: everything is looked at. */
    private void onOverrun() {
        connections.readyAll();
        connections.records.take();
    }

    /** Delivers messages of one connection; it stays in the list if some may be left. */
    private int serve(GniConnection c, TransportHandler handler, int limit) {
        int handle = c.handle;
        int count = 0;
        while (isOpen(c, handle)) {
            if (count >= limit || slots.isFull()) {
                ready.add(c.index);
                break;
            }
            int tag = ugni.vgn_smsg_next(c.endpoint, Gni.ANY_TAG, resources.at(0));
            if (tag == -Gni.NOT_DONE) {
                break;
            }
            int served = tag < 0 ? NONSENSE : one(c, tag, resources.scratch.getLong(0), handler);
            if (served == NONSENSE) {
                connections.corrupt(c, "sent a message that makes no sense");
                break;
            }
            count += served;
        }
        return count;
    }

    private static boolean isOpen(GniConnection c, int handle) {
        return c.handle == handle
                && (c.state == GniConnection.CONNECTED || c.state == GniConnection.ENDING);
    }

    /**
     * Delivers what lies in the mailbox: how many a handler was told, or {@link #NONSENSE}, and
     * nothing was taken. The peer can write there at any time, so each field is read once.
     */
    private int one(GniConnection c, int tag, long at, TransportHandler handler) {
        if (tag == Mailboxes.NOTIFICATION) {
            return notification(c, at, handler);
        }
        boolean isLong = tag == Mailboxes.LONG_MESSAGE;
        int length = UnsafeApi.getIntVolatile(null, at);
        int number = UnsafeApi.getIntVolatile(null, at + Integer.BYTES);
        boolean isKnown = tag == Mailboxes.MESSAGE || isLong;
        return isKnown && number == c.receivedCount && fits(c, length, isLong)
                ? message(c, at, length, isLong, handler)
                : NONSENSE;
    }

    private static boolean fits(GniConnection c, int length, boolean isLong) {
        int max = c.messageLengthMax;
        boolean hasLong = max > Mailboxes.SHORT_MAX;
        return length >= 0 && length <= max && (isLong ? hasLong : length <= Mailboxes.SHORT_MAX);
    }

    private int message(
            GniConnection c, long at, int length, boolean isLong, TransportHandler handler) {
        int handle = c.handle;
        long bytes =
                isLong
                        ? c.mailbox + Mailboxes.longOffset(c, c.receivedCount)
                        : at + Mailboxes.HEADER;
        c.onMessageReceived();
        long token = slots.take(bytes, length, handle);
        UnsafeBuffer view = slots.view(token);
        shown = c.endpoint;
        try {
            handler.onMessage(handle, c.context, view, 0, length, token);
        } finally {
            releaseShown();
            if (slots.isToBeReleased(token)) {
                free(token);
            }
        }
        return 1;
    }

    private void releaseShown() {
        if (shown != 0) {
            ugni.vgn_smsg_release(shown);
            shown = 0;
        }
    }

    private int notification(GniConnection c, long at, TransportHandler handler) {
        GniRegion region = registrations.find(Notice.low(at), Notice.high(at));
        long address = Notice.address(at);
        long length = Notice.bytes(at);
        int tag = Notice.tag(at);
        int handle = c.handle;
        long userContext = c.context;
        ugni.vgn_smsg_release(c.endpoint);
        connections.credits().onReleased(handle);
        if (region == null) {
            return 0; // closed meanwhile
        }
        long offset = address - region.address();
        if (!canHaveBeenPut(region, offset, length)) {
            connections.corrupt(c, "sent a notification that makes no sense");
            return 0;
        }
        handler.onNotify(handle, userContext, tag, region.id(), offset, length);
        return 1;
    }

    private static boolean canHaveBeenPut(GniRegion region, long offset, long length) {
        return (region.rights() & RemoteDescriptor.REMOTE_WRITE) != 0
                && Ranges.isInside(offset, length, region.length());
    }

    /** The message is copied; its place in the mailbox is the peer's before its credit is. */
    void retain(long token) {
        slots.retain(token);
        releaseShown();
    }

    void release(long token) {
        slots.checkRetained(token);
        free(token);
    }

    private void free(long token) {
        int connection = slots.connection(token);
        slots.free(token);
        connections.credits().onReleased(connection);
    }
}
