package dev.verbena.transport;

import static dev.verbena.memory.RemoteDescriptor.REMOTE_ALL;
import static dev.verbena.memory.RemoteDescriptor.REMOTE_READ;
import static dev.verbena.transport.Transport.ACCEPTED;
import static dev.verbena.transport.Transport.STREAMED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;

/** Puts and gets with a checksum: its value, and that they are puts and gets otherwise. */
public abstract class SumContract extends OneSidedContract {
    private final TransferSum sum = new TransferSum();

    private static int expected(byte[] bytes) {
        CRC32C crc = new CRC32C();
        crc.update(bytes);
        return (int) crc.getValue();
    }

    private int[] lengths() {
        return new int[] {0, 1, 8, 4095, 8193, 65_537, (1 << 20) + 3, lengthAboveSegmentLimit()};
    }

    /** Puts and gets back with sums; the target is cleared between. */
    private void thereAndBack(
            Pair p, RegisteredRegion local, RegisteredRegion remote, int length, int skew) {
        byte[] data = random(length, length + skew);
        int at = (skew * 5) % 11;
        int flags = skew % 2 == 0 ? 0 : STREAMED;
        RemoteDescriptor d = describe(remote);
        fill(local, skew, data);
        post(
                "put of " + length,
                () -> p.a.transport.putSummed(p.ab, local, skew, d, at, length, sum, 1, flags));
        assertThat(sum.value()).as("put of %d bytes", length).isEqualTo(expected(data));
        assertThat(completion(p.a))
                .isEqualTo(new ContractNode.Completion(p.ab, Operation.PUT, 1, Status.OK, length));
        assertThat(bytes(remote, at, length)).isEqualTo(data);
        fill(local, skew, new byte[length]);
        assertThat(sum.value()).as("once it is known").isEqualTo(expected(data));
        post(
                "get of " + length,
                () -> p.a.transport.getSummed(p.ab, local, skew, d, at, length, sum, 2, 0));
        assertThat(completion(p.a))
                .isEqualTo(new ContractNode.Completion(p.ab, Operation.GET, 2, Status.OK, length));
        assertThat(sum.value()).as("get of %d bytes", length).isEqualTo(expected(data));
        assertThat(bytes(local, skew, length)).isEqualTo(data);
    }

    @Test
    void shouldSumUpWhatIsPutAndGotAtAnyLength() {
        Pair p = new Pair();
        int longest = lengthAboveSegmentLimit() + 32;
        RegisteredRegion local = p.a.allocate(longest);
        RegisteredRegion remote = p.b.allocate(longest);
        for (int length : lengths()) {
            for (int skew : new int[] {0, 1, 13}) {
                thereAndBack(p, local, remote, length, skew);
            }
        }
    }

    @Test
    void shouldSumUpForeignMemory() {
        Pair p = new Pair();
        requires(p.b, Capability.FOREIGN_MEMORY, "FOREIGN_MEMORY");
        int length = (1 << 20) + 3;
        try (TestMemory here = new TestMemory(length + 32, 3);
                TestMemory there = new TestMemory(length + 32, 5)) {
            RegisteredRegion local = p.a.transport.register(here, 0);
            RegisteredRegion remote = p.b.transport.register(there, REMOTE_ALL);
            thereAndBack(p, local, remote, 1000, 1);
            thereAndBack(p, local, remote, length, 7);
            local.close();
            remote.close();
        }
    }

    @Test
    void shouldKeepTheSumOfTheLastTransferWhenARangeIsRefused() {
        Pair p = new Pair();
        RegisteredRegion local = p.a.allocate(1 << 17);
        RegisteredRegion remote = p.b.allocate(1 << 17);
        thereAndBack(p, local, remote, 1 << 16, 0);
        int before = sum.value();
        Transport t = p.a.transport;
        RemoteDescriptor d = describe(remote);
        for (long at : new long[] {-1, -1L << 40, 1 << 17, Long.MAX_VALUE}) {
            for (int length : new int[] {100, 1 << 16}) {
                assertThatThrownBy(() -> t.putSummed(p.ab, local, at, d, 0, length, sum, 1, 0))
                        .isInstanceOf(IllegalArgumentException.class);
                assertThatThrownBy(() -> t.getSummed(p.ab, local, at, d, 0, length, sum, 1, 0))
                        .isInstanceOf(IllegalArgumentException.class);
                assertThat(sum.value()).as("offset %s", at).isEqualTo(before);
            }
        }
    }

    @Test
    void shouldRefuseWithASumWhatItRefusesWithout() {
        Pair p = new Pair();
        Transport t = p.a.transport;
        RegisteredRegion local = p.a.allocate(1 << 17);
        RegisteredRegion remote = p.b.allocate(1 << 16);
        RemoteDescriptor d = describe(remote);
        for (int length : new int[] {100, 1 << 16}) {
            post("put", () -> t.putSummed(p.ab, local, 0, d, 1 << 16, length, sum, 1, STREAMED));
            assertThat(completion(p.a).status()).isEqualTo(Status.BOUNDS);
            post("get", () -> t.getSummed(p.ab, local, 0, d, -1, length, sum, 1, 0));
            assertThat(completion(p.a).status()).isEqualTo(Status.BOUNDS);
            assertThatThrownBy(
                            () -> t.putSummed(p.ab, local, 1 << 17, d, 0, length, sum, 1, STREAMED))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> t.getSummed(p.ab, local, -1, d, 0, length, sum, 1, 0))
                    .isInstanceOf(IllegalArgumentException.class);
            int before = sum.value();
            assertThat(t.putSummed(p.ab + 1_000_000, local, 0, d, 0, length, sum, 1, 0))
                    .isNotEqualTo(ACCEPTED);
            assertThat(sum.value()).as("after what was refused").isEqualTo(before);
        }
        RemoteDescriptor readable =
                remote.describe(0, 1 << 16, REMOTE_READ, new RemoteDescriptor());
        post("put", () -> t.putSummed(p.ab, local, 0, readable, 0, 1 << 16, sum, 1, 0));
        assertThat(completion(p.a).status()).isEqualTo(Status.ACCESS);
        remote.close();
        post("get", () -> t.getSummed(p.ab, local, 0, d, 0, 1 << 16, sum, 1, 0));
        assertThat(completion(p.a).status()).isEqualTo(Status.STALE_KEY);
        settle();
        assertThat(p.a.completions).isEmpty();
    }
}
