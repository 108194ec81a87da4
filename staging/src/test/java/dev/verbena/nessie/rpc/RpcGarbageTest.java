package dev.verbena.nessie.rpc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.nessie.nnti.NntiPeer;
import dev.verbena.nessie.nnti.NntiTransport;
import dev.verbena.nessie.rpc.wire.RpcConstants;
import java.util.Arrays;
import java.util.Random;
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
}
