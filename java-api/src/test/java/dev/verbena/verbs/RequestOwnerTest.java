package dev.verbena.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.rdma.calls.VerbsLayout;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What a thread that does not have a list of requests, or a completion queue, tries changes nothing
 * there, over the recording libibverbs.
 */
@Timeout(120)
class RequestOwnerTest {
    private static final int ROUNDS = 60;
    private static final int ACCESS = Access.REMOTE_ALL | Access.WINDOW_BIND;

    private final StubPair pair = new StubPair(QueuePairType.RC);
    private final VerbsStub stub = pair.stub;
    private final QueuePair queue = pair.queue;
    private final SendRequests sends = queue.newSends(2);

    @AfterEach
    void close() {
        sends.close();
        pair.close();
    }

    /** What another thread's attempt ends with; null if with nothing. */
    private static RuntimeException elsewhere(Runnable action) throws InterruptedException {
        AtomicReference<RuntimeException> caught = new AtomicReference<>();
        Thread thread =
                new Thread(
                        () -> {
                            try {
                                action.run();
                            } catch (RuntimeException e) {
                                caught.set(e);
                            }
                        });
        thread.start();
        thread.join(60_000);
        assertThat(thread.isAlive()).isFalse();
        return caught.get();
    }

    private static void assertRefused(List<Runnable> edits) throws InterruptedException {
        for (int i = 0; i < edits.size(); i++) {
            assertThat(elsewhere(edits.get(i)))
                    .as("edit %d", i)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("work requests is used by thread");
        }
    }

    @Test
    void shouldLeaveAPreparedBindAsItWas() throws Exception {
        try (OffHeapMemory memory = OffHeapMemories.allocate(4096);
                MemoryRegion region = pair.domain.register(memory, ACCESS);
                MemoryWindow window = pair.domain.allocateMemoryWindow(MemoryWindowType.TYPE_2)) {
            SendRequestFlyweight bind = sends.at(0).id(7).signalled(true);
            bind.bindWindow(window, window.nextKey(), region, 0, 64, Access.REMOTE_READ);
            assertRefused(
                    List.of(
                            () -> bind.id(8),
                            () -> bind.send(),
                            () -> bind.sendInvalidate(1),
                            () -> bind.write(1, 2),
                            () -> bind.compareSwap(1, 2, 3, 4),
                            () -> bind.fetchAdd(1, 2, 3),
                            () -> bind.localInvalidate(1),
                            () -> bind.bindWindow(window, 1, region, 8, 8, Access.REMOTE_READ),
                            () -> bind.toShared(1),
                            () -> bind.immediate(1),
                            () -> bind.segments(0),
                            () -> bind.segment(region, 0, 8),
                            () -> bind.segment(1, region, 0, 8),
                            () -> bind.signalled(false),
                            () -> bind.inline(true)));
            assertThat(queue.post(bind)).isEqualTo(1);
            assertThat(stub.requestInt(0, VerbsLayout.SEND_WR_OPCODE))
                    .isEqualTo(VerbsLayout.IBV_WR_BIND_MW);
            assertThat(stub.requestLong(0, VerbsLayout.SEND_WR_BIND_MW_MW))
                    .isEqualTo(window.address());
            assertThat(stub.requestInt(0, VerbsLayout.SEND_WR_NUM_SGE)).isZero();
            assertThat(stub.requestInt(0, VerbsLayout.SEND_WR_SEND_FLAGS))
                    .isEqualTo(VerbsLayout.IBV_SEND_SIGNALED);
            stub.complete(CompletionStatus.SUCCESS, 0, stub.postedId(0));
            assertThat(pair.completions.poll(1)).isEqualTo(1);
            assertThat(pair.completions.completion(0).id()).isEqualTo(7);
        }
    }

    @Test
    void shouldLeaveAPreparedSendAsItWas() throws Exception {
        SendRequestFlyweight send =
                sends.at(0).segment(pair.region, 16, 100).segment(1, pair.region, 0, 8);
        send.segments(2);
        assertRefused(List.of(() -> send.segments(0), () -> send.segments(1), () -> send.send()));
        assertThat(send.length()).isEqualTo(108);
        assertThat(queue.post(send)).isEqualTo(1);
        assertThat(stub.requestInt(0, VerbsLayout.SEND_WR_NUM_SGE)).isEqualTo(2);
        queue.toReset();
    }

    @Test
    void shouldLeaveWhereADatagramGoes() throws Exception {
        PathContext path = new PathContext();
        try (QueuePair datagrams =
                        pair.domain.createQueuePair(
                                new QueuePairContext()
                                        .type(QueuePairType.UD)
                                        .completions(pair.completions));
                AddressHandle here = pair.domain.createAddressHandle(path, null, 1);
                AddressHandle there = pair.domain.createAddressHandle(path, null, 2);
                SendRequests frames = datagrams.newSends(1)) {
            SendRequestFlyweight frame = frames.at(0).segments(0).to(here, 5, 6);
            assertRefused(List.of(() -> frame.to(there, 7, 8)));
            assertThat(datagrams.post(frame)).isEqualTo(1);
            assertThat(stub.requestLong(0, VerbsLayout.SEND_WR_WR_UD_AH)).isEqualTo(here.address());
            assertThat(stub.requestInt(0, VerbsLayout.SEND_WR_WR_UD_REMOTE_QPN)).isEqualTo(5);
            datagrams.toReset();
        }
    }

    @Test
    void shouldRefuseEditsWhileTheRequestsAreBeingClosed() throws Exception {
        for (int round = 0; round < ROUNDS; round++) {
            SendRequests closing = queue.newSends(1);
            SendRequestFlyweight request = closing.at(0).segment(pair.region, 0, 8);
            AtomicBoolean isClosed = new AtomicBoolean();
            AtomicReference<Throwable> problem = new AtomicReference<>();
            Thread editor = new Thread(() -> editUntilClosed(request, isClosed));
            editor.setUncaughtExceptionHandler((thread, e) -> problem.set(e));
            editor.start();
            Thread.yield();
            closing.close();
            isClosed.set(true);
            editor.join(60_000);
            assertThat(editor.isAlive()).isFalse();
            assertThat(problem.get()).isNull();
        }
    }

    /** Each edit is refused: by the claim before, by the bounds of nothing after the close. */
    private static void editUntilClosed(SendRequestFlyweight request, AtomicBoolean isClosed) {
        boolean wasClosed;
        do {
            wasClosed = isClosed.get();
            for (Runnable edit :
                    List.<Runnable>of(
                            () -> request.send(),
                            () -> request.segments(1),
                            () -> request.inline(true))) {
                RuntimeException refusal = null;
                try {
                    edit.run();
                } catch (IllegalStateException | IndexOutOfBoundsException e) {
                    refusal = e;
                }
                assertThat(refusal).isNotNull();
            }
        } while (!wasClosed);
    }

    private void completeOne() {
        assertThat(queue.post(sends.at(0).id(3).segments(0).signalled(true))).isEqualTo(1);
        stub.complete(CompletionStatus.SUCCESS, 0, stub.postedId(0));
    }

    @Test
    void shouldShowCompletionsToTheThreadThatPollsOnly() throws Exception {
        completeOne();
        assertThat(pair.completions.poll(1)).isEqualTo(1);
        assertThat(elsewhere(() -> pair.completions.completion(0)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("a completion queue is used by thread");
        assertThat(pair.completions.completion(0).id()).isEqualTo(3);
    }

    @Test
    void shouldReadNoFreedCompletionWhileTheirQueueIsBeingClosed() throws Exception {
        for (int round = 0; round < ROUNDS; round++) {
            CompletionQueue completions = stub.device.createCompletionQueue(4);
            CompletionFlyweight kept;
            try (QueuePair other =
                            pair.domain.createQueuePair(
                                    new QueuePairContext().completions(completions));
                    SendRequests one = other.newSends(1)) {
                assertThat(other.post(one.at(0).id(9).segments(0).signalled(true))).isEqualTo(1);
                stub.complete(CompletionStatus.SUCCESS, 0, stub.postedId(0));
                assertThat(completions.poll(1)).isEqualTo(1);
                kept = completions.completion(0);
            }
            AtomicReference<Throwable> problem = new AtomicReference<>();
            AtomicBoolean isRead = new AtomicBoolean();
            Thread reader = new Thread(() -> readUntilClosed(kept, isRead));
            reader.setUncaughtExceptionHandler((thread, e) -> problem.set(e));
            reader.start();
            while (!isRead.get()) {
                Thread.yield();
            }
            completions.close();
            reader.join(60_000);
            assertThat(reader.isAlive()).isFalse();
            assertThat(problem.get()).isNull();
        }
    }

    /** Not allowed, but it reads what was there, or an exception. */
    private static void readUntilClosed(CompletionFlyweight kept, AtomicBoolean isRead) {
        try {
            while (true) {
                assertThat(kept.id()).isEqualTo(9);
                isRead.set(true);
            }
        } catch (IndexOutOfBoundsException e) {
            isRead.set(true);
        }
    }
}
