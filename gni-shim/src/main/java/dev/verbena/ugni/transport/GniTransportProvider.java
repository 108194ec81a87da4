package dev.verbena.ugni.transport;

import dev.verbena.softnic.NativeAccess;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportException;
import dev.verbena.transport.TransportProvider;
import dev.verbena.ugni.CommunicationDomain;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Set;
import java.util.zip.CRC32C;

/**
 * Opens transports of the scheme {@code gni}.
 *
 * <p>Protection tag and cookie: options {@code gni.ptag} and {@code gni.cookie}, else what {@code
 * gni-run} says in the environment ({@code PMI_GNI_PTAG}, {@code PMI_GNI_COOKIE}), else made from
 * the job's name. A name that is a number from 1 to 65535 is the port, which is the instance of the
 * process in its protection domain; another name is a label, and a free port is taken. Option
 * {@code gni.fmaMax}: up to so many bytes move by FMA, more by BTE; without it Trios' variables say
 * ({@link TriosSettings}).
 */
public final class GniTransportProvider implements TransportProvider {
    /** URI scheme. */
    public static final String SCHEME = "gni";

    /** Option: protection tag. */
    public static final String PTAG_OPTION = "gni.ptag";

    /** Option: cookie. */
    public static final String COOKIE_OPTION = "gni.cookie";

    /** Option: longest transfer by FMA, bytes. */
    public static final String FMA_OPTION = "gni.fmaMax";

    private static final Set<String> OPTIONS = Set.of(PTAG_OPTION, COOKIE_OPTION, FMA_OPTION);
    private static final String FMA_MAX_DEFAULT = "4096";
    static final long FMA_MAX = 1L << 30;

    private static final int TAG_FIRST = 3;
    private static final int TAGS = 251;

    /** For {@link java.util.ServiceLoader}. */
    public GniTransportProvider() {}

    @Override
    public String scheme() {
        return SCHEME;
    }

    @Override
    public String unavailabilityCause() {
        if (!NativeAccess.isAvailable()) {
            return NativeAccess.unavailabilityCause();
        }
        String cause = CommunicationDomain.unavailabilityCause();
        return cause != null ? cause : foreignLibrary();
    }

    /**
     * Why the library in use does not do for this transport, though it may be a libugni; or null.
     */
    private static String foreignLibrary() {
        String missing = Gni.missingExtension();
        return missing == null
                ? null
                : "%s has no %s".formatted(CommunicationDomain.library(), missing)
                        + ": gni:// needs what only Verbena's own libugni has; -D"
                        + CommunicationDomain.LIBRARY_PROPERTY
                        + "=builtin uses that";
    }

    @Override
    public Transport open(TransportContext context) {
        NativeAccess.open();
        context.conclude(SCHEME, OPTIONS);
        String cause = unavailabilityCause();
        if (cause != null) {
            throw new TransportException("open gni: " + cause, 0, null);
        }
        GniResourcesContext wanted = cardContext(context, System.getenv());
        long fmaMax = fmaMax(context, System.getenv());
        GniResources resources = null;
        try {
            resources = new GniResources(wanted);
            return new GniTransport(context, resources, fmaMax);
        } catch (GniFailure e) {
            if (resources != null) {
                resources.close();
            }
            throw new TransportException(
                    "open gni, ptag %s, cookie %s: %s"
                            .formatted(wanted.ptag(), wanted.cookie(), e.getMessage()),
                    0,
                    e);
        }
    }

    /** The form is {@link GniAddress#FORM}. Of an own address the port may be 0, for any. */
    @Override
    public void address(URI address, boolean isOwn, TransportContext context) {
        String query = address.getQuery() == null ? "" : address.getQuery();
        boolean isKnown = query.matches("((ptag|cookie|incarnation)=[^&]*(&(?=.)|$))*");
        if (address.getHost() == null || address.getPort() < 0 || !isKnown) {
            throw new IllegalArgumentException(
                    "'" + address + "' is not of the form " + GniAddress.FORM);
        }
        if (isOwn && address.getPort() > 0) {
            context.name(Integer.toString(address.getPort()));
        }
        for (String part : query.split("&")) {
            if (part.startsWith("ptag=") || part.startsWith("cookie=")) {
                int equals = part.indexOf('=');
                context.option("gni." + part.substring(0, equals), part.substring(equals + 1));
            }
        }
    }

    static GniResourcesContext cardContext(
            TransportContext context, Map<String, String> environment) {
        long cookie = cookie(context, environment);
        int ptag = ptag(context, environment, cookie);
        int port = port(context.name());
        return new GniResourcesContext(
                AddressResolver.HOST,
                port == 0 ? context.name() : "",
                port,
                ptag,
                cookie,
                context.outstandingMax(),
                context.receiveSlotCount(),
                context.connectionsMax());
    }

    private static long cookie(TransportContext context, Map<String, String> environment) {
        String text = context.options().getOrDefault(COOKIE_OPTION, first(environment));
        if (text == null) {
            CRC32C hash = new CRC32C();
            hash.update(context.job().getBytes(StandardCharsets.UTF_8));
            return hash.getValue();
        }
        try {
            return GniAddress.cookie(text);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(COOKIE_OPTION + ": " + e.getMessage(), e);
        }
    }

    /** Of several cookies that a launcher gives, separated by commas, the first. */
    private static String first(Map<String, String> environment) {
        String cookies = environment.get("PMI_GNI_COOKIE");
        return cookies == null || cookies.isEmpty() ? null : cookies.split("[,:]")[0];
    }

    private static int ptag(
            TransportContext context, Map<String, String> environment, long cookie) {
        String fromLauncher = environment.get("PMI_GNI_PTAG");
        String text =
                context.options()
                        .getOrDefault(
                                PTAG_OPTION,
                                fromLauncher == null || fromLauncher.isEmpty()
                                        ? null
                                        : fromLauncher.split("[,:]")[0]);
        if (text == null) {
            return TAG_FIRST + (int) (cookie % TAGS);
        }
        try {
            return GniAddress.ptag(text);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(PTAG_OPTION + ": " + e.getMessage(), e);
        }
    }

    /** 0 if the name is no port. */
    private static int port(String name) {
        if (!name.matches("[1-9][0-9]{0,4}")) {
            return 0;
        }
        int port = Integer.parseInt(name);
        return port <= GniAddress.PORT_MAX ? port : 0;
    }

    static long fmaMax(TransportContext context, Map<String, String> environment) {
        String option = context.options().get(FMA_OPTION);
        String text = option == null ? TriosSettings.fmaMax(environment, FMA_MAX_DEFAULT) : option;
        try {
            long max = Long.parseLong(text);
            if (max >= 0 && max <= FMA_MAX) {
                return max;
            }
        } catch (NumberFormatException e) {
            // said below
        }
        String what = option == null ? TriosSettings.CROSSOVER : "option " + FMA_OPTION;
        throw new IllegalArgumentException(what + "=" + text + ": a number from 0 to " + FMA_MAX);
    }
}
