package dev.verbena.verbs;

import dev.verbena.memory.OffHeapMemory;
import dev.verbena.rdma.calls.VerbsLayout;

/** What {@link MemoryRegion#reregister} changes; at least one thing. */
public final class ReregistrationContext extends CopiedContext<ReregistrationContext> {
    ProtectionDomain domain;
    OffHeapMemory memory;
    long offset;
    long length;
    int access;
    boolean hasAccess;

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
        MemoryRegion.checkPart(memory, offset, length);
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

    @Override
    ReregistrationContext copy() {
        ReregistrationContext copy = super.copy();
        if (copy.flags() == 0) {
            throw new IllegalArgumentException("nothing to change: domain, memory or access");
        }
        if (copy.memory != null) {
            MemoryRegion.checkPart(copy.memory, copy.offset, copy.length);
        }
        return copy;
    }

    int flags() {
        return (domain == null ? 0 : VerbsLayout.IBV_REREG_MR_CHANGE_PD)
                | (memory == null ? 0 : VerbsLayout.IBV_REREG_MR_CHANGE_TRANSLATION)
                | (hasAccess ? VerbsLayout.IBV_REREG_MR_CHANGE_ACCESS : 0);
    }
}
