package dev.verbena.agent;

import dev.verbena.softnic.NativeAccess;
import dev.verbena.softnic.bindings.softnic;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.util.BitSet;
import org.agrona.BufferUtil;

/**
 * Processors of this computer, numbered as the kernel does; on which a thread may run ({@code
 * sched_setaffinity}, man page of Linux). Immutable, never empty.
 */
public final class CpuSet {
    /** Processors have numbers below this. */
    public static final int CPUS_MAX = 1 << 16;

    private static final int EINVAL = 22;
    private static final int EPERM = 1;
    private static final int MASK_LENGTH = CPUS_MAX / Byte.SIZE;

    static {
        NativeAccess.open();
    }

    private final BitSet cpus;

    private CpuSet(BitSet cpus) {
        this.cpus = cpus;
    }

    /**
     * Reads the kernel's way to write sets: numbers and ranges with commas between, {@code
     * 0-3,8,10-11}. White space around is ignored.
     *
     * @throws IllegalArgumentException naming what is no number or range below {@link #CPUS_MAX}
     */
    public static CpuSet parse(String list) {
        BitSet cpus = new BitSet();
        for (String part : list.strip().split(",", -1)) {
            if (!part.matches("[0-9]{1,5}(-[0-9]{1,5})?")) {
                throw bad(list, "'" + part + "' is no processor and no range of processors");
            }
            String[] ends = part.split("-");
            int first = Integer.parseInt(ends[0]);
            int last = Integer.parseInt(ends[ends.length - 1]);
            if (first > last) {
                throw bad(list, "the range " + part + " ends before it begins");
            }
            if (last >= CPUS_MAX) {
                throw bad(list, "processor " + last + " is not below " + CPUS_MAX);
            }
            cpus.set(first, last + 1);
        }
        return new CpuSet(cpus);
    }

    private static IllegalArgumentException bad(String list, String why) {
        return new IllegalArgumentException(
                "'" + list + "' is no list of processors like 0-3,8: " + why);
    }

    /**
     * The processors on which the calling thread may run now. Any thread.
     *
     * @throws IllegalStateException if the kernel refuses to say
     */
    public static CpuSet ofThread() {
        ByteBuffer mask = ByteBuffer.allocateDirect(MASK_LENGTH);
        int result = softnic.vna_affinity_get(BufferUtil.address(mask), MASK_LENGTH);
        if (result < 0) {
            throw refused("sched_getaffinity", -result);
        }
        return new CpuSet(BitSet.valueOf(mask));
    }

    /**
     * Lets the calling thread run on these processors only, and all threads and processes that it
     * starts from now on. Other threads, as the JVM's own for garbage and compiling, stay as they
     * are. If it throws, the thread is as it was.
     *
     * @throws IllegalArgumentException naming processors that are not there, are off, or that this
     *     process may not use (its control group's cpuset), and those that it may
     * @throws IllegalStateException if the kernel refuses, with errno
     */
    public void bind() {
        BitSet before = ofThread().cpus;
        int result = set(cpus);
        if (result == 0 && ofThread().cpus.equals(cpus)) {
            return;
        }
        if (result < 0 && result != -EINVAL) {
            throw refused("sched_setaffinity", -result);
        }
        // Asked for all, the kernel leaves those that there are.
        BitSet all = new BitSet();
        all.set(0, CPUS_MAX);
        set(all);
        CpuSet usable = ofThread();
        set(before);
        BitSet missing = (BitSet) cpus.clone();
        missing.andNot(usable.cpus);
        throw new IllegalArgumentException(
                ("this process may not run on processor%s%s: not there, switched off,"
                                + " or not in its control group's cpuset; it may run on %s")
                        .formatted(missing.cardinality() == 1 ? " " : "s ", text(missing), usable));
    }

    private static int set(BitSet cpus) {
        ByteBuffer mask = ByteBuffer.allocateDirect(MASK_LENGTH).put(cpus.toByteArray());
        int result = softnic.vna_affinity_set(BufferUtil.address(mask), MASK_LENGTH);
        Reference.reachabilityFence(mask);
        return result;
    }

    private static IllegalStateException refused(String call, int errno) {
        String name = errno == EPERM ? "EPERM (1)" : "errno " + errno;
        return new IllegalStateException(
                call + ": " + name + "; a seccomp filter of the container may forbid it");
    }

    /** How many processors; at least 1. */
    public int count() {
        return cpus.cardinality();
    }

    /** Whether this processor is among them. */
    public boolean contains(int cpu) {
        return cpu >= 0 && cpus.get(cpu);
    }

    /** Whether all processors of the other set are among them. */
    public boolean containsAll(CpuSet other) {
        BitSet rest = (BitSet) other.cpus.clone();
        rest.andNot(cpus);
        return rest.isEmpty();
    }

    /** Whether there is a processor in both. */
    public boolean intersects(CpuSet other) {
        return cpus.intersects(other.cpus);
    }

    private static String text(BitSet cpus) {
        StringBuilder text = new StringBuilder();
        for (int first = cpus.nextSetBit(0); first >= 0; ) {
            int end = cpus.nextClearBit(first);
            text.append(text.length() == 0 ? "" : ",").append(first);
            if (end - first > 1) {
                text.append('-').append(end - 1);
            }
            first = cpus.nextSetBit(end);
        }
        return text.toString();
    }

    /** As {@link #parse} reads it and the kernel writes it: {@code 0-3,8}. */
    @Override
    public String toString() {
        return text(cpus);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof CpuSet && ((CpuSet) other).cpus.equals(cpus);
    }

    @Override
    public int hashCode() {
        return cpus.hashCode();
    }
}
