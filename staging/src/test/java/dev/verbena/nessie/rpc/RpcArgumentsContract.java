package dev.verbena.nessie.rpc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.Await;
import dev.verbena.nessie.xdr.XdrException;
import dev.verbena.nessie.xdr.XdrInts;
import dev.verbena.transport.Transport;
import java.util.Arrays;
import org.agrona.MutableDirectBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Arguments and results: short ones, long ones and those that cannot be encoded. */
abstract class RpcArgumentsContract extends RpcFixture {
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
        assertThat(pair.server.fetchedArgsCount).isZero();
        assertThat(client.client().longResultCount()).isZero();
        requireEcho(inlineMax);
        assertThat(pair.server.fetchedArgsCount).isEqualTo(1);
        assertThat(client.client().longResultCount()).isEqualTo(1);
        requireEcho(inlineMax + 4);
        requireEcho(64 << 20);
        assertThat(pair.server.fetchedArgsCount).isEqualTo(3);
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
}
