package dev.verbena.portals;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Where bytes land and what is too long, through the Java objects (assertions 41 to 56). */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class PortalsOffsetsTest extends PortalsPair {
    private void putThree() {
        MemoryDescriptor from = silent(100);
        delivered(put(from, 10, false, BITS, 50, 0));
        delivered(put(from, 20, false, BITS, 7, 0));
        delivered(put(from, 5, false, BITS, 0, 0));
    }

    private void expectOffsets(long... offsets) {
        for (long offset : offsets) {
            assertThat(take(targetQueue, PortalsEventKind.PUT_END).offset()).isEqualTo(offset);
        }
        expect(targetQueue);
    }

    @Test
    @Tag("portals3-41")
    void shouldPutOneBehindTheOtherWhenTheTargetManagesTheOffset() {
        post(quiet(0, 100), false);
        putThree();
        expectOffsets(0, 10, 30);
    }

    @Test
    @Tag("portals3-42")
    void shouldPutWhereTheRequestSays() {
        post(quiet(0, 100).remoteOffset(true), false);
        putThree();
        expectOffsets(50, 7, 0);
    }

    @Test
    @Tag("portals3-43")
    void shouldLeaveWhatIsTooLongToTheNextEntry() {
        post(quiet(0, 10), false);
        post(quiet(100, 100), false);
        MemoryDescriptor from = silent(200);
        delivered(put(from, 11, false));
        assertThat(take(targetQueue, PortalsEventKind.PUT_END).descriptorStart())
                .isEqualTo(targetMemory.address() + 100);
        delivered(put(from, 10, false));
        assertThat(take(targetQueue, PortalsEventKind.PUT_END).descriptorStart())
                .isEqualTo(targetMemory.address());
        dropped(put(from, 101, false));
        assertThat(drops()).isEqualTo(1);
    }

    @Test
    @Tag("portals3-44")
    @Tag("portals3-45")
    void shouldShortenWhatIsTooLongAndSaySo() {
        post(quiet(0, 10).truncate(true), false);
        MemoryDescriptor from = bound(from(25).startEvents(false));
        for (long left : new long[] {10, 0}) {
            delivered(put(from, 25, true));
            take(targetQueue, PortalsEventKind.PUT_END);
            assertThat(event.length()).isEqualTo(left);
            assertThat(event.requestedLength()).isEqualTo(25);
            assertThat(take(initiatorQueue, PortalsEventKind.SEND_END).length()).isEqualTo(25);
            assertThat(take(initiatorQueue, PortalsEventKind.ACK).length()).isEqualTo(left);
        }
        assertThat(there.getByte(9)).isEqualTo((byte) 10);
        assertThat(there.getByte(10)).isZero();
    }

    @Test
    @Tag("portals3-46")
    @Tag("portals3-47")
    void shouldRejectOffsetsBehindTheEnd() {
        post(quiet(0, 10).truncate(true).remoteOffset(true), false);
        MemoryDescriptor from = silent(5);
        dropped(put(from, 5, false, BITS, 11, 1));
        delivered(put(from, 5, false, BITS, 10, 2));
        dropped(put(from, 5, false, BITS, -1, 3));
        dropped(put(from, 5, false, BITS, -4, 4));
        dropped(put(from, 5, false, BITS, Long.MAX_VALUE, 5));
        assertThat(take(targetQueue, PortalsEventKind.PUT_END).headerData()).isEqualTo(2);
        assertThat(event.length()).isZero();
        expect(targetQueue);
        for (int i = 0; i < MEMORY_LENGTH; i++) {
            assertThat(there.getByte(i)).isZero();
        }
    }

    @Test
    @Tag("portals3-49")
    void shouldTakeAMessageLongerThanTheSpaceThatHasToBeLeft() {
        post(quiet(0, 100).spaceMin(40), false);
        delivered(put(silent(90), 90, false));
        assertThat(take(targetQueue, PortalsEventKind.PUT_END).length()).isEqualTo(90);
    }

    @Test
    @Tag("portals3-52")
    void shouldUnlinkAfterTheReply() {
        post(rules(100), false);
        MemoryDescriptor into = initiator.bind(from(10).threshold(1), MemoryDescriptor.UNLINK);
        delivered(get(into, 10, BITS));
        expect(
                initiatorQueue,
                PortalsEventKind.REPLY_START,
                PortalsEventKind.REPLY_END,
                PortalsEventKind.UNLINK);
        assertThat(into.isLinked()).isFalse();
    }

    @Test
    @Tag("portals3-51")
    @Tag("portals3-52")
    void shouldLogASendForAGetOnCray() {
        openBoth(context().cray(true));
        post(rules(100), false);
        MemoryDescriptor into =
                initiator.bind(
                        from(10).threshold(2).unlinkEvents(true, false), MemoryDescriptor.UNLINK);
        delivered(get(into, 10, BITS));
        expect(
                initiatorQueue,
                PortalsEventKind.SEND_START,
                PortalsEventKind.SEND_END,
                PortalsEventKind.REPLY_START,
                PortalsEventKind.REPLY_END,
                PortalsEventKind.UNLINK);
    }

    @Test
    @Tag("portals3-54")
    void shouldGetLessFromAShorterDescriptorOrNothing() {
        post(1, quiet(0, 8).truncate(true), false);
        post(2, quiet(0, 8), false);
        there.setMemory(0, 8, (byte) 0x77);
        MemoryDescriptor into = bound(from(20).startEvents(false));
        delivered(get(into, 20, 1));
        take(targetQueue, PortalsEventKind.GET_END);
        assertThat(event.requestedLength()).isEqualTo(20);
        assertThat(event.length()).isEqualTo(8);
        assertThat(take(initiatorQueue, PortalsEventKind.REPLY_END).length()).isEqualTo(8);
        assertThat(sent.getByte(7)).isEqualTo((byte) 0x77);
        assertThat(sent.getByte(8)).isEqualTo((byte) 9);
        dropped(get(into, 20, 2));
        expect(initiatorQueue);
    }

    @Test
    @Tag("portals3-55")
    void shouldAdvanceTheOffsetByGetsToo() {
        post(quiet(0, 100), false);
        for (int i = 0; i < 100; i++) {
            there.putByte(i, (byte) i);
        }
        MemoryDescriptor both = silent(10);
        delivered(put(both, 10, false));
        delivered(get(both, 10, BITS));
        for (int i = 0; i < 10; i++) {
            assertThat(sent.getByte(i)).isEqualTo((byte) (10 + i));
        }
    }

    @Test
    @Tag("portals3-56")
    @Tag("portals3-58")
    void shouldRejectOperationsThatADescriptorDoesNotAllow() {
        post(1, quiet(0, 100).acceptPut(false), false);
        post(2, quiet(0, 100).acceptGet(false), false);
        MemoryDescriptor both = silent(10);
        long to = target.id().target();
        dropped(put(both, 10, false, 1, 0, 0));
        dropped(get(both, 10, 2));
        MemoryDescriptor source = silent(10);
        dropped(both.getPut(source, to, INDEX, 0, 1, 0, 0));
        dropped(both.getPut(source, to, INDEX, 0, 2, 0, 0));
        delivered(get(both, 10, 1));
        delivered(put(both, 10, false, 2, 0, 0));
        assertThat(drops()).isEqualTo(4);
    }
}
