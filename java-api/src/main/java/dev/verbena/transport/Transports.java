package dev.verbena.transport;

import dev.verbena.agent.internal.ErrorHandlers;
import java.net.URI;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import org.agrona.ErrorHandler;

/** Finds providers by URI scheme. */
public final class Transports {
    /** Which artifact of this project holds a provider; the others are in verbena-api. */
    private static final Map<String, String> ARTIFACTS =
            Map.of("portals", "verbena-portals", "gni", "verbena-gni", "ofi", "verbena-ofi");

    private Transports() {}

    /** Every provider on the class path, by scheme: a folder of jars has no order of its own. */
    public static List<TransportProvider> providers() {
        List<TransportProvider> found = new ArrayList<>();
        ServiceLoader.load(TransportProvider.class).forEach(found::add);
        found.sort(Comparator.comparing(TransportProvider::scheme));
        return found;
    }

    /**
     * Loads what the providers need, which nothing has to ask for but a program that makes a buffer
     * of Agrona before it makes anything of this toolkit: Agrona's buffers need a package of the
     * JDK that loading opens, and without it and without {@code --add-opens
     * java.base/jdk.internal.misc=ALL-UNNAMED} their class stays unusable in that JVM. Idempotent;
     * throws nothing where no provider works ({@link TransportProvider#unavailabilityCause}).
     */
    public static void prepare() {
        for (TransportProvider provider : providers()) {
            provider.isAvailable();
        }
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
        String artifact = ARTIFACTS.get(scheme);
        throw new TransportException(
                "no transport provider '%s' on the class path; there are %s%s"
                        .formatted(
                                scheme,
                                known,
                                artifact == null
                                        ? ""
                                        : "; it is in the artifact dev.verbena:" + artifact));
    }

    /**
     * Opens a transport of a scheme; see {@link TransportProvider#open}.
     *
     * @param context copied
     * @throws TransportException naming the schemes there are, or why this one cannot work here
     */
    public static Transport open(String scheme, TransportContext context) {
        TransportProvider provider = provider(scheme);
        if (!provider.isAvailable()) {
            throw new TransportException(
                    "transport '%s' cannot work here: %s"
                            .formatted(scheme, provider.unavailabilityCause()));
        }
        TransportContext own = context.copy();
        ErrorHandler handler = own.errorHandler();
        // A provider refuses null.
        return provider.open(
                own.errorHandler(handler == null ? null : ErrorHandlers.harmless(handler)));
    }

    /**
     * A context for a transport that is to have this address, or to reach a peer there; see {@link
     * TransportProvider#address}.
     *
     * @throws IllegalArgumentException for an address without a scheme, or one that does not fit
     * @throws TransportException naming the schemes there are
     */
    public static TransportContext contextFor(URI address, boolean isOwn) {
        if (address.getScheme() == null) {
            throw new IllegalArgumentException("'" + address + "' has no scheme, such as shm://");
        }
        TransportContext context = new TransportContext();
        provider(address.getScheme()).address(address, isOwn, context);
        return context;
    }
}
