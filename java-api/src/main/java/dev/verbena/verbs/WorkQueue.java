package dev.verbena.verbs;

/** Something that work requests are posted to. */
interface WorkQueue {
    /** True while a request is outstanding that uses the region. */
    boolean uses(MemoryRegion region);

    /** The domain that it belongs to. */
    ProtectionDomain domain();
}
