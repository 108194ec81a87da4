package dev.verbena.nessie.rpc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.RealEnvironment;
import dev.verbena.nessie.NessieServer;
import dev.verbena.nessie.nnti.NntiTransport;
import dev.verbena.transport.Transports;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A handler that calls another service: client to A to B, each with one thread. */
@Timeout(60)
class RpcChainTest {
    private static final int ECHO = 1;
    private static final int RELAY = 2;

    /** Several at a time: the other requests wait at A while its handler waits for B. */
    private static final int CALLS = 20;

    @Test
    void shouldCallAnotherServiceFromAHandler() {
        try (RpcPair a = new RpcPair("shm", RpcServerOptions.DEFAULT);
                RealEnvironment environment = RealEnvironment.builder().job("chain").build();
                NessieServer b =
                        NessieServer.builder(environment, Transports.open("shm", a.context))
                                .on(ECHO, Bytes::new, call -> call.reply(0, call.args()))
                                .start()) {
            RpcClient ofA = a.serving.client();
            ofA.register(ECHO);
            RpcService atB = ofA.getService(b.url(), 20_000);
            a.server.register(RELAY, Bytes::new, call -> relay(ofA, atB, call));
            RpcEndpoint client = a.client();
            RpcService atA = a.service(client);
            Bytes args = new Bytes(100);
            List<ClientRequest> requests = new ArrayList<>();
            List<Bytes> results = new ArrayList<>();
            for (int i = 0; i < CALLS; i++) {
                ClientRequest request = new ClientRequest();
                Bytes result = new Bytes();
                client.client().call(request, atA, RELAY, args, result, null, 0, 20_000);
                requests.add(request);
                results.add(result);
            }
            a.pump("answered", () -> requests.stream().allMatch(ClientRequest::isDone));
            assertThat(requests).allMatch(each -> each.result() == RpcResult.OK);
            assertThat(results).allMatch(each -> Arrays.equals(each.value, args.value));
        }
    }

    private static void relay(RpcClient client, RpcService to, RpcCall call) {
        Bytes result = new Bytes();
        ClientRequest inner = new ClientRequest();
        client.call(inner, to, ECHO, call.args(), result, null, 0, 20_000);
        call.reply(client.await(inner, NntiTransport.NEVER).code(), result);
    }
}
