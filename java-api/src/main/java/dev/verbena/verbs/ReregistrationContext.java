package dev.verbena.verbs;

import dev.verbena.memory.OffHeapMemory;
import dev.verbena.rdma.calls.VerbsLayout;

/** What {@link MemoryRegion#reregister} changes; at least one thing. */
public final class ReregistrationContext {
    private ProtectionDomain domain;
    private OffHeapMemory memory;
    private long offset;
    private long length;
    private int access;
    private boolean hasAccess;

    /** Changes nothing yet. */
    public ReregistrationContext() {}

    /** Into another domain of the same device. */
    public ReregistrationContext domain(ProtectionDomain domain) {
        this.domain = domain;
        return this;
    }

    /** For all of another piece of memory, or of the same. */
    public ReregistrationContext memory(OffHeapMemory memory) {
        return memory(memory, 0, memory.length());
    }

    /**
     * For a part of another piece of memory, or of the same.
     *
     * @throws IndexOutOfBoundsException for a part that the memory does not have
     */
    public ReregistrationContext memory(OffHeapMemory memory, long offset, long length) {
        MemoryDomain.checkPart(memory, offset, length);
        this.memory = memory;
        this.offset = offset;
        this.length = length;
        return this;
    }

    /**
     * With other access, of {@link Access}.
     *
     * @throws IllegalArgumentException for access that contradicts itself
     */
    public ReregistrationContext access(int access) {
        Access.check(access);
        this.access = access;
        this.hasAccess = true;
        return this;
    }

    /** One that nobody else changes. */
    ReregistrationContext copy() {
        ReregistrationContext copy = new ReregistrationContext();
        copy.domain = domain;
        copy.memory = memory;
        copy.offset = offset;
        copy.length = length;
        copy.access = access;
        copy.hasAccess = hasAccess;
        if (copy.flags() == 0) {
            throw new IllegalArgumentException("nothing to change: domain, memory or access");
        }
        if (copy.memory != null) {
            MemoryDomain.checkPart(copy.memory, copy.offset, copy.length);
        }
        return copy;
    }

    int flags() {
        return (domain == null ? 0 : VerbsLayout.IBV_REREG_MR_CHANGE_PD)
                | (memory == null ? 0 : VerbsLayout.IBV_REREG_MR_CHANGE_TRANSLATION)
                | (hasAccess ? VerbsLayout.IBV_REREG_MR_CHANGE_ACCESS : 0);
    }

    ProtectionDomain domain() {
        return domain;
    }

    OffHeapMemory memory() {
        return memory;
    }

    long offset() {
        return offset;
    }

    long length() {
        return length;
    }

    boolean hasAccess() {
        return hasAccess;
    }

    int access() {
        return access;
    }
}
