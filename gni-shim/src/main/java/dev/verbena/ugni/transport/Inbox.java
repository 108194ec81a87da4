package dev.verbena.ugni.transport;

import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportHandler;
import dev.verbena.transport.core.EventRing;
import dev.verbena.transport.core.Ranges;
import dev.verbena.transport.core.ReadyInbox;
import dev.verbena.transport.core.ReadyList;
import dev.verbena.ugni.bindings.ugni;
import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The duty cycle of {@code poll}: completions and what happened to connections, messages and
 * notifications; now and then the clock. Allocates nothing. One thread.
 */
final class Inbox extends ReadyInbox<GniConnection, Connections, MessageSlots> {
    private static final int SPARE_SLOTS = 64;
    private static final int EVENTS_MAX = 1024;
    private static final int HANDLE_MASK = Integer.MAX_VALUE;
    private static final int NONSENSE = -1;

    private final GniResources resources;
    private final Engine engine;
    private final Registrations registrations;

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
        super(
                ring,
                ready,
                connections,
                new MessageSlots(
                        context.receiveSlotCount() + SPARE_SLOTS, context.messageLengthMax()));
        this.resources = resources;
        this.engine = engine;
        this.registrations = registrations;
    }

    @Override
    protected void takeEvents() {
        engine.takeEvents();
        takePeerEvents();
    }

    /** What peers wrote: to mailboxes, or to the control mailbox. */
    private void takePeerEvents() {
        for (int i = 0; i < EVENTS_MAX; i++) {
            int answer = ugni.vgn_cq_get(resources.eventQueue, resources.at(0));
            if (answer == -ugni.GNI_RC_NOT_DONE || answer == -ugni.GNI_RC_INVALID_STATE) {
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

    @Override
    protected int serve(GniConnection c, TransportHandler handler, int limit) {
        int handle = c.handle;
        int count = 0;
        for (int turns = 0; isOpen(c, handle); turns++) {
            if (turns >= limit || slots.isFull()) {
                ready.add(c.index);
                break;
            }
            int tag = ugni.vgn_smsg_next(c.endpoint, ugni.GNI_SMSG_ANY_TAG, resources.at(0));
            if (tag == -ugni.GNI_RC_NOT_DONE) {
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
        c.showing(true);
        try {
            handler.onMessage(handle, c.context, view, 0, length, token);
        } finally {
            c.showing(false);
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
        if (region != null && !canHaveBeenPut(region, address - region.address(), length)) {
            connections.corrupt(c, "sent a notification that makes no sense");
            return NONSENSE; // of which no more is said
        }
        int handle = c.handle;
        long userContext = c.context;
        ugni.vgn_smsg_release(c.endpoint);
        connections.credits().onReleased(handle);
        if (region == null) {
            return 0; // closed meanwhile
        }
        long offset = address - region.address();
        handler.onNotify(handle, userContext, tag, region.id(), offset, length);
        return 1;
    }

    private static boolean canHaveBeenPut(GniRegion region, long offset, long length) {
        return (region.rights() & RemoteDescriptor.REMOTE_WRITE) != 0
                && Ranges.isInside(offset, length, region.length());
    }

    /** The message is copied; its place in the mailbox is the peer's before its credit is. */
    @Override
    public void retain(long token) {
        slots.retain(token);
        releaseShown();
    }
}
