package dev.verbena.verbs.transport;

import dev.verbena.softnic.NativeAccess;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportException;
import dev.verbena.transport.TransportProvider;
import dev.verbena.verbs.RdmaDevices;
import java.net.URI;

/**
 * Provider of {@code verbs://}: RDMA NICs and Soft-RoCE.
 *
 * <p>Options: {@code device}, {@code devicePort}, {@code gid} (index), {@code address} and {@code
 * port} (of the TCP socket), {@code serviceLevel}, {@code trafficClass}, {@code timeout} (code, see
 * {@code PathContext}), {@code segmentLengthMax}.
 */
public final class VerbsTransportProvider implements TransportProvider {
    /** URI scheme of this provider. */
    public static final String SCHEME = "verbs";

    private static final String[] NO_PATH = {};

    /** Called by {@link java.util.ServiceLoader}. */
    public VerbsTransportProvider() {}

    @Override
    public String scheme() {
        return SCHEME;
    }

    @Override
    public String unavailabilityCause() {
        String cause = RdmaDevices.unavailabilityCause();
        return cause != null ? cause : DeviceSearch.unavailabilityCause();
    }

    /**
     * {@inheritDoc}
     *
     * @throws IllegalArgumentException for a value out of range or an option that is not known
     */
    @Override
    public Transport open(TransportContext context) {
        VerbsOptions options = VerbsOptions.of(context);
        String cause = unavailabilityCause();
        if (cause != null) {
            throw new TransportException("verbs: " + cause);
        }
        NativeAccess.open();
        return VerbsTransport.open(context, options);
    }

    /**
     * The form is {@code verbs://host:port/job/name}. Of an own address the port may be 0, for any,
     * and job and name may be missing.
     */
    @Override
    public void address(URI address, boolean isOwn, TransportContext context) {
        if (!isOwn) {
            context.job(VerbsAddress.of(address).job());
            return;
        }
        String[] path = address.getPath() == null ? NO_PATH : address.getPath().split("/");
        String query = address.getQuery();
        boolean isMistyped = query != null && !query.matches("incarnation=[0-9a-f]+");
        boolean isPlace = address.getHost() != null && address.getPort() >= 0;
        if (!isPlace || path.length == 2 || isMistyped) {
            throw new IllegalArgumentException(
                    "'" + address + "' is not of the form verbs://host:port/job/name");
        }
        context.option("address", address.getHost().replaceAll("[\\[\\]]", ""));
        context.option("port", Integer.toString(address.getPort()));
        if (path.length > 2) {
            context.job(path[1]).name(path[2]);
        }
    }
}
