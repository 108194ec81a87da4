package dev.verbena.nessie.rpc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.nessie.nnti.BufferFlags;
import dev.verbena.nessie.nnti.NntiBuffer;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Bulk data that the server directs, and the slots that it has for them. */
abstract class RpcBulkContract extends RpcArgumentsContract {
    private static final int BULK = 3;

    /** At odd offsets of memory of the caller. */
    @Test
    @Tag("nessie-R14")
    void shouldMoveBulkDataAsTheServerDirects() {
        NntiBuffer own =
                pair.serving
                        .transport()
                        .alloc(1 << 20, 1, BufferFlags.GET_DST | BufferFlags.PUT_SRC);
        // Into no memory at all: nothing goes.
        NntiBuffer gone = pair.serving.transport().alloc(8, 1, BufferFlags.GET_DST);
        pair.serving.transport().unregister(gone);
        List<RpcResult> results = new ArrayList<>();
        pair.server.register(
                BULK,
                null,
                call -> {
                    results.add(call.getData(gone, 0, 0, 0));
                    results.add(call.putData(gone, 0, 0, 1000));
                    results.add(call.getData(own, 0, 1001, 0));
                    results.add(call.putData(own, 0, 1, 1000));
                    results.add(call.putData(own, 0, 8, -1));
                    results.add(call.getData(own, 3, 990, 7));
                    results.add(call.putData(own, 10, 100, 500));
                    call.reply(0, null);
                });
        ByteBuffer memory = ByteBuffer.allocateDirect(1010);
        for (int i = 0; i < memory.capacity(); i++) {
            memory.put(i, (byte) (i * 7));
        }
        NntiBuffer data =
                client.transport()
                        .register(
                                OffHeapMemories.wrap(memory),
                                BufferFlags.GET_SRC | BufferFlags.PUT_DST);
        ClientRequest request = new ClientRequest();
        client.client().call(request, service, BULK, null, null, data, 1000, 10_000);
        pair.pump("done", request::isDone);
        RpcResult ok = RpcResult.OK;
        RpcResult wrong = RpcResult.EINVAL;
        assertThat(results).containsExactly(ok, ok, wrong, wrong, wrong, ok, ok);
        for (int i = 0; i < 990; i++) {
            assertThat(own.window().getByte(3 + i)).isEqualTo((byte) ((7 + i) * 7));
        }
        for (int i = 0; i < memory.capacity(); i++) {
            int from = i >= 500 && i < 600 ? i - 500 + 7 + 7 : i;
            assertThat(memory.get(i)).as("byte %s", i).isEqualTo((byte) (from * 7));
        }
        assertThat(client.client().call(request, service, BULK, null, null, data, 1011, 1))
                .isEqualTo(RpcResult.EINVAL);
    }

    private static RpcResult push(RpcCall call, NntiBuffer into, long at, long bytes, long from) {
        return call.startAskData(
                into,
                at,
                bytes,
                from,
                result -> call.reply(result == RpcResult.OK ? 0 : result.code(), null));
    }

    private NntiBuffer data(int flags) {
        NntiBuffer data = client.transport().alloc(1 << 12, 1, flags);
        for (int i = 0; i < 1 << 12; i++) {
            data.window().putByte(i, (byte) (i * 7));
        }
        return data;
    }

    private ClientRequest callWith(NntiBuffer data) {
        ClientRequest request = new ClientRequest();
        client.client().call(request, service, BULK, null, null, data, 1 << 12, 20_000);
        return request;
    }

    /** The second way of a write: the server has room, and the client puts. */
    @Test
    void shouldAskTheClientToPut() {
        reopen(RpcServerOptions.DEFAULT.withSlots(1, 1 << 12));
        NntiBuffer own = pair.serving.transport().alloc(64, 1, BufferFlags.GET_DST);
        List<RpcResult> refused = new ArrayList<>();
        pair.server.registerWithSlot(
                BULK,
                null,
                call -> {
                    refused.add(push(call, own, 0, 8, 0));
                    refused.add(push(call, call.slot(), 4090, 8, 0));
                    refused.add(push(call, call.slot(), 0, 8, 4090));
                    refused.add(push(call, call.slot(), 3, 1000, 17));
                    held.add(call);
                });
        ClientRequest request = callWith(data(BufferFlags.PUT_SRC));
        pair.pump("put", request::isDone);
        assertThat(request.remoteCode()).isZero();
        assertThat(request.pushCount()).isEqualTo(1);
        assertThat(refused)
                .containsExactly(RpcResult.EPERM, RpcResult.EINVAL, RpcResult.EINVAL, RpcResult.OK);
        ClientRequest mayNot = callWith(data(BufferFlags.GET_SRC));
        pair.pump("refused", mayNot::isDone);
        assertThat(mayNot.remoteCode()).isEqualTo(RpcResult.EPERM.code());
    }

    /** A slot that a client may still put to is given to nobody else. */
    @Test
    void shouldTakeTheSlotAwayFromAClientThatIsGone() {
        reopen(RpcServerOptions.DEFAULT.withSlots(1, 1 << 12));
        List<NntiBuffer> slots = new ArrayList<>();
        pair.server.registerWithSlot(
                BULK,
                null,
                call -> {
                    slots.add(call.slot());
                    push(call, call.slot(), 0, 1000, 0);
                });
        ClientRequest timedOut = callWith(data(BufferFlags.PUT_SRC));
        while (slots.isEmpty()) {
            client.transport().progress();
            pair.serving.doWork();
        }
        client.client().cancel(timedOut);
        pair.pump("reported", () -> pair.server.pendingCount() == 0);
        callWith(data(BufferFlags.PUT_SRC));
        while (slots.size() < 2) {
            client.transport().progress();
            pair.serving.doWork();
        }
        assertThat(slots.get(1)).isSameAs(slots.get(0));
        closeClient();
        pair.pump("given up", () -> pair.server.pendingCount() == 0);
        assertThat(slots.get(1).isOpen()).isFalse();
        connectClient();
        ClientRequest next = callWith(data(BufferFlags.PUT_SRC));
        pair.pump("next", next::isDone);
        assertThat(next.remoteCode()).isZero();
        for (int i = 0; i < 1000; i++) {
            assertThat(slots.get(2).window().getByte(i)).isEqualTo((byte) (i * 7));
        }
    }

    /** It takes what comes, and does nothing about it. */
    @Test
    void shouldNotWaitWithoutEndForAClientThatIsAskedToPut() {
        reopen(RpcServerOptions.DEFAULT.withSlots(1, 1 << 12).withFetchTimeoutNs(50_000_000));
        List<NntiBuffer> slots = new ArrayList<>();
        List<RpcResult> results = new ArrayList<>();
        pair.server.registerWithSlot(
                BULK,
                null,
                call -> {
                    slots.add(call.slot());
                    call.startAskData(
                            call.slot(),
                            0,
                            1000,
                            0,
                            result -> {
                                results.add(result);
                                results.add(push(call, call.slot(), 0, 1000, 0));
                                call.reply(0, null);
                            });
                });
        ClientRequest request = callWith(data(BufferFlags.PUT_SRC));
        pair.forget(client);
        pair.pump("given up", () -> client.transport().progress() >= 0 && !results.isEmpty());
        assertThat(results).containsExactly(RpcResult.ETIMEDOUT, RpcResult.EINVAL);
        assertThat(slots.get(0).isOpen()).isFalse();
        pair.pump("answered", () -> client.doWork() >= 0 && request.isDone());
        assertThat(request.remoteCode()).isZero();
        client.close();
    }

    /** The network may still write to the slot. */
    @Test
    void shouldTakeTheSlotAwayFromACallThatIsAnsweredDuringATransfer() {
        reopen(RpcServerOptions.DEFAULT.withSlots(1, 1 << 12));
        List<NntiBuffer> slots = new ArrayList<>();
        List<RpcResult> results = new ArrayList<>();
        pair.server.registerWithSlot(
                BULK,
                null,
                call -> {
                    slots.add(call.slot());
                    results.add(call.startGetData(call.slot(), 0, 1000, 0, result -> {}));
                    call.reply(call.isMoved() ? 1 : 0, null);
                });
        NntiBuffer data = data(BufferFlags.GET_SRC);
        for (int i = 0; i < 3; i++) {
            ClientRequest request = callWith(data);
            pair.pump("answered", request::isDone);
            assertThat(results).hasSize(i + 1).containsOnly(RpcResult.OK);
            assertThat(slots.get(i).isOpen()).isEqualTo(request.remoteCode() == 1);
        }
    }

    private void reopenForOneCallAtATime(long requestsMax) {
        RpcServerOptions one = RpcServerOptions.DEFAULT;
        reopen(
                new RpcServerOptions(
                        1,
                        0,
                        requestsMax,
                        one.argsLengthMax(),
                        0,
                        0,
                        0,
                        one.progressNs(),
                        one.order()));
    }

    private void closeClient() {
        RpcEndpoint gone = client;
        pair.forget(gone);
        gone.close();
    }

    private void steps() {
        for (int i = 0; i < 100; i++) {
            pair.step();
        }
    }

    /** The second one waits for room, and is delivered when nobody is there any more. */
    @Test
    void shouldNotHandleRequestsOfAClientThatIsGone() {
        reopenForOneCallAtATime(-1);
        call(HOLD, null, null, 20_000);
        call(HOLD, null, null, 20_000);
        pair.pump("held", () -> held.size() == 1);
        steps();
        closeClient();
        pair.pump("given up", () -> pair.server.pendingCount() == 0);
        steps();
        assertThat(pair.server.pendingCount()).isZero();
        assertThat(held).hasSize(1);
    }

    @Test
    void shouldCountARequestWhoseClientIsGone() {
        reopenForOneCallAtATime(1);
        call(HOLD, null, null, 20_000);
        pair.pump("held", () -> held.size() == 1);
        assertThat(pair.server.isDone()).isFalse();
        closeClient();
        pair.pump("done", pair.server::isDone);
    }

    @Test
    void shouldHoldNoMoreCallsWhenOneOfAClientThatIsGoneIsAnswered() {
        reopenForOneCallAtATime(-1);
        call(HOLD, null, null, 20_000);
        pair.pump("held", () -> held.size() == 1);
        closeClient();
        pair.pump("given up", () -> pair.server.pendingCount() == 0);
        assertThat(held.remove().reply(0, null)).isEqualTo(RpcResult.EIO);
        connectClient();
        call(HOLD, null, null, 20_000);
        call(HOLD, null, null, 20_000);
        pair.pump("held", () -> !held.isEmpty());
        steps();
        assertThat(held).hasSize(1);
    }

    @Test
    @Tag("nessie-R15")
    void shouldNeverUseMoreThanItsSlots() {
        int clients = isWhole() ? 64 : 8;
        int length = isWhole() ? 16 << 20 : 1 << 20;
        OffHeapMemory memory = OffHeapMemories.wrap(ByteBuffer.allocateDirect(length));
        reopen(RpcServerOptions.DEFAULT.withSlots(2, length));
        pair.server.registerWithSlot(
                BULK,
                null,
                call ->
                        call.startGetData(
                                call.slot(),
                                0,
                                call.dataLength(),
                                0,
                                result -> call.reply(result.code(), null)));
        List<ClientRequest> requests = new ArrayList<>();
        for (int i = 0; i < clients; i++) {
            RpcEndpoint each = pair.client();
            RpcService its = pair.service(each);
            NntiBuffer data = each.transport().register(memory, BufferFlags.GET_SRC);
            ClientRequest request = new ClientRequest();
            each.client().call(request, its, BULK, null, null, data, length, 60_000);
            requests.add(request);
        }
        pair.pump("all", () -> requests.stream().allMatch(ClientRequest::isDone));
        assertThat(requests).allMatch(each -> each.remoteCode() == 0);
        assertThat(pair.server.slotsUsedMax()).isBetween(1, 2);
    }

    /** Only one of the calls can have the slot at a time. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldHandleCallsInTheOrderOfItsPolicy(boolean isLeastFirst) {
        RpcServerOptions usual = RpcServerOptions.DEFAULT;
        reopen(
                new RpcServerOptions(
                        usual.pendingMax(),
                        usual.threads(),
                        usual.requestsMax(),
                        usual.argsLengthMax(),
                        1,
                        1 << 12,
                        usual.fetchTimeoutNs(),
                        usual.progressNs(),
                        isLeastFirst ? RequestOrder.LEAST_DATA : usual.order()));
        List<Long> lengths = new ArrayList<>();
        pair.server.registerWithSlot(
                BULK,
                null,
                call -> {
                    lengths.add(call.dataLength());
                    held.add(call);
                });
        NntiBuffer data = data(BufferFlags.GET_SRC);
        List<ClientRequest> requests = new ArrayList<>();
        for (int length : new int[] {9, 3000, 1000, 2000}) {
            ClientRequest request = new ClientRequest();
            client.client().call(request, service, BULK, null, null, data, length, 20_000);
            requests.add(request);
        }
        pair.pump("arrived", () -> pair.server.pendingCount() == 4);
        pair.pump(
                "done",
                () -> {
                    if (!held.isEmpty()) {
                        held.remove().reply(0, null);
                    }
                    return requests.stream().allMatch(ClientRequest::isDone);
                });
        assertThat(lengths)
                .isEqualTo(
                        isLeastFirst
                                ? List.of(9L, 1000L, 2000L, 3000L)
                                : List.of(9L, 3000L, 1000L, 2000L));
    }
}
