package dev.verbena.cli.dart;

import dev.verbena.cli.terminal.HostPort;
import dev.verbena.dart.DartReceiver;
import dev.verbena.dart.DartServer;
import java.net.URI;
import picocli.CommandLine.ITypeConverter;
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
