package dev.verbena.nessie.rpc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.AllocationMeter;
import dev.verbena.memory.OffHeapMemories;
import dev.verbena.nessie.nnti.BufferFlags;
import dev.verbena.nessie.nnti.NntiBuffer;
import dev.verbena.nessie.rpc.wire.RpcConstants;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.Function;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Bulk data that travel in the request. */
@Timeout(60)
class RpcInlineDataTest {
    private static final int BULK = 3;
    private static final int WRITABLE = BufferFlags.GET_DST | BufferFlags.PUT_DST;

    private final RpcPair pair = new RpcPair("shm", RpcServerOptions.DEFAULT);
    private final RpcEndpoint client = pair.client();
    private final RpcService service = pair.service(client);
    private final ClientRequest request = new ClientRequest();

    @AfterEach
    void close() {
        pair.close();
        assertThat(pair.errors).isEmpty();
    }

    private NntiBuffer data(int flags) {
        NntiBuffer data = client.transport().alloc(1 << 12, 1, flags);
        for (int i = 0; i < 1 << 12; i++) {
            data.window().putByte(i, (byte) (i * 7));
        }
        return data;
    }

    private NntiBuffer own(int flags) {
        return pair.serving.transport().alloc(1 << 12, 1, flags);
    }

    /** Serves an operation that moves data and answers with how that went. */
    private void serve(Function<RpcCall, RpcResult> move) {
        pair.server.register(BULK, Bytes::new, call -> call.reply(move.apply(call).code(), null));
    }

    private RpcResult call(NntiBuffer data, Bytes args, long length) {
        client.client().call(request, service, BULK, args, null, data, length, 20_000);
        pair.pump("answered", request::isDone);
        assertThat(request.result()).isEqualTo(RpcResult.OK);
        return RpcResult.ofCode(request.remoteCode());
    }

    /** They are there although the client has unregistered them: nothing is fetched. */
    @Test
    void shouldServeThemFromTheRequest() {
        NntiBuffer own = own(WRITABLE);
        NntiBuffer source = own(BufferFlags.PUT_SRC);
        List<RpcResult> results = new ArrayList<>();
        pair.server.register(
                BULK,
                Bytes::new,
                call -> {
                    results.add(call.getData(own, 3, 90, 7));
                    results.add(call.askData(own, 203, 100, 0));
                    results.add(call.getData(own, 0, 0, 100));
                    results.add(call.getData(own, 0, 1, 100));
                    results.add(call.getData(own, 4090, 8, 0));
                    results.add(call.getData(source, 0, 8, 0));
                    results.add(call.putData(source, 0, 8, 0));
                    results.add(call.startGetData(own, 400, 1, 99, results::add));
                    call.reply(call.dataLength() == 100 ? 0 : 1, null);
                });
        NntiBuffer data = data(BufferFlags.GET_SRC);
        client.client().call(request, service, BULK, new Bytes(50), null, data, 100, 20_000);
        client.transport().unregister(data);
        pair.pump("answered", request::isDone);
        assertThat(request.remoteCode()).isZero();
        RpcResult ok = RpcResult.OK;
        RpcResult bad = RpcResult.EINVAL;
        RpcResult not = RpcResult.EPERM;
        assertThat(results).containsExactly(ok, ok, ok, bad, bad, not, not, ok, ok);
        for (int i = 0; i < 90; i++) {
            assertThat(own.window().getByte(3 + i)).isEqualTo((byte) ((7 + i) * 7));
            assertThat(own.window().getByte(203 + i)).isEqualTo((byte) (i * 7));
        }
        assertThat(own.window().getByte(400)).isEqualTo((byte) (99 * 7));
        assertThat(own.window().getByte(93)).isZero();
        assertThat(pair.server.inlineDataCount()).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 8, 400})
    void shouldTravelInTheRequestIfTheyFit(int argsLength) {
        NntiBuffer own = own(WRITABLE);
        NntiBuffer data = data(BufferFlags.GET_SRC | BufferFlags.PUT_SRC);
        serve(call -> call.getData(own, 0, call.dataLength(), 0));
        Bytes args = new Bytes(argsLength);
        int room = service.inlineArgsMax(false) - args.encodedLength();
        assertThat(call(data, args, room - 1)).isEqualTo(RpcResult.OK);
        assertThat(pair.server.inlineDataCount()).isEqualTo(1);
        assertThat(own.window().getByte(room - 2)).isEqualTo((byte) ((room - 2) * 7));
        assertThat(call(data, args, room)).isEqualTo(RpcResult.OK);
        assertThat(call(data, args, 1 << 12)).isEqualTo(RpcResult.OK);
        assertThat(pair.server.inlineDataCount()).isEqualTo(1);
        assertThat(own.window().getByte(4095)).isEqualTo((byte) (4095 * 7));
    }

    @Test
    void shouldNotTravelInTheRequestIfTheServerMayWriteThem() {
        NntiBuffer source = own(BufferFlags.PUT_SRC);
        NntiBuffer data = data(BufferFlags.GET_SRC | BufferFlags.PUT_DST);
        serve(call -> call.putData(source, 0, call.dataLength(), 0));
        assertThat(call(data, new Bytes(8), 100)).isEqualTo(RpcResult.OK);
        assertThat(data.window().getByte(99)).isZero();
        assertThat(pair.server.inlineDataCount()).isZero();
    }

    @Test
    void shouldFillSeveralSegments() {
        NntiBuffer own =
                pair.serving
                        .transport()
                        .registerSegments(
                                List.of(OffHeapMemories.allocate(50), OffHeapMemories.allocate(60)),
                                WRITABLE);
        serve(call -> call.getData(own, 10, 100, 0));
        assertThat(call(data(BufferFlags.GET_SRC), new Bytes(8), 100)).isEqualTo(RpcResult.OK);
        byte[] first = new byte[50];
        own.window().getBytes(0, first);
        for (int i = 0; i < 40; i++) {
            assertThat(first[10 + i]).isEqualTo((byte) (i * 7));
        }
    }

    /** Random lengths and flags: what is accepted is within the message. */
    @Test
    @Tag("seeded")
    void shouldRefuseDataThatAreNotInTheRequest() {
        long seed = Long.getLong("verbena.seed", 24);
        Random random = new Random(seed);
        int[] extremes = {Integer.MIN_VALUE, -4, -1, 0, 1, 1 << 30, Integer.MAX_VALUE};
        UnsafeBuffer bytes = new UnsafeBuffer(new byte[RpcEndpoint.MESSAGE_LENGTH]);
        RpcMessage message = new RpcMessage();
        int accepted = 0;
        for (int i = 0; i < 100_000; i++) {
            Arrays.fill(bytes.byteArray(), (byte) 0);
            int length = RpcMessage.HEADER_LENGTH + random.nextInt(100);
            int body = random.nextInt(4) == 0 ? extremes[random.nextInt(7)] : random.nextInt(60);
            long data = random.nextInt(4) == 0 ? random.nextLong() : random.nextInt(60);
            int flags = RpcConstants.FLAG_DATA_INLINE | random.nextInt(2) * random.nextInt(16);
            message.request(1, i, BULK, flags).body(body, null);
            message.fields.dataLength(data).encode(bytes, 0);
            boolean isInside =
                    body >= 0
                            && data >= 0
                            && data <= length - RpcMessage.HEADER_LENGTH - (long) body
                            && (flags & (RpcConstants.FLAG_DATA | RpcConstants.FLAG_FETCH)) == 0;
            assertThat(message.decode(bytes, 0, length, true))
                    .as("seed %s: %s, %s, 0x%x in %s", seed, body, data, flags, length)
                    .isEqualTo(isInside);
            accepted += isInside ? 1 : 0;
        }
        assertThat(accepted).isBetween(1, 99_999);
    }

    @Test
    void shouldAllocateNothing() {
        NntiBuffer own = own(WRITABLE);
        NntiBuffer data = data(BufferFlags.GET_SRC);
        pair.server.register(
                BULK,
                null,
                call -> {
                    call.getData(own, 0, 100, 0);
                    call.reply(0, null);
                });
        AllocationMeter.requireNone(
                () -> {
                    for (int i = 0; i < 10_000; i++) {
                        client.client().call(request, service, BULK, null, null, data, 100, 20_000);
                        while (!request.isDone()) {
                            pair.step();
                        }
                    }
                });
        assertThat(pair.server.inlineDataCount()).isGreaterThanOrEqualTo(10_000);
    }
}
