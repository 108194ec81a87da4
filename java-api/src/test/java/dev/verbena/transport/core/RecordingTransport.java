package dev.verbena.transport.core;

import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.TransferVector;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportHandler;
import java.net.URI;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.agrona.DirectBuffer;

/** Has no card: writes down which hooks are called, and by whom its parts may be used. */
final class RecordingTransport extends GuardedTransport {
    static final int PRIVATE_MAX = 16;

    final List<String> calls = new CopyOnWriteArrayList<>();
    final List<Thread> owners;
    Runnable whilePolling = () -> {};
    volatile String openAnyTime;
    volatile String openInside;
    boolean isFreeThrowing;

    RecordingTransport() {
        this(new CopyOnWriteArrayList<>());
    }

    private RecordingTransport(List<Thread> owners) {
        super(
                "recording transport",
                URI.create("recording://here"),
                limits(new TransportContext(), 4, PRIVATE_MAX),
                owners::add);
        this.owners = owners;
    }

    private int note(String call) {
        if (!guard.isInsideOnThisThread()) {
            throw new IllegalCallerException(call + " outside the guard");
        }
        calls.add(call);
        return 0;
    }

    @Override
    protected RegisteredRegion allocateRegion(long length, int rights) {
        note("allocate");
        return null;
    }

    @Override
    protected RegisteredRegion registerRegion(OffHeapMemory memory, int rights) {
        note("register");
        return null;
    }

    @Override
    protected String openRegions(boolean isOwnerOutside) {
        return isOwnerOutside ? openInside : openAnyTime;
    }

    @Override
    protected void listenForPeers() {
        note("listen");
    }

    @Override
    protected long connectTo(
            URI peer,
            DirectBuffer privateData,
            int offset,
            int length,
            long context,
            long timeoutNs) {
        note("connect");
        return 1;
    }

    @Override
    protected int acceptPeer(long connection, long context) {
        return note("accept");
    }

    @Override
    protected int rejectPeer(long connection) {
        return note("reject");
    }

    @Override
    protected int disconnectPeer(long connection) {
        return note("disconnect");
    }

    @Override
    protected void retainMessage(long messageToken) {
        note("retain");
    }

    @Override
    protected void releaseMessage(long messageToken) {
        note("release");
    }

    @Override
    protected int deliver(TransportHandler handler, int limit) {
        note("poll");
        whilePolling.run();
        return 7;
    }

    @Override
    protected boolean awaitEvents(long deadlineNs) {
        note("await");
        return takeWakeup();
    }

    @Override
    protected void ringBell() {
        calls.add("ring");
    }

    @Override
    protected void free() {
        calls.add("free");
        if (isFreeThrowing) {
            throw new IllegalCallerException("no card");
        }
    }

    @Override
    public long capabilities() {
        return 0;
    }

    @Override
    public String explain() {
        return "writes down what is called";
    }

    @Override
    public int send(
            long connection,
            RegisteredRegion source,
            long offset,
            long length,
            long context,
            int flags) {
        return NOT_SUPPORTED;
    }

    @Override
    protected int transfer(
            int operation,
            long connection,
            RegisteredRegion local,
            long offset,
            RemoteDescriptor remote,
            long remoteOffset,
            long length,
            int tag,
            long context,
            int flags) {
        return NOT_SUPPORTED;
    }

    @Override
    protected int transfer(
            int operation,
            long connection,
            TransferVector vector,
            RemoteDescriptor remote,
            long context,
            int flags) {
        return NOT_SUPPORTED;
    }

    @Override
    protected int atomic(
            int operation,
            long connection,
            RemoteDescriptor target,
            long targetOffset,
            long operand,
            long update,
            long context,
            int flags) {
        return NOT_SUPPORTED;
    }
}
