package dev.verbena.verbs;

/** Something that work requests are posted to. */
interface WorkQueue {
    /** True while a request is outstanding that names a region, an address handle or a window. */
    boolean uses(VerbsObject named);

    /** The domain that it belongs to. */
    ProtectionDomain domain();
}
