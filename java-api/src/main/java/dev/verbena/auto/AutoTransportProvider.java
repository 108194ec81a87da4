package dev.verbena.auto;

import dev.verbena.agent.CountersFile;
import dev.verbena.softnic.NativeAccess;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportException;
import dev.verbena.transport.TransportProvider;
import dev.verbena.transport.Transports;
import dev.verbena.transport.core.TransportPart;
import java.net.URI;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.agrona.CloseHelper;

/**
 * Provider of {@code auto://}: shared memory, RDMA and libfabric behind one address.
 *
 * <p>Option {@code auto.use}, else the system property {@code verbena.auto.use}: which of {@code
 * shm}, {@code ofi} to open, with commas; unless given all that work here. {@code shm.NAME} is the
 * option {@code NAME} of {@code shm}; options of {@code ofi} are handed on.
 */
public final class AutoTransportProvider implements TransportProvider {
    /** URI scheme of this provider. */
    public static final String SCHEME = "auto";

    /** Option: which parts to open. */
    public static final String USE_OPTION = "auto.use";

    /** Parts in the order in which they are chosen. */
    static final List<String> PREFERRED = List.of(Choice.SHM, Choice.OFI);

    private static final String PROPERTY_PREFIX = "verbena.";
    private static final String SHM_PREFIX = "shm.";
    private static final String OFI_PREFIX = "ofi.";
    private static final String DIRECTORY = "directory";

    /** Called by {@link java.util.ServiceLoader}. */
    public AutoTransportProvider() {}

    @Override
    public String scheme() {
        return SCHEME;
    }

    @Override
    public String unavailabilityCause() {
        return NativeAccess.unavailabilityCause();
    }

    /**
     * {@inheritDoc}
     *
     * @throws IllegalArgumentException for a value out of range or an option that is not known
     */
    @Override
    public Transport open(TransportContext context) {
        NativeAccess.open();
        context.conclude();
        checkOptions(context);
        List<TransportPart> parts = new ArrayList<>();
        try {
            return open(context, parts);
        } catch (RuntimeException | Error e) {
            CloseHelper.quietCloseAll(parts);
            throw e;
        }
    }

    private static Transport open(TransportContext context, List<TransportPart> parts) {
        String name =
                context.name().isEmpty()
                        ? "a%07x".formatted(new SecureRandom().nextInt() >>> 4)
                        : context.name();
        long incarnation = new SecureRandom().nextLong() & Long.MAX_VALUE | 1;
        String mark = "";
        URI ofi = null;
        Map<String, String> missing = new LinkedHashMap<>();
        List<String> schemes = new ArrayList<>();
        for (String scheme : PREFERRED) {
            String cause = whyNot(scheme, uses(context));
            if (cause == null) {
                TransportPart part = part(scheme, context, name, incarnation, missing);
                if (part != null) {
                    parts.add(part);
                    schemes.add(scheme);
                    if (scheme.equals(Choice.SHM)) {
                        mark = HostMark.of(directory(context));
                        incarnation = incarnation(part.uri());
                    } else {
                        ofi = part.uri();
                    }
                }
            } else if (isUseGiven(context) && uses(context).contains(scheme)) {
                throw new TransportException("open auto: " + scheme + ": " + cause);
            } else {
                missing.put(scheme, cause);
            }
        }
        if (parts.isEmpty()) {
            throw new TransportException("open auto: none of its parts works here: " + missing);
        }
        AutoAddress plain =
                new AutoAddress(name, mark, "", AutoAddress.USUAL_PROVIDER, "", incarnation);
        AutoAddress address = ofi == null ? plain : plain.withOfi(ofi);
        if (ofi != null && address.provider().equals(AutoAddress.USUAL_PROVIDER)) {
            String cause = Transports.provider(Choice.VERBS).unavailabilityCause();
            missing.put(Choice.VERBS, cause != null ? cause : "no part yet; ofi.provider=verbs is");
        }
        return AutoTransport.of(
                context,
                address,
                parts.toArray(new TransportPart[0]),
                new Choice(schemes, missing, mark, context.job()));
    }

    private static String whyNot(String scheme, List<String> uses) {
        if (!uses.contains(scheme)) {
            return USE_OPTION + " is " + String.join(",", uses);
        }
        for (TransportProvider provider : Transports.providers()) {
            if (provider.scheme().equals(scheme)) {
                return provider.unavailabilityCause();
            }
        }
        return "its artifact is not on the class path";
    }

    /** Opens a part; null if that fails, the reason is in {@code missing}. */
    private static TransportPart part(
            String scheme,
            TransportContext context,
            String name,
            long incarnation,
            Map<String, String> missing) {
        try {
            return (TransportPart)
                    Transports.open(scheme, contextOf(scheme, context, name, incarnation));
        } catch (TransportException e) {
            if (isUseGiven(context)) {
                throw e;
            }
            missing.put(scheme, e.getMessage());
            return null;
        }
    }

    private static TransportContext contextOf(
            String scheme, TransportContext context, String name, long incarnation) {
        TransportContext part =
                new TransportContext()
                        .job(context.job())
                        .name(name)
                        .messageLengthMax(context.messageLengthMax())
                        .creditsPerConnection(context.creditsPerConnection())
                        .receiveSlotCount(context.receiveSlotCount())
                        .outstandingMax(context.outstandingMax())
                        .connectionsMax(context.connectionsMax())
                        .peerTimeoutNs(context.peerTimeoutNs())
                        .errorHandler(context.errorHandler())
                        .incarnation(incarnation);
        context.options()
                .forEach(
                        (key, value) -> {
                            if (scheme.equals(Choice.SHM) && key.startsWith(SHM_PREFIX)) {
                                part.option(key.substring(SHM_PREFIX.length()), value);
                            } else if (scheme.equals(Choice.OFI) && key.startsWith(OFI_PREFIX)) {
                                part.option(key, value);
                            }
                        });
        return part;
    }

    private static void checkOptions(TransportContext context) {
        for (String key : context.options().keySet()) {
            if (!key.equals(USE_OPTION)
                    && !key.startsWith(SHM_PREFIX)
                    && !key.startsWith(OFI_PREFIX)) {
                throw new IllegalArgumentException(
                        "auto knows no option '%s'; it knows %s, and those of its parts: shm.NAME,"
                                        .formatted(key, USE_OPTION)
                                + " ofi.NAME");
            }
        }
    }

    /** Parts that were asked for by name must work; others are left out where they do not. */
    private static boolean isUseGiven(TransportContext context) {
        return context.options().containsKey(USE_OPTION)
                || System.getProperty(PROPERTY_PREFIX + USE_OPTION) != null;
    }

    private static List<String> uses(TransportContext context) {
        String use =
                context.options()
                        .getOrDefault(
                                USE_OPTION,
                                System.getProperty(
                                        PROPERTY_PREFIX + USE_OPTION, String.join(",", PREFERRED)));
        List<String> uses = List.of(use.split(","));
        for (String scheme : uses) {
            if (!PREFERRED.contains(scheme)) {
                throw new IllegalArgumentException(
                        USE_OPTION + " '" + use + "': '" + scheme + "' is none of " + PREFERRED);
            }
        }
        return uses;
    }

    private static Path directory(TransportContext context) {
        String given = context.options().get(SHM_PREFIX + DIRECTORY);
        return given == null || given.isEmpty()
                ? CountersFile.defaultShmDirectory()
                : Path.of(given);
    }

    private static long incarnation(URI uri) {
        String text = uri.toString();
        return Long.parseUnsignedLong(text.substring(text.lastIndexOf('=') + 1), 16);
    }
}
