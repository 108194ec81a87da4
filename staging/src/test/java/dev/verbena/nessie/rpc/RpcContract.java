package dev.verbena.nessie.rpc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.AllocationMeter;
import dev.verbena.nessie.xdr.XdrInts;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Remote procedures over a transport, both sides on one thread: one small subclass for each
 * provider names the scheme.
 */
public abstract class RpcContract extends RpcHostileContract {
    private static final int UNKNOWN = 9;

    /** For subclasses in other modules. */
    protected RpcContract() {}

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

    /** That code says that a server has failed. */
    @Test
    void shouldRefuseAKillWithANegativeSignal() {
        XdrInts signal = new XdrInts(true, 1);
        signal.set(0, -1);
        ClientRequest kill = new ClientRequest();
        client.client().call(kill, service, Opcode.KILL_SERVICE, signal, null, null, 0, 20_000);
        pair.pump("refused", kill::isDone);
        assertThat(kill.remoteCode()).isEqualTo(RpcResult.EINVAL.code());
        requireEcho(8);
        assertThat(pair.server.isDone()).isFalse();
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
