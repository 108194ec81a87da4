package dev.verbena.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.rdma.calls.VerbsLayout;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Control path over the recording libibverbs: arguments as C gets them, errors, ownership. */
@Timeout(120)
class VerbsObjectsTest {
    private static final int ENOMEM = 12;
    private static final int EBUSY = 16;
    private static final int EINVAL = 22;
    private static final int EFAULT = 14;
    private static final int EOPNOTSUPP = 95;

    private VerbsStub stub;
    private RdmaDevice device;
    private int objectsBefore;

    @BeforeEach
    void open() {
        stub = VerbsStub.open();
        device = stub.device;
        objectsBefore = stub.openObjects();
    }

    @AfterEach
    void close() {
        assertThat(stub.openObjects())
                .as("objects that were not destroyed")
                .isEqualTo(objectsBefore);
        device.close();
    }

    @Test
    void shouldListDevices() {
        List<DeviceInfo> devices = RdmaDevices.list();
        assertThat(devices).hasSize(2);
        DeviceInfo first = devices.get(0);
        assertThat(first.name()).isEqualTo("stub0");
        assertThat(first.guid()).isEqualTo(0x0102030405060708L);
        assertThat(first.nodeType()).isEqualTo("InfiniBand channel adapter");
        assertThat(first.transport()).isEqualTo("InfiniBand");
        assertThat(first.uverbsName()).isEqualTo("uverbs0");
        assertThat(first.sysfsPath()).isEqualTo("/sys/class/infiniband/stub0");
        assertThatThrownBy(() -> RdmaDevices.open("mlx5_9"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("mlx5_9")
                .hasMessageContaining("[stub0, nothing0]");
        assertThat(RdmaDevices.forkStatus()).isEqualTo("unneeded");
    }

    @Test
    void shouldKeepReceivedBytesOutOfCompletionsBeforeADeviceIsOpened() {
        try (RdmaDevice again = RdmaDevices.open(VerbsStub.RECORDING)) {
            assertThat(again.isClosed()).isFalse();
            // What the library saw as MLX5_SCATTER_TO_CQE.
            assertThat(stub.bytesArgument(0, 2)).containsExactly('0', 0);
        }
    }

    @Test
    void shouldSayWhatKeepsADeviceThatIsListedFromBeingOpened() {
        stub.fail("ibv_open_device", 13);
        assertThatThrownBy(() -> RdmaDevices.open("stub0"))
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("ibv_open_device: EACCES (13) for RDMA device stub0")
                .hasMessageContaining("/dev/infiniband/uverbs0");
        RdmaDevices.open("stub0").close();
    }

    @Test
    void shouldSayThatThereIsNoDeviceWhereTheKernelHasNoRdma() {
        stub.fail("ibv_get_device_list", 38);
        assertThat(RdmaDevices.list()).isEmpty();
    }

    @Test
    void shouldReadAttributes() {
        DeviceAttributes attributes = device.attributes();
        assertThat(attributes.firmware()).isEqualTo("1.2.3");
        assertThat(attributes.requestsMax()).isEqualTo(0x4000);
        assertThat(attributes.segmentsMax()).isEqualTo(30);
        assertThat(attributes.portCount()).isEqualTo(2);
        assertThat(attributes.limit("max_pkeys")).isEqualTo(65535);
        assertThat(attributes.limit("device_cap_flags")).isEqualTo(0xfedcba98L);
        assertThat(attributes.limit("max_cq_period")).isEqualTo(4095);
        assertThat(attributes.limit("rx_hash_fields_mask")).isEqualTo(1L << 40);
        assertThat(attributes.limit("qp_rate_limit_max")).isEqualTo(0x80000001L);
        assertThat(attributes.limit("tm_max_ops")).isEqualTo(33);
        assertThat(attributes.limit("pci_swap")).isEqualTo(0xfffe);
        assertThat(attributes.hasOnDemandPaging()).isTrue();
        assertThat(attributes.atomicity()).isEqualTo("among this device's queue pairs");
        assertThatThrownBy(() -> attributes.limit("max_nothing"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("max_qp_wr");
    }

    @Test
    void shouldReadPortsAndKeys() {
        PortAttributes port = device.port(1);
        assertThat(port.state()).isEqualTo(PortAttributes.ACTIVE);
        assertThat(port.mtuMax()).isEqualTo(4096);
        assertThat(port.mtu()).isEqualTo(1024);
        assertThat(port.messageMax()).isEqualTo(1L << 31);
        assertThat(port.lid()).isEqualTo(0xabcd);
        assertThat(port.linkLayer()).isEqualTo("Ethernet");
        assertThat(device.port(2).stateName()).isEqualTo("PORT_DOWN");
        assertThat(device.pkey(1, 0)).isEqualTo(0xff7f);
        assertThat(device.pkeyIndex(1, 0xff7f)).isZero();
        assertThat(device.pkeyIndex(1, 0x7f7f)).isEqualTo(-1);
        assertThatThrownBy(() -> device.pkey(1, 1))
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("ibv_query_pkey: EINVAL (22)");
        assertThatThrownBy(() -> device.port(3))
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("ibv_query_port: EINVAL (22) for RDMA device stub0");
        assertThatThrownBy(() -> device.port(0)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldChooseTheAddressThatCanBeRoutedAndSayWhy() {
        assertThat(device.gids(1)).hasSize(4);
        GidChoice choice = device.chooseGid(1);
        assertThat(choice.entry().index()).isEqualTo(3);
        assertThat(choice.entry().type()).isEqualTo(GidEntry.ROCE_V2);
        assertThat(choice.entry().gid().address()).isEqualTo("10.99.0.1");
        assertThat(choice.reason()).contains("GID index 3", "10.99.0.1", "RoCE v2", "IPv4");
        assertThat(device.chooseGid(2).entry().index()).isZero();
        assertThat(device.gid(1, 99)).isNull();
    }

    @Test
    void shouldChooseWhatIsLeft() {
        Gid local = Gid.parse("fe80:0000:0000:0000:0200:00ff:fe00:0001");
        Gid ipv4 = Gid.parse("00000000000000000000ffff0a630001");
        GidEntry v1 = new GidEntry(2, 1, ipv4, GidEntry.ROCE_V1, 7);
        GidEntry v2 = new GidEntry(1, 1, local, GidEntry.ROCE_V2, 7);
        assertThat(GidChoice.of(List.of(v1, v2), true, "here").entry()).isEqualTo(v2);
        assertThat(GidChoice.of(List.of(v1, v2), true, "here").reason()).contains("link-local");
        assertThat(GidChoice.of(List.of(v1), true, "here").reason()).contains("for lack of");
        assertThatThrownBy(() -> GidChoice.of(List.of(), true, "mlx5_0 port 1"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("mlx5_0 port 1")
                .hasMessageContaining("ip address add");
    }

    @Test
    void shouldRegisterWhatWasAskedForAndHoldTheMemory() {
        try (ProtectionDomain domain = device.allocateProtectionDomain();
                OffHeapMemory memory = OffHeapMemories.allocate(8192)) {
            MemoryRegion region = domain.register(memory, 100, 1000, Access.REMOTE_ALL);
            assertThat(stub.call()).isEqualTo("ibv_reg_mr");
            assertThat(stub.argument(0)).isEqualTo(memory.address() + 100);
            assertThat(stub.argument(1)).isEqualTo(1000);
            assertThat(stub.argument(3)).isEqualTo(15);
            assertThat(region.remoteAddress(5)).isEqualTo(memory.address() + 105);
            assertThat(region.localKey() >>> 16).isEqualTo(0x1122);
            assertThat(region.remoteKey() >>> 16).isEqualTo(0x99aa);
            assertThatThrownBy(memory::close)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("a registration of stub0");
            assertThatThrownBy(domain::close)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("memory region with key");
            region.close();
            region.close();
            assertThat(region.isClosed()).isTrue();
            assertThatThrownBy(region::remoteKey)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("closed: memory region");
            assertThatThrownBy(() -> region.buffer(0, 1)).isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void shouldRegisterByOffsetsFromZero() {
        try (ProtectionDomain domain = device.allocateProtectionDomain();
                OffHeapMemory memory = OffHeapMemories.allocate(8192);
                MemoryRegion region =
                        domain.register(memory, Access.REMOTE_ALL | Access.ZERO_BASED)) {
            assertThat(stub.argument(2)).isZero();
            assertThat(region.remoteAddress(77)).isEqualTo(77);
        }
    }

    @Test
    void shouldSayWhatToDoWhenARegistrationFails() {
        try (ProtectionDomain domain = device.allocateProtectionDomain();
                OffHeapMemory memory = OffHeapMemories.allocate(8192)) {
            stub.fail("ibv_reg_mr", ENOMEM);
            assertThatThrownBy(() -> domain.register(memory, Access.LOCAL_WRITE))
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("ibv_reg_mr: ENOMEM (12) for 8192 bytes")
                    .hasMessageContaining("ulimit -l");
            assertThatThrownBy(() -> domain.register(memory, Access.REMOTE_WRITE))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("LOCAL_WRITE");
            assertThatThrownBy(() -> domain.register(memory, 1, 8192, Access.LOCAL_WRITE))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> domain.register(memory, 0, 1, 1 << 30))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void shouldOfferWhatNoDeviceHereHas() {
        try (ProtectionDomain domain = device.allocateProtectionDomain();
                MemoryRegion nothing = domain.allocateNullRegion();
                MemoryRegion foreign = domain.registerDmaBuf(33, 64, 4096, 512, 15)) {
            assertThat(stub.argument(0)).isEqualTo(64);
            assertThat(stub.argument(1)).isEqualTo(4096);
            assertThat(stub.argument(2)).isEqualTo(512);
            assertThat(stub.argument(3)).isEqualTo(33);
            assertThat(stub.argument(4)).isEqualTo(15);
            assertThatThrownBy(() -> foreign.buffer(0, 8))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("no memory of this process");
            assertThat(nothing.length()).isEqualTo(Long.MAX_VALUE);
            stub.fail("ibv_alloc_null_mr", EOPNOTSUPP);
            assertThatThrownBy(domain::allocateNullRegion)
                    .isInstanceOfSatisfying(
                            VerbsException.class, e -> assertThat(e.isUnsupported()).isTrue());
        }
    }

    @Test
    void shouldChangeAccessAndSayWhenThatLostTheRegion() {
        try (ProtectionDomain domain = device.allocateProtectionDomain();
                OffHeapMemory memory = OffHeapMemories.allocate(4096);
                MemoryRegion region = domain.register(memory, Access.REMOTE_ALL)) {
            int localBefore = region.localKey();
            int remoteBefore = region.remoteKey();
            region.changeAccess(Access.LOCAL_WRITE);
            assertThat(stub.argument(0)).isEqualTo(VerbsLayout.IBV_REREG_MR_CHANGE_ACCESS);
            assertThat(stub.argument(4)).isEqualTo(1);
            assertThat(region.access()).isEqualTo(Access.LOCAL_WRITE);
            assertThat(region.localKey()).isEqualTo(localBefore + 0x100);
            assertThat(region.remoteKey()).isEqualTo(remoteBefore + 0x100);
            stub.fail("ibv_rereg_mr", EINVAL);
            assertThatThrownBy(() -> region.changeAccess(Access.REMOTE_ALL))
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("EINVAL (22)")
                    .hasMessageContaining("as before");
            stub.fail("ibv_rereg_mr", EFAULT);
            assertThatThrownBy(() -> region.changeAccess(Access.REMOTE_ALL))
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("EFAULT (14)")
                    .hasMessageContaining("it was closed");
            assertThat(region.isClosed()).isTrue();
        }
    }

    @Test
    void shouldMakeQueuesWithWhatWasAskedFor() {
        try (ProtectionDomain domain = device.allocateProtectionDomain();
                CompletionChannel channel = device.createCompletionChannel();
                CompletionQueue completions = device.createCompletionQueue(100, channel, 2);
                SharedReceiveQueue shared = domain.createSharedReceiveQueue(9, 2)) {
            try (QueuePair queue =
                    domain.createQueuePair(
                            new QueuePairContext()
                                    .completions(completions)
                                    .sendCapacity(7)
                                    .segmentsMax(3, 1)
                                    .inlineMax(99)
                                    .sharedReceives(shared)
                                    .eachSignalled(true))) {
                int cap = VerbsLayout.QP_INIT_ATTR_CAP;
                assertThat(stub.intArgument(cap)).isEqualTo(7);
                assertThat(stub.intArgument(cap + 4)).isZero();
                assertThat(stub.intArgument(cap + 8)).isEqualTo(3);
                assertThat(stub.intArgument(cap + 16)).isEqualTo(99);
                assertThat(stub.intArgument(VerbsLayout.QP_INIT_ATTR_QP_TYPE)).isEqualTo(2);
                assertThat(stub.intArgument(VerbsLayout.QP_INIT_ATTR_SQ_SIG_ALL)).isEqualTo(1);
                assertThat(stub.longArgument(VerbsLayout.QP_INIT_ATTR_SRQ))
                        .isEqualTo(shared.address());
                assertThat(completions.capacity()).isEqualTo(101);
                assertThatThrownBy(completions::close)
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining(queue.toString());
                assertThatThrownBy(shared::close).isInstanceOf(IllegalStateException.class);
                try (ReceiveRequests own = queue.newReceives(1)) {
                    assertThatThrownBy(() -> queue.post(own, 0, 1))
                            .isInstanceOf(IllegalStateException.class)
                            .hasMessageContaining("shared receives");
                }
            }
            shared.limit(3);
            assertThat(stub.intArgument(VerbsLayout.SRQ_ATTR_SRQ_LIMIT)).isEqualTo(3);
            assertThat(stub.argument(0)).isEqualTo(VerbsLayout.IBV_SRQ_LIMIT);
            assertThat(shared.limit()).isEqualTo(9);
        }
    }

    @Test
    void shouldRefuseQueuesThatContradictThemselves() {
        try (ProtectionDomain domain = device.allocateProtectionDomain();
                CompletionQueue completions = device.createCompletionQueue(1)) {
            assertThatThrownBy(() -> domain.createQueuePair(new QueuePairContext()))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("completion queues");
            QueuePairContext context = new QueuePairContext().completions(completions);
            assertThatThrownBy(() -> domain.createQueuePair(context.sendCapacity(0)))
                    .isInstanceOf(IllegalArgumentException.class);
            stub.fail("ibv_create_qp", ENOMEM);
            assertThatThrownBy(() -> domain.createQueuePair(context.sendCapacity(999)))
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("ibv_create_qp: ENOMEM (12) for RC queue pair with 999");
            assertThatThrownBy(() -> device.createCompletionQueue(0))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> completions.requestNotification(false))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("without a channel");
        }
    }

    @Test
    void shouldStayOpenWhenTheLibraryRefusesToDestroy() {
        ProtectionDomain domain = device.allocateProtectionDomain();
        stub.fail("ibv_dealloc_pd", EBUSY);
        assertThatThrownBy(domain::close)
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("ibv_dealloc_pd: EBUSY (16)");
        assertThat(domain.isClosed()).isFalse();
        assertThatThrownBy(device::close)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("protection domain 5 of stub0");
        domain.close();
    }

    @Test
    void shouldDestroyWhatCMadeWhenTheJavaObjectCannotBeMade() {
        ProtectionDomain domain = device.allocateProtectionDomain();
        CompletionQueue completions = device.createCompletionQueue(4);
        QueuePairContext context = new QueuePairContext().completions(completions);
        int before = stub.openObjects();
        device.logsMax(1);
        assertThatThrownBy(() -> domain.createQueuePair(context))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("close some");
        assertThat(stub.call()).isEqualTo("ibv_destroy_qp");
        assertThatThrownBy(() -> domain.createSharedReceiveQueue(4, 1))
                .isInstanceOf(IllegalStateException.class);
        assertThat(stub.call()).isEqualTo("ibv_destroy_srq");
        assertThat(stub.openObjects()).isEqualTo(before);
        completions.close();
        domain.close();
    }

    @Test
    void shouldGiveNumbersOfClosedQueuesAgainAndStillDropTheirCompletions() {
        device.logsMax(6);
        ProtectionDomain domain = device.allocateProtectionDomain();
        CompletionQueue completions = device.createCompletionQueue(16);
        QueuePairContext context = new QueuePairContext().completions(completions);
        QueuePair first = domain.createQueuePair(context);
        long stale = 0;
        for (int i = 1; i < 20; i++) {
            QueuePair queue = domain.createQueuePair(context);
            try (SendRequests sends = queue.newSends(1)) {
                assertThat(queue.post(sends.at(0).id(i).segments(0).signalled(true))).isEqualTo(1);
            }
            stub.complete(CompletionStatus.SUCCESS, 0, stale, stub.postedId(0));
            stale = stub.postedId(0);
            assertThat(completions.poll(2)).isEqualTo(1);
            assertThat(completions.completion(0).id()).isEqualTo(i);
            assertThat(WorkLog.logOf(stale)).isNotEqualTo(1);
            queue.close();
        }
        first.close();
        completions.close();
        domain.close();
    }

    @Test
    void shouldTellEventsOfPortsAndQueues() {
        assertThat(device.awaitEvent(0)).isNull();
        stub.event(AsyncEvent.PORT_ERROR);
        AsyncEvent event = device.awaitEvent(1_000_000);
        assertThat(event.type()).isEqualTo(AsyncEvent.PORT_ERROR);
        assertThat(event.port()).isEqualTo(1);
        assertThat(event.typeName()).isEqualTo("PORT_ERR");
        assertThat(stub.call()).isEqualTo("ibv_ack_async_event");
        try (ProtectionDomain domain = device.allocateProtectionDomain();
                CompletionQueue completions = device.createCompletionQueue(1);
                QueuePair queue =
                        domain.createQueuePair(new QueuePairContext().completions(completions))) {
            stub.event(AsyncEvent.LAST_RECEIVE_REACHED);
            assertThat(device.awaitEvent(0).object()).isSameAs(queue);
        }
    }

    @Test
    void shouldWakeAChannelWhileTheDeviceIsBusy() throws Exception {
        try (CompletionChannel channel = device.createCompletionChannel()) {
            Thread waker = new Thread(channel::wakeup);
            synchronized (channel.lock()) {
                waker.start();
                waker.join(10_000);
                assertThat(waker.isAlive()).isFalse();
            }
            assertThat(channel.await(60_000_000_000L)).isNull(); // at once
        }
    }

    @Test
    void shouldAnnounceCompletionsOnTheChannel() {
        try (CompletionChannel channel = device.createCompletionChannel();
                CompletionQueue completions = device.createCompletionQueue(4, channel, 0)) {
            completions.requestNotification(true);
            assertThat(stub.argument(0)).isEqualTo(1);
            assertThat(channel.await(0)).isNull();
            stub.channelEvent();
            assertThat(channel.await(1_000_000)).isSameAs(completions);
            assertThat(stub.call()).isEqualTo("ibv_ack_cq_events");
            assertThatThrownBy(channel::close)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("completion queue");
        }
    }
}
