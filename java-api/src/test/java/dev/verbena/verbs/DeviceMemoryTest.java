package dev.verbena.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Memory on the NIC, over the recording libibverbs. */
@Timeout(120)
class DeviceMemoryTest {
    private static final int EINVAL = 22;
    private static final int ENOMEM = 12;

    @Test
    void shouldBeCopiedRegisteredAndNamedByOffsets() {
        try (StubPair pair = new StubPair(QueuePairType.RC);
                DeviceMemory memory = pair.stub.device.allocateDeviceMemory(4096, 6)) {
            VerbsStub stub = pair.stub;
            assertThat(stub.argument(0)).isEqualTo(4096);
            assertThat(stub.argument(1)).isEqualTo(6);
            for (int i = 0; i < 64; i++) {
                pair.memory.buffer(0, 64).putByte(i, (byte) (i + 1));
            }
            memory.write(128, pair.memory, 0, 64);
            assertThat(stub.argument(0)).isEqualTo(128);
            assertThat(stub.argument(1)).isEqualTo(pair.memory.address());
            assertThat(stub.argument(2)).isEqualTo(64);
            memory.read(120, pair.memory, 1000, 72);
            assertThat(pair.memory.buffer(1000, 72).getLong(0)).isZero();
            assertThat(pair.memory.buffer(1008, 64).getByte(63)).isEqualTo((byte) 64);
            try (MemoryRegion region = pair.domain.register(memory, 1024, 2048, Access.REMOTE_ALL);
                    SendRequests sends = pair.queue.newSends(1)) {
                assertThat(stub.argument(0)).isEqualTo(memory.address());
                assertThat(stub.argument(1)).isEqualTo(1024);
                assertThat(stub.argument(2)).isEqualTo(2048);
                assertThat(stub.argument(3)).isEqualTo(Access.REMOTE_ALL | Access.ZERO_BASED);
                assertThat(region.remoteAddress(8)).isEqualTo(8);
                assertThatThrownBy(() -> region.buffer(0, 8))
                        .hasMessageContaining("no memory of this process");
                SendRequestFlyweight send = sends.at(0).segment(region, 16, 100).send();
                assertThat(pair.queue.post(send)).isEqualTo(1);
                assertThat(stub.segmentAddress(0, 0)).isEqualTo(16);
                assertThat(pair.queue.post(send.segment(region, 0, 8).inline(true)))
                        .isEqualTo(Post.NOT_INLINE);
                assertThatThrownBy(memory::close)
                        .hasMessageContaining("cannot be closed before")
                        .hasMessageContaining(region.toString());
                assertThatThrownBy(() -> region.changeAccess(Access.ZERO_BASED))
                        .hasMessageContaining("is not of registered memory");
                pair.queue.toReset();
            }
        }
    }

    @Test
    void shouldRefuseWhatItHasNot() {
        try (StubPair pair = new StubPair(QueuePairType.RC)) {
            RdmaDevice device = pair.stub.device;
            assertThatThrownBy(() -> device.allocateDeviceMemory(0, 0))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> device.allocateDeviceMemory(64, 32))
                    .isInstanceOf(IllegalArgumentException.class);
            pair.stub.fail("ibv_alloc_dm", ENOMEM);
            assertThatThrownBy(() -> device.allocateDeviceMemory(64, 0))
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("ibv_alloc_dm: ENOMEM");
            try (DeviceMemory memory = device.allocateDeviceMemory(64, 0)) {
                assertThatThrownBy(() -> memory.write(60, pair.memory, 0, 5))
                        .isInstanceOf(IndexOutOfBoundsException.class);
                assertThatThrownBy(() -> memory.read(0, pair.memory, (1 << 16) - 3, 4))
                        .isInstanceOf(IndexOutOfBoundsException.class);
                assertThatThrownBy(() -> pair.domain.register(memory, 1, 64, 0))
                        .isInstanceOf(IndexOutOfBoundsException.class);
                pair.stub.fail("ibv_memcpy_to_dm", EINVAL);
                assertThatThrownBy(() -> memory.write(1, pair.memory, 0, 3))
                        .hasMessageContaining("EINVAL (22)")
                        .hasMessageContaining("multiples of 4");
                pair.stub.fail("ibv_reg_dm_mr", EINVAL);
                assertThatThrownBy(() -> pair.domain.register(memory, 0, 64, 0))
                        .hasMessageContaining("ibv_reg_dm_mr");
                try (RdmaDevice other = RdmaDevices.open(VerbsStub.NOTHING);
                        ProtectionDomain far = other.allocateProtectionDomain()) {
                    assertThatThrownBy(() -> far.register(memory, 0, 64, 0))
                            .isInstanceOf(IllegalArgumentException.class);
                }
                memory.close();
                assertThatThrownBy(() -> memory.write(0, pair.memory, 0, 4))
                        .isInstanceOf(IllegalStateException.class);
            }
        }
    }
}
