package dev.verbena.cli.terminal;

import dev.verbena.savime.query.SavimeClient;
import dev.verbena.savime.query.SavimeSink;
import dev.verbena.staging.sink.Sink;
import dev.verbena.staging.sink.Sinks;
import java.nio.file.Path;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Where staged data go. */
public final class SinkOption {
    private static final String SAVIME = "savime://";

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec;

    @Option(
            names = "--sink",
            paramLabel = "URI",
            description =
                    "Where data go: file:DIR, zarr:DIR, hdf5:DIR, savime://HOST:PORT,"
                            + " duckdb:FILE[?parquet=DIR] or postgres://[USER@]HOST[:PORT]/DATABASE.")
    private String uri;

    @Option(
            names = "--sink-jars",
            paramLabel = "DIR",
            description = "Folder with the jars of the sink's artifact, if it is not installed.")
    private Path jars;

    @Option(
            names = "--pictures",
            description =
                    "Show verbena watch a small picture of each variable, of a step that the sink has"
                            + " whole, at most one a second.")
    private boolean isPictured;

    /** For picocli. */
    public SinkOption() {}

    /** Whether one is wanted. */
    public boolean isGiven() {
        return uri != null;
    }

    /** As it was given; null: it was not. */
    public String uri() {
        return uri;
    }

    /** Whether what the sink takes is to be drawn, with {@code PicturedSink}. */
    public boolean isPictured() {
        return isPictured;
    }

    /**
     * The sink.
     *
     * @throws ParameterException if it is not given, or there is none of its form
     */
    public Sink open() {
        if (uri == null) {
            throw new ParameterException(
                    spec.commandLine(), "Missing required option: '--sink=URI'");
        }
        try {
            if (uri.startsWith(SAVIME)) {
                HostPort at = HostPort.parse(uri.substring(SAVIME.length()));
                return new SavimeSink(at.host(), at.port(), SavimeClient.Limits.DEFAULT);
            }
            return Sinks.of(uri, SinkJars.loader(uri, jars));
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), "--sink " + e.getMessage());
        }
    }
}
