package dev.verbena.ofi.transport;

import dev.verbena.ofi.FabricInfo;
import dev.verbena.ofi.OfiException;
import dev.verbena.ofi.OfiLibrary;
import dev.verbena.softnic.NativeAccess;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportException;
import dev.verbena.transport.TransportProvider;
import java.net.URI;
import java.util.List;
import java.util.Set;

/**
 * Opens transports of the scheme {@code ofi}, over libfabric.
 *
 * <p>Option {@code ofi.provider}, else the system property {@code verbena.ofi.provider}:
 * libfabric's name of the provider, for example {@code tcp} or {@code verbs}; without it the first
 * of {@link #PREFERRED} that there is. Options {@code ofi.host} and {@code ofi.port}, likewise:
 * address and port of the endpoint. Option {@code ofi.progress}, likewise: {@code thread} (unless
 * given) serves peers also while the transport's owner does not poll; with {@code caller} only the
 * owner's calls do.
 */
public final class OfiTransportProvider implements TransportProvider {
    /** URI scheme. */
    public static final String SCHEME = "ofi";

    /** Option: libfabric's name of the provider. */
    public static final String PROVIDER_OPTION = "ofi.provider";

    /** Option: address or name that the endpoint has. */
    public static final String HOST_OPTION = "ofi.host";

    /** Option: port that the endpoint has. */
    public static final String PORT_OPTION = "ofi.port";

    /** Option: who serves peers, {@code thread} or {@code caller}. */
    public static final String PROGRESS_OPTION = "ofi.progress";

    /**
     * Option: {@code sockets}, one sleeps at the provider's TCP sockets if it has some, {@code
     * queue}, at the completion queue, or {@code look}, one looks now and then, up to 2 ms late.
     */
    public static final String SLEEP_OPTION = "ofi.sleep";

    /** Providers in the order in which they are chosen: NICs before the kernel's network. */
    public static final List<String> PREFERRED =
            List.of("cxi", "efa", "opx", "psm3", "verbs", "tcp");

    private static final int PORT_MAX = 65_535;
    private static final Set<String> OPTIONS =
            Set.of(PROVIDER_OPTION, HOST_OPTION, PORT_OPTION, PROGRESS_OPTION, SLEEP_OPTION);
    private static final String UNSAFE = "shm";
    private static final String PROPERTY_PREFIX = "verbena.";
    private static final long NEEDED = FabricInfo.MESSAGES | FabricInfo.RMA;

    /** For {@link java.util.ServiceLoader}. */
    public OfiTransportProvider() {}

    @Override
    public String scheme() {
        return SCHEME;
    }

    @Override
    public String unavailabilityCause() {
        return NativeAccess.isAvailable()
                ? OfiLibrary.unavailabilityCause()
                : NativeAccess.unavailabilityCause();
    }

    @Override
    public Transport open(TransportContext context) {
        NativeAccess.open();
        context.conclude(SCHEME, OPTIONS);
        String cause = unavailabilityCause();
        if (cause != null) {
            throw new TransportException("open ofi: " + cause, 0, null);
        }
        boolean hasProgressThread = hasProgressThread(context);
        OfiResources.Sleep sleep = sleep(context);
        FabricInfo info = find(context); // OfiResources closes it
        String what = info.toString();
        boolean hasAtomics = (info.capabilities() & FabricInfo.ATOMICS) != 0;
        OfiResources resources = null;
        try {
            resources =
                    new OfiResources(
                            info,
                            2 * context.outstandingMax(),
                            context.receiveSlotCount(),
                            context.messageLengthMax(),
                            context.incarnation(),
                            sleep);
            return new OfiTransport(
                    context, resources, hasAtomics, hasProgressThread, reason(context));
        } catch (OfiException | OfiFailure | OutOfMemoryError e) {
            if (resources != null) {
                resources.close();
            }
            throw new TransportException("open ofi, " + what + ": " + e.getMessage(), 0, e);
        }
    }

    /**
     * The form is {@link OfiAddress#FORM}. Of an own address the port may be 0, for any, and all
     * behind it may be missing. A peer on this host's loopback is reached from there.
     */
    @Override
    public void address(URI address, boolean isOwn, TransportContext context) {
        if (!isOwn) {
            OfiAddress.of(address);
        }
        String host = address.getHost();
        String query = address.getQuery();
        boolean isKnown =
                query == null
                        || query.matches("((provider|endpoint|incarnation)=[^&]*(&(?=.)|$))+");
        if (host == null || address.getPort() < 0 || address.getPort() > PORT_MAX || !isKnown) {
            throw new IllegalArgumentException(
                    "'" + address + "' is not of the form " + OfiAddress.FORM);
        }
        if (isOwn || host.equals("localhost") || host.startsWith("127.")) {
            context.option(HOST_OPTION, host.replaceAll("[\\[\\]]", ""));
        }
        if (isOwn && address.getPort() > 0) {
            context.option(PORT_OPTION, Integer.toString(address.getPort()));
        }
        String path = address.getPath() == null ? "" : address.getPath();
        if (isOwn && path.length() > 1) {
            context.name(path.substring(1));
        }
        for (String part : query == null ? new String[0] : query.split("&")) {
            if (part.startsWith("provider=")) {
                context.option(PROVIDER_OPTION, part.substring("provider=".length()));
            }
        }
    }

    private static String option(TransportContext context, String option) {
        return context.options()
                .getOrDefault(option, System.getProperty(PROPERTY_PREFIX + option, ""));
    }

    /**
     * Also for providers that work by themselves a thread unless told otherwise: it answers what
     * peers ask about keys.
     */
    private static boolean hasProgressThread(TransportContext context) {
        return choice(context, PROGRESS_OPTION, List.of("thread", "caller")) == 0;
    }

    private static OfiResources.Sleep sleep(TransportContext context) {
        return OfiResources.Sleep.values()[
                choice(context, SLEEP_OPTION, List.of("sockets", "queue", "look"))];
    }

    /** Which of these words an option has; the first unless given. */
    private static int choice(TransportContext context, String name, List<String> words) {
        String value = option(context, name);
        int choice = value.isEmpty() ? 0 : words.indexOf(value);
        if (choice < 0) {
            throw new IllegalArgumentException(
                    "%s '%s' is none of %s".formatted(name, value, String.join(", ", words)));
        }
        return choice;
    }

    private static String reason(TransportContext context) {
        return option(context, PROVIDER_OPTION).isEmpty()
                ? "It is the first that there is of " + String.join(", ", PREFERRED) + "."
                : "The option " + PROVIDER_OPTION + " asks for it.";
    }

    private static FabricInfo find(TransportContext context) {
        String asked = option(context, PROVIDER_OPTION).replace('+', ';');
        String host = option(context, HOST_OPTION);
        String port = option(context, PORT_OPTION);
        if (asked.equals(UNSAFE)) {
            throw new TransportException(
                    "open ofi: provider shm is refused: in libfabric 1.17 a send to an endpoint of"
                            + " the same process that has closed crashes it, and a write with the"
                            + " key of closed memory still arrives; use shm:// on one host",
                    0,
                    null);
        }
        for (String provider : asked.isEmpty() ? PREFERRED : List.of(asked)) {
            for (long wanted : new long[] {NEEDED | FabricInfo.ATOMICS, NEEDED}) {
                FabricInfo found = first(provider, host, port, wanted);
                if (found != null) {
                    return requireInjection(found);
                }
            }
        }
        throw new TransportException(
                "open ofi: libfabric "
                        + OfiLibrary.version()
                        + " offers no reliable datagrams with remote memory access for provider '"
                        + (asked.isEmpty() ? String.join(", ", PREFERRED) : asked)
                        + "'"
                        + (host.isEmpty() ? "" : ", host '" + host + "'")
                        + (port.isEmpty() ? "" : ", port '" + port + "'")
                        + "; ./verbena devices --ofi lists what there is",
                0,
                null);
    }

    /** Records leave by {@code fi_inject}: their sender does not wait for completions. */
    private static FabricInfo requireInjection(FabricInfo info) {
        String cause = injectionCause(info.provider(), info.injectMax());
        if (cause != null) {
            info.close();
            throw new TransportException(cause, 0, null);
        }
        return info;
    }

    /** Why a provider that injects messages of up to so many bytes is refused, or null. */
    static String injectionCause(String provider, int injectMax) {
        return injectMax >= Wire.SHORT
                ? null
                : "open ofi: provider '"
                        + provider
                        + "' is refused: its fi_inject takes "
                        + injectMax
                        + " bytes, this transport's records have "
                        + Wire.SHORT
                        + "; choose another with the option "
                        + PROVIDER_OPTION;
    }

    private static FabricInfo first(String provider, String host, String port, long wanted) {
        try {
            FabricInfo serial = FabricInfo.first(provider, host, port, wanted, true);
            boolean isSlow = serial != null && serial.needsLocalRegistration();
            if (serial == null || !serial.isProgressAutomatic() && !isSlow) {
                return serial;
            }
            // Its own threads need its locks; and while it pins memory, heartbeats go on.
            serial.close();
            return FabricInfo.first(provider, host, port, wanted);
        } catch (OfiException e) {
            throw new TransportException(
                    "open ofi, provider '" + provider + "', host '" + host + "': " + e.getMessage(),
                    0,
                    e);
        }
    }
}
