package dev.verbena.memory;

import dev.verbena.softnic.NativeAccess;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Regions and {@link OffHeapMemory} as a {@code java.lang.foreign.MemorySegment}, of any length: on
 * JDK 22 or newer.
 *
 * <p>The types of that package are named by the caller, as this library is compiled for Java 17:
 *
 * <pre>{@code
 * RegisteredRegion region = transport.allocate(length, rights);
 * MemorySegment ofRegion = SegmentMemories.segment(region, MemorySegment.class);
 *
 * OffHeapMemory memory = SegmentMemories.allocate(length);
 * MemorySegment ofMemory = SegmentMemories.segment(memory, MemorySegment.class);
 * RegisteredRegion registered = transport.register(memory, rights);
 *
 * RegisteredRegion callers = transport.register(SegmentMemories.wrap(segment), rights);
 * }</pre>
 *
 * <p>Life: closing the region or the memory ends the segment's scope; access to the segment is an
 * {@link IllegalStateException} from then on, and never reaches memory that is not there. The close
 * is refused while a call of the JDK has the segment, {@code memory.close()} also while a region
 * has the memory. Thread-safe but for what belongs to the region's thread; a segment may be used by
 * any thread.
 *
 * <p>Memory made or wrapped here needs no JVM flag. A segment of a region calls a method that the
 * JDK restricts: JDK 24 and newer warn once without {@code --enable-native-access=ALL-UNNAMED} (or
 * {@code =dev.verbena.api} on the module path), as they do for every native library.
 */
public final class SegmentMemories {
    private static final int JDK_MIN = 22;
    private static final int PAGE = 4096;

    static {
        NativeAccess.open();
    }

    private SegmentMemories() {}

    /** Why there can be no segments in this process; null if there can. */
    public static String unavailabilityCause() {
        int version = Runtime.version().feature();
        return version >= JDK_MIN
                ? null
                : "memory segments need JDK %s or newer; this is %s. Use OffHeapMemories there"
                        .formatted(JDK_MIN, version);
    }

    /**
     * Zeroed memory in a shared arena of its own, aligned to 4 KiB.
     *
     * @param length bytes, from 1
     * @throws UnsupportedOperationException with {@link #unavailabilityCause()}
     * @throws IllegalArgumentException for a length below 1
     * @throws OutOfMemoryError if there is not as much
     */
    public static OffHeapMemory allocate(long length) {
        Foreign foreign = foreign();
        if (length < 1) {
            throw new IllegalArgumentException("length " + length + " is below 1");
        }
        AutoCloseable arena = (AutoCloseable) foreign.call(foreign.ofShared);
        try {
            return new SegmentMemory(
                    foreign, foreign.call(foreign.allocate, arena, length, (long) PAGE), arena);
        } catch (RuntimeException | Error e) {
            close(arena);
            throw e;
        }
    }

    /**
     * Memory of a caller's segment, to be registered. The segment is kept reachable until close;
     * closing frees nothing. When the segment's arena is closed first, registering the memory and
     * windows into it are an {@link IllegalStateException}; but no arena can be kept from closing
     * while a region has its memory: the caller closes the region before it.
     *
     * @param segment a {@code MemorySegment}: native, writable, alive, not empty
     * @throws UnsupportedOperationException with {@link #unavailabilityCause()}
     * @throws IllegalArgumentException for anything else, with what it is
     */
    public static OffHeapMemory wrap(Object segment) {
        Foreign foreign = foreign();
        boolean fits =
                foreign.segment.isInstance(segment)
                        && (boolean) foreign.call(foreign.isNative, segment)
                        && !(boolean) foreign.call(foreign.isReadOnly, segment)
                        && (boolean)
                                foreign.call(foreign.isAlive, foreign.call(foreign.scope, segment))
                        && (long) foreign.call(foreign.byteSize, segment) > 0;
        if (!fits) {
            throw new IllegalArgumentException(
                    "not a native, writable, living segment of at least a byte: " + segment);
        }
        return new SegmentMemory(foreign, segment, null);
    }

    /**
     * The segment of memory that this class made.
     *
     * @param type {@code MemorySegment.class}
     * @throws IllegalArgumentException for other memory, or another type
     * @throws IllegalStateException if the memory is closed
     */
    public static <S> S segment(OffHeapMemory memory, Class<S> type) {
        if (!(memory instanceof SegmentMemory made)) {
            throw new IllegalArgumentException("not made by SegmentMemories: " + memory);
        }
        memory.address();
        requireSegmentType(type.isInstance(made.segment), type);
        return type.cast(made.segment);
    }

    /**
     * A segment of a whole region, whose scope ends when the region closes. Each call makes
     * another. By the region's thread.
     *
     * @param type {@code MemorySegment.class}
     * @throws UnsupportedOperationException with {@link #unavailabilityCause()}, or if this kind of
     *     region closes no views
     * @throws IllegalArgumentException for another type
     * @throws IllegalStateException if the region is closed
     * @throws RuntimeException the JDK's {@code IllegalCallerException} where it denies native
     *     access
     */
    public static <S> S segment(RegisteredRegion region, Class<S> type) {
        Foreign foreign = foreign();
        requireSegmentType(type.isAssignableFrom(foreign.segment), type);
        AutoCloseable arena = (AutoCloseable) foreign.call(foreign.ofShared);
        try {
            Object start = foreign.call(foreign.ofAddress, region.address());
            Object segment = foreign.call(foreign.reinterpret, start, region.length(), arena, null);
            region.closeFirst(arena);
            return type.cast(segment);
        } catch (RuntimeException | Error e) {
            close(arena);
            throw e;
        }
    }

    /**
     * Why the memory of a buffer is not there any more; null: it is there. Before JDK 22 no arena
     * can be closed under a buffer.
     */
    static Supplier<String> lost(ByteBuffer buffer) {
        if (unavailabilityCause() != null) {
            return () -> null;
        }
        Foreign foreign = foreign();
        Object scope = foreign.call(foreign.scope, foreign.call(foreign.ofBuffer, buffer));
        return () -> foreign.lost(scope);
    }

    private static void requireSegmentType(boolean isType, Class<?> type) {
        if (!isType) {
            throw new IllegalArgumentException(
                    "the type of the segment is java.lang.foreign.MemorySegment, not "
                            + type.getName());
        }
    }

    private static Foreign foreign() {
        String cause = unavailabilityCause();
        if (cause != null) {
            throw new UnsupportedOperationException(cause);
        }
        return Holder.FOREIGN;
    }

    private static void close(AutoCloseable arena) {
        try {
            arena.close();
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException("closing an arena", e);
        }
    }

    /** Apart, so that this class can be loaded on older JDKs. */
    private static final class Holder {
        static final Foreign FOREIGN = new Foreign();
    }

    /** The methods of {@code java.lang.foreign} that are needed. */
    private static final class Foreign {
        private final Class<?> segment = type("MemorySegment");
        private final Class<?> arena = type("Arena");
        private final Class<?> scopeType = type("MemorySegment$Scope");
        private final MethodHandle ofShared = find(arena, true, "ofShared", arena);
        private final MethodHandle ofAddress =
                find(segment, true, "ofAddress", segment, long.class);
        private final MethodHandle ofBuffer =
                find(segment, true, "ofBuffer", segment, Buffer.class);
        private final MethodHandle reinterpret =
                find(segment, false, "reinterpret", segment, long.class, arena, Consumer.class);
        private final MethodHandle allocate =
                find(arena, false, "allocate", segment, long.class, long.class);
        private final MethodHandle address = find(segment, false, "address", long.class);
        private final MethodHandle byteSize = find(segment, false, "byteSize", long.class);
        private final MethodHandle isNative = find(segment, false, "isNative", boolean.class);
        private final MethodHandle isReadOnly = find(segment, false, "isReadOnly", boolean.class);
        private final MethodHandle scope = find(segment, false, "scope", scopeType);

        /** Takes an object, to be called exactly: it is asked for each window. */
        private final MethodHandle isAlive =
                find(scopeType, false, "isAlive", boolean.class)
                        .asType(MethodType.methodType(boolean.class, Object.class));

        private static Class<?> type(String name) {
            try {
                return Class.forName("java.lang.foreign." + name);
            } catch (ClassNotFoundException e) {
                throw new IllegalStateException("a JDK without java.lang.foreign." + name, e);
            }
        }

        private static MethodHandle find(
                Class<?> of,
                boolean isStatic,
                String name,
                Class<?> result,
                Class<?>... arguments) {
            // Not the public one: a restricted method asks who calls it.
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            MethodType type = MethodType.methodType(result, arguments);
            try {
                return isStatic
                        ? lookup.findStatic(of, name, type)
                        : lookup.findVirtual(of, name, type);
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException("a JDK without " + of.getName() + "." + name, e);
            }
        }

        /** Why memory of this scope is not there any more; null: it is there. */
        private String lost(Object ofScope) {
            try {
                return (boolean) isAlive.invokeExact(ofScope)
                        ? null
                        : "the arena of the segment was closed";
            } catch (RuntimeException | Error e) {
                throw e;
            } catch (Throwable e) {
                throw new IllegalStateException("java.lang.foreign", e);
            }
        }

        private Object call(MethodHandle method, Object... arguments) {
            try {
                return method.invokeWithArguments(arguments);
            } catch (RuntimeException | Error e) {
                throw e;
            } catch (Throwable e) {
                throw new IllegalStateException("java.lang.foreign", e);
            }
        }
    }

    /** Its arena is closed with it, if it has one of its own. */
    private static final class SegmentMemory extends AbstractMemory {
        private final Foreign foreign;
        private final AutoCloseable arena;
        private Object segment;

        private SegmentMemory(Foreign foreign, Object segment, AutoCloseable arena) {
            super(
                    arena == null ? "wrapped segment" : "segment",
                    (long) foreign.call(foreign.address, segment),
                    (long) foreign.call(foreign.byteSize, segment));
            this.foreign = foreign;
            this.segment = segment;
            this.arena = arena;
        }

        @Override
        String lost() {
            return foreign.lost(foreign.call(foreign.scope, segment));
        }

        /** The JDK refuses this while one of its calls has the segment. */
        @Override
        void beforeClose() {
            if (arena != null) {
                SegmentMemories.close(arena);
            }
        }

        @Override
        protected void free(long address, long length) {
            segment = null;
        }
    }
}
