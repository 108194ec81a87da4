package dev.verbena.verbs;

import dev.verbena.rdma.VerbsAccess;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.agrona.UnsafeApi;

/** The recording librdmacm of {@code src/test/c/rdmacm_stub.c}, used as {@link VerbsStub} is. */
final class CmStub {
    private static final Path SOURCE = Path.of("src/test/c/rdmacm_stub.c");
    private static final Path LIBRARY = Path.of("target/stub/librdmacm_stub.so");
    private static final int RECORD_OF_CHANNEL = 8;
    private static final int CALL = 8;
    private static final int ARGUMENTS = 40;
    private static final int BYTES = 72;
    private static final int DATA = 584;
    private static final int FAIL_CALL = 840;
    private static final int FAIL_ERRNO = 872;
    private static final int OPEN_OBJECTS = 876;
    private static final int UNACKNOWLEDGED = 880;
    private static final int EVENT_COUNT = 884;
    private static final int EVENTS = 888;
    private static final int EVENT_LENGTH = 32;
    private static final int CALLS_IN_ORDER = 1016;
    private static final int CALLS_IN_ORDER_LENGTH = 512;
    private static final int PASSES = 1528;

    final ConnectionChannel channel;
    private final long record;

    private CmStub(ConnectionChannel channel) {
        this.channel = channel;
        this.record = UnsafeApi.getLong(null, channel.address() + RECORD_OF_CHANNEL);
    }

    /** Opens a channel; the caller closes it. */
    static CmStub open() {
        install();
        return new CmStub(ConnectionChannel.open());
    }

    /** Makes the stubs what {@link VerbsAccess} opens. */
    static synchronized void install() {
        VerbsStub.install();
        if (System.getProperty(VerbsAccess.RDMACM_PROPERTY) == null) {
            try {
                VerbsStub.compile(SOURCE, LIBRARY);
            } catch (IOException | InterruptedException e) {
                throw new IllegalStateException("cannot compile " + SOURCE, e);
            }
            System.setProperty(VerbsAccess.RDMACM_PROPERTY, LIBRARY.toAbsolutePath().toString());
        }
        VerbsAccess.openRdmaCm();
    }

    /** Last call in C. */
    String call() {
        return CallMemory.text(record + CALL, 32);
    }

    /** All calls since {@link #forgetCalls}. */
    List<String> calls() {
        return List.of(CallMemory.text(record + CALLS_IN_ORDER, CALLS_IN_ORDER_LENGTH).split(" "));
    }

    void forgetCalls() {
        UnsafeApi.setMemory(record + CALLS_IN_ORDER, CALLS_IN_ORDER_LENGTH, (byte) 0);
    }

    long argument(int index) {
        return UnsafeApi.getLong(null, record + ARGUMENTS + 8L * index);
    }

    /** The structure that the last call was given; of a second address from 128 on. */
    byte[] bytes(int offset, int length) {
        return CallMemory.getBytes(record + BYTES + offset, length);
    }

    int byteArgument(int offset) {
        return CallMemory.getByte(record + BYTES + offset);
    }

    int intArgument(int offset) {
        return CallMemory.getInt(record + BYTES + offset);
    }

    /** The private data that the last call was given. */
    byte[] data(int length) {
        return CallMemory.getBytes(record + DATA, length);
    }

    int openObjects() {
        return CallMemory.getInt(record + OPEN_OBJECTS);
    }

    int unacknowledged() {
        return CallMemory.getInt(record + UNACKNOWLEDGED);
    }

    /** The next call of this name fails. */
    void fail(String call, int errno) {
        failAfter(0, call, errno);
    }

    /** So many calls of this name succeed, then one fails. */
    void failAfter(int passes, String call, int errno) {
        UnsafeApi.putInt(null, record + PASSES, passes);
        UnsafeApi.setMemory(record + FAIL_CALL, 32, (byte) 0);
        for (int i = 0; i < call.length(); i++) {
            UnsafeApi.putByte(null, record + FAIL_CALL + i, (byte) call.charAt(i));
        }
        UnsafeApi.putInt(null, record + FAIL_ERRNO, errno);
    }

    /** One more event, about an identifier. */
    void tell(ConnectionEventType type, int status, ConnectionIdentifier about, int dataLength) {
        tell(type.code(), status, about.address(), 0, about.space().isDatagram(), dataLength);
    }

    /** One more event: somebody connects. */
    void tellRequest(ConnectionIdentifier listener, int dataLength) {
        tell(
                ConnectionEventType.CONNECT_REQUEST.code(),
                0,
                0,
                listener.address(),
                listener.space().isDatagram(),
                dataLength);
    }

    void tell(int code, int status, long id, long listener, boolean isDatagram, int dataLength) {
        int count = CallMemory.getInt(record + EVENT_COUNT);
        long at = record + EVENTS + (long) count * EVENT_LENGTH;
        UnsafeApi.putInt(null, at, code);
        UnsafeApi.putInt(null, at + 4, status);
        UnsafeApi.putLong(null, at + 8, id);
        UnsafeApi.putLong(null, at + 16, listener);
        UnsafeApi.putInt(null, at + 24, isDatagram ? 1 : 0);
        UnsafeApi.putInt(null, at + 28, dataLength);
        UnsafeApi.putInt(null, record + EVENT_COUNT, count + 1);
    }
}
