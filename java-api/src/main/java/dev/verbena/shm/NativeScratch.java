package dev.verbena.shm;

import dev.verbena.softnic.bindings.Layout;
import dev.verbena.transport.TransportException;
import java.nio.charset.StandardCharsets;
import org.agrona.UnsafeApi;

/**
 * Off-heap memory for arguments and results of native calls; one per transport, used by its owner
 * only. Lives as long as the transport.
 */
final class NativeScratch implements AutoCloseable {
    static final int EVENTS_MAX = 16;
    private static final int STRING_LENGTH = 4096;

    /** {@code snic_key_t}. */
    final long key;

    /** {@code snic_location_t}. */
    final long location;

    /** 8 bytes for a result. */
    final long result;

    /** {@code shm_view_t}. */
    final long view;

    /** {@code shm_event_t[EVENTS_MAX]}. */
    final long events;

    /** {@code struct shm_notify}. */
    final long notify;

    /** Private data of a connect. */
    final long privateData;

    private final long why;
    private final long strings;
    private long memory;

    /** Of what is in use; strings come last. */
    private long end;

    NativeScratch() {
        long size =
                Layout.KEY_SIZE
                        + Layout.LOCATION_SIZE
                        + 8
                        + Layout.VIEW_SIZE
                        + (long) EVENTS_MAX * Layout.EVENT_SIZE
                        + Layout.NOTIFY_SIZE
                        + Layout.SHM_PRIVATE_MAX
                        + Layout.SNIC_WHY_MAX
                        + STRING_LENGTH
                        + 8 * 16;
        memory = UnsafeApi.allocateMemory(size);
        UnsafeApi.setMemory(memory, size, (byte) 0);
        end = memory;
        key = take(Layout.KEY_SIZE);
        location = take(Layout.LOCATION_SIZE);
        result = take(8);
        view = take(Layout.VIEW_SIZE);
        events = take((long) EVENTS_MAX * Layout.EVENT_SIZE);
        notify = take(Layout.NOTIFY_SIZE);
        privateData = take(Layout.SHM_PRIVATE_MAX);
        why = take(Layout.SNIC_WHY_MAX);
        strings = end;
    }

    /** Address of so many bytes more, of which the first is at a multiple of 8. */
    private long take(long size) {
        long at = end;
        end = at + size + 7 & -8;
        return at;
    }

    /** Empties the room for strings. */
    NativeScratch reset() {
        end = strings;
        return this;
    }

    /** Address of a zero-terminated copy of the text, 0 for null; valid until {@link #reset}. */
    long string(String text) {
        if (text == null) {
            return 0;
        }
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        if (end + bytes.length + 1 > strings + STRING_LENGTH) {
            throw new IllegalArgumentException("too long: '" + text + "'");
        }
        long at = end;
        for (int i = 0; i < bytes.length; i++) {
            if (bytes[i] == 0) {
                throw new IllegalArgumentException("contains a zero character: '" + text + "'");
            }
            UnsafeApi.putByte(null, at + i, bytes[i]);
        }
        UnsafeApi.putByte(null, at + bytes.length, (byte) 0);
        end = at + bytes.length + 1;
        return at;
    }

    /** Address for softnic's explanation, emptied. */
    long why() {
        UnsafeApi.putByte(null, why, (byte) 0);
        return why;
    }

    /** What softnic explained. */
    String explanation() {
        return text(why, Layout.SNIC_WHY_MAX);
    }

    /**
     * Checks what a call has answered that was given {@link #why}.
     *
     * @throws TransportException with what softnic explained, if it failed
     */
    void check(String call, int result) {
        if (result < 0) {
            throw Errno.exception(call, result, explanation());
        }
    }

    /** Text of up to {@code max} bytes that ends at a zero. */
    static String text(long address, int max) {
        byte[] bytes = new byte[max];
        int length = 0;
        for (; length < max; length++) {
            bytes[length] = UnsafeApi.getByte(null, address + length);
            if (bytes[length] == 0) {
                break;
            }
        }
        return new String(bytes, 0, length, StandardCharsets.UTF_8);
    }

    @Override
    public void close() {
        if (memory != 0) {
            UnsafeApi.freeMemory(memory);
            memory = 0;
        }
    }
}
