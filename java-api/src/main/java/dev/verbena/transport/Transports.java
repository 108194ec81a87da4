package dev.verbena.transport;

import java.util.ArrayList;
import java.util.List;
import java.util.ServiceLoader;

/** Finds providers by URI scheme. */
public final class Transports {
    private Transports() {}

    /** Every provider on the class path. */
    public static List<TransportProvider> providers() {
        List<TransportProvider> found = new ArrayList<>();
        ServiceLoader.load(TransportProvider.class).forEach(found::add);
        return found;
    }

    /**
     * The provider of a scheme.
     *
     * @throws TransportException naming the schemes there are
     */
    public static TransportProvider provider(String scheme) {
        List<String> known = new ArrayList<>();
        for (TransportProvider provider : providers()) {
            if (provider.scheme().equals(scheme)) {
                return provider;
            }
            known.add(provider.scheme());
        }
        throw new TransportException(
                "no transport provider '" + scheme + "' on the class path; there are " + known);
    }

    /** Opens a transport of a scheme; see {@link TransportProvider#open}. */
    public static Transport open(String scheme, TransportContext context) {
        TransportProvider provider = provider(scheme);
        if (!provider.isAvailable()) {
            throw new TransportException(
                    "transport '"
                            + scheme
                            + "' cannot work here: "
                            + provider.unavailabilityCause());
        }
        return provider.open(context);
    }
}
