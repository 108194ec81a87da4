package dev.verbena.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Objects of another context of the same device, over the recording libibverbs: Soft-RoCE's driver
 * imports none. Both contexts are in this process.
 */
@Timeout(120)
class ImportTest {
    private static final int EINVAL = 22;
    private static final int EOPNOTSUPP = 95;
    private static final long BASE = 0x7000_0000_1000L;

    private final StubPair pair = new StubPair(QueuePairType.RC);
    private final VerbsStub stub = pair.stub;

    @AfterEach
    void close() {
        pair.close();
    }

    private static long openFiles() throws IOException {
        try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
            return files.filter(file -> ImportTest.target(file).equals("/dev/null")).count();
        }
    }

    private static String target(Path file) {
        try {
            return Files.readSymbolicLink(file).toString();
        } catch (IOException e) {
            return ""; // closed meanwhile
        }
    }

    @Test
    void shouldMakeAContextOfAnothersFile() throws Exception {
        int file = stub.device.commandFile();
        long before = openFiles();
        try (RdmaDevice imported = RdmaDevices.importDevice(file)) {
            assertThat(stub.argument(0)).as("a duplicate").isNotEqualTo(file);
            assertThat(stub.argument(1)).as("closed at exec").isEqualTo(1);
            assertThat(imported.info().name()).isEqualTo(VerbsStub.RECORDING);
            assertThat(imported.commandFile()).isEqualTo((int) stub.argument(0));
        }
        assertThat(openFiles()).isEqualTo(before);
        stub.fail("ibv_import_device", EOPNOTSUPP);
        assertThatThrownBy(() -> RdmaDevices.importDevice(file))
                .isInstanceOfSatisfying(
                        VerbsException.class, e -> assertThat(e.isUnsupported()).isTrue())
                .hasMessageContaining("ibv_import_device");
        assertThat(openFiles()).as("the duplicate is closed again").isEqualTo(before);
        assertThatThrownBy(() -> RdmaDevices.importDevice(-1))
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("EBADF");
    }

    @Tag("pyverbs-test_shared_pd.SharedPDTestCase.test_imported_rc_ex_rdma_write")
    @Test
    void shouldTakePartInADomainAndItsRegions() {
        try (RdmaDevice imported = RdmaDevices.importDevice(stub.device.commandFile())) {
            ProtectionDomain domain = imported.importProtectionDomain(pair.domain.handle());
            assertThat(stub.argument(0)).as("handle").isEqualTo(5);
            assertThat(domain.handle()).isEqualTo(5);
            MemoryRegion region = domain.importRegion(77, BASE, Access.REMOTE_ALL);
            assertThat(stub.argument(0)).isEqualTo(77);
            assertThat(stub.argument(1)).isEqualTo(domain.address());
            assertThat(region.handle()).isEqualTo(77);
            assertThat(region.length()).isEqualTo(4096);
            assertThat(region.remoteAddress(96)).isEqualTo(BASE + 96);
            assertThatThrownBy(() -> region.remoteAddress(4097))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> region.buffer(0, 8))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("no memory of this process");
            assertThatThrownBy(() -> region.changeAccess(Access.LOCAL_WRITE))
                    .isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(domain::close)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("close them first");
            region.close();
            assertThat(stub.call()).isEqualTo("ibv_unimport_mr");
            domain.close();
            assertThat(stub.call()).isEqualTo("ibv_unimport_pd");
            stub.fail("ibv_import_pd", EINVAL);
            assertThatThrownBy(() -> imported.importProtectionDomain(6))
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("ibv_import_pd: EINVAL");
        }
    }

    @Test
    void shouldSendFromAnImportedRegionButNotInline() {
        try (MemoryRegion region = pair.domain.importRegion(78, BASE, Access.LOCAL_WRITE);
                SendRequests sends = pair.queue.newSends(1)) {
            SendRequestFlyweight send = sends.at(0).segment(region, 8, 16).send();
            assertThat(pair.queue.post(send.inline(true))).isEqualTo(Post.NOT_INLINE);
            assertThat(pair.queue.post(send.inline(false).signalled(true))).isEqualTo(1);
            assertThat(stub.segmentAddress(0, 0)).isEqualTo(BASE + 8);
            assertThatThrownBy(region::close)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("in use by requests");
            stub.complete(CompletionStatus.SUCCESS, CompletionFlyweight.SEND, stub.postedId(0));
            assertThat(pair.completions.poll(1)).isEqualTo(1);
        }
        assertThatThrownBy(() -> pair.domain.importRegion(78, -1, Access.LOCAL_WRITE))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldTakePartInMemoryOfTheCard() {
        try (OffHeapMemory memory = OffHeapMemories.allocate(64);
                DeviceMemory resources = stub.device.importDeviceMemory(31, 64)) {
            assertThat(stub.argument(0)).isEqualTo(31);
            assertThat(resources.handle()).isEqualTo(31);
            assertThat(resources.length()).isEqualTo(64);
            resources.write(0, memory, 0, 64);
            assertThatThrownBy(() -> resources.write(8, memory, 0, 64))
                    .isInstanceOf(IndexOutOfBoundsException.class);
        }
        assertThat(stub.call()).isEqualTo("ibv_unimport_dm");
        assertThatThrownBy(() -> stub.device.importDeviceMemory(31, 0))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
