package dev.verbena.portals;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** Two interfaces of this process, initiator and target, for tests of the numbered assertions. */
abstract class PortalsPair {
    static final int ANY = PortalsInterface.ANY;
    static final int INDEX = 5;
    static final long BITS = 0x1234;
    static final int MEMORY_LENGTH = 8192;
    private static final AtomicInteger SERIAL = new AtomicInteger();

    final PortalsEventFlyweight event = new PortalsEventFlyweight();
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    String job;
    PortalsInterface initiator;
    PortalsInterface target;
    EventQueue initiatorQueue;
    EventQueue targetQueue;
    PortalsMemory initiatorMemory;
    PortalsMemory targetMemory;
    UnsafeBuffer sent;
    UnsafeBuffer there;

    PortalsInterfaceContext context() {
        return new PortalsInterfaceContext()
                .job(job)
                .lockTimeoutMs(10_000) // a busy machine is not a stopped process
                .eventSlotCount(8192)
                .matchEntriesMax(128)
                .descriptorsMax(128)
                .eventQueuesMax(16);
    }

    @BeforeEach
    void open() {
        job = "pair-" + ProcessHandle.current().pid() + "-" + SERIAL.getAndIncrement();
        openBoth(context());
    }

    /** Once more, with other settings. */
    void openBoth(PortalsInterfaceContext context) {
        close();
        initiator = PortalsInterface.open(context);
        target = PortalsInterface.open(context);
        initiatorQueue = initiator.eventQueue(64);
        targetQueue = target.eventQueue(64);
        initiatorMemory = initiator.allocate(MEMORY_LENGTH);
        targetMemory = target.allocate(MEMORY_LENGTH);
        sent = initiatorMemory.buffer(0, MEMORY_LENGTH);
        there = targetMemory.buffer(0, MEMORY_LENGTH);
        for (int i = 0; i < MEMORY_LENGTH; i++) {
            sent.putByte(i, (byte) (i % 251 + 1));
        }
    }

    @AfterEach
    void close() {
        if (target != null) {
            initiator.moveTo(Thread.currentThread());
            target.moveTo(Thread.currentThread());
            assertThat(target.findFault()).isNull();
            initiator.closeAll();
            target.closeAll();
        }
    }

    /** Accepts puts and gets into the first bytes of the target's memory. */
    MemoryDescriptorContext rules(long length) {
        return rules(0, length);
    }

    MemoryDescriptorContext rules(long offset, long length) {
        return new MemoryDescriptorContext()
                .region(targetMemory.address() + offset, length)
                .acceptPut(true)
                .acceptGet(true)
                .queue(targetQueue);
    }

    /** As {@link #rules(long)}, but only END events. */
    MemoryDescriptorContext quiet(long offset, long length) {
        return rules(offset, length).startEvents(false);
    }

    /** At the end of the list. */
    MemoryDescriptor post(MemoryDescriptorContext rules, boolean unlink) {
        return post(BITS, rules, unlink);
    }

    MemoryDescriptor post(long bits, MemoryDescriptorContext rules, boolean unlink) {
        return target.attach(
                        INDEX, MatchEntryContext.of(ANY, ANY, bits, 0, unlink, MatchEntry.AFTER))
                .attach(rules, unlink);
    }

    MemoryDescriptorContext from(long length) {
        return new MemoryDescriptorContext()
                .region(length == 0 ? 0 : initiatorMemory.address(), length)
                .queue(initiatorQueue);
    }

    MemoryDescriptor bound(MemoryDescriptorContext rules) {
        return initiator.bind(rules, MemoryDescriptor.RETAIN);
    }

    /** Bound without a queue. */
    MemoryDescriptor silent(long length) {
        return bound(from(length).queue(null));
    }

    int put(MemoryDescriptor from, long length, boolean ack) {
        return put(from, length, ack, BITS, 0, 0);
    }

    int put(MemoryDescriptor from, long length, boolean ack, long bits, long offset, long header) {
        return from.put(0, length, ack, target.id().target(), INDEX, 0, bits, offset, header);
    }

    int get(MemoryDescriptor into, long length, long bits) {
        return into.get(0, length, target.id().target(), INDEX, 0, bits, 0);
    }

    void delivered(int outcome) {
        assertThat(PortalsOutcome.name(outcome))
                .isEqualTo(PortalsOutcome.name(PortalsOutcome.DELIVERED));
    }

    void dropped(int outcome) {
        assertThat(PortalsOutcome.name(outcome))
                .isEqualTo(PortalsOutcome.name(PortalsOutcome.DROPPED));
    }

    /** The next event is of this kind. */
    PortalsEventFlyweight take(EventQueue queue, int kind) {
        assertThat(queue.poll(event)).as(PortalsEventKind.name(kind)).isEqualTo(EventQueue.EVENT);
        assertThat(PortalsEventKind.name(event.kind())).isEqualTo(PortalsEventKind.name(kind));
        return event;
    }

    /** These events and no other. */
    void expect(EventQueue queue, int... kinds) {
        for (int kind : kinds) {
            take(queue, kind);
        }
        assertThat(queue.poll(event)).isEqualTo(EventQueue.EMPTY);
    }

    /** A thread whose failure {@link #join} tells. Each uses interfaces of its own. */
    Thread start(Runnable body) {
        Thread thread =
                new Thread(
                        () -> {
                            try {
                                body.run();
                            } catch (Throwable e) {
                                failure.compareAndSet(null, e);
                            }
                        });
        thread.start();
        return thread;
    }

    void join(Thread... threads) throws InterruptedException {
        for (Thread thread : threads) {
            thread.join();
        }
        if (failure.get() != null) {
            throw new AssertionError(failure.get());
        }
    }

    /** The pid of somebody else, never the wildcard. */
    int otherPid() {
        return initiator.id().pid() == 1 ? 2 : 1;
    }

    long drops() {
        return target.status(PortalsRegister.DROP_COUNT);
    }
}
