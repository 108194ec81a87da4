package dev.verbena.softnic;

import java.nio.ByteBuffer;
import org.bytedeco.javacpp.Pointer;

/**
 * Direct byte buffers over memory that is known by its address, for JDK methods that take nothing
 * else. They own nothing: whoever uses one makes sure that the memory is still there. Thread-safe.
 */
public final class NativeViews {
    private NativeViews() {}

    /** A view in native byte order. Allocates: keep it. */
    public static ByteBuffer of(long address, int length) {
        if (address == 0 || length < 1) {
            throw new IllegalArgumentException(
                    "no memory: address " + address + ", length " + length);
        }
        return new Window(address, length).asByteBuffer();
    }

    private static final class Window extends Pointer {
        Window(long address, long length) {
            this.address = address;
            this.limit = length;
            this.capacity = length;
        }

        @Override
        public int sizeof() {
            return 1;
        }
    }
}
