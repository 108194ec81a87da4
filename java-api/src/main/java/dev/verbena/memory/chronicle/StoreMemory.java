package dev.verbena.memory.chronicle;

import dev.verbena.memory.AbstractMemory;
import dev.verbena.memory.OffHeapMemory;
import net.openhft.chronicle.bytes.BytesStore;
import net.openhft.chronicle.core.io.ReferenceOwner;

/** Memory of a store of Chronicle's own, of which this holds a reference until it is closed. */
final class StoreMemory extends AbstractMemory {
    private final BytesStore<?, ?> store;
    private final ReferenceOwner owner;

    private StoreMemory(BytesStore<?, ?> store, ReferenceOwner owner) {
        super("Chronicle", store.addressForWrite(store.start()), store.realCapacity());
        this.store = store;
        this.owner = owner;
    }

    /** The method's type spares its callers the loading of Chronicle's classes. */
    static OffHeapMemory of(BytesStore<?, ?> given) {
        BytesStore<?, ?> store = given.bytesStore();
        if (!store.isDirectMemory() || store.realCapacity() == 0) {
            throw new IllegalArgumentException(
                    "no native store with a capacity above 0: "
                            + store.getClass().getSimpleName()
                            + " of "
                            + store.realCapacity()
                            + " bytes");
        }
        ReferenceOwner owner = ReferenceOwner.temporary("registered memory");
        store.reserve(owner);
        try {
            return new StoreMemory(store, owner);
        } catch (RuntimeException e) {
            store.release(owner);
            throw e;
        }
    }

    @Override
    protected void free(long address, long length) {
        store.release(owner);
    }
}
