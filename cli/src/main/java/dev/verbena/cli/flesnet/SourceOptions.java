package dev.verbena.cli.flesnet;

import dev.verbena.agent.Environment;
import dev.verbena.cli.terminal.CliCommand;
import dev.verbena.cli.terminal.HostPort;
import dev.verbena.cli.terminal.Messages;
import dev.verbena.flesnet.MicrosliceSource;
import dev.verbena.flesnet.PatternSource;
import dev.verbena.flesnet.archive.ArchiveReader;
import dev.verbena.flesnet.source.ArchiveSource;
import dev.verbena.flesnet.source.DatagramCounts;
import dev.verbena.flesnet.source.DatagramLimits;
import dev.verbena.flesnet.source.DatagramSource;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Where an input node has its microslices from. */
final class SourceOptions {
    private static final String PATTERN = "pattern";
    private static final String FILE = "file:";
    private static final String UDP = "udp:";

    @Option(
            names = "--source",
            paramLabel = "SOURCE",
            defaultValue = PATTERN,
            description = {
                "pattern (the generator), file:PATH (an archive of microslices; %%n: a sequence of"
                        + " them, from 0000) or udp:HOST:PORT (a datagram each, --timeslices in all)."
                        + " %%i is the number of the input. Default: ${DEFAULT-VALUE}."
            })
    private String source;

    @Option(
            names = "--udp-from",
            paramLabel = "ADDRESS",
            description = "Believe datagrams of this address only. Default: of any.")
    private String udpFrom;

    @Option(
            names = "--udp-gap",
            paramLabel = "N",
            defaultValue = "1000",
            description =
                    "So many microslices may be missing before one that is believed; default"
                            + " ${DEFAULT-VALUE}.")
    private int udpGap;

    @Option(
            names = "--udp-silence",
            paramLabel = "SECONDS",
            defaultValue = "5",
            description =
                    "After the first datagram so long a silence ends the stream; default"
                            + " ${DEFAULT-VALUE}.")
    private double udpSilence;

    @Option(
            names = "--timeslices",
            paramLabel = "N",
            defaultValue = "10000",
            description = "Timeslices in all; default ${DEFAULT-VALUE}.")
    private long timeslices;

    @Option(
            names = "--size",
            paramLabel = "BYTES",
            defaultValue = "616",
            description =
                    "Mean content of a microslice, a multiple of 8; default ${DEFAULT-VALUE}.")
    private int size;

    @Option(
            names = "--spread",
            paramLabel = "BYTES",
            defaultValue = "0",
            description = "Contents differ by up to so much; default ${DEFAULT-VALUE}.")
    private int spread;

    @Option(
            names = "--period",
            paramLabel = "NS",
            defaultValue = "0",
            description = "Nanoseconds between microslices; default ${DEFAULT-VALUE}: no limit.")
    private long period;

    @Spec(Spec.Target.MIXEE)
    private CommandSpec command;

    /**
     * Refuses what is no source, and values of the generator.
     *
     * @throws ParameterException naming the option
     */
    void check() {
        // The form only: what it names may be on another machine, or of another input.
        if (!source.equals(PATTERN) && !source.matches("file:.+")) {
            datagramPlace(0);
        }
        CliCommand.inRange(command, "--udp-gap", udpGap, 0, 1 << 20);
        CliCommand.inRange(command, "--udp-silence", udpSilence, 0.01, 86_400);
        CliCommand.inRange(command, "--timeslices", timeslices, 1, Long.MAX_VALUE >> 21);
        CliCommand.inRange(command, "--size", size, 0, 16 << 20);
        CliCommand.inRange(command, "--spread", spread, 0, size);
        CliCommand.inRange(command, "--period", period, 0, Long.MAX_VALUE);
        if (size % 8 != 0 || spread % 8 != 0) {
            throw CliCommand.wrong(
                    command, "--size %s and --spread %s must be multiples of 8", size, spread);
        }
    }

    /**
     * Opens it.
     *
     * @throws ParameterException for what is no source
     */
    MicrosliceSource open(int input, FlesnetOptions options, Environment environment)
            throws IOException {
        long count = timeslices * options.timeslice + options.overlap;
        if (source.equals(PATTERN)) {
            return new PatternSource(input, count, size, spread, period);
        }
        if (source.startsWith(FILE)) {
            return ArchiveSource.launch(environment, files(of(input).substring(FILE.length())));
        }
        return new DatagramSource(
                datagramPlace(input).resolve(),
                udpFrom == null ? null : InetAddress.getByName(udpFrom),
                new DatagramLimits(count, udpGap, (long) (udpSilence * 1e9)));
    }

    private String of(int input) {
        return source.replace("%i", Integer.toString(input));
    }

    private HostPort datagramPlace(int input) {
        try {
            if (source.startsWith(UDP)) {
                return HostPort.parse(of(input).substring(UDP.length()));
            }
        } catch (IllegalArgumentException e) {
            // Reported below, as what is no source at all is.
        }
        throw CliCommand.wrong(
                command, "--source '%s' is not pattern, file:PATH or udp:HOST:PORT", source);
    }

    static List<Path> files(String name) {
        List<Path> files = new ArrayList<>();
        Path file = Path.of(ArchiveReader.sequenceName(name, 0));
        do {
            files.add(file);
            file = Path.of(ArchiveReader.sequenceName(name, files.size()));
        } while (name.contains("%n") && Files.exists(file));
        if (!Files.isReadable(files.get(0))) {
            throw new Messages.WrongPath("%s: there is no such file to read", files.get(0));
        }
        return files;
    }

    /** Timeslices that will come; -1 if only the source knows. */
    long timeslices() {
        return source.startsWith(FILE) ? -1 : timeslices;
    }

    /** What a source of datagrams has seen; empty for others. */
    static String seen(MicrosliceSource opened) {
        if (!(opened instanceof DatagramSource datagrams)) {
            return "";
        }
        DatagramCounts counts = datagrams.counts();
        return ("; datagrams: %s taken, %s missing, %s malformed, %s late, %s beyond, %s of"
                        + " strangers")
                .formatted(
                        counts.taken(),
                        counts.missing(),
                        counts.malformed(),
                        counts.late(),
                        counts.beyond(),
                        counts.strangers());
    }
}
