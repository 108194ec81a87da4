package dev.verbena.portals;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Several initiators, a target that does nothing, none at all, through the Java objects. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class PortalsProgressTest extends PortalsPair {
    private static final int ROUNDS = 10_000;
    private static final int LARGE = 16 << 20;
    private int counted;

    /** Takes the token out of the word by a swap, counts, puts it back. */
    private void count(long to, AtomicInteger leftover) {
        try (PortalsInterface ni = PortalsInterface.open(context())) {
            PortalsMemory memory = ni.allocate(64);
            UnsafeBuffer words = memory.buffer(0, 64);
            MemoryDescriptor zero = word(ni, memory, 0);
            MemoryDescriptor token = word(ni, memory, 8);
            MemoryDescriptor scrap = word(ni, memory, 16);
            for (int i = 0; i < ROUNDS / 2; i++) {
                do {
                    Thread.yield();
                    delivered(token.getPut(zero, to, INDEX, 0, BITS, 0, 0));
                } while (words.getLong(8) == 0);
                counted++; // not atomic: the token protects it
                delivered(scrap.getPut(token, to, INDEX, 0, BITS, 0, 0));
                leftover.addAndGet((int) words.getLong(16));
            }
            ni.closeAll();
        }
    }

    private static MemoryDescriptor word(PortalsInterface ni, PortalsMemory memory, int offset) {
        return ni.bind(
                new MemoryDescriptorContext().region(memory.address() + offset, 8),
                MemoryDescriptor.RETAIN);
    }

    @Test
    @Tag("portals3-60")
    void shouldNeverLoseATokenThatIsSwapped() throws InterruptedException {
        post(rules(8).remoteOffset(true).queue(null), false);
        there.putLong(0, 42);
        long to = target.id().target();
        AtomicInteger leftover = new AtomicInteger();
        join(start(() -> count(to, leftover)), start(() -> count(to, leftover)));
        assertThat(counted).isEqualTo(ROUNDS);
        assertThat(there.getLong(0)).isEqualTo(42);
        assertThat(leftover.get()).isZero();
    }

    @Test
    @Tag("portals3-86")
    void shouldAnswerForATargetThatCallsNothing() throws InterruptedException {
        post(rules(64).remoteOffset(true), false);
        // This thread owns the target and sits in join: nobody else may call it.
        join(
                start(
                        () -> {
                            initiator.moveTo(Thread.currentThread());
                            MemoryDescriptor from = bound(from(8));
                            delivered(put(from, 8, true));
                            delivered(get(from, 8, BITS));
                            expect(
                                    initiatorQueue,
                                    PortalsEventKind.SEND_START,
                                    PortalsEventKind.SEND_END,
                                    PortalsEventKind.ACK,
                                    PortalsEventKind.REPLY_START,
                                    PortalsEventKind.REPLY_END);
                        }));
    }

    @Test
    @Tag("portals3-87")
    void shouldSendToNobodyAndGoOn() {
        post(rules(64), false);
        PortalsProcess nobody = new PortalsProcess(target.id().nid(), 0xFFF0);
        MemoryDescriptor from = bound(from(8));
        assertThat(from.put(0, 8, true, nobody.target(), INDEX, 0, BITS, 0, 0))
                .isEqualTo(PortalsOutcome.UNREACHABLE);
        expect(initiatorQueue, PortalsEventKind.SEND_START, PortalsEventKind.SEND_END);
        assertThat(event.failure()).isNotZero();
        assertThat(from.get(0, 8, nobody.target(), INDEX, 0, BITS, 0))
                .isEqualTo(PortalsOutcome.UNREACHABLE);
        delivered(put(from, 8, false));
    }

    private void putMany(long to, int interfaces, int puts) {
        PortalsInterface[] opened = new PortalsInterface[interfaces];
        MemoryDescriptor[] from = new MemoryDescriptor[interfaces];
        for (int i = 0; i < interfaces; i++) {
            opened[i] = PortalsInterface.open(context());
            PortalsMemory memory = opened[i].allocate(8);
            memory.buffer(0, 8).putLong(0, -1);
            from[i] = word(opened[i], memory, 0);
        }
        for (int k = 0; k < puts; k++) {
            for (MemoryDescriptor each : from) {
                delivered(each.put(0, 8, false, to, INDEX, 0, BITS, 0, 0));
            }
        }
        for (PortalsInterface ni : opened) {
            ni.closeAll();
        }
    }

    @Test
    @Tag("portals3-89")
    void shouldTakeThePutsOfManyInitiatorsWithoutGap() throws InterruptedException {
        int length = 64 * 1000 * 8;
        UnsafeBuffer all;
        PortalsMemory memory = target.allocate(length + 8);
        all = memory.buffer(0, length + 8);
        post(rules(8).region(memory.address(), length).queue(null), false);
        long to = target.id().target();
        join(start(() -> putMany(to, 32, 1000)), start(() -> putMany(to, 32, 1000)));
        for (int at = 0; at < length; at += 8) {
            if (all.getLong(at) != -1) {
                assertThat(all.getLong(at)).as("at " + at).isEqualTo(-1);
            }
        }
        assertThat(all.getLong(length)).isZero();
        assertThat(target.status(PortalsRegister.RECEIVE_COUNT)).isEqualTo(64_000);
        assertThat(drops()).isZero();
        dropped(put(silent(8), 8, false)); // the offset is at the end
    }

    /** Puts of 16 MiB go on until one is met in its middle. */
    @Test
    @Tag("portals3-90")
    void shouldNotUnlinkWhileAPutIsUnderWay() throws InterruptedException {
        PortalsMemory into = target.allocate(LARGE);
        AtomicInteger mayPut = new AtomicInteger();
        AtomicInteger hasPut = new AtomicInteger();
        Thread sender = start(() -> putLarge(mayPut, hasPut));
        boolean isMet = false;
        for (int round = 1; !isMet && round < 500; round++) {
            MemoryDescriptor descriptor =
                    post(rules(8).region(into.address(), LARGE), MatchEntry.UNLINK);
            mayPut.set(round);
            assertThat(targetQueue.await(event, 50_000_000_000L)).isEqualTo(EventQueue.EVENT);
            isMet = !descriptor.tryUnlink();
            while (hasPut.get() != round && sender.isAlive()) {
                Thread.yield();
            }
            expect(targetQueue, PortalsEventKind.PUT_END);
            assertThat(descriptor.tryUnlink()).isTrue();
        }
        mayPut.set(-1);
        join(sender);
        assertThat(isMet).isTrue();
    }

    private void putLarge(AtomicInteger mayPut, AtomicInteger hasPut) {
        initiator.moveTo(Thread.currentThread());
        PortalsMemory memory = initiator.allocate(LARGE);
        MemoryDescriptor from = initiator.bind(new MemoryDescriptorContext().memory(memory), false);
        for (int round = 1; ; round++) {
            while (mayPut.get() == round - 1) {
                Thread.yield();
            }
            if (mayPut.get() < 0) {
                return;
            }
            delivered(put(from, LARGE, false));
            hasPut.set(round);
        }
    }
}
