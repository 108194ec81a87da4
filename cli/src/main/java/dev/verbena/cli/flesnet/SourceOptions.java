package dev.verbena.cli.flesnet;

import dev.verbena.agent.Environment;
import dev.verbena.cli.terminal.CliCommand;
import dev.verbena.cli.terminal.HostPort;
import dev.verbena.cli.terminal.Messages;
import dev.verbena.flesnet.MicrosliceSource;
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
import picocli.CommandLine.Mixin;
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

    @Mixin private PatternOptions pattern;

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
        CliCommand.inRange(command, "--timeslices", pattern.timeslices, 1, Long.MAX_VALUE >> 21);
        CliCommand.inRange(command, "--size", pattern.size, 0, 16 << 20);
        CliCommand.inRange(command, "--spread", pattern.spread, 0, pattern.size);
        CliCommand.inRange(command, "--period", pattern.period, 0, Long.MAX_VALUE);
        if (pattern.size % 8 != 0 || pattern.spread % 8 != 0) {
            throw CliCommand.wrong(
                    command,
                    "--size %s and --spread %s must be multiples of 8",
                    pattern.size,
                    pattern.spread);
        }
    }

    /**
     * Opens it.
     *
     * @throws ParameterException for what is no source
     */
    MicrosliceSource open(int input, FlesnetOptions options, Environment environment)
            throws IOException {
        if (source.equals(PATTERN)) {
            return pattern.source(input, options);
        }
        if (source.startsWith(FILE)) {
            return ArchiveSource.launch(environment, files(of(input).substring(FILE.length())));
        }
        return new DatagramSource(
                datagramPlace(input).resolve(),
                udpFrom == null ? null : InetAddress.getByName(udpFrom),
                new DatagramLimits(pattern.count(options), udpGap, (long) (udpSilence * 1e9)));
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
        return source.startsWith(FILE) ? -1 : pattern.timeslices;
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
