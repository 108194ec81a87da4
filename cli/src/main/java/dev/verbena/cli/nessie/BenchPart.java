package dev.verbena.cli.nessie;

import dev.verbena.cli.terminal.ChildProcess;
import dev.verbena.cli.terminal.CliCommand;
import dev.verbena.cli.terminal.Json;
import dev.verbena.cli.terminal.Messages;
import dev.verbena.cli.terminal.TransportOption;
import dev.verbena.nessie.nnti.BufferFlags;
import dev.verbena.nessie.nnti.NntiBuffer;
import dev.verbena.nessie.rpc.ClientRequest;
import dev.verbena.nessie.rpc.Opcode;
import dev.verbena.nessie.rpc.RpcClient;
import dev.verbena.nessie.rpc.RpcEndpoint;
import dev.verbena.nessie.rpc.RpcResult;
import dev.verbena.nessie.rpc.RpcService;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.Transports;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** One figure of {@code nessie bench}, measured by this process and a server that it starts. */
@Command(
        name = "bench-part",
        hidden = true,
        description = "Measure one figure of the calls.",
        sortOptions = false)
public final class BenchPart extends CliCommand {
    /**
     * Bytes of a request without arguments and bulk data, and of its answer, with what NNTI puts
     * before them (specification, section 2.3).
     */
    public static final int NULL_REQUEST_LENGTH = 44;

    private static final long WARM_UP_NS = 1_500_000_000L;
    private static final int BATCHES = 100;
    private static final int BULK_BATCHES = 40;
    private static final long START_SECONDS = 60;
    private static final long CALL_MS = 60_000;
    private static final double MEGABYTE = 1e6;

    /** What can be measured. */
    enum Figure {
        nothing,
        write,
        read
    }

    @Parameters(paramLabel = "FIGURE", description = "${COMPLETION-CANDIDATES}")
    private Figure figure;

    @Option(names = "--transport", defaultValue = "shm", description = "As of nessie xfer.")
    private String scheme;

    @Option(
            names = "--peer-processor",
            paramLabel = "N",
            defaultValue = "-1",
            description = "Bind the server there.")
    private int peerProcessor;

    @Option(names = "--quick", description = "Try whether it works: the figure means nothing.")
    private boolean isQuick;

    private final ClientRequest[] requests = new ClientRequest[BenchPeer.OUTSTANDING];

    /** Of all calls, as puts and gets alone are measured with one region. */
    private NntiBuffer data;

    private RpcEndpoint endpoint;
    private RpcService service;

    @Override
    public Integer call() throws InterruptedException {
        TransportOption.require(spec, scheme);
        String job = "nessie-bench" + ProcessHandle.current().pid();
        BlockingQueue<String> answers = new ArrayBlockingQueue<>(4);
        ChildProcess server =
                ChildProcess.start(
                        "the server of the measurement",
                        null,
                        Map.of(),
                        peerProcessor < 0
                                ? List.of()
                                : List.of("taskset", "-c", Integer.toString(peerProcessor)),
                        List.of("-Xmx256m"),
                        List.of("nessie", "bench-peer", "--transport=" + scheme, "--job=" + job),
                        answers::add);
        Transport transport = Transports.open(scheme, new TransportContext().job(job));
        try (RpcEndpoint opened = RpcEndpoint.over(transport, Messages.to(err()))) {
            endpoint = opened;
            String url = answers.poll(START_SECONDS, TimeUnit.SECONDS);
            if (url == null) {
                throw new Messages.Failure(server.exitSummary());
            }
            service = opened.client().getService(url.substring("url ".length()), CALL_MS);
            say(Json.of(figure == Figure.nothing ? nothing() : bulk()));
            opened.client().kill(service, 0, CALL_MS);
            return 0;
        } finally {
            server.end(5_000);
        }
    }

    /** Calls without arguments, one after the other. */
    private Map<String, Object> nothing() {
        ClientRequest request = new ClientRequest();
        int batch = isQuick ? 20 : 1000;
        int batches = isQuick ? 5 : BATCHES;
        warmUp(() -> callNothing(request, batch));
        double[] halves = new double[batches];
        long allocated = allocatedBytes();
        for (int i = 0; i < batches; i++) {
            long begin = System.nanoTime();
            callNothing(request, batch);
            halves[i] = (System.nanoTime() - begin) / (2.0 * batch);
        }
        long bytes = allocatedBytes() - allocated;
        Arrays.sort(halves);
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("halfNs", halves[batches / 2]);
        Histogram single = new Histogram(3);
        for (int i = 0; i < batch * batches; i++) {
            long begin = System.nanoTime();
            callNothing(request, 1);
            single.recordValue((System.nanoTime() - begin) / 2);
        }
        fields.put("p999Ns", single.getValueAtPercentile(99.9));
        fields.put("bytesPerCall", (double) bytes / (batch * batches));
        return fields;
    }

    private void warmUp(Runnable calls) {
        long settledNs = System.nanoTime() + (isQuick ? 0 : WARM_UP_NS);
        while (System.nanoTime() - settledNs < 0) {
            calls.run();
        }
    }

    private static long allocatedBytes() {
        return ((com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean())
                .getCurrentThreadAllocatedBytes();
    }

    private void callNothing(ClientRequest request, int count) {
        for (int i = 0; i < count; i++) {
            endpoint.client().call(request, service, Opcode.NULL, null, null, null, 0, CALL_MS);
            await(request);
        }
    }

    /** Bulk data of eight calls under way at a time. */
    private Map<String, Object> bulk() {
        int opcode = figure == Figure.write ? BenchPeer.WRITE : BenchPeer.READ;
        endpoint.client().register(opcode);
        int flags = BufferFlags.GET_SRC | BufferFlags.PUT_DST;
        data = endpoint.transport().alloc(BenchPeer.LENGTH, 1, flags);
        for (int i = 0; i < requests.length; i++) {
            requests[i] = new ClientRequest();
            start(requests[i], opcode);
        }
        warmUp(() -> round(opcode));
        double[] rates = new double[isQuick ? 1 : BULK_BATCHES];
        for (int i = 0; i < rates.length; i++) {
            long begin = System.nanoTime();
            round(opcode);
            double seconds = (System.nanoTime() - begin) / 1e9;
            rates[i] = requests.length * (double) BenchPeer.LENGTH / MEGABYTE / seconds;
        }
        Arrays.sort(rates);
        for (ClientRequest request : requests) {
            await(request);
        }
        return Map.of("medianMBps", rates[rates.length / 2]);
    }

    private void start(ClientRequest request, int opcode) {
        RpcClient client = endpoint.client();
        RpcResult started =
                client.call(request, service, opcode, null, null, data, BenchPeer.LENGTH, CALL_MS);
        if (started != RpcResult.OK) {
            throw new Messages.Failure("a call was not sent: %s", started);
        }
    }

    private void await(ClientRequest request) {
        while (!request.isDone()) {
            endpoint.doWork();
        }
        if (request.result() != RpcResult.OK || request.remoteCode() != 0) {
            throw new Messages.Failure(
                    "a call failed: %s, code %s", request.result(), request.remoteCode());
        }
    }

    /** Ends each of them, and starts it again. */
    private void round(int opcode) {
        for (ClientRequest request : requests) {
            await(request);
            start(request, opcode);
        }
    }
}
