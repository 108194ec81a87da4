package dev.verbena.shm;

import dev.verbena.softnic.NativeAccess;
import dev.verbena.softnic.bindings.Layout;
import dev.verbena.softnic.bindings.softnic;
import java.net.URI;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.agrona.UnsafeApi;

/** A NIC whose data path is the C implementation: what a C program would do, call by call. */
final class CPeer implements AutoCloseable {
    static {
        NativeAccess.open();
    }

    private final NativeScratch scratch = new NativeScratch();
    private final long shm;
    private final URI uri;
    private final long buffer = UnsafeApi.allocateMemory(1 << 20);
    final ArrayDeque<byte[]> messages = new ArrayDeque<>();
    final ArrayDeque<long[]> notifies = new ArrayDeque<>();
    final List<Long> tokens = new ArrayList<>();
    long connection;
    int endType;

    CPeer(String name, int messageMax, int credits) {
        long options = UnsafeApi.allocateMemory(Layout.OPTIONS_SIZE);
        UnsafeApi.setMemory(options, Layout.OPTIONS_SIZE, (byte) 0);
        putLong(options + Layout.OPTIONS_JOB, scratch.string(ShmTesting.job()));
        putLong(options + Layout.OPTIONS_NAME, scratch.string(name));
        UnsafeApi.putInt(null, options + Layout.OPTIONS_MESSAGE_MAX, messageMax);
        UnsafeApi.putInt(null, options + Layout.OPTIONS_CREDITS, credits);
        int result =
                softnic.shm_create(options, scratch.result, scratch.why(), Layout.SNIC_WHY_MAX);
        UnsafeApi.freeMemory(options);
        if (result < 0) {
            throw Errno.exception("shm_create", result, scratch.explanation());
        }
        shm = UnsafeApi.getLong(null, scratch.result);
        uri =
                new ShmAddress(
                                ShmTesting.job(),
                                name,
                                softnic.snic_incarnation(softnic.shm_nic(shm)))
                        .uri();
    }

    private static void putLong(long at, long value) {
        UnsafeApi.putLong(null, at, value);
    }

    URI uri() {
        return uri;
    }

    void listen() {
        softnic.shm_listen(shm);
    }

    /** 0 or -errno. */
    int send(byte[] bytes) {
        return softnic.shm_send(shm, connection, copy(bytes), bytes.length);
    }

    int putNotify(long keySlot, int generation, long secret, long offset, byte[] bytes, int tag) {
        UnsafeApi.putInt(null, scratch.key + Layout.KEY_SLOT, (int) keySlot);
        UnsafeApi.putInt(null, scratch.key + Layout.KEY_GENERATION, generation);
        putLong(scratch.key + Layout.KEY_SECRET, secret);
        return softnic.shm_put_notify(
                shm, connection, scratch.key, offset, copy(bytes), bytes.length, tag);
    }

    private long copy(byte[] bytes) {
        for (int i = 0; i < bytes.length; i++) {
            UnsafeApi.putByte(null, buffer + i, bytes[i]);
        }
        return buffer;
    }

    /** Takes up to 16 events; accepts every connection; keeps messages unreleased. */
    void poll() {
        int count = softnic.shm_poll(shm, scratch.events, NativeScratch.EVENTS_MAX);
        if (count < 0) {
            throw new AssertionError("shm_poll: " + count);
        }
        for (int i = 0; i < count; i++) {
            take(scratch.events + (long) i * Layout.EVENT_SIZE);
        }
    }

    private void take(long event) {
        int type = UnsafeApi.getInt(null, event + Layout.EVENT_TYPE);
        if (type == Layout.SHM_EVENT_MESSAGE) {
            int length = (int) getLong(event + Layout.EVENT_LENGTH);
            long data = getLong(event + Layout.EVENT_DATA);
            byte[] bytes = new byte[length];
            for (int i = 0; i < length; i++) {
                bytes[i] = UnsafeApi.getByte(null, data + i);
            }
            messages.add(bytes);
            tokens.add(getLong(event + Layout.EVENT_TOKEN));
        } else if (type == Layout.SHM_EVENT_NOTIFY) {
            notifies.add(
                    new long[] {
                        UnsafeApi.getInt(null, event + Layout.EVENT_TAG),
                        getLong(event + Layout.EVENT_OFFSET),
                        getLong(event + Layout.EVENT_BYTES)
                    });
        } else if (type == Layout.SHM_EVENT_CONNECT_REQUEST) {
            connection = getLong(event + Layout.EVENT_CONNECTION);
            softnic.shm_accept(shm, connection, 0);
        } else if (type != Layout.SHM_EVENT_CONNECTED) {
            endType = type;
        }
    }

    private static long getLong(long at) {
        return UnsafeApi.getLong(null, at);
    }

    void release(long token) {
        int result = softnic.shm_release(shm, token);
        if (result != 0) {
            throw new AssertionError("shm_release: " + result);
        }
    }

    @Override
    public void close() {
        softnic.shm_close(shm);
        scratch.close();
        UnsafeApi.freeMemory(buffer);
    }
}
