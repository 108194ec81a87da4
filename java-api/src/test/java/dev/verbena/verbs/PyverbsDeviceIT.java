package dev.verbena.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Devices, domains, completion queues and addresses on a real device: counterparts of rdma-core's
 * own tests, named by the tags; docs/pyverbs.md shows them side by side.
 */
@Tag("verbs-device")
@Timeout(180)
class PyverbsDeviceIT {
    private RdmaDevice device;

    @BeforeEach
    void open() {
        device = RealDevice.open();
    }

    @AfterEach
    void close() {
        if (device != null) {
            device.close();
        }
    }

    @Test
    @Tag("pyverbs-test_device.DeviceTest.test_dev_list")
    @Tag("pyverbs-test_device.DeviceTest.test_open_dev")
    void shouldListAndOpenDevices() {
        String name = device.info().name();
        assertThat(RdmaDevices.list()).extracting(DeviceInfo::name).contains(name);
        RdmaDevice second = RdmaDevices.open(name);
        assertThat(second.info()).isEqualTo(device.info());
        second.close();
        assertThat(second.isClosed()).isTrue();
        assertThat(device.isClosed()).isFalse();
    }

    @Test
    @Tag("pyverbs-test_device.DeviceTest.test_query_device")
    @Tag("pyverbs-test_device.DeviceTest.test_query_device_ex")
    @Tag("pyverbs-test_device.DeviceTest.test_phys_port_cnt_ex")
    void shouldTellLimits() {
        DeviceAttributes attributes = device.attributes();
        assertThat(attributes.limit("max_qp")).isPositive();
        assertThat(attributes.limit("max_cq")).isPositive();
        assertThat(attributes.limit("max_mr_size")).isNotZero();
        assertThat(attributes.requestsMax()).isPositive();
        assertThat(attributes.portCount()).isPositive();
        assertThat(attributes.limit("phys_port_cnt_ex"))
                .isGreaterThanOrEqualTo(attributes.portCount());
    }

    @Test
    @Tag("pyverbs-test_device.DeviceTest.test_query_gid")
    @Tag("pyverbs-test_device.DeviceTest.test_query_gid_ex")
    @Tag("pyverbs-test_device.DeviceTest.test_query_gid_table")
    void shouldTellAddressesOfAPort() {
        int count = device.port(1).gidCount();
        assertThat(device.gids(1)).isNotEmpty().hasSizeLessThanOrEqualTo(count);
        for (GidEntry entry : device.gids(1)) {
            assertThat(device.gid(1, entry.index())).isEqualTo(entry);
            assertThat(entry.port()).isEqualTo(1);
            assertThat(entry.type()).isIn(GidEntry.ROCE_V1, GidEntry.ROCE_V2, GidEntry.INFINIBAND);
        }
    }

    @Test
    @Tag("pyverbs-test_device.DeviceTest.test_query_gid_ex_bad_flow")
    @Tag("pyverbs-test_device.DeviceTest.test_query_gid_table_bad_flow")
    @Tag("pyverbs-test_device.DeviceTest.test_query_port_bad_flow")
    void shouldRefusePortsAndAddressesThatThereAreNot() {
        int absent = device.attributes().portCount() + 1;
        assertThat(device.gid(1, device.port(1).gidCount())).isNull();
        assertThat(device.gid(absent, 0)).isNull();
        assertThatThrownBy(() -> device.gids(absent)).isInstanceOf(VerbsException.class);
        assertThatThrownBy(() -> device.port(absent)).isInstanceOf(VerbsException.class);
        assertThatThrownBy(() -> device.port(0)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    @Tag("pyverbs-test_device.DeviceTest.test_query_port")
    @Tag("pyverbs-test_device.DeviceTest.test_query_pkey")
    void shouldTellPortsAndPartitions() {
        PortAttributes port = device.port(1);
        assertThat(port.state()).isEqualTo(PortAttributes.ACTIVE);
        assertThat(port.mtu()).isBetween(256, port.mtuMax());
        assertThat(port.messageMax()).isPositive();
        assertThat(device.pkey(1, 0) & 0x7fff).isNotZero();
        assertThat(device.pkeyIndex(1, device.pkey(1, 0))).isZero();
    }

    @Test
    @Tag("pyverbs-test_fork.ForkAPITest.test_is_fork_initialized")
    void shouldTellWhetherForkIsSafe() {
        assertThat(RdmaDevices.forkStatus()).isIn("enabled", "disabled", "unneeded");
    }

    @Test
    @Tag("pyverbs-test_pd.PDTest.test_alloc_pd")
    @Tag("pyverbs-test_pd.PDTest.test_dealloc_pd")
    @Tag("pyverbs-test_pd.PDTest.test_destroy_pd_twice")
    @Tag("pyverbs-test_pd.PDTest.test_multiple_pd_creation")
    void shouldMakeDomainsAndCloseThem() {
        ProtectionDomain[] domains = new ProtectionDomain[10];
        for (int i = 0; i < domains.length; i++) {
            domains[i] = device.allocateProtectionDomain();
        }
        for (ProtectionDomain domain : domains) {
            domain.close();
            domain.close();
            assertThat(domain.isClosed()).isTrue();
        }
    }

    @Test
    @Tag("pyverbs-test_addr.AHTest.test_create_ah")
    @Tag("pyverbs-test_addr.AHTest.test_destroy_ah")
    void shouldMakeAddressHandles() {
        GidChoice gid = device.chooseGid(1);
        PathContext path = new PathContext().gidIndex(gid.entry().index());
        try (ProtectionDomain domain = device.allocateProtectionDomain()) {
            AddressHandle handle = domain.createAddressHandle(path, gid.entry().gid(), 0);
            assertThatThrownBy(domain::close)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("address handle");
            handle.close();
            assertThat(handle.isClosed()).isTrue();
        }
    }

    @Test
    @Tag("pyverbs-test_addr.AHTest.test_create_ah_roce")
    void shouldRefuseAddressesWithoutARouteWhereThatIsNeeded() {
        assumeTrue(device.port(1).isEthernet(), "not RoCE");
        try (ProtectionDomain domain = device.allocateProtectionDomain()) {
            assertThatThrownBy(() -> domain.createAddressHandle(new PathContext(), null, 1))
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("ibv_create_ah");
        }
    }

    @Test
    @Tag("pyverbs-test_cq.CQAPITest.test_create_cq")
    @Tag("pyverbs-test_cq.CQAPITest.test_create_cq_with_comp_channel")
    void shouldMakeCompletionQueuesOfManySizes() {
        try (CompletionChannel channel = device.createCompletionChannel()) {
            for (int capacity = 1; capacity <= 1024; capacity *= 4) {
                for (int vector = 0;
                        vector < Math.min(2, device.completionVectorCount());
                        vector++) {
                    CompletionQueue plain = device.createCompletionQueue(capacity, null, vector);
                    CompletionQueue announced =
                            device.createCompletionQueue(capacity, channel, vector);
                    assertThat(plain.capacity()).isGreaterThanOrEqualTo(capacity);
                    assertThat(announced.poll(1)).isZero();
                    assertThatThrownBy(channel::close).isInstanceOf(IllegalStateException.class);
                    plain.close();
                    announced.close();
                }
            }
        }
    }

    @Test
    @Tag("pyverbs-test_cq.CQAPITest.test_create_cq_bad_flow")
    @Tag("pyverbs-test_cqex.CQEXAPITest.test_create_cq_ex_bad_flow")
    void shouldRefuseCompletionQueuesThatTheDeviceCannotHave() {
        int tooMany = device.attributes().completionsMax() + 1;
        assertThatThrownBy(() -> device.createCompletionQueue(tooMany))
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("ibv_create_cq");
        CompletionQueueContext extended =
                new CompletionQueueContext().details(CompletionDetails.STANDARD).capacity(tooMany);
        assertThatThrownBy(() -> device.createCompletionQueue(extended))
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("ibv_create_cq_ex");
        assertThatThrownBy(() -> extended.details(1 << 30))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    @Tag("pyverbs-test_cq.CQTest.test_resize_cq")
    void shouldResizeCompletionQueues() {
        try (RealPair pair = new RealPair(device, QueuePairType.RC)) {
            pair.connect();
            pair.completionsB.resize(256);
            assertThat(pair.completionsB.capacity()).isGreaterThanOrEqualTo(256);
            pair.checkTraffic(100);
            pair.completionsB.resize(16);
            assertThat(pair.completionsB.capacity()).isBetween(16, 255);
            pair.checkTraffic(200);
            int tooMany = device.attributes().completionsMax() + 1;
            assertThatThrownBy(() -> pair.completionsB.resize(tooMany))
                    .isInstanceOf(VerbsException.class);
            pair.checkTraffic(300);
        }
    }

    @Test
    @Tag("pyverbs-test_mr.MRTest.test_reg_mr_bad_flags")
    void shouldRefuseAccessThatContradictsItself() {
        try (ProtectionDomain domain = device.allocateProtectionDomain();
                OffHeapMemory memory = OffHeapMemories.allocate(4096)) {
            assertThatThrownBy(() -> domain.register(memory, Access.REMOTE_WRITE))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> domain.register(memory, Access.REMOTE_ATOMIC))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> domain.register(memory, 1 << 19))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }
}
