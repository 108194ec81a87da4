package dev.verbena.portals;

/**
 * What a match entry is to be: which requests it takes, where in its list it stands, when it goes,
 * and its descriptor, if that is made with it. Fluent and reusable; read when the entry is made.
 *
 * <p>At first: of anybody, with match bits 0 exactly, behind the others, stays when its descriptor
 * goes, without a descriptor.
 */
public final class MatchEntryContext {
    int nid = PortalsInterface.ANY;
    int pid = PortalsInterface.ANY;
    long matchBits;
    long ignoreBits;
    boolean unlink = MatchEntry.RETAIN;
    boolean position = MatchEntry.AFTER;
    MemoryDescriptorContext descriptor;
    boolean unlinkDescriptor;

    /** Everything at its default. */
    public MatchEntryContext() {}

    static MatchEntryContext of(
            int nid, int pid, long matchBits, long ignoreBits, boolean unlink, boolean position) {
        MatchEntryContext made = new MatchEntryContext().from(nid, pid);
        made.matchBits = matchBits;
        made.ignoreBits = ignoreBits;
        made.unlink = unlink;
        made.position = position;
        return made;
    }

    /** Which requests the entry takes, and when it goes: all but its place and its descriptor. */
    MatchEntryContext criteria() {
        return of(nid, pid, matchBits, ignoreBits, unlink, position);
    }

    /** Takes requests of one process only. */
    public MatchEntryContext from(PortalsProcess process) {
        return from(process.nid(), process.pid());
    }

    /** Takes requests of a node and a process id; each may be {@link PortalsInterface#ANY}. */
    public MatchEntryContext from(int newNid, int newPid) {
        nid = newNid;
        pid = newPid;
        return this;
    }

    /** Bits that a request must have, where the entry does not ignore them. */
    public MatchEntryContext matchBits(long bits) {
        matchBits = bits;
        return this;
    }

    /** Bits set here are not compared; -1: none is. */
    public MatchEntryContext ignoreBits(long bits) {
        ignoreBits = bits;
        return this;
    }

    /** The entry goes with its descriptor: {@link MatchEntry#UNLINK}. */
    public MatchEntryContext unlink() {
        unlink = MatchEntry.UNLINK;
        return this;
    }

    /** At the head of the list, or directly in front of the base: {@link MatchEntry#BEFORE}. */
    public MatchEntryContext before() {
        position = MatchEntry.BEFORE;
        return this;
    }

    /** At the tail of the list, or directly behind the base: {@link MatchEntry#AFTER}. */
    public MatchEntryContext after() {
        position = MatchEntry.AFTER;
        return this;
    }

    /** Makes this descriptor in one step with the entry; it stays when it is used up. */
    public MatchEntryContext descriptor(MemoryDescriptorContext context) {
        descriptor = context;
        unlinkDescriptor = MemoryDescriptor.RETAIN;
        return this;
    }

    /** As {@link #descriptor}, but it goes when it is used up. */
    public MatchEntryContext descriptorThatUnlinks(MemoryDescriptorContext context) {
        descriptor = context;
        unlinkDescriptor = MemoryDescriptor.UNLINK;
        return this;
    }
}
