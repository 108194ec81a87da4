package dev.verbena.transport;

import static dev.verbena.memory.RemoteDescriptor.REMOTE_ALL;
import static dev.verbena.memory.RemoteDescriptor.REMOTE_READ;
import static dev.verbena.memory.RemoteDescriptor.REMOTE_WRITE;
import static dev.verbena.transport.Transport.ACCEPTED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import java.util.Random;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

/** What a remote descriptor grants, and what is answered to one that is wrong, old or forged. */
abstract class DescriptorContract extends ContractFixture {
    int status(Pair p, RegisteredRegion local, RemoteDescriptor d, String operation) {
        int accepted =
                switch (operation) {
                    case "put" -> p.a.transport.put(p.ab, local, 0, d, 0, 8, 1, 0);
                    case "get" -> p.a.transport.get(p.ab, local, 0, d, 0, 8, 1, 0);
                    case "notify" -> p.a.transport.putNotify(p.ab, local, 0, d, 0, 8, 3, 1, 0);
                    case "add" -> p.a.transport.fetchAdd(p.ab, d, 0, 1, 1, 0);
                    default -> p.a.transport.compareSwap(p.ab, d, 0, 0, 1, 1, 0);
                };
        if (accepted == Transport.NOT_SUPPORTED) {
            return Transport.NOT_SUPPORTED;
        }
        assertThat(accepted).as(operation).isEqualTo(ACCEPTED);
        return completion(p.a).status();
    }

    @Test
    void shouldAnswerAccessWhenTheDescriptorDoesNotGrantTheRight() {
        Pair p = new Pair();
        RegisteredRegion local = p.a.allocate(64);
        RegisteredRegion remote = p.b.allocate(64);
        fill(local, 0, random(64, 3));
        RemoteDescriptor readOnly = remote.describe(0, 64, REMOTE_READ, new RemoteDescriptor());
        RemoteDescriptor writeOnly = remote.describe(0, 64, REMOTE_WRITE, new RemoteDescriptor());
        for (String operation : new String[] {"put", "notify", "add", "swap"}) {
            assertThat(status(p, local, readOnly, operation))
                    .as(operation)
                    .isIn(Status.ACCESS, Transport.NOT_SUPPORTED);
        }
        for (String operation : new String[] {"get", "add", "swap"}) {
            assertThat(status(p, local, writeOnly, operation))
                    .as(operation)
                    .isIn(Status.ACCESS, Transport.NOT_SUPPORTED);
        }
        assertThat(bytes(remote, 0, 64)).containsOnly(0);
        settle();
        assertThat(p.b.notifications).isEmpty();
    }

    /** A descriptor of the region that claims every right, also those that the region lacks. */
    RemoteDescriptor claimingAll(RegisteredRegion region) {
        RemoteDescriptor honest = describe(region);
        return new RemoteDescriptor()
                .set(
                        honest.kind(),
                        REMOTE_ALL,
                        honest.generation(),
                        honest.base(),
                        honest.length(),
                        honest.keyLow(),
                        honest.keyHigh());
    }

    @Test
    void shouldAnswerAccessWhenADescriptorClaimsMoreThanTheRegistrationGrants() {
        Pair p = new Pair();
        RegisteredRegion local = p.a.allocate(64);
        RegisteredRegion remote = p.b.allocate(64, REMOTE_READ);
        RemoteDescriptor honest = describe(remote);
        RemoteDescriptor forged = claimingAll(remote);
        fill(local, 0, random(64, 4));
        assertThat(status(p, local, forged, "put")).isNotEqualTo(Status.OK);
        assertThat(status(p, local, forged, "add")).isNotEqualTo(Status.OK);
        assertThat(bytes(remote, 0, 64)).containsOnly(0);
        assertThat(status(p, local, honest, "get")).isEqualTo(Status.OK);
    }

    @Test
    void shouldAnswerBoundsWhenTheRemoteRangeDoesNotFit() {
        Pair p = new Pair();
        RegisteredRegion local = p.a.allocate(4096);
        RegisteredRegion remote = p.b.allocate(4096);
        fill(local, 0, random(4096, 5));
        RemoteDescriptor d = remote.describe(1024, 1024, REMOTE_ALL, new RemoteDescriptor());
        long[][] ranges = {
            {1024, 1},
            {1000, 25},
            {0, 1025},
            {-1, 1},
            {-8, 8},
            {Long.MAX_VALUE, 1},
            {Long.MAX_VALUE - 7, 8},
            {Long.MIN_VALUE, 8},
            {1L << 32, 8}
        };
        for (long[] range : ranges) {
            String what = range[0] + " + " + range[1];
            assertThat(p.a.transport.put(p.ab, local, 0, d, range[0], range[1], 1, 0))
                    .as(what)
                    .isEqualTo(ACCEPTED);
            assertThat(completion(p.a).status()).as("put %s", what).isEqualTo(Status.BOUNDS);
            assertThat(p.a.transport.get(p.ab, local, 0, d, range[0], range[1], 1, 0))
                    .isEqualTo(ACCEPTED);
            assertThat(completion(p.a).status()).as("get %s", what).isEqualTo(Status.BOUNDS);
        }
        assertThat(bytes(remote, 0, 4096)).containsOnly(0);
        assertThat(bytes(local, 0, 4096)).isEqualTo(random(4096, 5));
        post("to the last byte", () -> p.a.transport.put(p.ab, local, 0, d, 1000, 24, 1, 0));
        assertThat(completion(p.a).status()).isEqualTo(Status.OK);
        assertThat(bytes(remote, 2024, 24)).isEqualTo(bytes(local, 0, 24));
    }

    @Test
    void shouldNotLeaveTheRegistrationWhenADescriptorIsForged() {
        Pair p = new Pair();
        RegisteredRegion local = p.a.allocate(64);
        RegisteredRegion remote = p.b.allocate(4096);
        RegisteredRegion neighbour = p.b.allocate(4096);
        RemoteDescriptor good = describe(remote);
        fill(local, 0, random(64, 6));
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int i = 0; i < times(300); i++) {
            long big = random.nextLong() >>> random.nextInt(63);
            RemoteDescriptor forged = new RemoteDescriptor();
            switch (i % 5) {
                case 0 -> set(forged, good, good.base() + 4096, 64, good.keyLow());
                case 1 -> set(forged, good, big, 64, good.keyLow());
                case 2 -> set(forged, good, good.base() + (big | 4096), 64, good.keyLow());
                case 3 -> set(forged, good, good.base(), 64, random.nextLong());
                default -> set(forged, good, -(big | 64), Long.MAX_VALUE, good.keyLow());
            }
            int answer = p.a.transport.put(p.ab, local, 0, forged, 0, 64, 1, 0);
            assertThat(answer).isEqualTo(ACCEPTED);
            int status = completion(p.a).status();
            boolean isInside =
                    forged.keyLow() == good.keyLow()
                            && forged.base() >= good.base()
                            && forged.base() <= good.base() + 4096 - 64;
            if (!isInside) {
                assertThat(status)
                        .as("%s, honest %s, seed %d", forged, good, seed)
                        .isNotEqualTo(Status.OK);
            }
        }
        assertThat(bytes(neighbour, 0, 4096)).containsOnly(0);
    }

    private static void set(
            RemoteDescriptor forged, RemoteDescriptor good, long base, long length, long keyLow) {
        forged.set(
                good.kind(),
                good.rights(),
                good.generation(),
                base,
                length,
                keyLow,
                good.keyHigh());
    }

    @Test
    void shouldAnswerStaleKeyWhenTheRegionWasClosed() {
        Pair p = new Pair();
        RegisteredRegion local = p.a.allocate(64);
        RegisteredRegion remote = p.b.allocate(64);
        RemoteDescriptor d = describe(remote);
        assertThat(status(p, local, d, "put")).isEqualTo(Status.OK);
        remote.close();
        for (String operation : new String[] {"put", "get", "notify", "add", "swap"}) {
            assertThat(status(p, local, d, operation))
                    .as(operation)
                    .isIn(Status.STALE_KEY, Transport.NOT_SUPPORTED);
        }
        // Registrations that take the freed slot must not be reached with the old descriptor.
        for (int i = 0; i < 20; i++) {
            RegisteredRegion next = p.b.allocate(64);
            assertThat(status(p, local, d, "put")).isEqualTo(Status.STALE_KEY);
            assertThat(bytes(next, 0, 64)).containsOnly(0);
            next.close();
        }
    }

    @Test
    void shouldStopWritesWhenRegisteredMemoryIsDeregistered() {
        Pair p = new Pair();
        requires(p.b, Capability.FOREIGN_MEMORY, "FOREIGN_MEMORY");
        RegisteredRegion local = p.a.allocate(64);
        fill(local, 0, random(64, 7));
        try (TestMemory memory = new TestMemory(4096, 0)) {
            RegisteredRegion remote = p.b.owns(p.b.transport.register(memory, REMOTE_ALL));
            RemoteDescriptor d = describe(remote);
            assertThat(status(p, local, d, "put")).isEqualTo(Status.OK);
            assertThat(memory.buffer(0, 8).getLong(0)).isEqualTo(whole(local).getLong(0));
            assertThatThrownBy(memory::close).isInstanceOf(IllegalStateException.class);
            remote.close();
            memory.buffer(0, 4096).setMemory(0, 4096, (byte) 0);
            assertThat(status(p, local, d, "put")).isEqualTo(Status.STALE_KEY);
            assertThat(memory.buffer(0, 8).getLong(0)).isZero();
        }
    }

    @Test
    void shouldReachTheOwnerWhenTheDescriptorTravelledThroughAThirdParty() {
        ContractNode a = node();
        ContractNode b = node();
        ContractNode c = node();
        Pair ba = new Pair(b, a);
        Pair ac = new Pair(a, c);
        RegisteredRegion remote = b.allocate(4096);
        RegisteredRegion letter = b.allocate(RemoteDescriptor.LENGTH);
        remote.describe(8, 1000, REMOTE_ALL, new RemoteDescriptor()).encode(whole(letter), 0);
        post("b to a", () -> b.transport.send(ba.ab, letter, 0, letter.length(), 1, 0));
        pump("letter at a", () -> !a.messages.isEmpty());
        RegisteredRegion copy = a.allocate(RemoteDescriptor.LENGTH);
        fill(copy, 0, a.messages.poll().bytes());
        post("a to c", () -> a.transport.send(ac.ab, copy, 0, copy.length(), 1, 0));
        pump("letter at c", () -> !c.messages.isEmpty());
        RemoteDescriptor d =
                new RemoteDescriptor().decode(new UnsafeBuffer(c.messages.poll().bytes()), 0);
        Pair cb = new Pair(c, b);
        RegisteredRegion local = c.allocate(1000);
        fill(local, 0, random(1000, 9));
        c.completions.clear();
        post("put", () -> c.transport.put(cb.ab, local, 0, d, 0, 1000, 1, 0));
        assertThat(completion(c).status()).isEqualTo(Status.OK);
        assertThat(bytes(remote, 8, 1000)).isEqualTo(bytes(local, 0, 1000));
        // The same descriptor names nothing at a.
        Pair ca = new Pair(c, a);
        post("put to a stranger", () -> c.transport.put(ca.ab, local, 0, d, 0, 1000, 1, 0));
        assertThat(completion(c).status()).isEqualTo(Status.STALE_KEY);
    }
}
