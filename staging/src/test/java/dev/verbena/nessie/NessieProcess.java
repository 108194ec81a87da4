package dev.verbena.nessie;

import dev.verbena.JavaProcess;
import dev.verbena.agent.RealEnvironment;
import dev.verbena.nessie.nnti.BufferFlags;
import dev.verbena.nessie.nnti.NntiBuffer;
import dev.verbena.nessie.nnti.NntiOptions;
import dev.verbena.nessie.nnti.NntiTransport;
import dev.verbena.nessie.rpc.ClientRequest;
import dev.verbena.nessie.rpc.RpcCall;
import dev.verbena.nessie.rpc.RpcClient;
import dev.verbena.nessie.rpc.RpcEndpoint;
import dev.verbena.nessie.rpc.RpcService;
import dev.verbena.nessie.xdr.XdrInts;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.Transports;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A process of its own, and the program that it runs: {@code serve JOB THREADS} or {@code memory
 * JOB}, which print their address, {@code atomics JOB URL ADDS LOCKS} and {@code leave JOB URL}.
 */
final class NessieProcess extends JavaProcess {
    /** Doubles each byte of the client's data. */
    static final int DOUBLE = 1;

    /** Does nothing, and is counted. */
    static final int NOTHING = 2;

    /** How often that was. */
    static final int COUNT = 3;

    static final int LENGTH_MAX = 1 << 20;

    private final String url;

    private NessieProcess(String... arguments) throws IOException {
        super(arguments);
        url = await("url ");
    }

    static NessieProcess start(String... arguments) throws IOException {
        return new NessieProcess(arguments);
    }

    String url() {
        return url;
    }

    // ---- in the process

    public static void main(String[] arguments) throws Exception {
        TransportContext context = new TransportContext().job(arguments[1]);
        if (arguments[0].equals("memory")) {
            lend(context);
            return;
        }
        if (arguments[0].equals("atomics")) {
            System.out.println("url of none");
            AtomicsProgram.run(
                    context,
                    arguments[2],
                    Integer.parseInt(arguments[3]),
                    Integer.parseInt(arguments[4]));
            return;
        }
        if (arguments[0].equals("leave")) {
            System.out.println("url of none");
            leave(context, arguments[2]);
            return;
        }
        int code;
        AtomicInteger count = new AtomicInteger();
        try (RealEnvironment environment = RealEnvironment.builder().job(arguments[1]).build();
                NessieServer server =
                        NessieServer.builder(environment, Transports.open("shm", context))
                                .threads(Integer.parseInt(arguments[2]))
                                .slots(2, LENGTH_MAX)
                                .onBulk(DOUBLE, null, NessieProcess::twice)
                                .on(
                                        NOTHING,
                                        call -> {
                                            count.incrementAndGet();
                                            call.reply(0, null);
                                        })
                                .on(COUNT, call -> call.reply(0, number(count.get())))
                                .start()) {
            System.out.println("url " + server.url());
            code = server.ended().join();
        }
        System.exit(code);
    }

    private static XdrInts number(int value) {
        XdrInts number = new XdrInts(true, 1);
        number.set(0, value);
        return number;
    }

    private static void twice(RpcCall call) {
        int length = (int) call.dataLength();
        call.getData(call.slot(), 0, length, 0);
        for (int i = 0; i < length; i++) {
            call.slot().window().putByte(i, (byte) (2 * call.slot().window().getByte(i)));
        }
        call.putData(call.slot(), 0, length, 0);
        call.reply(0, null);
    }

    /** A client that calls, and never looks at the network again. */
    private static void leave(TransportContext context, String url) throws IOException {
        NntiTransport network =
                new NntiTransport(Transports.open("shm", context), NntiOptions.ONE_SIDED);
        RpcClient client = new RpcEndpoint(network, Throwable::printStackTrace).client();
        client.register(DOUBLE);
        RpcService service = client.getService(url, 60_000);
        client.call(new ClientRequest(), service, DOUBLE, null, null, null, 0, 60_000);
        System.in.read();
    }

    /** A peer that takes part in nothing but one-sided operations. */
    private static void lend(TransportContext context) {
        NntiTransport network =
                new NntiTransport(Transports.open("shm", context), NntiOptions.DEFAULT);
        NntiBuffer queue = network.alloc(64, 2, BufferFlags.RECV_QUEUE);
        System.out.println("url " + network.url());
        System.out.flush();
        while (queue.isOpen()) {
            network.progress();
            network.transport().await(network.transport().nanoTime() + 1_000_000);
        }
    }
}
