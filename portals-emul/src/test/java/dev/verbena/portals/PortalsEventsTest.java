package dev.verbena.portals;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Events, thresholds and unlinking through the Java objects (assertions 28 to 40, 62 to 69). */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class PortalsEventsTest extends PortalsPair {
    @Test
    @Tag("portals3-28")
    @Tag("portals3-29")
    void shouldNotAcknowledgeUnlessBothSidesWantIt() {
        post(1, rules(100), false);
        post(2, rules(100).acknowledge(false), false);
        MemoryDescriptor from = bound(from(10));
        delivered(put(from, 10, false, 1, 0, 0));
        expect(initiatorQueue, PortalsEventKind.SEND_START, PortalsEventKind.SEND_END);
        delivered(put(from, 10, true, 2, 0, 0));
        expect(initiatorQueue, PortalsEventKind.SEND_START, PortalsEventKind.SEND_END);
        delivered(put(from, 10, true, 1, 0, 0));
        expect(
                initiatorQueue,
                PortalsEventKind.SEND_START,
                PortalsEventKind.SEND_END,
                PortalsEventKind.ACK);
    }

    @Test
    @Tag("portals3-31")
    void shouldUnlinkAfterTheAckThatUsesTheThresholdUp() {
        post(rules(100), false);
        MemoryDescriptor from = initiator.bind(from(10).threshold(2), MemoryDescriptor.UNLINK);
        delivered(put(from, 10, true));
        expect(
                initiatorQueue,
                PortalsEventKind.SEND_START,
                PortalsEventKind.SEND_END,
                PortalsEventKind.ACK,
                PortalsEventKind.UNLINK);
        assertThat(put(from, 10, true)).isEqualTo(-PortalsCode.MD_INVALID);
    }

    @Test
    @Tag("portals3-32")
    void shouldNeverSeeAnAckForWhichNoThresholdIsLeft() {
        post(rules(100), false);
        MemoryDescriptor from = initiator.bind(from(10).threshold(1), MemoryDescriptor.UNLINK);
        delivered(put(from, 10, true));
        expect(
                initiatorQueue,
                PortalsEventKind.SEND_START,
                PortalsEventKind.SEND_END,
                PortalsEventKind.UNLINK);
    }

    @Test
    @Tag("portals3-33")
    void shouldRefuseToSendFromAUsedUpDescriptor() {
        post(rules(100), false);
        MemoryDescriptor from = bound(from(10).threshold(1));
        delivered(put(from, 10, false));
        assertThat(put(from, 10, false)).isEqualTo(-PortalsCode.MD_INVALID);
        expect(initiatorQueue, PortalsEventKind.SEND_START, PortalsEventKind.SEND_END);
        assertThat(from.isLinked()).isTrue();
    }

    @Test
    @Tag("portals3-34")
    void shouldPutAPartAndNothingBeyondTheDescriptor() {
        post(rules(100), false);
        MemoryDescriptor from = bound(from(100));
        long to = target.id().target();
        long[][] outside = {{90, 11}, {101, 0}, {1, -1}, {-1, 1}, {1, Long.MAX_VALUE}};
        for (long[] part : outside) {
            assertThat(from.put(part[0], part[1], false, to, INDEX, 0, BITS, 0, 0))
                    .isEqualTo(-PortalsCode.MD_ILLEGAL);
        }
        expect(initiatorQueue);
        delivered(from.put(20, 5, false, to, INDEX, 0, BITS, 0, 0));
        for (int i = 0; i < 5; i++) {
            assertThat(there.getByte(i)).isEqualTo(sent.getByte(20 + i));
        }
        assertThat(there.getByte(5)).isZero();
    }

    @Test
    @Tag("portals3-35")
    void shouldMoveBytesWithoutQueues() {
        post(rules(100).queue(null), false);
        delivered(put(silent(10), 10, true));
        expect(targetQueue);
        expect(initiatorQueue);
        assertThat(there.getByte(9)).isEqualTo(sent.getByte(9));
    }

    @Test
    @Tag("portals3-36")
    void shouldPutNothing() {
        post(rules(0), false);
        delivered(put(bound(from(0)), 0, true));
        expect(targetQueue, PortalsEventKind.PUT_START, PortalsEventKind.PUT_END);
        assertThat(event.length()).isZero();
        expect(
                initiatorQueue,
                PortalsEventKind.SEND_START,
                PortalsEventKind.SEND_END,
                PortalsEventKind.ACK);
    }

    @Test
    @Tag("portals3-38")
    void shouldPutToItself() {
        post(rules(100), false);
        MemoryDescriptor own = target.bind(rules(4096, 10), MemoryDescriptor.RETAIN);
        there.putByte(4099, (byte) 99);
        delivered(put(own, 10, true));
        expect(
                targetQueue,
                PortalsEventKind.SEND_START,
                PortalsEventKind.SEND_END,
                PortalsEventKind.ACK,
                PortalsEventKind.PUT_START,
                PortalsEventKind.PUT_END);
        assertThat(there.getByte(3)).isEqualTo((byte) 99);
    }

    @Test
    @Tag("portals3-39")
    @Tag("portals3-40")
    void shouldDeliverInOrderWhatWasThereWhenTheSendEnded() {
        EventQueue large = target.eventQueue(2048);
        post(rules(4000).queue(large), false);
        MemoryDescriptor from = bound(from(4));
        for (int i = 0; i < 1000; i++) {
            sent.putInt(0, i);
            delivered(put(from, 4, false, BITS, 0, i));
            expect(initiatorQueue, PortalsEventKind.SEND_START, PortalsEventKind.SEND_END);
        }
        sent.putInt(0, -1);
        for (int i = 0; i < 1000; i++) {
            assertThat(take(large, PortalsEventKind.PUT_START).headerData()).isEqualTo(i);
            assertThat(take(large, PortalsEventKind.PUT_END).offset()).isEqualTo(4L * i);
            assertThat(there.getInt(4 * i)).isEqualTo(i);
        }
    }

    @Test
    @Tag("portals3-62")
    void shouldLogOnlyTheEventsThatAreNotDisabled() {
        boolean[][] wanted = {{false, true}, {true, false}, {false, false}};
        int[][] atTarget = {{PortalsEventKind.PUT_END}, {PortalsEventKind.PUT_START}, {}};
        int[][] atInitiator = {
            {PortalsEventKind.SEND_END, PortalsEventKind.ACK},
            {PortalsEventKind.SEND_START, PortalsEventKind.ACK},
            {}
        };
        for (int i = 0; i < wanted.length; i++) {
            boolean starts = wanted[i][0];
            boolean ends = wanted[i][1];
            post(i, rules(100).startEvents(starts).endEvents(ends), false);
            MemoryDescriptor from = bound(from(4).startEvents(starts).endEvents(ends));
            delivered(put(from, 4, true, i, 0, 0));
            expect(targetQueue, atTarget[i]);
            expect(initiatorQueue, atInitiator[i]);
        }
    }

    @Test
    @Tag("portals3-63")
    @Tag("portals3-67")
    @Tag("portals3-68")
    @Tag("portals3-69")
    void shouldUnlinkAfterTheThirdPutAndKeepARetainedEntry() {
        for (boolean unlink : new boolean[] {MatchEntry.RETAIN, MatchEntry.UNLINK}) {
            MatchEntry entry =
                    target.attach(
                            INDEX,
                            MatchEntryContext.of(ANY, ANY, BITS, 0, unlink, MatchEntry.BEFORE));
            MemoryDescriptor descriptor =
                    entry.attach(
                            rules(100).threshold(3).userPointer(0xABCDEF012345L),
                            MemoryDescriptor.UNLINK);
            assertThatThrownBy(() -> entry.attach(rules(100), false))
                    .hasMessageContaining("PTL_ME_IN_USE");
            MemoryDescriptor from = silent(4);
            int end = 0;
            for (int left = 2; left >= 0; left--) {
                delivered(put(from, 4, false));
                int start = take(targetQueue, PortalsEventKind.PUT_START).sequence();
                assertThat(event.link()).isEqualTo(start);
                take(targetQueue, PortalsEventKind.PUT_END);
                assertThat(event.link()).isEqualTo(start);
                assertThat(event.descriptorThreshold()).isEqualTo(left);
                assertThat(event.descriptorHandle()).isEqualTo(descriptor.handle());
                assertThat(event.userPointer()).isEqualTo(0xABCDEF012345L);
                end = event.sequence();
            }
            expect(targetQueue, PortalsEventKind.UNLINK);
            assertThat(event.link()).isEqualTo(end);
            assertThat(event.descriptorHandle()).isEqualTo(descriptor.handle());
            assertThat(event.userPointer()).isEqualTo(0xABCDEF012345L);
            if (unlink) {
                assertThatThrownBy(() -> entry.attach(rules(100), false))
                        .hasMessageContaining("PTL_ME_INVALID");
            } else {
                entry.attach(rules(100).threshold(1), MemoryDescriptor.RETAIN);
                delivered(put(from, 4, false));
                expect(targetQueue, PortalsEventKind.PUT_START, PortalsEventKind.PUT_END);
            }
        }
    }

    @Test
    @Tag("portals3-64")
    void shouldLogNoUnlinkByHand() {
        MemoryDescriptor descriptor = post(rules(100), false);
        assertThat(descriptor.tryUnlink()).isTrue();
        expect(targetQueue);
        openBoth(context().cray(true));
        MemoryDescriptor unasked =
                target.attach(
                                INDEX,
                                MatchEntryContext.of(ANY, ANY, BITS, 0, true, MatchEntry.AFTER))
                        .attach(quiet(0, 100).threshold(1), MemoryDescriptor.UNLINK);
        delivered(put(silent(4), 4, false));
        expect(targetQueue, PortalsEventKind.PUT_END);
        assertThat(unasked.isLinked()).isFalse();
    }

    @Test
    @Tag("portals3-65")
    void shouldLogUnlinkLastUnderManyPutsOfSeveralInitiators() throws InterruptedException {
        EventQueue large = target.eventQueue(4096);
        post(rules(MEMORY_LENGTH).threshold(800).queue(large), MatchEntry.UNLINK);
        int target = this.target.id().pid();
        PortalsProcess to = new PortalsProcess(this.target.id().nid(), target);
        Runnable flood =
                () -> {
                    try (PortalsInterface ni = PortalsInterface.open(context());
                            MemoryDescriptor from = ni.bind(new MemoryDescriptorContext(), false)) {
                        for (int i = 0; i < 300; i++) {
                            int outcome = from.put(0, 0, false, to.target(), INDEX, 0, BITS, 0, 0);
                            assertThat(outcome)
                                    .isIn(PortalsOutcome.DELIVERED, PortalsOutcome.DROPPED);
                        }
                    }
                };
        join(start(flood), start(flood), start(flood), start(flood));
        int ends = 0;
        while (large.poll(event) == EventQueue.EVENT && event.kind() != PortalsEventKind.UNLINK) {
            ends += event.kind() == PortalsEventKind.PUT_END ? 1 : 0;
        }
        assertThat(ends).isEqualTo(800);
        assertThat(event.kind()).isEqualTo(PortalsEventKind.UNLINK);
        assertThat(event.descriptorThreshold()).isZero();
        expect(large);
        assertThat(drops()).isEqualTo(400);
    }
}
