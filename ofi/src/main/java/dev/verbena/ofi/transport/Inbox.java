package dev.verbena.ofi.transport;

import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.TransportHandler;
import dev.verbena.transport.core.Ranges;
import dev.verbena.transport.core.ReadyInbox;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The duty cycle of {@code poll}: completions and what happened to connections, messages and
 * notifications; now and then the clock. Allocates nothing. The owner's thread.
 */
final class Inbox extends ReadyInbox<OfiConnection, Connections, Slots> {
    private static final VarHandle POLLS;

    static {
        try {
            POLLS = MethodHandles.lookup().findVarHandle(Inbox.class, "polls", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final Engine engine;
    private final Regions regions;

    /** Written by the owner, read by {@link ProgressThread}, which compares it only. */
    private long polls;

    Inbox(Parts parts, Connections connections) {
        super(parts.ring, parts.ready, connections, parts.slots);
        this.engine = parts.engine;
        this.regions = parts.regions;
    }

    @Override
    protected void takeEvents() {
        POLLS.setOpaque(this, polls + 1);
        engine.takePresentEvents();
    }

    /** How often the owner has looked for events. Any thread. */
    long polls() {
        return (long) POLLS.getOpaque(this);
    }

    @Override
    protected int serve(OfiConnection c, TransportHandler handler, int limit) {
        int handle = c.handle;
        int count = 0;
        while (isOpen(c, handle) && c.firstSlot != OfiConnection.NONE) {
            if (count >= limit || slots.isFull()) {
                ready.add(c.index);
                break;
            }
            int slot = slots.takeFirst(c);
            count +=
                    Wire.type(slots.slot(slot), 0) == Wire.MESSAGE
                            ? message(c, slot, handler)
                            : notification(c, slot, handler);
        }
        return count;
    }

    private int message(OfiConnection c, int slot, TransportHandler handler) {
        int handle = c.handle;
        int length = Wire.length(slots.slot(slot), 0);
        long token = slots.take(slot, length, handle);
        UnsafeBuffer view = slots.view(token);
        try {
            handler.onMessage(handle, c.context, view, 0, length, token);
        } finally {
            if (slots.isToBeReleased(token)) {
                free(token);
            }
        }
        return 1;
    }

    private int notification(OfiConnection c, int slot, TransportHandler handler) {
        UnsafeBuffer bytes = slots.slot(slot);
        OfiRegion region = regions.ofKey(Wire.key(bytes, 0));
        long address = Wire.address(bytes, 0);
        long length = Wire.range(bytes, 0);
        int tag = Wire.number(bytes, 0);
        int handle = c.handle;
        long userContext = c.context;
        slots.post(slot);
        connections.credits().onReleased(handle);
        if (region == null) {
            return 0; // closed meanwhile
        }
        long offset = address - region.begin();
        if ((region.rights() & RemoteDescriptor.REMOTE_WRITE) == 0
                || !Ranges.isInside(offset, length, region.length())) {
            connections.corrupt(c, "sent a notification that makes no sense");
            return 0;
        }
        handler.onNotify(handle, userContext, tag, region.id(), offset, length);
        return 1;
    }
}
