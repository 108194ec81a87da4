package dev.verbena.ugni;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Short messages through the Java objects. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class UgniMessageTest extends UgniPair {
    private static final int CREDITS = 4;
    private static final int MAX = 256;

    private final UnsafeBuffer heap = new UnsafeBuffer(new byte[1024]);
    private final UnsafeBuffer words = new UnsafeBuffer(new byte[256]);
    private ShortMessageMailbox sender;
    private ShortMessageMailbox receiver;

    private static ShortMessageAttributes attributes(MemoryRegistration registration) {
        return new ShortMessageAttributes(CREDITS, MAX).local(registration, 64);
    }

    private ShortMessageAttributes copyOf(ShortMessageAttributes attributes) {
        attributes.getBytes(words, 0);
        return new ShortMessageAttributes().putBytes(words, 0);
    }

    @BeforeEach
    void connect() {
        arrived.setMemory(0, LENGTH, (byte) 0);
        sent.setMemory(0, LENGTH, (byte) 0);
        ShortMessageAttributes near = attributes(local);
        ShortMessageAttributes far = attributes(remote);
        sender = endpoint.mailbox(near, copyOf(far));
        receiver = back.mailbox(far, copyOf(near));
        for (int i = 0; i < heap.capacity(); i++) {
            heap.putByte(i, (byte) (i * 7));
        }
    }

    private int send(int length, int id) {
        return sender.send(heap, 0, length, id);
    }

    private void takeSent(int id) {
        assertThat(source.poll()).isEqualTo(CompletionQueue.EVENT);
        assertThat(CompletionEvent.type(source.event())).isEqualTo(CompletionEvent.TYPE_SMSG);
        assertThat(CompletionEvent.messageId(source.event())).isEqualTo(id);
    }

    @Test
    @Tag("ugni-95")
    @Tag("ugni-99")
    @Tag("ugni-100")
    void shouldCarryHeaderAndDataOneBehindTheOther() {
        for (int header = 0; header <= MAX; header += 13) {
            int data = (MAX - header) / 2;
            assertThat(sender.send(heap, 0, header, heap, header, data, header, 3)).isZero();
            takeSent(header);
            assertThat(receiver.next()).isEqualTo(ShortMessageMailbox.MESSAGE);
            assertThat(receiver.tag()).isEqualTo(3);
            for (int i = 0; i < header + data; i++) {
                assertThat(receiver.message().getByte(i)).isEqualTo(heap.getByte(i));
            }
            assertThat(destination.poll()).isEqualTo(CompletionQueue.EVENT);
            assertThat(CompletionEvent.instance(destination.event())).isEqualTo(1);
            assertThat(receiver.release()).isZero();
        }
        assertThat(source.poll()).isEqualTo(CompletionQueue.EMPTY);
        assertThat(receiver.next()).isEqualTo(ShortMessageMailbox.NONE);
    }

    @Test
    @Tag("ugni-69")
    void shouldHaveNoDescriptorForAMessage() {
        assertThat(send(8, 1)).isZero();
        takeSent(1);
        assertThat(source.completed(done)).isEqualTo(-UgniCode.DESCRIPTOR_ERROR);
    }

    @Test
    @Tag("ugni-96")
    void shouldRefuseWhatIsTooLong() {
        assertThat(send(MAX + 1, 1)).isEqualTo(-UgniCode.ERROR_RESOURCE);
        assertThat(sender.send(heap, 0, MAX, heap, 0, 1, 1, 0)).isEqualTo(-UgniCode.ERROR_RESOURCE);
        assertThat(sender.send(heap, 0, 8, heap, 0, Integer.MAX_VALUE, 1, 0))
                .isEqualTo(-UgniCode.ERROR_RESOURCE);
        assertThat(sender.send(heap, 0, -1, 1)).isEqualTo(-UgniCode.INVALID_PARAM);
        assertThat(sender.send(heap, 0, 8, heap, 0, 0, 1, 255)).isEqualTo(-UgniCode.INVALID_PARAM);
        assertThatThrownBy(() -> sender.send(heap, 1020, 8, 1))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThat(receiver.next()).isEqualTo(ShortMessageMailbox.NONE);
    }

    @Test
    @Tag("ugni-97")
    @Tag("ugni-98")
    @Tag("ugni-102")
    void shouldBeHeldBackByCredits() {
        for (int i = 0; i < CREDITS; i++) {
            assertThat(send(MAX, i)).isZero();
        }
        assertThat(send(MAX, 9)).isEqualTo(-UgniCode.NOT_DONE);
        assertThat(receiver.release()).isEqualTo(-UgniCode.NOT_DONE);
        for (int i = 0; i < CREDITS; i++) {
            assertThat(receiver.next()).isEqualTo(ShortMessageMailbox.MESSAGE);
            assertThat(receiver.release()).isZero();
        }
        assertThat(receiver.next()).isEqualTo(ShortMessageMailbox.NONE);
        assertThat(send(MAX, 10)).isZero();
    }

    @Test
    @Tag("ugni-101")
    void shouldShowOnlyTheTagThatIsWanted() {
        assertThat(sender.send(heap, 0, 8, heap, 0, 0, 1, 5)).isZero();
        assertThat(receiver.next(6)).isEqualTo(-UgniCode.NO_MATCH);
        assertThat(receiver.next(5)).isEqualTo(ShortMessageMailbox.MESSAGE);
        assertThat(receiver.next()).isEqualTo(ShortMessageMailbox.MESSAGE);
        assertThat(receiver.tag()).isEqualTo(5);
    }

    @Test
    @Tag("ugni-106")
    void shouldKeepAMessageUntilItIsReleased() {
        assertThat(send(64, 0)).isZero();
        assertThat(receiver.next()).isEqualTo(ShortMessageMailbox.MESSAGE);
        heap.setMemory(0, 64, (byte) 1);
        for (int i = 1; i < CREDITS; i++) {
            assertThat(send(64, i)).isZero();
        }
        assertThat(receiver.message().getByte(3)).isEqualTo((byte) 21);
        assertThat(receiver.release()).isZero();
        assertThat(receiver.message().capacity()).isZero();
        assertThatThrownBy(() -> receiver.message().getByte(0))
                .isInstanceOf(IndexOutOfBoundsException.class);
    }

    @Test
    @Tag("ugni-93")
    @Tag("ugni-94")
    void shouldRefuseMailboxesThatDoNotFit() {
        assertThat(new ShortMessageAttributes(5, MAX).sizeNeeded())
                .isGreaterThan(new ShortMessageAttributes(CREDITS, MAX).sizeNeeded());
        assertThat(new ShortMessageAttributes(CREDITS, MAX * 2).sizeNeeded())
                .isGreaterThan(new ShortMessageAttributes(CREDITS, MAX).sizeNeeded());
        assertThatThrownBy(() -> new ShortMessageAttributes(0, MAX))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new ShortMessageAttributes(1, 65536))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new ShortMessageAttributes(CREDITS, MAX).local(local, LENGTH - 64))
                .isInstanceOf(IndexOutOfBoundsException.class);
        ShortMessageAttributes near = attributes(local);
        assertThatThrownBy(() -> endpoint.mailbox(near, near))
                .hasMessageContaining("INVALID_STATE");
        try (Endpoint open = initiator.endpoint(null)) {
            assertThatThrownBy(() -> open.mailbox(near, near))
                    .hasMessageContaining("INVALID_STATE");
            assertThatThrownBy(() -> open.mailbox(copyOf(near), near))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void shouldKeepTheMailboxesMemoryUntilTheEndpointIsUnbound() {
        assertThatThrownBy(remote::close).hasMessageContaining("mailboxes");
        assertThatThrownBy(to::close).hasMessageContaining("registrations");
        assertThat(send(8, 1)).isZero();
        assertThat(receiver.next()).isEqualTo(ShortMessageMailbox.MESSAGE);
        back.unbind();
        assertThat(receiver.isEnded()).isTrue();
        assertThatThrownBy(receiver::next).hasMessageContaining("ended");
        assertThat(receiver.message().capacity()).isZero();
        remote.close();
        to.close();
        // The sender's peer is gone: an error event, or nothing more to send; never a crash.
        for (int i = 0; i < 2 * CREDITS; i++) {
            send(8, i);
        }
        int answer;
        do {
            answer = source.poll();
        } while (answer == CompletionQueue.EVENT);
        assertThat(answer).isEqualTo(CompletionQueue.FAILED);
    }

    @Test
    void shouldNotBelieveWhatALyingPeerWrites() {
        assertThat(send(8, 1)).isZero();
        // Length of the first slot: see gni_smsg.c.
        arrived.putInt(64 + 256 + 8, -5);
        assertThat(receiver.next()).isEqualTo(-UgniCode.INVALID_STATE);
        assertThat(receiver.message().capacity()).isZero();
    }
}
