package dev.verbena.flesnet.wire;

import java.util.Arrays;
import java.util.BitSet;

/**
 * Which of several connections an engine looks at in its next step, and when it looks at others by
 * itself: a step costs what has changed, not what there is. Looking too often changes nothing. One
 * thread; allocates nothing after it was made.
 */
public final class LookTable {
    /** No connection has a time. */
    public static final long NEVER = Long.MAX_VALUE;

    private final int count;
    private final BitSet looked;
    private final long[] times;
    private long earliest = NEVER;
    private boolean isEarliestKnown = true;

    /** All are looked at. */
    public LookTable(int count) {
        this.count = count;
        looked = new BitSet(count);
        times = new long[count];
        Arrays.fill(times, NEVER);
        lookAll();
    }

    /** This one is looked at next. */
    public void look(int index) {
        looked.set(index);
        time(index, NEVER);
    }

    /** All are looked at next. */
    public void lookAll() {
        looked.set(0, count);
        if (earliest != NEVER || !isEarliestKnown) {
            Arrays.fill(times, NEVER);
            earliest = NEVER;
            isEarliestKnown = true;
        }
    }

    /** This one is looked at when this time has come, unless something else happens before. */
    public void lookAt(int index, long time) {
        looked.clear(index);
        time(index, time);
    }

    /** This one is looked at when something happens. */
    public void rest(int index) {
        lookAt(index, NEVER);
    }

    private void time(int index, long time) {
        long before = times[index];
        times[index] = time;
        if (isEarliestKnown && time < earliest) {
            earliest = time;
        } else if (before == earliest && time > before) {
            isEarliestKnown = false;
        }
    }

    /** The earliest time at which one is looked at; {@link #NEVER}: there is none. */
    public long earliest() {
        if (!isEarliestKnown) {
            long least = NEVER;
            for (long time : times) {
                least = Math.min(least, time);
            }
            earliest = least;
            isEarliestKnown = true;
        }
        return earliest;
    }

    /** Those whose time has come are looked at next. */
    public void expire(long now) {
        if (earliest() > now) {
            return;
        }
        for (int i = 0; i < count; i++) {
            if (times[i] <= now) {
                look(i);
            }
        }
    }

    /** The first from this one on that is looked at; -1: there is none. */
    public int next(int from) {
        return looked.nextSetBit(from);
    }
}
