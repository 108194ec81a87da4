package dev.verbena.nessie.rpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.agent.Await;
import dev.verbena.agent.RealEnvironment;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.nessie.NessieClient;
import dev.verbena.nessie.NessieServer;
import dev.verbena.nessie.nnti.NntiPair;
import dev.verbena.nessie.nnti.NntiTransport;
import dev.verbena.nessie.xdr.XdrException;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.Transports;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.agrona.DirectBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Handlers on threads of their own. */
@Timeout(60)
class RpcWorkersTest {
    private static final int ECHO = 1;
    private static final int FILL = 2;

    /** Messages that arrive meanwhile: the network has far fewer slots. */
    private static final int COUNT = 20_000;

    private final TransportContext context = NntiPair.context();

    /** Its handler looks at the arguments only when every slot has held others. */
    @Test
    @Tag("nessie-N27")
    void shouldKeepArgumentsWhileTheirSlotTakesOthers() throws Exception {
        CountDownLatch filled = new CountDownLatch(1);
        try (RealEnvironment environment = RealEnvironment.builder().job("workers").build();
                NessieServer server =
                        NessieServer.builder(environment, Transports.open("shm", context))
                                .threads(2)
                                .on(
                                        ECHO,
                                        Bytes::new,
                                        call -> {
                                            await(filled);
                                            call.reply(0, call.args());
                                        })
                                .on(FILL, Bytes::new, call -> {})
                                .start();
                RpcEndpoint client = RpcEndpoint.over(Transports.open("shm", context), e -> {})) {
            RpcService service = client.client().getService(server.url(), 10_000);
            client.client().register(ECHO);
            client.client().register(FILL);
            ClientRequest request = new ClientRequest();
            Bytes args = new Bytes(service.inlineArgsMax(false) - 8);
            Bytes result = new Bytes();
            client.client().call(request, service, ECHO, args, result, null, 0, 50_000);
            Bytes poison = new Bytes(args.encodedLength());
            Arrays.fill(poison.value, (byte) 0xEE);
            List<RpcResult> sent = new ArrayList<>();
            while (sent.size() < COUNT) {
                RpcResult how = client.client().callResponseless(service, FILL, poison);
                if (how == RpcResult.OK) {
                    sent.add(how);
                }
                client.doWork();
            }
            filled.countDown();
            while (!request.isDone()) {
                client.doWork();
            }
            assertThat(request.result()).isEqualTo(RpcResult.OK);
            assertThat(Arrays.equals(result.value, args.value)).isTrue();
        }
    }

    /** Neither its handler's thread nor its client waits without end. */
    @Test
    void shouldEndCallsOfValuesThatCannotBeEncoded() {
        Bytes broken =
                new Bytes() {
                    @Override
                    public int encodedLength() {
                        throw new XdrException("planned");
                    }
                };
        try (RealEnvironment environment = RealEnvironment.builder().job("workers").build();
                NessieServer server =
                        NessieServer.builder(environment, Transports.open("shm", context))
                                .threads(1)
                                .on(ECHO, Bytes::new, call -> call.reply(0, call.args()))
                                .on(FILL, call -> call.reply(0, broken))
                                .start();
                NessieClient client = connect(environment, server)) {
            RegisteredRegion data = client.allocate(16, RemoteDescriptor.REMOTE_READ);
            for (int i = 0; i < 4; i++) {
                requireRefused(client.call(FILL, null, new Bytes()), RpcResult.OK);
                requireRefused(client.call(ECHO, broken, new Bytes()), RpcResult.EENCODE);
                requireRefused(client.call(ECHO, broken, new Bytes(), data), RpcResult.EENCODE);
            }
            Bytes result = client.call(ECHO, new Bytes(8), new Bytes()).join();
            assertThat(result.value).hasSize(4);
        }
    }

    /** More often than there are threads: none of them ends. */
    @Test
    void shouldKeepThreadsWhoseHandlersEndWithAnError() {
        List<Throwable> errors = new CopyOnWriteArrayList<>();
        try (RealEnvironment environment =
                        RealEnvironment.builder().job("workers").errorHandler(errors::add).build();
                NessieServer server =
                        NessieServer.builder(environment, Transports.open("shm", context))
                                .threads(2)
                                .on(ECHO, Bytes::new, call -> call.reply(0, call.args()))
                                .on(FILL, call -> fail(call.id()))
                                .start();
                NessieClient client = connect(environment, server)) {
            for (int i = 0; i < 6; i++) {
                requireRefused(client.call(FILL, null, new Bytes()), RpcResult.OK);
            }
            Bytes result = client.call(ECHO, new Bytes(8), new Bytes()).join();
            assertThat(result.value).hasSize(4);
            assertThat(errors).hasSize(6).allMatch(e -> e.getMessage().startsWith("planned"));
        }
    }

    /** Arguments or a result for which there is no memory cost their client this call only. */
    @Test
    void shouldRefuseArgumentsForWhichThereIsNoMemory() {
        try (RealEnvironment environment = RealEnvironment.builder().job("workers").build();
                NessieServer server =
                        NessieServer.builder(environment, Transports.open("shm", context))
                                .on(ECHO, Bytes::new, call -> call.reply(0, call.args()))
                                .on(FILL, Huge::new, call -> call.reply(0, null))
                                .start();
                NessieClient client = connect(environment, server)) {
            for (int length : new int[] {8, 8_000}) {
                assertThatThrownBy(() -> client.call(FILL, new Bytes(length), null).join())
                        .cause()
                        .isInstanceOfSatisfying(
                                RpcException.class,
                                e -> assertThat(e.remoteCode()).isEqualTo(RpcResult.ENOMEM.code()));
            }
            for (int length : new int[] {8, 8_000}) {
                requireRefused(client.call(ECHO, new Bytes(length), new Huge()), RpcResult.ENOMEM);
            }
            Bytes result = client.call(ECHO, new Bytes(8), new Bytes()).join();
            assertThat(result.value).hasSize(4);
            assertThat(server.exitCode()).isNull();
        }
    }

    /** A server that nobody has ended says so. */
    @Test
    void shouldNotEndInOrderByAnError() throws Exception {
        List<Throwable> errors = new CopyOnWriteArrayList<>();
        AtomicBoolean isFailing = new AtomicBoolean();
        NessieServer.Part part =
                new NessieServer.Part() {
                    @Override
                    public void onStart(NntiTransport network) {}

                    @Override
                    public int doWork() {
                        if (isFailing.get()) {
                            throw new InternalError("planned");
                        }
                        return 0;
                    }
                };
        try (RealEnvironment environment =
                        RealEnvironment.builder().job("workers").errorHandler(errors::add).build();
                NessieServer server =
                        NessieServer.builder(environment, Transports.open("shm", context))
                                .part(part)
                                .start()) {
            assertThat(server.exitCode()).isNull();
            isFailing.set(true);
            assertThat(server.ended().get(30, TimeUnit.SECONDS)).isEqualTo(-1);
            assertThat(errors).singleElement().asString().contains("planned");
        }
        isFailing.set(false);
        try (RealEnvironment environment = RealEnvironment.builder().job("workers").build()) {
            NessieServer server =
                    NessieServer.builder(environment, Transports.open("shm", context)).start();
            server.close();
            assertThat(server.exitCode()).isZero();
        }
    }

    /** What waits for something else than the server's own work can be answered then. */
    @Test
    void shouldSayThatItEndsWhileACallIsUnanswered() throws Exception {
        AtomicReference<RpcCall> held = new AtomicReference<>();
        NessieServer.Part part =
                new NessieServer.Part() {
                    @Override
                    public void onStart(NntiTransport network) {}

                    @Override
                    public boolean tryEnd() {
                        RpcCall call = held.getAndSet(null);
                        if (call != null) {
                            call.reply(7, null);
                        }
                        return true;
                    }
                };
        try (RealEnvironment environment = RealEnvironment.builder().job("workers").build();
                NessieServer server =
                        NessieServer.builder(environment, Transports.open("shm", context))
                                .on(ECHO, Bytes::new, held::set)
                                .part(part)
                                .start();
                NessieClient client = connect(environment, server)) {
            CompletableFuture<?> call = client.call(ECHO, new Bytes(8), null);
            Await.until("it is held", () -> held.get() != null);
            client.kill();
            assertThatThrownBy(() -> call.get(30, TimeUnit.SECONDS))
                    .cause()
                    .isInstanceOfSatisfying(
                            RpcException.class, e -> assertThat(e.remoteCode()).isEqualTo(7));
            assertThat(server.ended().get(30, TimeUnit.SECONDS)).isZero();
        }
    }

    /** A client has asked for the end, which fails. */
    @Test
    void shouldNotEndInOrderByAnErrorAtItsEnd() throws Exception {
        List<Throwable> errors = new CopyOnWriteArrayList<>();
        NessieServer.Part part =
                new NessieServer.Part() {
                    @Override
                    public void onStart(NntiTransport network) {}

                    @Override
                    public boolean tryEnd() {
                        throw new InternalError("planned");
                    }
                };
        try (RealEnvironment environment =
                        RealEnvironment.builder().job("workers").errorHandler(errors::add).build();
                NessieServer server =
                        NessieServer.builder(environment, Transports.open("shm", context))
                                .part(part)
                                .start();
                NessieClient client = connect(environment, server)) {
            client.kill();
            assertThat(server.ended().get(30, TimeUnit.SECONDS)).isEqualTo(-1);
            assertThat(errors).singleElement().asString().contains("planned");
        }
    }

    private NessieClient connect(RealEnvironment environment, NessieServer server) {
        return NessieClient.connect(
                environment, Transports.open("shm", context), server.url(), 30_000);
    }

    private static final class Huge extends Bytes {
        @Override
        public int decode(DirectBuffer buffer, int index, int limit) {
            throw new OutOfMemoryError("planned");
        }
    }

    private static void fail(long id) {
        if (id % 2 == 0) {
            throw new StackOverflowError("planned");
        }
        throw new Error("planned");
    }

    private static void requireRefused(CompletableFuture<?> call, RpcResult local) {
        assertThatThrownBy(() -> call.get(30, TimeUnit.SECONDS))
                .cause()
                .isInstanceOfSatisfying(
                        RpcException.class, e -> assertThat(e.result()).isEqualTo(local));
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
