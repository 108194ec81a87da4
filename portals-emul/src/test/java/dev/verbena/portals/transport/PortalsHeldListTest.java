package dev.verbena.portals.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.agent.Await;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.portals.MemoryDescriptor;
import dev.verbena.portals.MemoryDescriptorContext;
import dev.verbena.portals.PortalsInterface;
import dev.verbena.portals.PortalsMemory;
import dev.verbena.portals.PortalsRegister;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportHandler;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The lists of a receiver on whose lock somebody sits, as a peer does that is stopped inside it:
 * they are filled up later, and nothing is thrown. Four messages use a descriptor up, and are what
 * the sender has credits for.
 */
@Timeout(60)
class PortalsHeldListTest implements TransportHandler {
    private static final int CREDITS = 4;
    private static final int LENGTH_MAX = 64;

    private final List<Throwable> errors = new ArrayList<>();
    private final List<Integer> received = new ArrayList<>();
    private final List<Long> retained = new ArrayList<>();
    private PortalsTransport sender;
    private PortalsTransport receiver;
    private RegisteredRegion source;
    private HeldLock lock;
    private long connection;
    private int connectedCount;
    private int disconnectedCount;
    private int sent;
    private int entryCalls;
    private boolean isRetaining;

    /** The next match entry of the receiver is attached, then its lock is held. */
    private boolean isToBeHeldAfterEntry;

    /** The receiver's lock is held until an unlink has found it so. */
    private boolean isToBeReleasedAfterUnlink;

    private void connect(int messageEvents) throws IOException {
        sender = PortalsTransportProvider.open(context(messageEvents), null);
        receiver = PortalsTransportProvider.open(context(messageEvents), this::onCall);
        receiver.listen();
        connectOnce();
        source = sender.allocate(LENGTH_MAX, 0);
        lock = HeldLock.of(receiver);
    }

    private TransportContext context(int messageEvents) {
        return new TransportContext()
                .job("held-list-" + ProcessHandle.current().pid())
                .creditsPerConnection(CREDITS)
                .receiveSlotCount(2 * CREDITS)
                .messageLengthMax(LENGTH_MAX)
                .connectionsMax(2)
                .option(ResourceSizes.EVENTS_OPTION, Integer.toString(messageEvents))
                .errorHandler(errors::add);
    }

    private void onCall(String call, String arguments, String result) {
        boolean isEntry = call.equals("PtlMEAttach");
        entryCalls += isEntry ? 1 : 0;
        if (isToBeHeldAfterEntry && isEntry) {
            isToBeHeldAfterEntry = false;
            lock.hold();
        }
        if (isToBeReleasedAfterUnlink && call.endsWith("Unlink")) {
            isToBeReleasedAfterUnlink = false;
            assertThat(result).contains("NO_SPACE");
            lock.release();
        }
    }

    @AfterEach
    void close() {
        source.close();
        assertThat(receiver.resources().ni.findFault()).isNull();
        sender.close();
        receiver.close();
        assertThat(errors).isEmpty();
    }

    private void connectOnce() {
        int before = connectedCount;
        sender.connect(receiver.uri(), new UnsafeBuffer(new byte[0]), 0, 0, 1, 10_000_000_000L);
        pollUntil("connected", () -> connectedCount == before + 2);
    }

    private void pollUntil(String what, BooleanSupplier isDone) {
        Await.until(
                what,
                () -> {
                    receiver.poll(this, 10);
                    if (lock != null) {
                        lock.release();
                    }
                    sender.poll(this, 10);
                    return isDone.getAsBoolean();
                });
    }

    /** A descriptor is used up by messages that the receiver has not seen. */
    private void fillDescriptor() {
        int space = MessageHeader.space(LENGTH_MAX);
        assertThat(receiver.resources().messages.bufferLength()).isEqualTo(CREDITS * space);
        pollUntil("credits", () -> sender.connections.find(connection).takenByPeer == sent);
        for (int i = 0; i < CREDITS; i++) {
            source.buffer(0, LENGTH_MAX).putInt(0, sent++);
            assertThat(sender.send(connection, source, 0, LENGTH_MAX, 1, 0))
                    .isEqualTo(Transport.ACCEPTED);
        }
    }

    private int linked() {
        return receiver.resources().messages.linkedCount();
    }

    private void checkAllReceived() {
        pollUntil("received", () -> received.size() == sent);
        assertThat(received).containsExactlyElementsOf(IntStream.range(0, sent).boxed().toList());
        pollUntil("filled up", () -> linked() == ReceiveQueue.LIST_LENGTH);
    }

    @Test
    void shouldPollAndReleaseWithAListThatCannotBeFilledUp() throws IOException {
        connect(64);
        isRetaining = true;
        fillDescriptor();
        int count =
                lock.whileHeld(
                        () -> {
                            int polled = receiver.poll(this, 10);
                            retained.forEach(receiver::release);
                            return polled;
                        });
        assertThat(count).isEqualTo(CREDITS);
        assertThat(linked()).isEqualTo(ReceiveQueue.LIST_LENGTH - 1);
        isRetaining = false;
        pollUntil("filled up", () -> linked() == ReceiveQueue.LIST_LENGTH);
        fillDescriptor();
        checkAllReceived();
    }

    /** First a buffer that is new, since the one before is in use; later those of the list. */
    @Test
    void shouldGoOnWithAnEntryThatGotNoDescriptor() throws IOException {
        connect(64);
        long entries = receiver.register(PortalsRegister.MATCH_ENTRIES);
        for (int turn = 0; turn < 6; turn++) {
            isRetaining = turn == 0;
            fillDescriptor();
            isToBeHeldAfterEntry = true;
            receiver.poll(this, 10);
            assertThat(lock.release()).isTrue();
            assertThat(linked()).isEqualTo(ReceiveQueue.LIST_LENGTH - 1);
            checkAllReceived();
            assertThat(receiver.register(PortalsRegister.MATCH_ENTRIES)).isEqualTo(entries);
            retained.forEach(receiver::release);
            retained.clear();
        }
    }

    @Test
    void shouldMakeUpForLostEventsWhenTheLockIsFree() throws IOException {
        connect(CREDITS);
        fillDescriptor();
        assertThat(lock.whileHeld(() -> receiver.poll(this, 10))).isZero();
        isToBeHeldAfterEntry = true;
        Await.until(
                "held",
                () -> {
                    receiver.poll(this, 10);
                    return lock.release();
                });
        checkAllReceived();
        assertThat(receiver.statistics().eventLosses()).isEqualTo(1);
    }

    /** Connects and disconnects come to lists of their own. */
    @Test
    void shouldFillUpTheListsOfRecordsLater() throws IOException {
        connect(64);
        ReceiveQueue answers = receiver.resources().answers;
        ReceiveQueue requests = receiver.resources().requests();
        while (answers.unlinkCount() == 0 || requests.unlinkCount() == 0) {
            isToBeHeldAfterEntry = true;
            int before = disconnectedCount;
            assertThat(sender.disconnect(connection)).isEqualTo(Transport.ACCEPTED);
            pollUntil("disconnected", () -> disconnectedCount > before);
            connectOnce();
        }
        pollUntil("filled up", () -> answers.linkedCount() == ReceiveQueue.LIST_LENGTH);
        pollUntil("filled up", () -> requests.linkedCount() == ReceiveQueue.LIST_LENGTH);
    }

    @Test
    void shouldCloseARegionWhenTheLockIsFree() throws IOException {
        connect(64);
        RegisteredRegion exposed = receiver.allocate(LENGTH_MAX, RemoteDescriptor.REMOTE_WRITE);
        isToBeReleasedAfterUnlink = true;
        lock.hold();
        exposed.close();
        assertThat(isToBeReleasedAfterUnlink).isFalse();
        RegisteredRegion local = receiver.allocate(LENGTH_MAX, 0);
        lock.hold();
        CompletableFuture.delayedExecutor(1, TimeUnit.SECONDS).execute(lock::release);
        local.close(); // frees its memory only
    }

    /** A try waits for the lock, and most polls try nothing. */
    @Test
    void shouldPollWithoutWaitingBetweenTries() throws IOException {
        connect(64);
        isRetaining = true; // a buffer that is new gets an entry
        fillDescriptor();
        int before = entryCalls;
        lock.whileHeld(() -> IntStream.range(0, 40).map(i -> receiver.poll(this, 10)).sum());
        assertThat(entryCalls - before).isBetween(1, 20);
        assertThat(linked()).isEqualTo(ReceiveQueue.LIST_LENGTH - 1);
        retained.forEach(receiver::release);
        checkAllReceived();
    }

    /** Nothing is thrown, and somebody should know. */
    @Test
    void shouldReportAListThatStaysShort() throws IOException {
        connect(64);
        fillDescriptor();
        PortalsInterface ni = receiver.resources().ni;
        PortalsMemory memory = ni.allocate(LENGTH_MAX);
        MemoryDescriptorContext rules = new MemoryDescriptorContext().memory(memory);
        List<MemoryDescriptor> taken = new ArrayList<>();
        assertThatThrownBy(
                        () -> {
                            while (true) {
                                taken.add(ni.bind(rules, MemoryDescriptor.RETAIN));
                            }
                        })
                .hasMessageContaining("NO_SPACE");
        pollUntil("reported", () -> !errors.isEmpty());
        for (int i = 0; i < 1000; i++) {
            receiver.poll(this, 10);
        }
        assertThat(errors).hasSize(1);
        assertThat(errors.get(0)).hasMessageContainingAll("2 of 3 descriptors", "NO_SPACE");
        errors.clear();
        taken.forEach(MemoryDescriptor::close);
        memory.close();
        checkAllReceived();
    }

    @Override
    public void onMessage(
            long c, long context, DirectBuffer buffer, int offset, int length, long token) {
        received.add(buffer.getInt(offset));
        if (isRetaining) {
            receiver.retain(token);
            retained.add(token);
        }
    }

    @Override
    public void onConnectRequest(long c, URI peer, DirectBuffer data, int offset, int length) {
        receiver.accept(c, 2);
    }

    @Override
    public void onConnected(long c, long context) {
        connectedCount++;
        if (context == 1) {
            connection = c;
        }
    }

    @Override
    public void onDisconnected(long c, long context) {
        disconnectedCount++;
    }
}
