package dev.verbena.cli.dart;

import dev.verbena.cli.terminal.CliCommand;
import dev.verbena.cli.terminal.HostPort;
import dev.verbena.dart.DartReceiver;
import dev.verbena.dart.DartServer;
import dev.verbena.transport.TransportException;
import dev.verbena.transport.Transports;
import java.net.URI;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.TypeConversionException;

/**
 * Where a receiver listens: {@code HOST:PORT} by TCP, or the address of a transport.
 *
 * @param uri null: by TCP
 */
record ReceiverAddress(HostPort tcp, URI uri) {
    static ReceiverAddress parse(String text) {
        return text.contains("://")
                ? new ReceiverAddress(null, URI.create(text))
                : new ReceiverAddress(HostPort.parse(text), null);
    }

    /**
     * Refuses what no transport of this name could ever have as an address.
     *
     * @param option that gave it
     * @param isOwn whether it is to be listened on
     * @throws ParameterException naming the form
     */
    void check(CommandSpec spec, String option, boolean isOwn) {
        if (uri == null || "tcp".equals(uri.getScheme())) {
            return;
        }
        try {
            Transports.contextFor(uri, isOwn).conclude();
        } catch (IllegalArgumentException | TransportException e) {
            throw CliCommand.wrong(spec, "%s %s: %s", option, uri, e.getMessage());
        }
    }

    DartReceiver.Context listen(DartReceiver.Context context) {
        return uri == null ? context.listen(tcp.host(), tcp.port()) : context.listen(uri);
    }

    DartServer.Context receiver(DartServer.Context context) {
        return uri == null ? context.receiver(tcp.host(), tcp.port()) : context.receiver(uri);
    }

    /** What this receiver listens at, in the form of the command line. */
    String of(DartReceiver receiver) {
        return uri == null
                ? new HostPort(tcp.host(), receiver.port()).toString()
                : receiver.address().toString();
    }

    @Override
    public String toString() {
        return uri == null ? tcp.toString() : uri.toString();
    }

    /** For picocli. */
    static final class Converter implements ITypeConverter<ReceiverAddress> {
        @Override
        public ReceiverAddress convert(String value) {
            try {
                return parse(value);
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException(e.getMessage());
            }
        }
    }
}
