package dev.verbena.nessie.rpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.AllocationMeter;
import dev.verbena.agent.Await;
import dev.verbena.memory.OffHeapMemories;
import dev.verbena.nessie.nnti.BufferFlags;
import dev.verbena.nessie.nnti.NntiBuffer;
import dev.verbena.nessie.nnti.NntiException;
import dev.verbena.nessie.nnti.NntiOptions;
import dev.verbena.nessie.nnti.NntiResult;
import dev.verbena.nessie.nnti.NntiTransport;
import dev.verbena.nessie.rpc.wire.RpcConstants;
import dev.verbena.nessie.xdr.XdrException;
import dev.verbena.nessie.xdr.XdrInts;
import dev.verbena.transport.Transport;
import dev.verbena.transport.Transports;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.agrona.MutableDirectBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Remote procedures over a transport, both sides on one thread: one small subclass for each
 * provider names the scheme.
 */
@Timeout(120)
public abstract class RpcContract {
    private static final int ECHO = 1;
    private static final int HOLD = 2;
    private static final int BULK = 3;
    private static final int FAIL = 4;
    private static final int UNKNOWN = 9;

    private final Deque<RpcCall> held = new ArrayDeque<>();
    private RpcPair pair;
    private RpcEndpoint client;
    private RpcService service;

    /** For subclasses in other modules. */
    protected RpcContract() {}

    /** URI scheme of the provider. */
    protected abstract String scheme();

    @BeforeEach
    void open() {
        connect(RpcServerOptions.DEFAULT);
    }

    private void connect(RpcServerOptions options) {
        pair = open(options);
        client = pair.client();
        service = pair.service(client);
    }

    private RpcPair open(RpcServerOptions options) {
        RpcPair made = new RpcPair(scheme(), options);
        made.server.register(ECHO, Bytes::new, call -> call.reply(0, call.args()));
        made.server.register(HOLD, null, this::hold);
        made.server.register(FAIL, Bytes::new, call -> call.reply(-7, call.args()));
        return made;
    }

    private void hold(RpcCall call) {
        if (!call.isResponseless()) {
            held.add(call);
        }
    }

    private void reopen(RpcServerOptions options) {
        pair.close();
        connect(options);
    }

    @AfterEach
    void close() {
        pair.close();
        assertThat(pair.errors).isEmpty();
    }

    private ClientRequest call(int opcode, Bytes args, Bytes result, long timeoutMs) {
        ClientRequest request = new ClientRequest();
        client.client().call(request, service, opcode, args, result, null, 0, timeoutMs);
        return request;
    }

    private ClientRequest done(int opcode, Bytes args, Bytes result) {
        ClientRequest request = call(opcode, args, result, 20_000);
        pair.pump("answered", request::isDone);
        return request;
    }

    private void requireEcho(int length) {
        Bytes args = new Bytes(length);
        Bytes result = new Bytes();
        ClientRequest request = done(ECHO, args, result);
        assertThat(request.result()).isEqualTo(RpcResult.OK);
        assertThat(Arrays.equals(result.value, args.value)).isTrue();
    }

    @Test
    @Tag("nessie-R1")
    void shouldNotCallWhatIsNotRegistered() {
        long sent = pair.server.handledCount();
        ClientRequest request = new ClientRequest();
        assertThat(client.client().call(request, service, 77, null, null, null, 0, 1000))
                .isEqualTo(RpcResult.ENOENT);
        requireEcho(8);
        assertThat(pair.server.handledCount()).isEqualTo(sent + 1);
    }

    @Test
    @Tag("nessie-R2")
    void shouldKeepTheFirstOfTwoRegistrations() {
        assertThat(pair.server.register(ECHO, null, held::add)).isEqualTo(RpcResult.EEXIST);
        requireEcho(8);
    }

    @Test
    @Tag("nessie-R3")
    void shouldAnswerUnknownOpcodes() {
        ClientRequest request = done(UNKNOWN, null, null);
        assertThat(request.result()).isEqualTo(RpcResult.OK);
        assertThat(request.remoteCode()).isEqualTo(RpcResult.ENOTSUP.code());
    }

    @Test
    @Tag("nessie-R4")
    void shouldAnswerArgumentsThatCannotBeDecoded() {
        ClientRequest request = new ClientRequest();
        XdrInts malformed = new XdrInts(true, 1);
        malformed.set(0, -1);
        client.client().call(request, service, ECHO, malformed, null, null, 0, 1000);
        pair.pump("answered", request::isDone);
        assertThat(request.remoteCode()).isEqualTo(RpcResult.EDECODE.code());
        requireEcho(8);
    }

    @Test
    @Tag("nessie-R5")
    @Tag("nessie-R6")
    void shouldCarryShortAndLongArgumentsAndResults() {
        int inlineMax = service.inlineArgsMax(false);
        requireEcho(inlineMax - 4);
        assertThat(pair.server.fetchedArgsCount()).isZero();
        assertThat(client.client().longResultCount()).isZero();
        requireEcho(inlineMax);
        assertThat(pair.server.fetchedArgsCount()).isEqualTo(1);
        assertThat(client.client().longResultCount()).isEqualTo(1);
        requireEcho(inlineMax + 4);
        requireEcho(64 << 20);
        assertThat(pair.server.fetchedArgsCount()).isEqualTo(3);
        pair.pump("long results freed", () -> pair.server.longResultCount() == 0);
        assertThat(pair.server.pendingCount()).isZero();
    }

    @Test
    @Tag("nessie-R7")
    void shouldFreeLongResultsThatNobodyFetches() {
        reopen(RpcServerOptions.DEFAULT.withFetchTimeoutNs(50_000_000));
        call(ECHO, new Bytes(100_000), new Bytes(), 20_000);
        while (pair.server.longResultCount() == 0) {
            pair.serving.doWork();
        }
        Await.until(
                "freed",
                () -> {
                    pair.serving.doWork();
                    return pair.server.longResultCount() == 0;
                });
    }

    /** Who sleeps until the next deadline frees it in time, although nothing comes. */
    @Test
    @Tag("nessie-R7")
    void shouldWantToBeCalledWhenALongResultIsGivenUp() {
        long limitNs = 3_000_000_000L;
        reopen(RpcServerOptions.DEFAULT.withFetchTimeoutNs(limitNs));
        assertThat(pair.serving.nextDeadlineNs()).isEqualTo(Long.MAX_VALUE);
        Transport clock = pair.serving.transport().transport();
        long before = clock.nanoTime();
        call(ECHO, new Bytes(100_000), new Bytes(), 20_000);
        while (pair.server.longResultCount() == 0) {
            pair.serving.doWork();
        }
        assertThat(pair.serving.nextDeadlineNs() - before)
                .isBetween(limitNs, limitNs + clock.nanoTime() - before);
        pair.pump("fetched", () -> pair.server.longResultCount() == 0);
        assertThat(pair.serving.nextDeadlineNs()).isEqualTo(Long.MAX_VALUE);
        pair.server.onProgress(isIdle -> {});
        assertThat(pair.serving.nextDeadlineNs() - clock.nanoTime()).isLessThan(200_000_000);
    }

    /** As a tree does that is deeper than its type allows; negative: its length is not known. */
    private static Bytes broken(int length) {
        return new Bytes(Math.max(8, length)) {
            @Override
            public int encodedLength() {
                if (length < 0) {
                    throw new XdrException("planned");
                }
                return super.encodedLength();
            }

            @Override
            public int encode(MutableDirectBuffer buffer, int index) {
                throw new XdrException("planned");
            }
        };
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 8, 100_000})
    void shouldEndCallsWhoseArgumentsCannotBeEncoded(int length) {
        ClientRequest request = new ClientRequest();
        client.client().call(request, service, ECHO, broken(length), null, null, 0, 20_000);
        assertThat(request.result()).isEqualTo(RpcResult.EENCODE);
        client.client().call(request, service, ECHO, new Bytes(8), null, null, 0, 20_000);
        pair.pump("the same object's next call", request::isDone);
        assertThat(request.result()).isEqualTo(RpcResult.OK);
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 8, 100_000})
    void shouldAnswerForAResultThatCannotBeEncoded(int length) {
        Bytes broken = broken(length);
        pair.server.register(5, null, call -> call.reply(0, broken));
        ClientRequest request = done(5, null, new Bytes());
        assertThat(request.result()).isEqualTo(RpcResult.OK);
        assertThat(request.remoteCode()).isEqualTo(RpcResult.EENCODE.code());
        assertThat(pair.server.longResultCount()).isZero();
        requireEcho(8);
    }

    @Test
    @Tag("nessie-R8")
    void shouldCompleteInAnyOrder() {
        ClientRequest first = call(HOLD, null, null, 20_000);
        ClientRequest second = call(HOLD, null, null, 20_000);
        pair.pump("both at the server", () -> held.size() == 2);
        held.removeLast().reply(0, null);
        pair.pump("second", () -> client.client().test(second));
        assertThat(client.client().test(first)).isFalse();
        assertThat(client.client().await(second, 0)).isEqualTo(RpcResult.OK);
        assertThat(client.client().await(first, 0)).isEqualTo(RpcResult.ETIMEDOUT);
        assertThat(client.client().awaitAny(List.of(first, second), 0)).isEqualTo(1);
        held.remove().reply(0, null);
        pair.pump("first", () -> client.client().test(first));
    }

    @Test
    @Tag("nessie-R9")
    @Tag("nessie-R12")
    void shouldTimeOutOverAllAndDiscardLateResults() {
        ClientRequest request = call(HOLD, null, null, 30);
        pair.pump("timed out", request::isDone);
        assertThat(request.state()).isEqualTo(ClientRequest.State.TIMED_OUT);
        assertThat(request.result()).isEqualTo(RpcResult.ETIMEDOUT);
        held.remove().reply(0, null);
        pair.pump("late", () -> client.client().lateCount() == 1);
        assertThat(request.state()).isEqualTo(ClientRequest.State.TIMED_OUT);
        requireEcho(8);
    }

    @Test
    @Tag("nessie-R10")
    void shouldReportEachOfManyCalls() {
        ClientRequest good = call(ECHO, new Bytes(8), new Bytes(), 20_000);
        ClientRequest late = call(HOLD, null, null, 30);
        ClientRequest cancelled = call(HOLD, null, null, 20_000);
        client.client().cancel(cancelled);
        pair.pump("done", () -> good.isDone() && late.isDone());
        List<ClientRequest> all = List.of(good, late, cancelled);
        assertThat(client.client().awaitAll(all, 1000)).isEqualTo(RpcResult.EBADRPC);
        assertThat(client.client().awaitAll(List.of(good, late), 1000))
                .isEqualTo(RpcResult.ETIMEDOUT);
        assertThat(all)
                .extracting(ClientRequest::result)
                .containsExactly(RpcResult.OK, RpcResult.ETIMEDOUT, RpcResult.ECANCELED);
    }

    @Test
    @Tag("nessie-R11")
    @Tag("nessie-R13")
    void shouldKeepRemoteCodesApartAndSendNoResultWithThem() {
        Bytes result = new Bytes();
        ClientRequest request = done(FAIL, new Bytes(100), result);
        assertThat(request.result()).isEqualTo(RpcResult.OK);
        assertThat(request.remoteCode()).isEqualTo(-7);
        assertThat(result.value).isEmpty();
    }

    @Test
    void shouldAnswerForAHandlerThatThrows() {
        pair.server.register(
                5,
                null,
                call -> {
                    throw new IllegalStateException("planned");
                });
        assertThat(done(5, null, null).remoteCode()).isEqualTo(RpcResult.EBADRPC.code());
        assertThat(pair.errors).hasSize(1);
        pair.errors.clear();
    }

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
        RpcEndpoint gone = client;
        pair.forget(gone);
        gone.close();
        pair.pump("given up", () -> pair.server.pendingCount() == 0);
        assertThat(slots.get(1).isOpen()).isFalse();
        client = pair.client();
        service = pair.service(client);
        ClientRequest next = callWith(data(BufferFlags.PUT_SRC));
        pair.pump("next", next::isDone);
        assertThat(next.remoteCode()).isZero();
        for (int i = 0; i < 1000; i++) {
            assertThat(slots.get(2).window().getByte(i)).isEqualTo((byte) (i * 7));
        }
    }

    @Test
    @Tag("nessie-R15")
    void shouldNeverUseMoreThanItsSlots() {
        // --long: 64 clients with 16 MiB each instead of 8 with 1 MiB
        boolean isLong = Boolean.getBoolean("verbena.long");
        int clients = isLong ? 64 : 8;
        int length = isLong ? 16 << 20 : 1 << 20;
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
            NntiBuffer data = each.transport().alloc(length, 1, BufferFlags.GET_SRC);
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

    @Test
    @Tag("nessie-R17")
    void shouldCallWithoutAnAnswer() {
        AtomicInteger calls = new AtomicInteger();
        pair.server.register(5, Bytes::new, call -> calls.incrementAndGet());
        int tooLong = service.inlineArgsMax(false);
        assertThat(client.client().callResponseless(service, 5, new Bytes(tooLong)))
                .isEqualTo(RpcResult.EINVAL);
        assertThat(client.client().callResponseless(service, 5, new Bytes(tooLong - 4)))
                .isEqualTo(RpcResult.OK);
        pair.pump("called", () -> calls.get() == 1 && pair.server.pendingCount() == 0);
        requireEcho(8);
        assertThat(client.client().lateCount()).isZero();
    }

    @Test
    @Tag("nessie-R18")
    void shouldAnswerWhatItHasAcceptedWhenItIsKilled() {
        ClientRequest accepted = call(HOLD, null, null, 20_000);
        pair.pump("accepted", () -> held.size() == 1);
        ClientRequest kill = new ClientRequest();
        XdrInts signal = new XdrInts(true, 1);
        client.client().call(kill, service, Opcode.KILL_SERVICE, signal, null, null, 0, 20_000);
        pair.pump("killed", kill::isDone);
        assertThat(done(ECHO, new Bytes(8), null).remoteCode())
                .isEqualTo(RpcResult.ECANCELED.code());
        assertThat(pair.server.isDone()).isFalse();
        held.remove().reply(0, null);
        pair.pump("answered", () -> accepted.isDone() && pair.server.isDone());
        assertThat(accepted.result()).isEqualTo(RpcResult.OK);
        assertThat(pair.server.exitCode()).isZero();
    }

    @Test
    @Tag("nessie-R19")
    void shouldEndAfterItsLastRequest() {
        reopen(RpcServerOptions.DEFAULT.withRequestsMax(3));
        for (int i = 0; i < 3; i++) {
            assertThat(pair.server.isDone()).isFalse();
            requireEcho(8);
        }
        pair.pump("ended", pair.server::isDone);
        assertThat(done(ECHO, new Bytes(8), null).remoteCode())
                .isEqualTo(RpcResult.ECANCELED.code());
    }

    @Test
    @Tag("nessie-R20")
    void shouldCallTheProgressCallbackIdleAndBusy() {
        List<Boolean> idle = new ArrayList<>();
        pair.server.onProgress(idle::add);
        pair.pump("idle", () -> idle.contains(true));
        ClientRequest open = call(HOLD, null, null, 20_000);
        pair.pump("busy", () -> idle.contains(false));
        held.remove().reply(0, null);
        pair.pump("answered", open::isDone);
    }

    @Test
    @Tag("nessie-R22")
    void shouldNotHangAtAProcessThatIsNoService() {
        try (NntiTransport other =
                new NntiTransport(Transports.open(scheme(), pair.context), NntiOptions.ONE_SIDED)) {
            assertThatThrownBy(() -> client.client().getService(other.url(), 300))
                    .isInstanceOfSatisfying(
                            NntiException.class,
                            e ->
                                    assertThat(e.result())
                                            .isIn(NntiResult.ETIMEDOUT, NntiResult.EBADRPC));
        }
    }

    @Test
    @Tag("nessie-R23")
    void shouldRejectOtherVersions() {
        MutableDirectBuffer buffer = client.transport().messages();
        ClientRequest request = call(HOLD, null, null, 20_000);
        pair.pump("accepted", () -> held.size() == 1);
        int at = client.transport().claim();
        new RpcMessage()
                .request((int) client.transport().id(), request.id(), HOLD, 0)
                .encode(buffer, at, true);
        buffer.putByte(at + 3, (byte) '2');
        client.transport().commit(service.peer(), RpcMessage.HEADER_LENGTH);
        pair.pump("answered", request::isDone);
        assertThat(request.remoteCode()).isEqualTo(RpcResult.EDECODE.code());
        assertThat(pair.server.malformedCount()).isEqualTo(1);
        assertThat(held).hasSize(1);
    }

    /** A request that ends within its header still names its call. */
    @Test
    void shouldAnswerRequestsThatAreTooShort() {
        ClientRequest request = call(HOLD, null, null, 20_000);
        pair.pump("accepted", () -> held.size() == 1);
        new RpcMessage()
                .request((int) client.transport().id(), request.id(), HOLD, 0)
                .encode(client.transport().messages(), client.transport().claim(), true);
        client.transport().commit(service.peer(), RpcMessage.ACK_LENGTH);
        pair.pump("answered", request::isDone);
        assertThat(request.remoteCode()).isEqualTo(RpcResult.EDECODE.code());
        assertThat(pair.server.malformedCount()).isEqualTo(1);
    }

    @Test
    void shouldCancelACallWhoseResultIsOnItsWay() {
        reopen(RpcServerOptions.DEFAULT.withFetchTimeoutNs(50_000_000));
        Bytes args = new Bytes(1 << 20);
        Bytes result = new Bytes();
        ClientRequest request = call(ECHO, args, result, 20_000);
        while (request.state() != ClientRequest.State.PROCESSING_RESULT) {
            pair.serving.doWork();
            client.transport().progress();
        }
        client.client().cancel(request);
        assertThat(request.result()).isEqualTo(RpcResult.ECANCELED);
        client.client().call(request, service, ECHO, args, result, null, 0, 20_000);
        pair.pump("the same object's next call", request::isDone);
        assertThat(request.result()).isEqualTo(RpcResult.OK);
        assertThat(Arrays.equals(result.value, args.value)).isTrue();
        pair.pump("freed", () -> pair.server.longResultCount() == 0);
    }

    /** Another client's call waits meanwhile: neither its answer nor its data is touched. */
    @Test
    @Tag("nessie-R24")
    void shouldSurviveRandomRequests() {
        // --long: 1,000,000 requests instead of 20,000
        int count = Boolean.getBoolean("verbena.long") ? 1_000_000 : 20_000;
        reopen(RpcServerOptions.DEFAULT.withFetchTimeoutNs(50_000_000));
        List<RpcCall> ofOther = new ArrayList<>();
        pair.server.register(8, Bytes::new, ofOther::add);
        RpcEndpoint other = pair.client();
        RpcService itsService = pair.service(other);
        NntiBuffer itsData =
                other.transport().alloc(4096, 1, BufferFlags.GET_SRC | BufferFlags.PUT_DST);
        itsData.window().setMemory(0, 4096, (byte) 5);
        ClientRequest itsRequest = new ClientRequest();
        Bytes itsArgs = new Bytes(100);
        Bytes itsResult = new Bytes();
        other.client().call(itsRequest, itsService, 8, itsArgs, itsResult, itsData, 4096, 100_000);
        pair.pump("held", () -> ofOther.size() == 1);
        Random random = new Random(24);
        byte[] bytes = new byte[RpcEndpoint.MESSAGE_LENGTH];
        RpcMessage valid = new RpcMessage();
        NntiBuffer data = client.transport().alloc(4096, 1, BufferFlags.GET_SRC);
        for (int i = 0; i < count; ) {
            int at = client.transport().claim();
            int length = 16 + random.nextInt(bytes.length - 15);
            if (at >= 0) {
                random.nextBytes(bytes);
                MutableDirectBuffer buffer = client.transport().messages();
                buffer.putBytes(at, bytes, 0, length);
                if (i % 2 == 0 && length > RpcMessage.LENGTH_MAX + 8) {
                    valid.request(1, i, 1 + random.nextInt(4), random.nextInt(16))
                            .body(random.nextInt(2000), (i & 4) == 0 ? data.handle() : null)
                            .encode(buffer, at, true);
                    buffer.putByte(at + 16 + random.nextInt(30), (byte) random.nextInt(4));
                } else {
                    buffer.putInt(at, Integer.reverseBytes(RpcConstants.REQUEST));
                }
                i += client.transport().commit(service.peer(), length) == NntiResult.OK ? 1 : 0;
            }
            pair.step();
            while (!held.isEmpty()) {
                held.remove().reply(0, null);
            }
        }
        pair.pump("all but the other's are over", () -> pair.server.pendingCount() == 1);
        assertThat(pair.server.longResultCount()).isZero();
        requireEcho(100);
        assertThat(pair.server.malformedCount()).isPositive();
        assertThat(itsRequest.isDone()).isFalse();
        ofOther.remove(0).reply(0, itsArgs);
        pair.pump("answered", itsRequest::isDone);
        assertThat(itsRequest.result()).isEqualTo(RpcResult.OK);
        assertThat(Arrays.equals(itsResult.value, itsArgs.value)).isTrue();
        assertThat(other.client().lateCount()).isZero();
        for (int i = 0; i < 4096; i++) {
            assertThat(itsData.window().getByte(i)).isEqualTo((byte) 5);
        }
    }

    @Test
    void shouldAllocateNothingForACallWithoutArguments() {
        ClientRequest request = new ClientRequest();
        AllocationMeter.requireNone(
                () -> {
                    for (int i = 0; i < 10_000; i++) {
                        client.client()
                                .call(request, service, Opcode.NULL, null, null, null, 0, 10_000);
                        while (!request.isDone()) {
                            pair.step();
                        }
                    }
                });
        assertThat(request.result()).isEqualTo(RpcResult.OK);
    }
}
