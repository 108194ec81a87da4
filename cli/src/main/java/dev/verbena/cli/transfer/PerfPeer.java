package dev.verbena.cli.transfer;

import dev.verbena.cli.terminal.ChildProcess;
import dev.verbena.cli.terminal.Messages;
import dev.verbena.transport.Operation;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The passive side of {@code lat} and {@code bw}, started by them. */
@Command(
        name = "perf-peer",
        hidden = true,
        description = "The passive side of a measurement.",
        mixinStandardHelpOptions = true)
public final class PerfPeer implements Callable<Integer> {
    /** Flag in a round's operation: answer each transfer with one in return. */
    public static final int ECHO = 0x100;

    /** Flag in a round's operation: barriers and no pauses divide looks. */
    public static final int FENCING = 0x200;

    @Option(names = "--transport", required = true)
    private String scheme;

    @Option(names = "--length", required = true)
    private int length;

    @Option(names = "--foreign")
    private boolean isForeign;

    @Option(names = "--sleep")
    private boolean isSleeping;

    @Option(names = "--messages", defaultValue = "" + PerfEndpoint.MESSAGE_LENGTH_MAX)
    private int messageLengthMax;

    @Option(names = "--credits", defaultValue = "" + PerfEndpoint.Settings.CREDITS)
    private int credits;

    /** The command line of one that opens its endpoint in this manner. */
    public static List<String> arguments(String scheme, int length, PerfEndpoint.Settings manner) {
        List<String> arguments = new ArrayList<>();
        arguments.addAll(List.of("perf-peer", "--transport=" + scheme, "--length=" + length));
        arguments.add("--messages=" + manner.messageLengthMax());
        arguments.add("--credits=" + manner.credits());
        if (manner.isForeign()) {
            arguments.add("--foreign");
        }
        if (manner.isSleeping()) {
            arguments.add("--sleep");
        }
        return arguments;
    }

    @Override
    public Integer call() {
        ChildProcess.endWithParent(() -> System.exit(1));
        PerfEndpoint.Settings manner =
                new PerfEndpoint.Settings(isForeign, isSleeping, messageLengthMax, credits);
        serve(scheme, length, manner, uri -> ChildProcess.sendToParent("uri " + uri));
        return 0;
    }

    /** Serves one client until it goes. */
    public static void serve(
            String scheme, int length, PerfEndpoint.Settings manner, Consumer<String> ready) {
        try (PerfEndpoint endpoint = new PerfEndpoint(scheme, length, manner)) {
            endpoint.listen();
            ready.accept(endpoint.uri().toString());
            for (PerfEndpoint.Round round = endpoint.awaitRound();
                    round != null;
                    round = endpoint.awaitRound()) {
                serve(endpoint, round, length);
            }
        }
    }

    private static void serve(PerfEndpoint endpoint, PerfEndpoint.Round round, int lengthMax) {
        if (round.length() < 1 || round.length() > lengthMax || round.iterations() < 0) {
            throw new Messages.Failure("the other process asks for nonsense: " + round);
        }
        endpoint.clearMark(round.length());
        long seen = endpoint.messageCount();
        endpoint.sendRound(round);
        if ((round.operation() & ECHO) == 0) {
            return;
        }
        int operation = round.operation() & ~(ECHO | FENCING);
        endpoint.fence((round.operation() & FENCING) != 0);
        for (long i = 1; i <= round.iterations(); i++) {
            byte mark = PerfEndpoint.markOf(i);
            if (operation == Operation.PUT) {
                endpoint.awaitMark(round.length(), mark);
                endpoint.mark(round.length(), mark);
            } else {
                endpoint.awaitMessages(seen + i);
            }
            endpoint.start(operation, round.length(), 1);
        }
        endpoint.drain();
    }
}
