package dev.verbena.ofi.transport;

import dev.verbena.transport.core.MessageTokens;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Receive slots: posted to the provider, or with something that has arrived. Those of a connection
 * form a list in the order of arrival. Tokens name those that a handler has or has retained. One
 * thread.
 */
final class Slots extends MessageTokens {
    /** As many are spare: all credits have their slots without these. */
    private static final int LATE_MAX = OfiResources.SPARE_SLOTS / 2;

    private final OfiResources resources;
    private final UnsafeBuffer[] slots;
    private final UnsafeBuffer[] views;
    private final int[] slotOfToken;
    private final int[] next;
    private final int[] unposted;
    private int unpostedCount;

    Slots(OfiResources resources) {
        super(resources.slotCount - OfiResources.SPARE_SLOTS);
        int count = resources.slotCount;
        this.resources = resources;
        slots = new UnsafeBuffer[count];
        views = new UnsafeBuffer[count];
        slotOfToken = new int[count - OfiResources.SPARE_SLOTS];
        next = new int[count];
        unposted = new int[count];
        for (int i = 0; i < count; i++) {
            slots[i] = resources.slotView(i);
            views[i] = new UnsafeBuffer(0, 0);
            unposted[unpostedCount++] = i;
        }
        postAll();
    }

    /** What lies in a slot. */
    UnsafeBuffer slot(int slot) {
        return slots[slot];
    }

    /**
     * The provider may fill it again, at the latest after the next look for events: the slot is
     * posted then, and not before the answer to what has arrived is sent.
     */
    void post(int slot) {
        unposted[unpostedCount++] = slot;
        if (unpostedCount > LATE_MAX) {
            postAll();
        }
    }

    /** Those that the provider was not told of, or did not take before. */
    void postAll() {
        while (unpostedCount > 0 && isPosted(unposted[unpostedCount - 1])) {
            unpostedCount--;
        }
    }

    private boolean isPosted(int slot) {
        long context = resources.slotContext(slot);
        return resources.calls.receive(
                        context + OfiResources.CONTEXT,
                        resources.slotLength(),
                        resources.ownDescriptor(),
                        context)
                == 0;
    }

    // ---- the list of a connection ----

    /** Appends what has arrived. */
    void append(OfiConnection c, int slot) {
        next[slot] = OfiConnection.NONE;
        if (c.firstSlot == OfiConnection.NONE) {
            c.slots(slot, slot);
        } else {
            next[c.lastSlot] = slot;
            c.slots(c.firstSlot, slot);
        }
    }

    /** Takes the first out; not from an empty list. */
    int takeFirst(OfiConnection c) {
        int slot = c.firstSlot;
        c.slots(next[slot], c.lastSlot);
        return slot;
    }

    /** Nobody will be told of what is in the list. */
    void drop(OfiConnection c) {
        while (c.firstSlot != OfiConnection.NONE) {
            post(takeFirst(c));
        }
    }

    // ---- tokens ----

    /** A token for a message that a handler is about to get. */
    long take(int slot, int length, int connection) {
        long token = take(connection);
        int index = index(token);
        slotOfToken[index] = slot;
        views[index].wrap(slots[slot].addressOffset() + Wire.HEADER, length);
        return token;
    }

    UnsafeBuffer view(long token) {
        return views[index(token)];
    }

    @Override
    public void free(long token) {
        int index = index(token);
        views[index].wrap(0, 0);
        super.free(token);
        post(slotOfToken[index]);
    }
}
