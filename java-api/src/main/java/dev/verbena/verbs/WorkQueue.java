package dev.verbena.verbs;

/** Something that work requests are posted to. */
interface WorkQueue {
    /** True while a request is outstanding that uses the region. */
    boolean uses(MemoryRegion region);

    /** True while a request is outstanding that goes there. */
    boolean uses(AddressHandle target);

    /** True while a request is outstanding that binds it. */
    boolean uses(MemoryWindow window);

    /** The domain that it belongs to. */
    ProtectionDomain domain();
}
