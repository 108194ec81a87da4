package dev.verbena.cli;

import dev.verbena.cli.terminal.Columns;
import dev.verbena.cli.terminal.Version;
import dev.verbena.transport.TransportProvider;
import dev.verbena.transport.Transports;
import java.io.PrintWriter;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Version, and which transports can work here. */
@Command(
        name = "version",
        description = "Print the version, and which transports work on this machine.",
        mixinStandardHelpOptions = true)
final class VersionCommand implements Runnable {
    @Spec private CommandSpec spec;

    @Override
    public void run() {
        PrintWriter out = spec.commandLine().getOut();
        int width = Columns.width();
        out.println("verbena " + Version.text());
        out.println(
                "java %s (%s), %s %s"
                        .formatted(
                                System.getProperty("java.version"),
                                System.getProperty("java.vm.name"),
                                System.getProperty("os.name"),
                                System.getProperty("os.arch")));
        for (TransportProvider provider : Transports.providers()) {
            String cause = provider.unavailabilityCause();
            String does = cause == null ? "works" : "does not: " + cause;
            out.print(Columns.fold(provider.scheme() + "://  " + does, width));
        }
        out.flush();
    }
}
