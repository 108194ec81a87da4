package dev.verbena.transport;

import static dev.verbena.memory.RemoteDescriptor.REMOTE_ALL;
import static dev.verbena.memory.RemoteDescriptor.REMOTE_READ;
import static dev.verbena.memory.RemoteDescriptor.REMOTE_WRITE;
import static dev.verbena.transport.Transport.ACCEPTED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.IntStream;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

/** Regions: what they are made of, what is refused, when they close. */
abstract class RegionContract extends ConnectionContract {
    private static final int LONG = 48 << 20;

    /** Both ends of such a range have the same sign once its end has overflowed. */
    @Test
    void shouldRefuseARangeWhoseEndIsBeyondAllNumbers() {
        Pair p = new Pair();
        RegisteredRegion local = p.a.allocate(8192);
        RegisteredRegion remote = p.b.allocate(4096);
        RemoteDescriptor d =
                remote.describe(
                        0,
                        4096,
                        RemoteDescriptor.REMOTE_READ | RemoteDescriptor.REMOTE_WRITE,
                        new RemoteDescriptor());
        // Before the descriptor is known to be good, and after.
        for (int round = 0; round < 2; round++) {
            for (long offset : new long[] {Long.MAX_VALUE, Long.MAX_VALUE - 900}) {
                post("put", () -> p.a.transport.put(p.ab, local, 0, d, offset, 5000, 1, 0));
                assertThat(completion(p.a).status()).isEqualTo(Status.BOUNDS);
                post("get", () -> p.a.transport.get(p.ab, local, 0, d, offset, 5000, 1, 0));
                assertThat(completion(p.a).status()).isEqualTo(Status.BOUNDS);
                assertThatThrownBy(() -> p.a.transport.put(p.ab, local, offset, d, 0, 9100, 1, 0))
                        .isInstanceOf(IllegalArgumentException.class);
                assertThatThrownBy(() -> p.a.transport.send(p.ab, local, offset, 9100, 1, 0))
                        .isInstanceOf(IllegalArgumentException.class);
                assertThatThrownBy(() -> local.describe(offset, 9100, 0, new RemoteDescriptor()))
                        .isInstanceOf(IllegalArgumentException.class);
            }
            post("inside", () -> p.a.transport.put(p.ab, local, 0, d, 0, 4096, 1, 0));
            assertThat(completion(p.a).status()).isEqualTo(Status.OK);
        }
    }

    @Test
    void shouldAllocateZeroedMemoryWithIdsThatNeverReturn() {
        ContractNode a = node();
        Set<Long> ids = new HashSet<>();
        for (int i = 0; i < 50; i++) {
            RegisteredRegion region = a.transport.allocate(10_001, REMOTE_READ);
            assertThat(ids.add(region.id())).as("id %d is new", region.id()).isTrue();
            assertThat(region.length()).isEqualTo(10_001);
            assertThat(region.rights()).isEqualTo(REMOTE_READ);
            assertThat(region.isClosed()).isFalse();
            UnsafeBuffer bytes = whole(region);
            assertThat(bytes.addressOffset()).isEqualTo(region.address());
            for (int k = 0; k < bytes.capacity(); k++) {
                assertThat(bytes.getByte(k)).isZero();
            }
            bytes.setMemory(0, bytes.capacity(), (byte) 1);
            region.close();
        }
    }

    @Test
    void shouldNameTheLimitWhenMemoryCannotBeHad() {
        ContractNode a = node();
        assertThatThrownBy(() -> a.transport.allocate(0, 0))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> a.transport.allocate(-1, 0))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> a.transport.allocate(1L << 50, REMOTE_ALL))
                .isInstanceOf(TransportException.class)
                .hasMessageContaining(String.valueOf(1L << 50));
        assertThat(a.allocate(64).length()).isEqualTo(64);
    }

    @Test
    void shouldRefuseDescriptionsOfWhatTheRegionDoesNotHave() {
        ContractNode a = node();
        RegisteredRegion region = a.allocate(100, REMOTE_READ);
        RemoteDescriptor d = new RemoteDescriptor();
        long[][] ranges = {{0, 101}, {101, 0}, {-1, 1}, {0, -1}, {1, Long.MAX_VALUE}};
        for (long[] r : ranges) {
            assertThatThrownBy(() -> region.describe(r[0], r[1], REMOTE_READ, d))
                    .as("%d + %d", r[0], r[1])
                    .isInstanceOf(IllegalArgumentException.class);
        }
        assertThatThrownBy(() -> region.describe(0, 1, REMOTE_WRITE, d))
                .isInstanceOf(IllegalArgumentException.class);
        assertThat(region.describe(100, 0, 0, d)).isSameAs(d);
        assertThat(region.describe(40, 50, REMOTE_READ, d).length()).isEqualTo(50);
        assertThat(d.rights()).isEqualTo(REMOTE_READ);
    }

    @Test
    void shouldThrowAndNotCrashWhenARegionIsUsedAfterClose() {
        ContractNode a = node();
        RegisteredRegion region = a.allocate(100);
        UnsafeBuffer window = region.buffer(10, 50);
        assertThatThrownBy(() -> region.buffer(60, 41))
                .isInstanceOf(IndexOutOfBoundsException.class)
                .hasMessageContaining("60");
        assertThatThrownBy(() -> region.buffer(-1, 1))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThat(region.buffer(100, 0).capacity()).isZero();
        region.close();
        region.close();
        assertThat(region.isClosed()).isTrue();
        assertThat(window.capacity()).isZero();
        assertThatThrownBy(() -> window.putLong(0, 1))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(region::address).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> region.describe(0, 1, REMOTE_READ, new RemoteDescriptor()))
                .isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> region.buffer(0, 1)).isInstanceOf(RuntimeException.class);
    }

    @Test
    void shouldRefuseToCloseARegionWhileAnOperationIsOutstanding() {
        Pair p = new Pair();
        RegisteredRegion local = p.a.allocate(64);
        RegisteredRegion remote = p.b.allocate(64);
        assertThat(p.a.transport.put(p.ab, local, 0, describe(remote), 0, 8, 1, 0))
                .isEqualTo(ACCEPTED);
        assertThatThrownBy(local::close).isInstanceOf(IllegalStateException.class);
        assertThat(local.isClosed()).isFalse();
        assertThat(completion(p.a).status()).isEqualTo(Status.OK);
        local.close();
        assertThat(local.isClosed()).isTrue();
        TransferVector vector = new TransferVector(2);
        RegisteredRegion first = p.a.allocate(64);
        RegisteredRegion second = p.a.allocate(64);
        vector.add(first, 0, 0, 8).add(second, 0, 8, 8);
        assertThat(p.a.transport.get(p.ab, vector, describe(remote), 1, 0)).isEqualTo(ACCEPTED);
        assertThatThrownBy(first::close).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(second::close).isInstanceOf(IllegalStateException.class);
        completion(p.a);
        first.close();
        second.close();
        RegisteredRegion message = p.a.allocate(64);
        assertThat(p.a.transport.send(p.ab, message, 0, 8, 1, 0)).isEqualTo(ACCEPTED);
        assertThatThrownBy(message::close).isInstanceOf(IllegalStateException.class);
        completion(p.a);
        message.close();
    }

    /** What its memory's place is used for next must neither be read nor break the connection. */
    @Test
    void shouldEndAGetWhoseSourceClosesMeanwhile() {
        Pair p = new Pair();
        RegisteredRegion local = p.a.allocate(LONG);
        RegisteredRegion source = p.b.transport.allocate(LONG, REMOTE_READ);
        RemoteDescriptor d = describe(source);
        whole(source).setMemory(0, LONG, (byte) 1);
        post("get", () -> p.a.transport.get(p.ab, local, 0, d, 0, LONG, 1, 0));
        pump("its begin", () -> whole(local).getByte(0) != 0 || !p.a.completions.isEmpty());
        source.close();
        whole(p.b.allocate(LONG)).setMemory(0, LONG, (byte) 2);
        assertThat(completion(p.a).status()).isIn(Status.OK, Status.STALE_KEY);
        assertThat(pagesThatBeginWith(2, local)).isZero();
        post("send", () -> p.a.transport.send(p.ab, local, 0, 8, 2, 0));
        assertThat(completion(p.a).status()).isEqualTo(Status.OK);
        pump("the message", () -> !p.b.messages.isEmpty());
    }

    /** The peer's put goes on, and its bytes must not come into what has the memory's place. */
    @Test
    void shouldKeepMemoryThatAPeerStillWritesAfterDisconnecting() {
        Pair p = new Pair();
        RegisteredRegion local = p.a.allocate(LONG);
        RegisteredRegion target = p.b.transport.allocate(LONG, REMOTE_WRITE);
        whole(local).setMemory(0, LONG, (byte) 1);
        RemoteDescriptor d = describe(target);
        post("put", () -> p.a.transport.put(p.ab, local, 0, d, 0, LONG, 1, 0));
        pump("its begin", () -> whole(target).getByte(0) != 0 || !p.a.completions.isEmpty());
        p.b.transport.disconnect(p.ba);
        target.close();
        RegisteredRegion other = p.b.allocate(LONG);
        completion(p.a);
        settle();
        assertThat(pagesThatBeginWith(1, other)).isZero();
    }

    /** Its owner gets it back when the put has ended, and may have something else there then. */
    @Test
    void shouldKeepMemoryHandedInThatAPeerStillWritesAfterDisconnecting() {
        Pair p = new Pair();
        requires(p.b, Capability.FOREIGN_MEMORY, "FOREIGN_MEMORY");
        RegisteredRegion local = p.a.allocate(LONG);
        OffHeapMemory memory = OffHeapMemories.allocate(LONG);
        RegisteredRegion target = p.b.transport.register(memory, REMOTE_WRITE);
        whole(local).setMemory(0, LONG, (byte) 1);
        RemoteDescriptor d = describe(target);
        post("put", () -> p.a.transport.put(p.ab, local, 0, d, 0, LONG, 1, 0));
        pump("its begin", () -> whole(target).getByte(0) != 0 || !p.a.completions.isEmpty());
        p.b.transport.disconnect(p.ba);
        target.close();
        boolean isClosedAtOnce = isClosed(memory);
        RegisteredRegion other = p.b.allocate(LONG);
        completion(p.a);
        settle();
        if (isClosedAtOnce) {
            assertThat(pagesThatBeginWith(1, other)).isZero();
        }
        pump("the memory is the owner's again", () -> isClosed(memory));
    }

    private static boolean isClosed(OffHeapMemory memory) {
        try {
            memory.close();
        } catch (IllegalStateException e) {
            return false;
        }
        return true;
    }

    private static long pagesThatBeginWith(int value, RegisteredRegion region) {
        UnsafeBuffer bytes = whole(region);
        return IntStream.range(0, LONG / 4096)
                .filter(page -> bytes.getByte(4096 * page) == value)
                .count();
    }
}
