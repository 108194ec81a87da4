package dev.verbena.nessie.rpc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.nessie.nnti.NntiOptions;
import dev.verbena.nessie.nnti.NntiPair;
import dev.verbena.nessie.nnti.NntiTransport;
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

/**
 * What a server whose clock this test sets knows of time: its progress callback, the age of calls.
 */
@Timeout(60)
class RpcProgressTest {
    private static final long CYCLE_NS = 1_000_000;

    private final TransportContext context = NntiPair.context();
    private final List<Long> times = new ArrayList<>();
    private final List<Boolean> idle = new ArrayList<>();
    private long now;

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
                            try {
                                return method.invoke(below, arguments);
                            } catch (InvocationTargetException e) {
                                throw e.getCause();
                            }
                        });
    }

    private static RpcEndpoint endpoint(Transport transport) {
        return new RpcEndpoint(new NntiTransport(transport, NntiOptions.ONE_SIDED), e -> {});
    }

    private void requireSteady(boolean isIdle) {
        assertThat(times).hasSizeGreaterThan(20);
        for (int i = 1; i < times.size(); i++) {
            assertThat(times.get(i) - times.get(i - 1))
                    .as("between calls %s and %s", i - 1, i)
                    .isBetween(1L, 2 * RpcServerOptions.DEFAULT.progressNs());
        }
        assertThat(idle.subList(1, idle.size())).containsOnly(isIdle);
        times.clear();
        idle.clear();
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

    @Test
    void shouldCountTheAgeOfCallsThatWait() {
        try (RpcEndpoint serving = endpoint(transport());
                RpcEndpoint client = endpoint(Transports.open("shm", context))) {
            List<RpcCall> held = new ArrayList<>();
            List<Long> ages = new ArrayList<>();
            serving.serve(RpcServerOptions.DEFAULT)
                    .register(
                            1,
                            null,
                            call -> {
                                ages.add(call.ageNs());
                                held.add(call);
                                now += CYCLE_NS;
                            });
            RpcService service = service(serving, client);
            client.client().register(1);
            for (int i = 0; i < 3; i++) {
                ClientRequest request = new ClientRequest();
                client.client().call(request, service, 1, null, null, null, 0, 60_000);
            }
            serving.doWork();
            assertThat(ages).containsExactly(0L, CYCLE_NS, 2 * CYCLE_NS);
            now += 5 * CYCLE_NS;
            assertThat(held).allMatch(call -> call.ageNs() == 8 * CYCLE_NS);
        }
    }

    @Test
    @Tag("nessie-R20")
    void shouldBeCalledAtLeastEveryTwoIntervals() {
        try (RpcEndpoint serving = endpoint(transport());
                RpcEndpoint client = endpoint(Transports.open("shm", context))) {
            RpcServer server = serving.serve(RpcServerOptions.DEFAULT);
            RpcService service = service(serving, client);
            server.onProgress(
                    isIdle -> {
                        times.add(now);
                        idle.add(isIdle);
                    });
            for (int i = 0; i < 3000; i++) {
                now += CYCLE_NS;
                serving.doWork();
            }
            requireSteady(true);
            ClientRequest request = new ClientRequest();
            for (int i = 0; i < 3000; i++) {
                if (request.state() == ClientRequest.State.NULL || request.isDone()) {
                    client.client()
                            .call(request, service, Opcode.NULL, null, null, null, 0, 60_000);
                }
                now += CYCLE_NS;
                serving.doWork();
                client.doWork();
            }
            requireSteady(false);
            assertThat(request.result()).isEqualTo(RpcResult.OK);
        }
    }
}
