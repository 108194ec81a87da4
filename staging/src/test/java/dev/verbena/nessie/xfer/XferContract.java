package dev.verbena.nessie.xfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.agent.RealEnvironment;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.nessie.NessieServer;
import dev.verbena.nessie.rpc.RpcException;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.Transports;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.agrona.concurrent.SystemNanoClock;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The transfer service over a transport, its servers on threads of this process: one small subclass
 * for each provider names the scheme.
 */
@Timeout(240)
public abstract class XferContract {
    private static final int SLOT = 1 << 20;

    private final TransportContext context =
            new TransportContext().job("xfer-test" + ProcessHandle.current().pid());
    private final RealEnvironment environment = RealEnvironment.builder().job("xfer").build();
    private final List<AutoCloseable> open = new ArrayList<>();

    /** Is told of each operation of the transport below that this names. */
    private volatile String watched = "";

    private volatile Consumer<Object[]> onWatched = arguments -> {};

    /** For subclasses in other modules. */
    protected XferContract() {}

    /** URI scheme of the provider. */
    protected abstract String scheme();

    @AfterEach
    void close() throws Exception {
        for (int i = open.size() - 1; i >= 0; i--) {
            open.get(i).close();
        }
        environment.close();
    }

    /** How long a transfer may take by the transport's clock. */
    protected long limitMs() {
        return 60_000;
    }

    private Transport transport() {
        return Transports.open(scheme(), context);
    }

    /** A transport that tells of its operations before it does them. */
    private Transport watchedTransport() {
        Transport below = transport();
        return (Transport)
                Proxy.newProxyInstance(
                        Transport.class.getClassLoader(),
                        new Class<?>[] {Transport.class},
                        (proxy, method, arguments) -> {
                            if (method.getName().equals(watched)) {
                                onWatched.accept(arguments);
                            }
                            try {
                                return method.invoke(below, arguments);
                            } catch (InvocationTargetException e) {
                                throw e.getCause();
                            }
                        });
    }

    private NessieServer serve(Transport transport, int threads) {
        NessieServer server =
                XferService.serve(
                                NessieServer.builder(environment, transport)
                                        .threads(threads)
                                        .slots(4, SLOT))
                        .start();
        open.add(server);
        return server;
    }

    private XferClient client(Transport transport, NessieServer server) {
        XferClient client =
                XferClient.connect(
                        transport, server.url(), limitMs(), limitMs(), environment.errorHandler());
        open.add(client);
        return client;
    }

    private static XferReport run(List<XferClient> clients, XferPlan plan) {
        return new XferRun(clients, plan, SystemNanoClock.INSTANCE).run(() -> {});
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 33, 34, 1000, 65_536, 1_048_576})
    @Tag("nessie-X1")
    void shouldTransferByEachMethod(int count) {
        XferClient client = client(transport(), serve(transport(), 0));
        for (XferMethod method : XferMethod.values()) {
            for (boolean isAsync : new boolean[] {false, true}) {
                for (Validation validation : new Validation[] {Validation.FULL, Validation.CRC}) {
                    XferReport report =
                            run(
                                    List.of(client),
                                    new XferPlan(method, isAsync, count, 2, 1, validation));
                    assertThat(report.operations()).isEqualTo(2);
                    assertThat(report.bytes()).isEqualTo(32L * count);
                    boolean isPushed = method == XferMethod.WRITE_RDMA_PUSH;
                    long pushed = isPushed ? 16L * count / SLOT * 136 : 0;
                    assertThat(report.wireBytes())
                            .isBetween(32L * count, 32L * count + 2 * (400L + pushed));
                }
            }
        }
    }

    /** Where arguments become long is known from the service, and nowhere else. */
    @Test
    @Tag("nessie-X1")
    void shouldTransferArraysAboutAsLongAsAMessage() {
        XferClient client = client(transport(), serve(transport(), 2));
        int near = 1216 / DataArray.ELEMENT_LENGTH;
        for (int count = near - 8; count < near + 4; count++) {
            client.transfer(client.request(XferMethod.WRITE_ENCODE, count, Validation.FULL), count);
            client.transfer(client.request(XferMethod.READ_ENCODE, count, Validation.FULL), count);
        }
    }

    @ParameterizedTest
    @EnumSource(XferMethod.class)
    void shouldServeSeveralClientsBySeveralServers(XferMethod method) {
        List<NessieServer> servers = List.of(serve(transport(), 2), serve(transport(), 0));
        List<XferClient> clients = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            clients.add(client(transport(), servers.get(Distribution.BLOCK.serverOf(i, 5, 2))));
        }
        XferReport report = run(clients, new XferPlan(method, true, 1000, 20, 3, Validation.FULL));
        assertThat(report.operations()).isEqualTo(5 * 20 * 3);
        clients.get(0).kill();
        assertThat(servers.get(0).ended().join()).isZero();
        assertThat(servers.get(1).ended()).isNotDone();
        assertThatThrownBy(clients.get(0)::kill)
                .isInstanceOf(RpcException.class)
                .hasMessageStartingWith("kill: ");
        XferClient left = clients.get(0);
        XferRequest request = left.request(method, 1, Validation.NONE);
        assertThatThrownBy(() -> left.transfer(request, 1))
                .isInstanceOf(XferException.class)
                .hasMessageContaining("the connection to the server is lost (EIO)");
    }

    @Test
    void shouldNotCountTrialsThatWarmUp() {
        XferClient client = client(transport(), serve(transport(), 0));
        XferPlan plan = new XferPlan(XferMethod.WRITE_RDMA, true, 10, 2, 3, Validation.FULL);
        XferRun run = new XferRun(List.of(client), plan, SystemNanoClock.INSTANCE);
        run.warmUp(1_000_000);
        assertThat(run.run(() -> {}).operations()).isEqualTo(2 * 3);
    }

    /** The server's buffer held what another client wrote. */
    @Test
    void shouldReadNothingOfAnotherClientWithoutValidation() {
        NessieServer server = serve(transport(), 0);
        XferClient writer = client(transport(), server);
        writer.transfer(writer.request(XferMethod.WRITE_RDMA, 1000, Validation.FULL), 7);
        XferClient reader = client(transport(), server);
        XferRequest read = reader.request(XferMethod.READ_RDMA, 1000, Validation.NONE);
        read.memory().setMemory(0, 1000 * DataArray.ELEMENT_LENGTH, (byte) 1);
        reader.transfer(read, 8);
        for (int at = 0; at < 1000 * DataArray.ELEMENT_LENGTH; at++) {
            assertThat(read.memory().getByte(at)).as("byte %s", at).isZero();
        }
    }

    /** The array has 33 elements, so that an encoded one travels in a message. */
    @ParameterizedTest
    @CsvSource({
        "WRITE_ENCODE, FULL",
        "WRITE_ENCODE, CRC",
        "READ_ENCODE, FULL",
        "READ_ENCODE, CRC",
        "WRITE_RDMA, FULL",
        "WRITE_RDMA, CRC",
        "READ_RDMA, FULL",
        "READ_RDMA, CRC",
        "WRITE_RDMA_PUSH, FULL",
        "WRITE_RDMA_PUSH, CRC"
    })
    @Tag("nessie-X2")
    void shouldReportAByteThatWasFlippedOnItsWay(XferMethod method, Validation validation) {
        Transport ofServer = watchedTransport();
        boolean isPushed = method == XferMethod.WRITE_RDMA_PUSH;
        boolean isSent = method == XferMethod.WRITE_ENCODE || isPushed;
        NessieServer server = serve(isSent ? transport() : ofServer, 0);
        XferClient client = client(isSent ? ofServer : transport(), server);
        XferRequest request = client.request(method, 33, validation);
        client.transfer(request, 1);
        onWatched =
                method == XferMethod.WRITE_RDMA
                        ? arguments -> flip(request.memory(), 100)
                        : arguments -> flip((RegisteredRegion) arguments[1], arguments);
        watched = method.isBulk() ? (method.isWrite() && !isPushed ? "get" : "put") : "send";
        assertThatThrownBy(() -> client.transfer(request, 2))
                .isInstanceOf(XferException.class)
                .hasMessageStartingWith(method + " of 33 elements, seed 2: ");
        watched = "";
        client.transfer(request, 3);
    }

    /** As a transfer before left them: of the trials of a run, each has the same seeds. */
    @ParameterizedTest
    @CsvSource({
        "WRITE_RDMA, FULL",
        "WRITE_RDMA, CRC",
        "READ_RDMA, FULL",
        "READ_RDMA, CRC",
        "WRITE_RDMA_PUSH, FULL",
        "WRITE_RDMA_PUSH, CRC"
    })
    @Tag("nessie-X2")
    void shouldReportBytesThatDidNotMoveAlsoWhereTheSameWereBefore(
            XferMethod method, Validation validation) {
        Transport watchedOne = watchedTransport();
        boolean isPushed = method == XferMethod.WRITE_RDMA_PUSH;
        NessieServer server = serve(isPushed ? transport() : watchedOne, 0);
        XferClient client = client(isPushed ? watchedOne : transport(), server);
        XferRequest request = client.request(method, 1000, validation);
        client.transfer(request, 1);
        onWatched = arguments -> arguments[5] = Math.min((long) arguments[5], 15_000);
        watched = method == XferMethod.WRITE_RDMA ? "get" : "put";
        assertThatThrownBy(() -> client.transfer(request, 1)).isInstanceOf(XferException.class);
        watched = "";
        client.transfer(request, 1);
    }

    /** The last but one byte of what is put or sent; an array ends there. */
    private static void flip(RegisteredRegion region, Object[] arguments) {
        boolean isPut = arguments.length == 8;
        long length = (long) arguments[isPut ? 5 : 3];
        UnsafeBuffer bytes = region.buffer((long) arguments[2], (int) length);
        if (length > 33 * DataArray.ELEMENT_LENGTH - 1) {
            flip(bytes, (int) length - 8);
        }
    }

    private static void flip(org.agrona.MutableDirectBuffer bytes, int at) {
        bytes.putByte(at, (byte) (bytes.getByte(at) ^ 0x10));
    }
}
