package dev.verbena.ugni;

import dev.verbena.ugni.bindings.ugni;
import java.util.ArrayList;
import java.util.List;

/** Native memory of a NIC handle, at which C may look until its domain is destroyed. */
final class NicMemory {
    private final List<Long> addresses = new ArrayList<>();
    private final List<Runnable> afterDomain = new ArrayList<>();

    /** Zeroed memory that lasts until it is freed, or until the domain is closed. */
    long allocate(long length) {
        long made = UgniNative.check("malloc", ugni.vgn_memory_new(length), length + " bytes");
        addresses.add(made);
        return made;
    }

    /** Frees memory that nothing looks at any more. */
    void free(long address) {
        if (addresses.remove(Long.valueOf(address))) {
            ugni.vgn_memory_delete(address);
        }
    }

    /** Done when the domain is destroyed and nobody touches memory any more. */
    void afterDomain(Runnable action) {
        afterDomain.add(action);
    }

    /** The domain is destroyed. */
    void freeAll() {
        afterDomain.forEach(Runnable::run);
        afterDomain.clear();
        addresses.forEach(ugni::vgn_memory_delete);
        addresses.clear();
    }
}
