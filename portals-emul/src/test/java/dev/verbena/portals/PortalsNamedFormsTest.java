package dev.verbena.portals;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The forms of put, get, attach, insert and post whose values have names. */
@Timeout(60)
class PortalsNamedFormsTest extends PortalsPair {
    private PortalsRequest request() {
        return new PortalsRequest(target.id(), INDEX).matchBits(BITS);
    }

    private void tookAt(long offset) {
        take(targetQueue, PortalsEventKind.PUT_END);
        assertThat(event.descriptorStart()).isEqualTo(targetMemory.address() + offset);
    }

    @Test
    void shouldPutAndGetWhatTheRequestNames() {
        MatchEntryContext entry = new MatchEntryContext().from(initiator.id()).matchBits(BITS);
        target.attach(INDEX, entry.descriptor(quiet(0, 512).remoteOffset(true)));
        MemoryDescriptor source = bound(from(64).startEvents(false));
        PortalsRequest some = request().remoteOffset(100).headerData(7).ack(true);
        delivered(source.put(some.region(8, 16)));
        take(initiatorQueue, PortalsEventKind.SEND_END);
        take(initiatorQueue, PortalsEventKind.ACK);
        take(targetQueue, PortalsEventKind.PUT_END);
        assertThat(event.headerData()).isEqualTo(7);
        assertThat(event.length()).isEqualTo(16);
        assertThat(event.offset()).isEqualTo(100);
        assertThat(there.getByte(100)).isEqualTo(sent.getByte(8));
        delivered(source.put(request()));
        take(targetQueue, PortalsEventKind.PUT_END);
        assertThat(event.length()).as("the whole descriptor").isEqualTo(64);
        there.setMemory(0, 64, (byte) 77);
        delivered(source.get(request()));
        assertThat(sent.getByte(63)).isEqualTo((byte) 77);
        dropped(source.put(request().accessIndex(1).matchBits(BITS + 1)));
        assertThatThrownBy(() -> request().region(0, -1)).hasMessageContaining("length -1");
    }

    @Test
    void shouldPutAllBytesOfItsSegmentsAndOfWhatItWasUpdatedTo() {
        target.attach(INDEX, new MatchEntryContext().matchBits(BITS).descriptor(quiet(0, 512)));
        long at = initiatorMemory.address();
        MemoryDescriptor source =
                bound(from(0).segments(new long[] {at, at + 100}, new long[] {20, 13}));
        assertThat(source).hasToString(source.toString().replaceAll("of .*", "of 33 bytes"));
        delivered(source.put(request()));
        take(targetQueue, PortalsEventKind.PUT_END);
        assertThat(event.length()).isEqualTo(33);
        assertThat(there.getByte(20)).isEqualTo(sent.getByte(100));
        assertThat(source.update(from(50), null)).isTrue();
        delivered(source.put(request()));
        take(targetQueue, PortalsEventKind.PUT_END);
        assertThat(event.length()).isEqualTo(50);
    }

    @Test
    void shouldStandWhereTheContextSays() {
        MatchEntryContext base = new MatchEntryContext().matchBits(BITS).unlink();
        MatchEntry middle =
                target.attach(INDEX, base.descriptorThatUnlinks(quiet(0, 8).threshold(1)));
        MatchEntryContext bare = new MatchEntryContext().matchBits(~BITS).ignoreBits(-1).unlink();
        middle.insert(bare).attach(quiet(200, 8).threshold(1), MemoryDescriptor.UNLINK);
        target.attach(INDEX, bare.before())
                .attach(quiet(100, 8).threshold(1), MemoryDescriptor.UNLINK);
        MatchEntryContext posted = bare.after().descriptorThatUnlinks(quiet(50, 8).threshold(1));
        MatchEntry behind = middle.post(posted, targetQueue);
        assertThat(behind.descriptor().entry()).isSameAs(behind);
        delivered(silent(8).put(request()));
        assertThat(middle.post(posted, targetQueue)).as("events wait").isNull();
        tookAt(100);
        take(targetQueue, PortalsEventKind.UNLINK);
        for (long offset : new long[] {0, 50, 200}) {
            delivered(silent(8).put(request()));
            tookAt(offset);
            take(targetQueue, PortalsEventKind.UNLINK);
        }
        dropped(silent(8).put(request()));
        assertThatThrownBy(() -> target.attach(INDEX, base).post(new MatchEntryContext(), null))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("descriptor");
    }
}
