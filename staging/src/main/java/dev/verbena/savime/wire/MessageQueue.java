package dev.verbena.savime.wire;

import org.agrona.concurrent.UnsafeBuffer;

/**
 * Messages that wait until they can be sent, first in first out, each in a slot of {@link
 * StgFlyweight#LENGTH_MAX}. Grows by doubling up to a limit and allocates nothing afterwards. One
 * thread.
 */
public final class MessageQueue {
    private static final int SLOT = StgFlyweight.LENGTH_MAX;
    private static final int FIRST_COUNT = 8;

    private final int slotsMax;
    private final StgFlyweight flyweight = new StgFlyweight();
    private UnsafeBuffer buffer = new UnsafeBuffer(new byte[FIRST_COUNT * SLOT]);
    private int slots = FIRST_COUNT;
    private int first;
    private int count;

    /**
     * Empty.
     *
     * @param slotsMax most messages; a power of two from 8
     */
    public MessageQueue(int slotsMax) {
        this.slotsMax = slotsMax;
    }

    /** No further message can be added. */
    public boolean isFull() {
        return count == slotsMax;
    }

    public boolean isEmpty() {
        return count == 0;
    }

    /** Messages that wait. */
    public int size() {
        return count;
    }

    /**
     * Adds a message, which the caller fills at once; its length may be changed by that.
     *
     * @throws IllegalStateException if the queue is full
     */
    public StgFlyweight add(int type) {
        if (count == slots) {
            grow();
        }
        int slot = (first + count) & (slots - 1);
        count++;
        return flyweight.begin(buffer, slot * SLOT, type);
    }

    private void grow() {
        if (isFull()) {
            throw new IllegalStateException(count + " messages wait to be sent");
        }
        UnsafeBuffer larger = new UnsafeBuffer(new byte[2 * slots * SLOT]);
        for (int i = 0; i < count; i++) {
            larger.putBytes(i * SLOT, buffer, ((first + i) & (slots - 1)) * SLOT, SLOT);
        }
        buffer = larger;
        slots *= 2;
        first = 0;
    }

    /** Memory of all messages. */
    public UnsafeBuffer buffer() {
        return buffer;
    }

    /** Where the first message begins. */
    public int at() {
        return first * SLOT;
    }

    /** Length of the first message. */
    public int length() {
        return flyweight.wrap(buffer, at()).length();
    }

    /** Takes the first message away. */
    public void remove() {
        first = (first + 1) & (slots - 1);
        count--;
    }

    /** Takes all messages away. */
    public void clear() {
        count = 0;
    }
}
