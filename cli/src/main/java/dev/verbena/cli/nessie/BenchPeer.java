package dev.verbena.cli.nessie;

import dev.verbena.cli.terminal.ChildProcess;
import dev.verbena.nessie.rpc.RpcCall;
import dev.verbena.nessie.rpc.RpcEndpoint;
import dev.verbena.nessie.rpc.RpcResult;
import dev.verbena.nessie.rpc.RpcServer;
import dev.verbena.nessie.rpc.RpcServerOptions;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.Transports;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The server of {@code nessie bench-part}, started by it: it spins, and moves bulk data as asked.
 */
@Command(
        name = "bench-peer",
        hidden = true,
        description = "The server of a measurement.",
        mixinStandardHelpOptions = true)
public final class BenchPeer implements Callable<Integer> {
    /** The server gets the client's data. */
    static final int WRITE = 1;

    /** The server puts into the client's data. */
    static final int READ = 2;

    /** Bulk data of a call, and of a slot. */
    static final int LENGTH = 4 << 20;

    /** Calls with bulk data under way, and slots. */
    static final int OUTSTANDING = 8;

    @Option(names = "--transport", required = true)
    private String scheme;

    @Option(names = "--job", required = true)
    private String job;

    @Override
    public Integer call() {
        ChildProcess.endWithParent(() -> System.exit(1));
        Transport transport = Transports.open(scheme, new TransportContext().job(job));
        try (RpcEndpoint endpoint = RpcEndpoint.over(transport, Throwable::printStackTrace)) {
            RpcServer server =
                    endpoint.serve(RpcServerOptions.DEFAULT.withSlots(OUTSTANDING, LENGTH));
            server.registerWithSlot(WRITE, null, BenchPeer::write);
            server.registerWithSlot(READ, null, BenchPeer::read);
            ChildProcess.sendToParent("url " + endpoint.transport().url());
            while (!server.isDone()) {
                if (endpoint.doWork() == 0) {
                    Thread.onSpinWait();
                }
            }
        }
        return 0;
    }

    private static void write(RpcCall call) {
        RpcResult moved = call.getData(call.slot(), 0, call.dataLength(), 0);
        call.reply(moved.code(), null);
    }

    private static void read(RpcCall call) {
        RpcResult moved = call.putData(call.slot(), 0, call.dataLength(), 0);
        call.reply(moved.code(), null);
    }
}
