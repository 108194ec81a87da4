package dev.verbena.verbs.transport;

import dev.verbena.softnic.NativeAccess;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportException;
import dev.verbena.transport.TransportProvider;
import dev.verbena.verbs.RdmaDevices;

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
        context.conclude();
        VerbsOptions options = VerbsOptions.of(context.options());
        String cause = unavailabilityCause();
        if (cause != null) {
            throw new TransportException("verbs: " + cause);
        }
        NativeAccess.open();
        return VerbsTransport.open(context, options);
    }
}
