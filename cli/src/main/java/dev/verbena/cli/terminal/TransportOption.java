package dev.verbena.cli.terminal;

import dev.verbena.transport.TransportProvider;
import dev.verbena.transport.Transports;
import java.util.Iterator;
import java.util.List;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** {@code --transport}, and whether it can work. */
public final class TransportOption {
    @Option(
            names = "--transport",
            paramLabel = "SCHEME",
            description = "Transport: ${COMPLETION-CANDIDATES}. Default: ${DEFAULT-VALUE}.",
            completionCandidates = Schemes.class,
            defaultValue = "portals")
    private String scheme;

    /** As {@link #schemes}, for picocli. */
    public static final class Schemes implements Iterable<String> {
        @Override
        public Iterator<String> iterator() {
            return schemes().iterator();
        }
    }

    /** Schemes on the class path, sorted. */
    public static List<String> schemes() {
        return Transports.providers().stream().map(TransportProvider::scheme).toList();
    }

    /**
     * The scheme.
     *
     * @throws ParameterException if there is none of this name
     * @throws Messages.Failure if it cannot work here
     */
    public String require(CommandSpec spec) {
        return require(spec, scheme);
    }

    /** As the other form, for an option of this name that is spelled elsewhere. */
    public static String require(CommandSpec spec, String scheme) {
        return require(spec, "--transport " + scheme, scheme);
    }

    /** As the other form, for what was typed in place of {@code --transport}. */
    public static String require(CommandSpec spec, String typed, String scheme) {
        List<String> known = schemes();
        if (!known.contains(scheme)) {
            throw CliCommand.wrong(
                    spec, "%s: there is no such transport; there are %s", typed, known);
        }
        String cause = Transports.provider(scheme).unavailabilityCause();
        if (cause != null) {
            throw new Messages.Failure(typed + " cannot work on this machine: " + cause);
        }
        return scheme;
    }
}
