package dev.verbena.portals;

/** A process on one interface, {@code ptl_process_id_t}: node id and process id. */
public record PortalsProcess(int nid, int pid) {
    /** Both ids in one word, as {@link MemoryDescriptor#put} takes it. */
    public long target() {
        return (long) nid << 32 | Integer.toUnsignedLong(pid);
    }

    /** Takes such a word apart. */
    public static PortalsProcess of(long target) {
        return new PortalsProcess((int) (target >>> 32), (int) target);
    }

    @Override
    public String toString() {
        return Integer.toUnsignedString(nid) + "." + pid;
    }
}
