package dev.verbena.nessie.rpc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.nessie.nnti.BufferFlags;
import dev.verbena.nessie.nnti.MessageHandler;
import dev.verbena.nessie.nnti.NntiOptions;
import dev.verbena.nessie.nnti.NntiPeer;
import dev.verbena.nessie.nnti.NntiTransport;
import dev.verbena.nessie.rpc.wire.RpcConstants;
import dev.verbena.nessie.xdr.XdrInts;
import dev.verbena.transport.Transports;
import java.util.Arrays;
import java.util.Random;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Nonsense of each kind of message, at the server and at a client that has a call under way. */
@Timeout(60)
class RpcGarbageTest {
    private static final int ECHO = 1;
    private static final int HOLD = 2;
    private static final int COUNT = 20_000;
    private static final int[] KINDS = {
        RpcConstants.REQUEST,
        RpcConstants.RESULT,
        RpcConstants.ACK,
        RpcConstants.ASK,
        RpcConstants.PUSHED
    };

    private static void echo(RpcPair pair, RpcEndpoint client, RpcService service) {
        ClientRequest request = new ClientRequest();
        Bytes args = new Bytes(100);
        Bytes result = new Bytes();
        client.client().call(request, service, ECHO, args, result, null, 0, 20_000);
        pair.pump("answered", request::isDone);
        assertThat(request.result()).isEqualTo(RpcResult.OK);
        assertThat(Arrays.equals(result.value, args.value)).isTrue();
    }

    /** Half of it small numbers, as those of calls are; never a request to end. */
    private static void send(NntiTransport from, NntiPeer to, Random random) {
        int at = from.claim();
        if (at < 0) {
            return;
        }
        int length = 4 + random.nextInt(RpcEndpoint.MESSAGE_LENGTH - 3);
        byte[] bytes = new byte[length];
        if (random.nextBoolean()) {
            random.nextBytes(bytes);
        } else {
            for (int i = 7; i < length; i += 4) {
                bytes[i] = (byte) random.nextInt(3);
            }
        }
        MutableDirectBuffer messages = from.messages();
        messages.putBytes(at, bytes);
        int kind = KINDS[random.nextInt(KINDS.length)];
        messages.putInt(at, Integer.reverseBytes(kind));
        from.commit(to, length);
    }

    @Test
    @Tag("seeded")
    void shouldSurviveMessagesOfNonsenseAtBothEnds() {
        long seed = Long.getLong("verbena.seed", 24);
        Random random = new Random(seed);
        try (RpcPair pair = new RpcPair("shm", RpcServerOptions.DEFAULT)) {
            NntiPeer[] toClient = new NntiPeer[1];
            RpcCall[] held = new RpcCall[1];
            pair.server.register(ECHO, Bytes::new, call -> call.reply(0, call.args()));
            pair.server.register(
                    HOLD,
                    null,
                    call -> {
                        if (held[0] == null) {
                            held[0] = call;
                            toClient[0] = call.peer();
                        } else {
                            call.reply(0, null);
                        }
                    });
            RpcEndpoint client = pair.client();
            RpcService service = pair.service(client);
            ClientRequest underWay = new ClientRequest();
            client.client().call(underWay, service, HOLD, null, null, null, 0, 50_000);
            pair.pump("held", () -> held[0] != null);
            for (int i = 0; i < COUNT; i++) {
                send(client.transport(), service.peer(), random);
                send(pair.serving.transport(), toClient[0], random);
                pair.step();
            }
            held[0].reply(0, null);
            pair.pump("done by its answer or by nonsense of its number", underWay::isDone);
            echo(pair, client, service);
            assertThat(pair.server.malformedCount()).as("seed %s", seed).isPositive();
        }
    }

    /** Answers every request as a service that takes messages of a GiB. */
    private static void answerAsAGiant(NntiTransport network) {
        network.onMessage(
                new MessageHandler() {
                    @Override
                    public boolean onMessage(
                            NntiPeer peer, DirectBuffer buffer, int offset, int length) {
                        XdrInts answer = new XdrInts(true, ServiceSearch.WORDS);
                        answer.set(0, ServiceSearch.VERSION);
                        for (int i = 1; i < ServiceSearch.WORDS; i++) {
                            answer.set(i, 1 << 30);
                        }
                        int exchange = RpcMessage.exchangeOf(buffer, offset);
                        RpcMessage header =
                                new RpcMessage()
                                        .request(exchange, RpcMessage.idOf(buffer, offset), 0, 0)
                                        .body(answer.encodedLength(), null);
                        int at = network.claim();
                        int end = at + header.encode(network.messages(), at, false);
                        end += answer.encode(network.messages(), end);
                        network.commit(peer, end - at);
                        return true;
                    }
                });
    }

    /** It would write over other messages of its own. */
    @Test
    void shouldKeepToItsOwnMessagesWhateverAServerSays() {
        try (RpcPair pair = new RpcPair("shm", RpcServerOptions.DEFAULT);
                NntiTransport giant =
                        new NntiTransport(
                                Transports.open("shm", pair.context), NntiOptions.ONE_SIDED)) {
            answerAsAGiant(giant);
            RpcEndpoint client = pair.client();
            ServiceSearch search = client.client().search(giant.url(), 10_000);
            pair.pump(
                    "found",
                    () -> {
                        giant.progress();
                        search.look();
                        return search.isDone();
                    });
            assertThat(search.service().requestLength())
                    .isLessThanOrEqualTo(client.transport().messageLengthMax());
            RegisteredBuffers buffers =
                    new RegisteredBuffers(client.transport(), BufferFlags.GET_SRC);
            assertThat(buffers.acquire((1 << 30) + 1)).as("more than there can be").isNull();
            assertThat(buffers.usedCount).isZero();
        }
    }
}
