package dev.verbena.cli.flesnet;

import dev.verbena.cli.terminal.ChildProcess;
import dev.verbena.transport.TransportContext;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** A process of {@code flesnet experiment fig3} to {@code fig5}, started by it. */
@Command(
        name = "write-peer",
        hidden = true,
        description = "A sender or a receiver of a measurement.",
        mixinStandardHelpOptions = true)
public final class FlesnetWritePeer implements Callable<Integer> {
    private static final int CREDITS = 8;
    private static final int MESSAGE_LENGTH_MAX = 256;
    private static final long TIMEOUT_NS = 30_000_000_000L;

    @Option(names = "--transport", required = true)
    private String scheme;

    @Option(names = "--job", required = true)
    private String job;

    @Option(names = "--senders", required = true)
    private int senders;

    @Option(names = "--sender", defaultValue = "-1")
    private int sender;

    @Option(names = "--to")
    private List<URI> receivers = new ArrayList<>();

    @Parameters private List<String> load;

    @Override
    public Integer call() {
        ChildProcess.endWithParent(() -> System.exit(1));
        if (receivers.isEmpty()) {
            receive(WriteLoad.of(load));
        } else {
            send(WriteLoad.of(load));
        }
        return 0;
    }

    private TransportContext context(int connections) {
        return new TransportContext()
                .job(job)
                .messageLengthMax(MESSAGE_LENGTH_MAX)
                .creditsPerConnection(CREDITS)
                .receiveSlotCount(connections * CREDITS)
                .connectionsMax(connections)
                .peerTimeoutNs(TIMEOUT_NS);
    }

    private void receive(WriteLoad what) {
        try (WriteReceiver receiver = new WriteReceiver(scheme, context(senders), senders, what)) {
            ChildProcess.sendToParent("uri " + receiver.uri());
            receiver.serve();
        }
    }

    private void send(WriteLoad what) {
        TransportContext context = context(receivers.size());
        try (WriteSender one = new WriteSender(scheme, context, sender, what, receivers.size())) {
            one.connect(receivers);
            for (int size : what.sizes()) {
                report(one, what, size, false);
                if (what.isMixed()) {
                    report(one, what, size, true);
                }
            }
        }
    }

    private static void report(WriteSender sender, WriteLoad what, int size, boolean isMixed) {
        long ns = sender.measure(size, isMixed);
        long rounds = (long) what.batches(size) * WriteLoad.SLOTS;
        ChildProcess.sendToParent(new WriteLoad.Measured(size, isMixed, rounds, ns).line());
    }
}
