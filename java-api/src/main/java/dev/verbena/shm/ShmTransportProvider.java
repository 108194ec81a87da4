package dev.verbena.shm;

import dev.verbena.softnic.NativeAccess;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportProvider;
import java.util.Set;

/**
 * Provider of {@code shm://}: shared memory between processes of one user on one host.
 *
 * <p>Options: {@code foreignMemory}, {@code attach} (default) or {@code bounce}: how peers reach
 * memory that the toolkit did not allocate; {@code directory}: where segments live, instead of the
 * environment variable {@code VERBENA_SHM_DIR} or {@code /dev/shm}.
 */
public final class ShmTransportProvider implements TransportProvider {
    /** URI scheme of this provider. */
    public static final String SCHEME = "shm";

    static final String FOREIGN_OPTION = "foreignMemory";
    static final String DIRECTORY_OPTION = "directory";
    private static final Set<String> OPTIONS = Set.of(FOREIGN_OPTION, DIRECTORY_OPTION);

    /** Called by {@link java.util.ServiceLoader}. */
    public ShmTransportProvider() {}

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
        context.conclude(SCHEME, OPTIONS);
        String foreign = context.options().getOrDefault(FOREIGN_OPTION, "attach");
        if (!foreign.equals("attach") && !foreign.equals("bounce")) {
            throw new IllegalArgumentException(
                    "option " + FOREIGN_OPTION + "='" + foreign + "'; it can be attach or bounce");
        }
        return ShmTransport.open(context, foreign.equals("bounce"));
    }
}
