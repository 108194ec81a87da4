package dev.verbena.nessie.rpc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.nessie.nnti.NntiPair;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.Transports;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** One deadline over all phases of a call, at a client whose clock this test sets. */
@Timeout(60)
class RpcDeadlineTest {
    private static final int ECHO = 1;
    private static final long MS = 1_000_000;
    private static final long TIMEOUT_MS = 100;

    /** Less than a call may take, and more than half of it. */
    private static final long PHASE_NS = 60 * MS;

    private final TransportContext context = NntiPair.context();
    private long now;

    /** How much time each get takes by the client's clock. */
    private long getNs;

    /** Real but for its clock. */
    private Transport transport() {
        Transport below = Transports.open("shm", context);
        return (Transport)
                Proxy.newProxyInstance(
                        Transport.class.getClassLoader(),
                        new Class<?>[] {Transport.class},
                        (proxy, method, arguments) -> {
                            if (method.getName().equals("nanoTime")) {
                                return now;
                            }
                            now += method.getName().equals("get") ? getNs : 0;
                            try {
                                return method.invoke(below, arguments);
                            } catch (InvocationTargetException e) {
                                throw e.getCause();
                            }
                        });
    }

    private static RpcService service(RpcEndpoint serving, RpcEndpoint client) {
        ServiceSearch search = client.client().search(serving.transport().url(), 10_000);
        while (!search.isDone()) {
            serving.doWork();
            client.doWork();
            search.look();
        }
        return search.service();
    }

    private static ClientRequest call(
            RpcEndpoint client, RpcService service, Bytes args, Bytes result, long timeoutMs) {
        ClientRequest request = new ClientRequest();
        client.client().call(request, service, ECHO, args, result, null, 0, timeoutMs);
        client.client().nextDeadlineNs(); // time begins
        return request;
    }

    @Test
    @Tag("nessie-R9")
    void shouldAddTheServersTimeToTheFetchOfALongResult() {
        try (RpcEndpoint serving = RpcEndpoint.over(Transports.open("shm", context), e -> {});
                RpcEndpoint client = RpcEndpoint.over(transport(), e -> {})) {
            RpcServer server = serving.serve(RpcServerOptions.DEFAULT);
            server.register(ECHO, Bytes::new, call -> call.reply(0, call.args()));
            RpcService service = service(serving, client);
            client.client().register(ECHO);
            for (long phaseNs : new long[] {PHASE_NS / 2, PHASE_NS}) {
                long fetched = client.client().longResultCount();
                getNs = phaseNs;
                Bytes result = new Bytes();
                ClientRequest request =
                        call(client, service, new Bytes(100_000), result, TIMEOUT_MS);
                now += phaseNs;
                while (!request.isDone()) {
                    serving.doWork();
                    client.doWork();
                }
                boolean isLate = phaseNs == PHASE_NS;
                assertThat(request.result()).isEqualTo(isLate ? RpcResult.ETIMEDOUT : RpcResult.OK);
                assertThat(client.client().longResultCount()).isEqualTo(fetched + 1);
                assertThat(result.value.length).isEqualTo(isLate ? 0 : 100_000 - 4);
            }
        }
    }

    /** No message of it has gone, for the network takes no more. */
    @Test
    @Tag("nessie-R9")
    void shouldTimeOutACallThatCannotBeSent() {
        try (RpcEndpoint serving = RpcEndpoint.over(Transports.open("shm", context), e -> {});
                RpcEndpoint client = RpcEndpoint.over(transport(), e -> {})) {
            RpcServer server = serving.serve(RpcServerOptions.DEFAULT);
            server.register(ECHO, Bytes::new, call -> call.reply(0, call.args()));
            RpcService service = service(serving, client);
            client.client().register(ECHO);
            long before = server.handledCount();
            List<ClientRequest> sent = new ArrayList<>();
            ClientRequest last = call(client, service, new Bytes(8), null, TIMEOUT_MS);
            while (last.state() != ClientRequest.State.SENDING) {
                sent.add(last);
                last = call(client, service, new Bytes(8), null, TIMEOUT_MS + sent.size());
            }
            now += TIMEOUT_MS * MS + sent.size() * MS;
            client.client().nextDeadlineNs();
            client.client().doWork();
            assertThat(last.result()).isEqualTo(RpcResult.ETIMEDOUT);
            assertThat(sent).allMatch(each -> each.state() == ClientRequest.State.TIMED_OUT);
            while (client.client().lateCount() < sent.size()) {
                serving.doWork();
                client.doWork();
            }
            ClientRequest next = call(client, service, new Bytes(8), new Bytes(), TIMEOUT_MS);
            while (!next.isDone()) {
                serving.doWork();
                client.doWork();
            }
            assertThat(next.result()).isEqualTo(RpcResult.OK);
            assertThat(server.handledCount() - before).isEqualTo(sent.size() + 1);
        }
    }
}
