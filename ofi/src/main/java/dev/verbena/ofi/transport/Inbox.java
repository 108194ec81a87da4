package dev.verbena.ofi.transport;

import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.TransportHandler;
import dev.verbena.transport.core.EventRing;
import dev.verbena.transport.core.Ranges;
import dev.verbena.transport.core.ReadyList;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.agrona.concurrent.SystemNanoClock;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The duty cycle of {@code poll}: completions and what happened to connections, messages and
 * notifications; now and then the clock. Allocates nothing. The owner's thread.
 */
final class Inbox {
    private static final int CLOCK_PERIOD = 64;
    private static final int IDLE_POLLS = 64;
    private static final VarHandle POLLS;

    static {
        try {
            POLLS = MethodHandles.lookup().findVarHandle(Inbox.class, "polls", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final EventRing ring;
    private final ReadyList ready;
    private final Engine engine;
    private final Connections connections;
    private final Regions regions;
    private final Slots slots;
    private int pollsToClock = CLOCK_PERIOD;
    private int idlePolls;

    /** Written by the owner, read by {@link ProgressThread}, which compares it only. */
    private long polls;

    Inbox(Parts parts, Connections connections) {
        this.ring = parts.ring;
        this.ready = parts.ready;
        this.engine = parts.engine;
        this.regions = parts.regions;
        this.slots = parts.slots;
        this.connections = connections;
    }

    int poll(TransportHandler handler, int limit) {
        if (--pollsToClock <= 0) {
            pollsToClock = CLOCK_PERIOD;
            connections.onTime(SystemNanoClock.INSTANCE.nanoTime());
        }
        takeEvents();
        int count = deliver(handler, limit);
        int waiting = ready.count();
        for (int i = 0; i < waiting && count < limit; i++) {
            OfiConnection c = connections.at(ready.next());
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

    private void takeEvents() {
        POLLS.setOpaque(this, polls + 1);
        engine.takePresentEvents();
    }

    /** How often the owner has looked for events. Any thread. */
    long polls() {
        return (long) POLLS.getOpaque(this);
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
        takeEvents();
        connections.settleEnds();
        return !ready.isEmpty();
    }

    /** Anything to poll beside what is in the ring, as far as is known. Also while borrowed. */
    boolean isWaiting() {
        connections.settleEnds();
        return !ready.isEmpty();
    }

    /** Delivers messages of one connection; it stays in the list if some may be left. */
    private int serve(OfiConnection c, TransportHandler handler, int limit) {
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

    private static boolean isOpen(OfiConnection c, int handle) {
        return c.handle == handle
                && (c.state == OfiConnection.CONNECTED || c.state == OfiConnection.ENDING);
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

    void retain(long token) {
        slots.retain(token);
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
