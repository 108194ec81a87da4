package dev.verbena.nessie;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.agent.RealEnvironment;
import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.memory.chronicle.ChronicleViews;
import dev.verbena.nessie.rpc.RpcCall;
import dev.verbena.nessie.rpc.RpcEndpoint;
import dev.verbena.nessie.rpc.RpcException;
import dev.verbena.nessie.rpc.RpcResult;
import dev.verbena.nessie.xdr.XdrValue;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.Transports;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import net.openhft.chronicle.bytes.Bytes;
import net.openhft.chronicle.bytes.BytesStore;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Bulk data in each kind of memory that a client may have. */
@Timeout(60)
class BulkMemoryTest {
    private static final int INVERT = 1;
    private static final int LENGTH = 2;
    private static final int LENGTH_MAX = 1 << 20;

    private final TransportContext context =
            new TransportContext().job("bulk-memory" + ProcessHandle.current().pid());
    private final RealEnvironment environment = RealEnvironment.builder().job("bulk").build();
    private final NessieServer server =
            NessieServer.builder(environment, transport())
                    .slots(1, LENGTH_MAX)
                    .onBulk(INVERT, null, BulkMemoryTest::invert)
                    .on(LENGTH, call -> call.reply(call.dataLength() == 4097 ? 0 : 1, null))
                    .start();
    private final NessieClient client =
            NessieClient.connect(environment, transport(), server.url(), 30_000);

    private Transport transport() {
        return Transports.open("shm", context);
    }

    @AfterEach
    void close() {
        client.close();
        server.close();
        environment.close();
    }

    private static void invert(RpcCall call) {
        int length = (int) call.dataLength();
        call.getData(call.slot(), 0, length, 0);
        for (int i = 0; i < length; i++) {
            call.slot().window().putByte(i, (byte) ~call.slot().window().getByte(i));
        }
        call.putData(call.slot(), 0, length, 0);
        call.reply(0, null);
    }

    private static byte[] random(int length) {
        byte[] bytes = new byte[length];
        new Random(length).nextBytes(bytes);
        return bytes;
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 7, 4097, LENGTH_MAX})
    @Tag("nessie-R16")
    void shouldMoveDirectBuffersExactly(int length) {
        byte[] bytes = random(length);
        ByteBuffer data = ByteBuffer.allocateDirect(length).put(0, bytes);
        client.call(INVERT, null, null, data).join();
        for (int i = 0; i < length; i++) {
            assertThat(data.get(i)).isEqualTo((byte) ~bytes[i]);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 7, 4097, LENGTH_MAX})
    @Tag("nessie-R16")
    void shouldMoveAgronaBuffersAtOddOffsets(int length) {
        byte[] bytes = random(length);
        ByteBuffer memory = ByteBuffer.allocateDirect(length + 100);
        UnsafeBuffer data = new UnsafeBuffer(memory, 3, length + 50);
        data.putBytes(11, bytes);
        client.call(INVERT, null, null, data, 11, length).join();
        for (int i = 0; i < length; i++) {
            assertThat(data.getByte(11 + i)).isEqualTo((byte) ~bytes[i]);
        }
        assertThat(memory.get(3 + 10)).isZero();
        assertThat(memory.get(3 + 11 + length)).isZero();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 7, 4097, LENGTH_MAX})
    @Tag("nessie-R16")
    void shouldMoveChronicleStoresExactly(int length) {
        String cause = ChronicleViews.unavailabilityCause();
        Assumptions.assumeTrue(cause == null, cause);
        byte[] bytes = random(length);
        try (OffHeapMemory memory = OffHeapMemories.allocate(length)) {
            BytesStore<?, Void> data = ChronicleViews.view(memory);
            data.write(0, bytes);
            client.call(INVERT, null, null, memory).join();
            for (int i = 0; i < length; i++) {
                assertThat(data.readByte(i)).isEqualTo((byte) ~bytes[i]);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 7, 4097, LENGTH_MAX})
    @Tag("nessie-R16")
    void shouldMoveStoresOfChroniclesOwn(int length) {
        String cause = ChronicleViews.unavailabilityCause();
        Assumptions.assumeTrue(cause == null, cause);
        byte[] bytes = random(length);
        Bytes<Void> data = Bytes.allocateElasticDirect(length);
        data.write(bytes);
        try (OffHeapMemory memory = ChronicleViews.memory(data);
                OffHeapMemory part = OffHeapMemories.part(memory, 0, length)) {
            client.call(INVERT, null, null, part).join();
            for (int i = 0; i < length; i++) {
                assertThat(data.readByte(i)).isEqualTo((byte) ~bytes[i]);
            }
        }
        data.releaseLast();
    }

    /** One region in call after call, also in two at a time; it is the same all the time. */
    @Test
    void shouldMoveRegionsWithoutRegisteringThemAgain() {
        int length = 4097;
        RegisteredRegion region = client.allocate(length);
        UnsafeBuffer data = region.buffer(0, length);
        byte[] bytes = random(length);
        data.putBytes(0, bytes);
        for (int round = 0; round < 101; round++) {
            client.call(INVERT, null, null, region).join();
        }
        for (int i = 0; i < length; i++) {
            assertThat(data.getByte(i)).isEqualTo((byte) ~bytes[i]);
        }
        CompletableFuture<XdrValue> first = client.call(LENGTH, null, null, region);
        client.call(LENGTH, null, null, region).join();
        first.join();
        // The next region of a transport has the next number: there was no other in between.
        RegisteredRegion next = client.allocate(8);
        assertThat(next.id()).isEqualTo(region.id() + 1);
        client.free(region);
        assertThat(region.isClosed()).isTrue();
        assertThat(data.capacity()).isZero();
        assertThatThrownBy(() -> client.call(LENGTH, null, null, region).join())
                .hasMessageContaining("none of this client");
    }

    /** The server may read them and nothing else; short ones travel in the request. */
    @ParameterizedTest
    @ValueSource(ints = {1, 7, 1100, 4097})
    void shouldLetTheServerReadOnlyWhatItMay(int length) {
        byte[] bytes = random(length);
        RegisteredRegion region = client.allocate(length, RemoteDescriptor.REMOTE_READ);
        region.buffer(0, length).putBytes(0, bytes);
        try (NessieServer checking =
                        NessieServer.builder(environment, transport())
                                .slots(1, LENGTH_MAX)
                                .threads(2)
                                .onBulk(INVERT, null, call -> check(call, bytes))
                                .start();
                NessieClient other =
                        NessieClient.connect(environment, transport(), checking.url(), 30_000)) {
            RegisteredRegion data = other.allocate(length, RemoteDescriptor.REMOTE_READ);
            data.buffer(0, length).putBytes(0, bytes);
            for (int round = 0; round < 10; round++) {
                other.call(INVERT, null, null, data).join();
            }
        }
        client.call(INVERT, null, null, region).join();
        assertThat(region.buffer(0, length)).isEqualTo(new UnsafeBuffer(bytes));
    }

    private static void check(RpcCall call, byte[] expected) {
        RpcResult got = call.getData(call.slot(), 0, expected.length, 0);
        UnsafeBuffer bytes = new UnsafeBuffer(call.slot().window(), 0, expected.length);
        boolean isSame = bytes.equals(new UnsafeBuffer(expected));
        boolean isRefused = call.putData(call.slot(), 0, 1, 0) == RpcResult.EPERM;
        call.reply(got == RpcResult.OK && isSame && isRefused ? 0 : 1, null);
    }

    /** Calls complete on the client's own thread. */
    @Test
    void shouldFreeARegionWhenItsCallCompletes() {
        RegisteredRegion region = client.allocate(8);
        client.call(INVERT, null, null, region)
                .whenComplete((result, failure) -> client.free(region))
                .join();
        assertThat(region.isClosed()).isTrue();
    }

    @Test
    void shouldAllocateNothingOnceItIsClosed() {
        client.close();
        assertThatThrownBy(() -> client.allocate(8)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(client::kill).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void shouldRefuseBuffersThatPeersCannotReach() {
        UnsafeBuffer onHeap = new UnsafeBuffer(new byte[100]);
        assertThatThrownBy(() -> client.call(INVERT, null, null, onHeap, 0, 100))
                .isInstanceOf(IllegalArgumentException.class);
        UnsafeBuffer small = new UnsafeBuffer(ByteBuffer.allocateDirect(100));
        assertThatThrownBy(() -> client.call(INVERT, null, null, small, 1, 100))
                .isInstanceOf(IndexOutOfBoundsException.class);
    }

    /** A transport of which this operation ends with an Error. */
    private Transport failing(AtomicReference<String> operation) {
        Transport below = transport();
        return (Transport)
                Proxy.newProxyInstance(
                        Transport.class.getClassLoader(),
                        new Class<?>[] {Transport.class},
                        (proxy, method, arguments) -> {
                            if (method.getName().equals(operation.get())) {
                                throw new InternalError("planned");
                            }
                            try {
                                return method.invoke(below, arguments);
                            } catch (InvocationTargetException e) {
                                throw e.getCause();
                            }
                        });
    }

    @Test
    void shouldCloseATransportOfWhichNoEndpointCanBeMade() {
        AtomicReference<String> operation = new AtomicReference<>("listen");
        Transport broken = failing(operation);
        assertThatThrownBy(() -> RpcEndpoint.over(broken, e -> {}, endpoint -> endpoint))
                .isInstanceOf(InternalError.class);
        operation.set("");
        assertThatThrownBy(() -> broken.allocate(8, 0)).hasMessageContaining("closed");
    }

    @Test
    void shouldSayThatAnErrorKeptItFromStarting() {
        Transport broken = failing(new AtomicReference<>("listen"));
        assertThatThrownBy(() -> NessieClient.connect(environment, broken, server.url(), 30_000))
                .hasRootCauseInstanceOf(InternalError.class);
    }

    /** No call waits for a thread that has ended. */
    @Test
    void shouldEndCallsWhenAnErrorHasEndedItsThread() {
        CompletableFuture<Throwable> error = new CompletableFuture<>();
        AtomicReference<String> operation = new AtomicReference<>("");
        try (RealEnvironment own =
                        RealEnvironment.builder()
                                .job("bulk")
                                .errorHandler(error::complete)
                                .build();
                NessieClient cut =
                        NessieClient.connect(own, failing(operation), server.url(), 30_000)) {
            operation.set("poll");
            assertThat(error.join()).isInstanceOf(InternalError.class);
            operation.set("");
            for (int i = 0; i < 10; i++) {
                assertThatThrownBy(() -> cut.call(LENGTH, null, null).get(20, TimeUnit.SECONDS))
                        .hasCauseInstanceOf(RpcException.class);
            }
        }
    }
}
