package dev.verbena.nessie.rpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.nessie.nnti.BufferFlags;
import dev.verbena.nessie.nnti.NntiBuffer;
import dev.verbena.nessie.nnti.NntiException;
import dev.verbena.nessie.nnti.NntiOptions;
import dev.verbena.nessie.nnti.NntiResult;
import dev.verbena.nessie.nnti.NntiTransport;
import dev.verbena.nessie.rpc.wire.RpcConstants;
import dev.verbena.transport.Transports;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.agrona.MutableDirectBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Requests of other versions, cut short or random, and processes that are no service. */
abstract class RpcHostileContract extends RpcBulkContract {
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

    /** It sends requests, and takes no answer. */
    @Test
    void shouldGiveUpAnswersThatAClientDoesNotTake() {
        reopen(RpcServerOptions.DEFAULT.withFetchTimeoutNs(50_000_000));
        int count = 250;
        for (int i = 0; i < count; i++) {
            call(HOLD, null, null, 20_000);
        }
        pair.pump("held", () -> held.size() == count);
        pair.forget(client);
        held.forEach(call -> call.reply(0, null));
        held.clear();
        assertThat(pair.server.pendingCount()).isPositive();
        pair.pump("given up", () -> pair.server.pendingCount() == 0);
        client.close();
    }

    /** Another client's call waits meanwhile: neither its answer nor its data is touched. */
    @Test
    @Tag("nessie-R24")
    void shouldSurviveRandomRequests() {
        int count = isWhole() ? 1_000_000 : 20_000;
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
}
