package dev.verbena.verbs;

import dev.verbena.rdma.VerbsAccess;
import dev.verbena.rdma.calls.VerbsLayout;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.concurrent.TimeUnit;
import org.agrona.UnsafeApi;

/**
 * The recording libibverbs of {@code src/test/c/ibverbs_stub.c}: compiled when first needed, and
 * opened in place of the real one by every test of this JVM that uses verbs. Tests of real devices
 * are in classes for Failsafe, which has a JVM of its own.
 */
public final class VerbsStub {
    static final String RECORDING = "stub0";
    static final String NOTHING = "nothing0";

    private static final Path SOURCE = Path.of("src/test/c/ibverbs_stub.c");
    private static final Path LIBRARY = Path.of("target/stub/libibverbs_stub.so");
    private static final int CALL = 8;
    private static final int ARGUMENTS = 40;
    private static final int BYTES = 104;
    private static final int FAIL_CALL = 1128;
    private static final int FAIL_ERRNO = 1160;
    private static final int POST_BAD = 1164;
    private static final int POST_ERRNO = 1168;
    private static final int COMPLETIONS = 1172;
    private static final int POSTED = 1176;
    private static final int OPEN_OBJECTS = 1180;
    private static final int EVENT = 1184;
    private static final int CHANNEL_EVENTS = 1188;
    private static final int WC = 1192;
    private static final int REQUESTS = 1960;
    private static final int REQUEST_LENGTH = 256;
    private static final int SEGMENTS = 6056;
    private static final int SEGMENTS_MAX = 4;
    private static final int BUILDER = 7080;
    private static final int SHARED_ONLY = 7592;
    private static final int RECEIVE_COUNT = 7600;
    private static final int RECEIVE_IDS = 7608;
    private static final int RECEIVES_MAX = 512;
    private static final int PATH_COUNT = 11704;
    private static final int PATHS = 11712;
    private static final int PATHS_MAX = 4;

    final RdmaDevice device;
    private final long record;

    private VerbsStub(RdmaDevice device) {
        this.device = device;
        this.record = device.attributes().limit("max_mr_size");
    }

    /** Opens the recording device; the caller closes it. */
    public static VerbsStub open() {
        install();
        return new VerbsStub(RdmaDevices.open(RECORDING));
    }

    /** No queue can be made any more on the device of this pair. */
    public static void leaveNoLogs(QueuePair pair) {
        pair.device().logsMax(1);
    }

    /** Closes the device that was opened for it. */
    public void close() {
        UnsafeApi.putLong(null, record + SHARED_ONLY, 0);
        device.close();
    }

    /** Queue pairs that were ever joined with a peer. */
    public long pathCount() {
        return UnsafeApi.getLong(null, record + PATH_COUNT);
    }

    /** A byte of the address ({@code struct ibv_ah_attr}) that one of the last four was given. */
    public int pathByte(long number, int offset) {
        if (number < pathCount() - PATHS_MAX || number >= pathCount()) {
            throw new IndexOutOfBoundsException("path " + number + " of " + pathCount());
        }
        long at = record + PATHS + number % PATHS_MAX * VerbsLayout.AH_ATTR_SIZEOF;
        return UnsafeApi.getByte(null, at + offset) & 0xff;
    }

    /** Shared receives that were ever posted. */
    public long receiveCount() {
        return UnsafeApi.getLong(null, record + RECEIVE_COUNT);
    }

    /** The id of a shared receive, by its number, which is not too long ago. */
    public long receiveId(long number) {
        if (number < receiveCount() - RECEIVES_MAX || number >= receiveCount()) {
            throw new IndexOutOfBoundsException("receive " + number + " of " + receiveCount());
        }
        return UnsafeApi.getLong(null, record + RECEIVE_IDS + 8 * (number % RECEIVES_MAX));
    }

    /** The next poll of the queue that shared receives complete in answers these. */
    public void completeReceives(
            int opcode,
            int queuePair,
            boolean hasImmediate,
            int immediate,
            int length,
            long... ids) {
        UnsafeApi.putLong(null, record + SHARED_ONLY, 1);
        complete(CompletionStatus.SUCCESS, opcode, ids);
        for (int i = 0; i < ids.length; i++) {
            long at = record + WC + (long) i * VerbsLayout.WC_SIZEOF;
            UnsafeApi.putInt(null, at + VerbsLayout.WC_BYTE_LEN, length);
            UnsafeApi.putInt(null, at + VerbsLayout.WC_IMM_DATA, Integer.reverseBytes(immediate));
            UnsafeApi.putInt(null, at + VerbsLayout.WC_QP_NUM, queuePair);
            UnsafeApi.putInt(
                    null,
                    at + VerbsLayout.WC_WC_FLAGS,
                    hasImmediate ? VerbsLayout.IBV_WC_WITH_IMM : 0);
        }
    }

    /** The next poll of a queue, which must be one for requests, answers these. */
    public void completeSends(int status, long... ids) {
        UnsafeApi.putLong(null, record + SHARED_ONLY, 0);
        complete(status, 0, ids);
    }

    /** Makes the stub what {@link VerbsAccess} opens. */
    static synchronized void install() {
        if (System.getProperty(VerbsAccess.IBVERBS_PROPERTY) == null) {
            try {
                compile(SOURCE, LIBRARY);
            } catch (IOException | InterruptedException e) {
                throw new IllegalStateException("cannot compile " + SOURCE, e);
            }
            System.setProperty(VerbsAccess.IBVERBS_PROPERTY, LIBRARY.toAbsolutePath().toString());
        }
        VerbsAccess.open();
    }

    static void compile(Path source, Path library) throws IOException, InterruptedException {
        Files.createDirectories(library.getParent());
        Path made = Files.createTempFile(library.getParent(), "stub", ".so");
        Process compiler =
                new ProcessBuilder(
                                "cc",
                                "-std=gnu11",
                                "-O2",
                                "-Wall",
                                "-Wextra",
                                "-Werror",
                                "-fPIC",
                                "-shared",
                                "-fvisibility=hidden",
                                "-o",
                                made.toString(),
                                source.toString())
                        .inheritIO()
                        .start();
        if (!compiler.waitFor(100, TimeUnit.SECONDS) || compiler.exitValue() != 0) {
            compiler.destroyForcibly();
            throw new IOException("cc failed on " + source.toAbsolutePath());
        }
        Files.move(made, library, StandardCopyOption.ATOMIC_MOVE);
    }

    /** Last call in C. */
    String call() {
        return CallMemory.text(record + CALL, 32);
    }

    long argument(int index) {
        return UnsafeApi.getLong(null, record + ARGUMENTS + 8L * index);
    }

    /** The structure that the last call was given. */
    int intArgument(int offset) {
        return UnsafeApi.getInt(null, record + BYTES + offset);
    }

    long longArgument(int offset) {
        return UnsafeApi.getLong(null, record + BYTES + offset);
    }

    int shortArgument(int offset) {
        return UnsafeApi.getShort(null, record + BYTES + offset) & 0xffff;
    }

    int byteArgument(int offset) {
        return UnsafeApi.getByte(null, record + BYTES + offset) & 0xff;
    }

    byte[] bytesArgument(int offset, int length) {
        return CallMemory.getBytes(record + BYTES + offset, length);
    }

    /** The next call of this name fails. */
    public void fail(String call, int errno) {
        UnsafeApi.setMemory(record + FAIL_CALL, 32, (byte) 0);
        for (int i = 0; i < call.length(); i++) {
            UnsafeApi.putByte(null, record + FAIL_CALL + i, (byte) call.charAt(i));
        }
        UnsafeApi.putInt(null, record + FAIL_ERRNO, errno);
    }

    /** The next post refuses this request of its chain. */
    void refuse(int request, int errno) {
        UnsafeApi.putInt(null, record + POST_BAD, request);
        UnsafeApi.putInt(null, record + POST_ERRNO, errno);
    }

    /** Requests of the last post. */
    int posted() {
        return UnsafeApi.getInt(null, record + POSTED);
    }

    public int openObjects() {
        return UnsafeApi.getInt(null, record + OPEN_OBJECTS);
    }

    void event(int type) {
        UnsafeApi.putInt(null, record + EVENT, type);
    }

    void channelEvent() {
        UnsafeApi.putInt(null, record + CHANNEL_EVENTS, 1);
    }

    int requestInt(int request, int offset) {
        return UnsafeApi.getInt(null, record + REQUESTS + request * REQUEST_LENGTH + offset);
    }

    long requestLong(int request, int offset) {
        return UnsafeApi.getLong(null, record + REQUESTS + request * REQUEST_LENGTH + offset);
    }

    long segmentAddress(int request, int segment) {
        return UnsafeApi.getLong(null, segmentAt(request, segment) + VerbsLayout.SGE_ADDR);
    }

    int segmentLength(int request, int segment) {
        return UnsafeApi.getInt(null, segmentAt(request, segment) + VerbsLayout.SGE_LENGTH);
    }

    int segmentKey(int request, int segment) {
        return UnsafeApi.getInt(null, segmentAt(request, segment) + VerbsLayout.SGE_LKEY);
    }

    private long segmentAt(int request, int segment) {
        return record + SEGMENTS + (long) (request * SEGMENTS_MAX + segment) * 16;
    }

    /** The calls of the builder interface since it was last started. */
    String builderCalls() {
        return CallMemory.text(record + BUILDER, 512).trim();
    }

    /** The id that a request of the last post had in C. */
    public long postedId(int request) {
        return requestLong(request, 0);
    }

    /** The next poll of any queue answers this, which says that it failed. */
    void failPoll(int result) {
        failPoll(result, false);
    }

    /** As that; only the queue that shared receives complete in, or any. */
    void failPoll(int result, boolean isOfSharedReceives) {
        UnsafeApi.putLong(null, record + SHARED_ONLY, isOfSharedReceives ? 1 : 0);
        UnsafeApi.putInt(null, record + COMPLETIONS, result);
    }

    /** The next poll answers that a datagram came, with a route header or without. */
    void completeDatagram(long id, int sender, boolean hasRouteHeader) {
        complete(CompletionStatus.SUCCESS, CompletionFlyweight.RECEIVE, id);
        long at = record + WC;
        UnsafeApi.putInt(null, at + VerbsLayout.WC_SRC_QP, sender);
        UnsafeApi.putInt(
                null, at + VerbsLayout.WC_WC_FLAGS, hasRouteHeader ? VerbsLayout.IBV_WC_GRH : 0);
    }

    /** The next poll answers these ids, in order, with this status and kind. */
    void complete(int status, int opcode, long... ids) {
        for (int i = 0; i < ids.length; i++) {
            long at = record + WC + (long) i * VerbsLayout.WC_SIZEOF;
            UnsafeApi.setMemory(at, VerbsLayout.WC_SIZEOF, (byte) 0);
            UnsafeApi.putLong(null, at + VerbsLayout.WC_WR_ID, ids[i]);
            UnsafeApi.putInt(null, at + VerbsLayout.WC_STATUS, status);
            UnsafeApi.putInt(null, at + VerbsLayout.WC_OPCODE, opcode);
            UnsafeApi.putInt(null, at + VerbsLayout.WC_BYTE_LEN, 100 + i);
            UnsafeApi.putInt(null, at + VerbsLayout.WC_IMM_DATA, Integer.reverseBytes(0xabcd1234));
            UnsafeApi.putInt(null, at + VerbsLayout.WC_QP_NUM, 18);
            UnsafeApi.putInt(null, at + VerbsLayout.WC_WC_FLAGS, VerbsLayout.IBV_WC_WITH_IMM);
        }
        UnsafeApi.putInt(null, record + COMPLETIONS, ids.length);
    }
}
