package dev.verbena.cli.flesnet;

import dev.verbena.flesnet.PatternSource;
import picocli.CommandLine.Option;

/** What the pattern generator makes. */
final class PatternOptions {
    @Option(
            names = "--timeslices",
            paramLabel = "N",
            defaultValue = "10000",
            description = "Timeslices in all; default ${DEFAULT-VALUE}.")
    long timeslices;

    @Option(
            names = "--size",
            paramLabel = "BYTES",
            defaultValue = "616",
            description =
                    "Mean content of a microslice, a multiple of 8; default ${DEFAULT-VALUE}.")
    int size;

    @Option(
            names = "--spread",
            paramLabel = "BYTES",
            defaultValue = "0",
            description = "Contents differ by up to so much; default ${DEFAULT-VALUE}.")
    int spread;

    @Option(
            names = "--period",
            paramLabel = "NS",
            defaultValue = "0",
            description = "Nanoseconds between microslices; default ${DEFAULT-VALUE}: no limit.")
    long period;

    /** Microslices in all. */
    long count(FlesnetOptions options) {
        return timeslices * options.timeslice + options.overlap;
    }

    PatternSource source(int input, FlesnetOptions options) {
        return new PatternSource(input, count(options), size, spread, period);
    }
}
