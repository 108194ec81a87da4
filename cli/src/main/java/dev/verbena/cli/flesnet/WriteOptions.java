package dev.verbena.cli.flesnet;

import dev.verbena.cli.terminal.CliCommand;
import dev.verbena.cli.terminal.TransportOption;
import dev.verbena.cli.transfer.MpiProgram;
import dev.verbena.transport.Transports;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

/** What figures 3 to 5 measure. */
final class WriteOptions {
    private static final String SOURCE = "mpi_write_rounds.c";

    /** The transport that only chooses another one. */
    private static final String CHOOSES = "auto";

    private static final int SIZE_MAX = 4 << 20;

    @Option(
            names = "--transport",
            paramLabel = "NAME[,NAME...]",
            split = ",",
            description = "fig3 to fig5: these transports, and MPI_Put; default: all that work.")
    private List<String> schemes = List.of();

    @Option(
            names = "--bytes",
            paramLabel = "N[,N...]",
            split = ",",
            defaultValue = "64,1024,8192,65536,131072,1048576",
            description = "fig3 to fig5: sizes of messages, default ${DEFAULT-VALUE}.")
    private List<Integer> sizes;

    @Option(
            names = "--repeat",
            paramLabel = "N",
            defaultValue = "3",
            description =
                    "fig3 to fig5: how often all stacks take turns; figures are medians; default"
                            + " ${DEFAULT-VALUE}.")
    private int repeat;

    @Option(
            names = "--megabytes",
            paramLabel = "N",
            defaultValue = "64",
            description =
                    "fig3 to fig5: what a sender writes to a receiver for each size, about; default"
                            + " ${DEFAULT-VALUE}.")
    private int megabytes;

    void check(CommandSpec spec) {
        CliCommand.inRange(spec, "--repeat", repeat, 1, 1000);
        CliCommand.inRange(spec, "--megabytes", megabytes, 1, 100_000);
        sizes.forEach(size -> CliCommand.inRange(spec, "--bytes", size, 1, SIZE_MAX));
        schemes.forEach(scheme -> TransportOption.require(spec, scheme));
    }

    int repeat() {
        return repeat;
    }

    WriteLoad load(boolean isMixed) {
        return new WriteLoad(sizes, isMixed, megabytes * 1_000_000L);
    }

    /**
     * What is here.
     *
     * @param program to be made, of MPI
     * @param missing takes what is left out, and why
     */
    List<WriteStack> stacks(Path program, Consumer<String> missing)
            throws IOException, InterruptedException {
        List<WriteStack> stacks = new ArrayList<>();
        for (String scheme : schemes.isEmpty() ? TransportOption.schemes() : schemes) {
            String cause = Transports.provider(scheme).unavailabilityCause();
            if (cause != null) {
                missing.accept("without the line of %s: %s".formatted(scheme, cause));
            } else if (!scheme.equals(CHOOSES)) {
                stacks.add(new WriteStack(scheme, null));
            }
        }
        try (InputStream text = WriteOptions.class.getResourceAsStream(SOURCE)) {
            String why = MpiProgram.compile(text, program);
            if (why == null) {
                stacks.add(new WriteStack("MPI_Put", program));
            } else {
                missing.accept("without the line of MPI_Put: " + why);
            }
        }
        return stacks;
    }
}
