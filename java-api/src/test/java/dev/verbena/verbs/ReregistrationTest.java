package dev.verbena.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.rdma.calls.VerbsLayout;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Regions that are registered anew, and those of everything, over the recording libibverbs. */
@Timeout(120)
class ReregistrationTest {
    private static final int EIO = 5;
    private static final int EAGAIN = 11;
    private static final int ENOMEM = 12;
    private static final int EFAULT = 14;
    private static final int EINVAL = 22;
    private static final int EOPNOTSUPP = 95;

    private final OffHeapMemory other = OffHeapMemories.allocate(8192);
    private StubPair pair;
    private VerbsStub stub;
    private int objectsBefore;
    private MemoryRegion region;

    @BeforeEach
    void open() {
        pair = new StubPair(QueuePairType.RC);
        stub = pair.stub;
        objectsBefore = stub.openObjects();
        region = pair.domain.register(pair.memory, 4096, 8192, Access.REMOTE_ALL);
    }

    @AfterEach
    void close() {
        region.close();
        assertThat(stub.openObjects()).isEqualTo(objectsBefore);
        other.close();
        pair.close();
    }

    @Test
    void shouldChangeAllAtOnce() {
        try (ProtectionDomain second = stub.device.allocateProtectionDomain()) {
            MemoryRegion before = region;
            UnsafeBuffer view = before.buffer(0, 100);
            int key = before.remoteKey();
            region =
                    before.reregister(
                            new ReregistrationContext()
                                    .domain(second)
                                    .memory(other, 4096, 4000)
                                    .access(Access.LOCAL_WRITE | Access.REMOTE_READ));
            assertThat(stub.argument(0)).isEqualTo(7);
            assertThat(stub.argument(1)).isEqualTo(second.address());
            assertThat(stub.argument(2)).isEqualTo(other.address() + 4096);
            assertThat(stub.argument(3)).isEqualTo(4000);
            assertThat(stub.argument(4)).isEqualTo(5);
            assertThat(before.isClosed()).isTrue();
            assertThat(view.capacity()).isZero();
            assertThat(region.length()).isEqualTo(4000);
            assertThat(region.access()).isEqualTo(Access.LOCAL_WRITE | Access.REMOTE_READ);
            assertThat(region.remoteAddress(8)).isEqualTo(other.address() + 4104);
            assertThat(region.remoteKey()).isEqualTo(key + 0x100);
            assertThatThrownBy(other::close).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(second::close)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining(region.toString());
            region.close();
            other.close();
            region = pair.domain.register(pair.memory, Access.LOCAL_WRITE);
        }
    }

    @Test
    void shouldKeepWhatIsNotNamed() {
        long address = region.remoteAddress(0);
        region = region.reregister(new ReregistrationContext().access(Access.LOCAL_WRITE));
        assertThat(stub.argument(0)).isEqualTo(VerbsLayout.IBV_REREG_MR_CHANGE_ACCESS);
        assertThat(stub.argument(1) | stub.argument(2) | stub.argument(3)).isZero();
        assertThat(region.remoteAddress(0)).isEqualTo(address);
        assertThat(region.length()).isEqualTo(8192);
        region = region.reregister(new ReregistrationContext().memory(other));
        assertThat(stub.argument(0)).isEqualTo(VerbsLayout.IBV_REREG_MR_CHANGE_TRANSLATION);
        assertThat(region.access()).isEqualTo(Access.LOCAL_WRITE);
    }

    /** A prepared request of before names a closed region, and its bytes may be gone. */
    @Test
    void shouldNotLetPreparedRequestsReadWhatItWasOf() {
        try (SendRequests sends = pair.queue.newSends(1)) {
            SendRequestFlyweight send = sends.at(0).segment(region, 0, 16).send().inline(true);
            region = region.reregister(new ReregistrationContext().memory(other));
            assertThat(pair.queue.post(send)).isEqualTo(Post.REGION_CLOSED);
            assertThat(pair.queue.post(send.segment(region, 0, 16))).isEqualTo(1);
            assertThat(stub.segmentAddress(0, 0)).isEqualTo(other.address());
            ReregistrationContext change = new ReregistrationContext().access(1);
            assertThatThrownBy(() -> region.reregister(change))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("is in use by requests");
            pair.queue.toReset();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {EINVAL, ENOMEM, EOPNOTSUPP})
    void shouldBeAsBeforeWhereThatFailed(int errno) {
        stub.fail("ibv_rereg_mr", errno);
        ReregistrationContext change = new ReregistrationContext().memory(other).access(1);
        assertThatThrownBy(() -> region.reregister(change))
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("(" + errno + ")")
                .hasMessageContaining("as before");
        assertThat(region.isClosed()).isFalse();
        assertThat(region.access()).isEqualTo(Access.REMOTE_ALL);
        assertThat(region.buffer(0, 8192).capacity()).isEqualTo(8192);
        other.close(); // nothing holds it
    }

    @ParameterizedTest
    @ValueSource(ints = {EFAULT, EIO})
    void shouldBeClosedWhereTheFailureLeftNone(int errno) {
        stub.fail("ibv_rereg_mr", errno);
        ReregistrationContext change = new ReregistrationContext().memory(other);
        assertThatThrownBy(() -> region.reregister(change))
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("(" + errno + ")")
                .hasMessageContaining("there is no region any more");
        assertThat(region.isClosed()).isTrue();
        assertThat(stub.call()).isEqualTo("ibv_dereg_mr");
        other.close();
    }

    @Test
    void shouldBeTheNewOneWhereOnlyTheOldPagesStayOutOfForks() {
        stub.fail("ibv_rereg_mr", EAGAIN);
        int key = region.remoteKey();
        region = region.reregister(new ReregistrationContext().memory(other));
        assertThat(region.remoteKey()).isEqualTo(key + 0x200);
        assertThat(region.length()).isEqualTo(8192);
        assertThatThrownBy(other::close).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void shouldRefuseWhatContradictsItself() {
        ReregistrationContext nothing = new ReregistrationContext();
        assertThatThrownBy(() -> region.reregister(nothing)).hasMessageContaining("nothing to");
        assertThatThrownBy(() -> nothing.access(Access.REMOTE_WRITE))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> nothing.memory(other, 8000, 193))
                .isInstanceOf(IndexOutOfBoundsException.class);
        ReregistrationContext zero = new ReregistrationContext().access(Access.ZERO_BASED);
        assertThatThrownBy(() -> region.reregister(zero)).hasMessageContaining("way of addressing");
        try (MemoryRegion none = pair.domain.allocateNullRegion()) {
            ReregistrationContext change = new ReregistrationContext().access(1);
            assertThatThrownBy(() -> none.reregister(change))
                    .isInstanceOf(IllegalStateException.class);
        }
        ReregistrationContext elsewhere = new ReregistrationContext().memory(other);
        try (MemoryRegion based =
                pair.domain.register(pair.memory, 0, 4096, 1L << 40, Access.LOCAL_WRITE)) {
            assertThatThrownBy(() -> based.reregister(elsewhere))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("addresses of its own");
        }
        try (RdmaDevice second = RdmaDevices.open(VerbsStub.NOTHING);
                ProtectionDomain far = second.allocateProtectionDomain()) {
            ReregistrationContext change = new ReregistrationContext().domain(far);
            assertThatThrownBy(() -> region.reregister(change)).hasMessageContaining("is not of");
        }
    }

    @Test
    void shouldNameWhatItUsesOfEverything() {
        try (MemoryRegion all = pair.domain.registerImplicit()) {
            assertThat(stub.argument(0)).isZero();
            assertThat(stub.argument(1)).isEqualTo(-1);
            assertThat(stub.argument(3)).isEqualTo(Access.LOCAL_WRITE | Access.ON_DEMAND);
            assertThatThrownBy(() -> all.remoteAddress(0)).hasMessageContaining("part()");
            try (SendRequests sends = pair.queue.newSends(1);
                    MemoryRegion part = all.part(other, 100, 200)) {
                SendRequestFlyweight send = sends.at(0);
                assertThatThrownBy(() -> send.segment(all, 0, 8)).hasMessageContaining("part()");
                assertThat(pair.queue.post(send.segment(part, 8, 192).send())).isEqualTo(1);
                assertThat(stub.segmentAddress(0, 0)).isEqualTo(other.address() + 108);
                assertThat(stub.segmentKey(0, 0)).isEqualTo(all.localKey());
                assertThatThrownBy(part::close).hasMessageContaining("is in use by requests");
                assertThatThrownBy(all::close).hasMessageContaining("cannot be closed before");
                assertThatThrownBy(other::close).isInstanceOf(IllegalStateException.class);
                assertThatThrownBy(() -> part.changeAccess(0)).hasMessageContaining("is not of");
                part.prefetch(0, 200, true, false);
                assertThat(stub.call()).isEqualTo("ibv_advise_mr");
                assertThatThrownBy(() -> part.part(other, 0, 1))
                        .hasMessageContaining("is not of registerImplicit");
                assertThatThrownBy(() -> all.part(other, 8192, 1))
                        .isInstanceOf(IndexOutOfBoundsException.class);
                pair.queue.toReset();
            }
            assertThat(stub.call()).isNotEqualTo("ibv_dereg_mr");
        }
        assertThat(stub.call()).isEqualTo("ibv_dereg_mr");
        stub.fail("ibv_reg_mr", EOPNOTSUPP);
        assertThatThrownBy(pair.domain::registerImplicit)
                .isInstanceOfSatisfying(
                        VerbsException.class, e -> assertThat(e.isUnsupported()).isTrue());
    }
}
