package dev.verbena.verbs;

import java.util.List;

/** What is made from a protection domain. */
abstract class DomainObject extends VerbsObject {
    private final ProtectionDomain domain;

    DomainObject(String what, long address, DestroyCall destroyCall, ProtectionDomain domain) {
        this(what, address, destroyCall, domain, List.of(domain));
    }

    DomainObject(
            String what,
            long address,
            DestroyCall destroyCall,
            ProtectionDomain domain,
            List<VerbsObject> parents) {
        super(what, address, destroyCall, parents);
        this.domain = domain;
    }

    ProtectionDomain domain() {
        return domain;
    }

    /** What uses this object and keeps it from being closed; null if nothing does. */
    VerbsObject user() {
        return domain.userOf(this);
    }

    /** Or of one that protects the same. */
    final void checkOf(ProtectionDomain other) {
        if (!domain.isSameProtection(other)) {
            throw new IllegalArgumentException(this + " is not of " + other);
        }
    }

    /** Throws while something uses this object. */
    final void checkNotUsed() {
        VerbsObject user = user();
        if (user instanceof MemoryWindow && this instanceof MemoryRegion) {
            throw new IllegalStateException(
                    this + " has bound to it " + user + "; close that, or bind it elsewhere");
        }
        if (user != null) {
            throw new IllegalStateException(
                    "%s is in use by requests of %s; poll their completions, or close that first"
                            .formatted(this, user));
        }
    }
}
