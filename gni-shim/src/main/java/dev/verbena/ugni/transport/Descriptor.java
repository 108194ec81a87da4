package dev.verbena.ugni.transport;

import dev.verbena.ugni.bindings.ugni;
import org.agrona.concurrent.UnsafeBuffer;

/** Writes one {@code gni_post_descriptor_t}, which stays where it is. */
final class Descriptor {
    static final int STRIDE = 192;

    private static final int HANDLE_HALF = 8;

    final long address;
    private final UnsafeBuffer bytes;

    Descriptor(long address) {
        this.address = address;
        this.bytes = new UnsafeBuffer(address, ugni.VGN_POST_BYTES);
        bytes.setMemory(0, ugni.VGN_POST_BYTES, (byte) 0);
    }

    Descriptor kind(int type, int cqMode) {
        bytes.putInt(ugni.VGN_POST_TYPE, type);
        bytes.putShort(ugni.VGN_POST_CQ_MODE, (short) cqMode);
        return this;
    }

    Descriptor local(long address, long handleLow, long handleHigh) {
        bytes.putLong(ugni.VGN_POST_LOCAL_ADDR, address);
        bytes.putLong(ugni.VGN_POST_LOCAL_HNDL, handleLow);
        bytes.putLong(ugni.VGN_POST_LOCAL_HNDL + HANDLE_HALF, handleHigh);
        return this;
    }

    Descriptor remote(long address, long handleLow, long handleHigh) {
        bytes.putLong(ugni.VGN_POST_REMOTE_ADDR, address);
        bytes.putLong(ugni.VGN_POST_REMOTE_HNDL, handleLow);
        bytes.putLong(ugni.VGN_POST_REMOTE_HNDL + HANDLE_HALF, handleHigh);
        return this;
    }

    Descriptor length(long length) {
        bytes.putLong(ugni.VGN_POST_LENGTH, length);
        return this;
    }

    Descriptor syncFlag(long address, long value) {
        bytes.putLong(ugni.VGN_POST_SYNC_ADDR, address);
        bytes.putLong(ugni.VGN_POST_SYNC_VALUE, value);
        return this;
    }

    Descriptor amo(int command, long first, long second) {
        bytes.putInt(ugni.VGN_POST_AMO_CMD, command);
        bytes.putLong(ugni.VGN_POST_FIRST, first);
        bytes.putLong(ugni.VGN_POST_SECOND, second);
        return this;
    }
}
