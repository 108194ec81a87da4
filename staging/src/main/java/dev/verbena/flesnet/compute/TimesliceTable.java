package dev.verbena.flesnet.compute;

import dev.verbena.flesnet.ComponentFlyweight;
import dev.verbena.flesnet.FlesnetContext;
import dev.verbena.flesnet.Timeslice;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.agrona.DirectBuffer;

/**
 * Timeslices under construction and in the hands of the consumer: arrivals are counted, complete
 * ones are taken in order, released ones are acknowledged as a contiguous prefix (section 4). One
 * thread, except {@link Timeslice#release()}; allocates nothing after it was made.
 */
final class TimesliceTable {
    private static final int FREE = 0;
    private static final int TAKEN = 1;
    private static final int RELEASED = 2;

    private final int inputs;
    private final int slots;
    private final int slotMask;
    private final ContributionRing[] rings;
    private final int[] arrivals;
    private final long[] firstNs;
    private final long[] lastNs;
    private final boolean[] isAbsent;
    private final AtomicIntegerArray states;
    private final Built[] built;
    private int absentCount;
    private long completed;
    private long released;

    TimesliceTable(FlesnetContext context, ContributionRing[] rings) {
        inputs = context.inputs();
        slots = 1 << context.descriptorExponent();
        slotMask = slots - 1;
        this.rings = rings;
        arrivals = new int[slots];
        firstNs = new long[slots];
        lastNs = new long[slots];
        isAbsent = new boolean[inputs];
        states = new AtomicIntegerArray(slots);
        built = new Built[slots];
        for (int i = 0; i < slots; i++) {
            built[i] = new Built(i);
        }
    }

    private int slot(long descriptor) {
        return (int) descriptor & slotMask;
    }

    /** A contribution came; one that comes after its timeslice was taken changes nothing. */
    void arrive(long descriptor, long nowNs) {
        if (descriptor < completed) {
            return;
        }
        int slot = slot(descriptor);
        if (arrivals[slot] == absentCount) {
            firstNs[slot] = nowNs;
        }
        lastNs[slot] = nowNs;
        arrivals[slot]++;
    }

    /** A contribution will come anew, or does not count if its input contributes no more. */
    void undo(int input, long descriptor) {
        if (descriptor >= completed && !isAbsent[input]) {
            arrivals[slot(descriptor)]--;
        }
    }

    /** This input contributes nothing any more. */
    void omit(int input) {
        if (isAbsent[input]) {
            return;
        }
        isAbsent[input] = true;
        absentCount++;
        for (long d = completed; d < released + slots; d++) {
            if (d >= rings[input].received()) {
                arrivals[slot(d)]++;
            }
        }
    }

    /**
     * Takes the next timeslice, if it is complete or has waited too long.
     *
     * @param timeoutNs 0: it waits without end
     * @return null: there is none
     */
    Built take(long nowNs, long timeoutNs) {
        if (!isTakeable(nowNs, timeoutNs)) {
            return null;
        }
        int slot = slot(completed);
        states.lazySet(slot, TAKEN);
        built[slot].fill(completed);
        completed++;
        return built[slot];
    }

    private boolean isTakeable(long nowNs, long timeoutNs) {
        int slot = slot(completed);
        boolean hasRoom = completed - released < slots;
        if (!hasRoom || absentCount == inputs && !hasAny(completed)) {
            return false;
        }
        return arrivals[slot] >= inputs || isOverdue(slot, nowNs, timeoutNs);
    }

    private boolean hasAny(long descriptor) {
        for (ContributionRing ring : rings) {
            if (ring.received() > descriptor) {
                return true;
            }
        }
        return false;
    }

    private boolean isOverdue(int slot, long nowNs, long timeoutNs) {
        return timeoutNs > 0 && arrivals[slot] > absentCount && nowNs - firstNs[slot] >= timeoutNs;
    }

    /** Whether a timeslice has begun to arrive that is not complete; its slot is not in use. */
    boolean isPartial() {
        int arrived = completed - released < slots ? arrivals[slot(completed)] : 0;
        return arrived > absentCount && arrived < inputs;
    }

    long firstNs() {
        return firstNs[slot(completed)];
    }

    /** Acknowledges the released prefix; whether it grew. */
    boolean collect() {
        long before = released;
        while (released < completed && states.get(slot(released)) == RELEASED) {
            int slot = slot(released);
            states.lazySet(slot, FREE);
            arrivals[slot] = absentCount;
            released++;
        }
        return released != before;
    }

    /** Whether the consumer has had and released all that can be taken now. */
    boolean isEmpty(long nowNs, long timeoutNs) {
        return released == completed && !isTakeable(nowNs, timeoutNs);
    }

    /** Timeslices that were complete, or taken without. */
    long completed() {
        return completed;
    }

    /** Timeslices of the released prefix. */
    long released() {
        return released;
    }

    /** One timeslice; an object for each slot. */
    final class Built implements Timeslice {
        private final int slot;

        /** By input; a contribution that comes later changes nothing. */
        private final boolean[] isPresent = new boolean[inputs];

        private long descriptor;
        private long index;
        private int flags;

        private Built(int slot) {
            this.slot = slot;
        }

        private void fill(long number) {
            descriptor = number;
            flags = 0;
            for (int i = 0; i < inputs; i++) {
                isPresent[i] = rings[i].received() > number;
                flags |= flags(i);
            }
        }

        void index(long timeslice) {
            index = timeslice;
        }

        @Override
        public long index() {
            return index;
        }

        @Override
        public long descriptor() {
            return descriptor;
        }

        @Override
        public int flags() {
            return flags;
        }

        @Override
        public int flags(int input) {
            return hasComponent(input)
                    ? rings[input].flags(descriptor)
                    : ComponentFlyweight.MISSING_COMPONENT;
        }

        @Override
        public int componentCount() {
            return inputs;
        }

        @Override
        public boolean hasComponent(int input) {
            return isPresent[input];
        }

        @Override
        public int size(int input) {
            return hasComponent(input) ? rings[input].size(descriptor) : 0;
        }

        @Override
        public int microsliceCount(int input) {
            return hasComponent(input) ? rings[input].microslices() : 0;
        }

        @Override
        public long arrivalSpreadNs() {
            return lastNs[slot] - firstNs[slot];
        }

        @Override
        public DirectBuffer ring(int input) {
            return rings[input].data();
        }

        @Override
        public int offset(int input, int at) {
            return rings[input].offset(descriptor, at);
        }

        @Override
        public void copy(int input, int at, byte[] target, int targetOffset, int length) {
            if (!hasComponent(input)) {
                throw new IndexOutOfBoundsException("input " + input + " did not contribute");
            }
            rings[input].copy(descriptor, at, target, targetOffset, length);
        }

        @Override
        public void release() {
            if (!states.compareAndSet(slot, TAKEN, RELEASED)) {
                throw new IllegalStateException(
                        "timeslice " + index + " was released before, or is not delivered");
            }
        }
    }
}
