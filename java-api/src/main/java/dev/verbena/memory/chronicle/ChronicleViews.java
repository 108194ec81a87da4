package dev.verbena.memory.chronicle;

import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RegisteredRegion;
import net.openhft.chronicle.bytes.BytesStore;

/**
 * Makes Chronicle views of memory. A view shares the bytes, owns nothing and frees nothing; it may
 * be used by any thread, as the bytes may. Offsets in a view begin at 0, with 63 bits.
 *
 * <p>Reads past the end throw {@link java.nio.BufferUnderflowException}, writes {@link
 * java.nio.BufferOverflowException}; after the memory was closed every access throws {@link
 * IllegalStateException}. As with windows, a thread must not close memory while another one is in
 * the middle of an access.
 */
public final class ChronicleViews {
    private ChronicleViews() {}

    /**
     * Why there can be no views in this process, or null if there can: Chronicle Bytes is not on
     * the class path, or this JDK does not let it work.
     */
    public static String unavailabilityCause() {
        try {
            Probe.run();
            return null;
        } catch (NoClassDefFoundError | ExceptionInInitializerError e) {
            return isPresent()
                    ? "Chronicle Bytes does not work on this JDK: " + root(e)
                    : "Chronicle Bytes is not on the class path (net.openhft:chronicle-bytes)";
        } catch (RuntimeException | LinkageError e) {
            return "Chronicle Bytes does not work on this JDK: " + root(e);
        }
    }

    /**
     * A view of a whole region, of any length. Allocates: keep it.
     *
     * @throws IllegalStateException if the region is closed
     */
    @SuppressWarnings("exports") // callers of an optional library name it
    public static BytesStore<?, Void> view(RegisteredRegion region) {
        region.address();
        return MemoryBytesStore.of(region::address, region.length(), region);
    }

    /**
     * A view of memory that need not be registered. Allocates: keep it.
     *
     * @throws IllegalStateException if the memory is closed
     */
    @SuppressWarnings("exports") // callers of an optional library name it
    public static BytesStore<?, Void> view(OffHeapMemory memory) {
        memory.address();
        return MemoryBytesStore.of(memory::address, memory.length(), memory);
    }

    /**
     * The other way round: the memory of a native store of Chronicle's own, to be registered and
     * moved as it is. Closing it frees nothing but this use of the store.
     *
     * @param store of {@code Bytes} the store that they have now; they must not grow meanwhile
     * @throws IllegalArgumentException for a store on the heap, an empty one, or a view
     */
    @SuppressWarnings("exports") // callers of an optional library name it
    public static OffHeapMemory memory(BytesStore<?, ?> store) {
        return StoreMemory.of(store);
    }

    private static boolean isPresent() {
        String resource = "net/openhft/chronicle/bytes/BytesStore.class";
        ClassLoader loader = ChronicleViews.class.getClassLoader();
        return loader.getResource(resource) != null;
    }

    /** Apart, so that this class can be loaded without Chronicle. */
    private static final class Probe {
        static void run() {
            BytesStore<?, ?> store = BytesStore.nativeStore(Long.BYTES);
            store.writeLong(0, 1);
            store.releaseLast();
        }
    }

    private static Throwable root(Throwable e) {
        Throwable root = e;
        while (root.getCause() != null && root.getCause() != root) {
            root = root.getCause();
        }
        return root;
    }
}
