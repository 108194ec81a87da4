package dev.verbena.portals.transport;

import dev.verbena.portals.PortalsCode;
import dev.verbena.portals.PortalsException;
import dev.verbena.portals.PortalsInterface;
import dev.verbena.portals.PortalsInterfaceContext;
import dev.verbena.portals.PortalsProcess;
import dev.verbena.portals.PortalsTrace;
import dev.verbena.softnic.NativeAccess;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportException;
import dev.verbena.transport.TransportProvider;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Opens transports of the scheme {@code portals}.
 *
 * <p>A name of the form {@code nid.pid} chooses the process's place on the network; another name is
 * a label only, and the library gives a free pid. Options: {@code foreignMemory=bounce} lets a
 * helper copy where the kernel forbids to reach memory of other processes; {@code
 * portals.registrationsMax}; {@code portals.messageEvents} (for tests of the queue's overflow).
 */
public final class PortalsTransportProvider implements TransportProvider {
    /** URI scheme. */
    public static final String SCHEME = "portals";

    private static final String FOREIGN_OPTION = "foreignMemory";
    private static final Set<String> OPTIONS =
            Set.of(FOREIGN_OPTION, ResourceSizes.EVENTS_OPTION, ResourceSizes.REGISTRATIONS_OPTION);
    private static final int EVENT_QUEUES_MAX = 8;
    private static final long PID_FACTOR = 2_654_435_761L;
    private static final long PID_STEP = 7919;
    private static final long PID_MAX = 0xFFFE;
    private static final int PID_TRIES = 64;
    private static final AtomicLong OPENED = new AtomicLong();
    private static final int LOCK_TIMEOUT_MS = 20;

    /** For {@link java.util.ServiceLoader}. */
    public PortalsTransportProvider() {}

    @Override
    public String scheme() {
        return SCHEME;
    }

    @Override
    public String unavailabilityCause() {
        if (!NativeAccess.isAvailable()) {
            return NativeAccess.unavailabilityCause();
        }
        return PortalsInterface.unavailabilityCause();
    }

    @Override
    public Transport open(TransportContext context) {
        return open(context, null);
    }

    /**
     * Opens a transport that shows every Portals call it makes.
     *
     * @param trace sees the calls; null: none
     */
    public static PortalsTransport open(TransportContext context, PortalsTrace trace) {
        NativeAccess.open();
        context.conclude(SCHEME, OPTIONS);
        String foreign = context.options().getOrDefault(FOREIGN_OPTION, "attach");
        if (!foreign.equals("attach") && !foreign.equals("bounce")) {
            throw new IllegalArgumentException(
                    "option " + FOREIGN_OPTION + "=" + foreign + ": attach or bounce");
        }
        ResourceSizes sizes = ResourceSizes.of(context);
        PortalsInterfaceContext nic =
                new PortalsInterfaceContext()
                        .job(context.job())
                        .eventSlotCount(sizes.eventSlots())
                        .matchEntriesMax(sizes.matchEntriesMax())
                        .descriptorsMax(sizes.descriptorsMax())
                        .eventQueuesMax(EVENT_QUEUES_MAX)
                        .initiatorsMax(sizes.initiatorsMax())
                        .lockTimeoutMs(LOCK_TIMEOUT_MS)
                        .allowBounce(foreign.equals("bounce"))
                        .trace(trace);
        PortalsProcess place = PortalsAddress.process(context.name());
        if (place != null) {
            nic.nid(place.nid()).pid(place.pid());
        }
        PortalsInterface ni = null;
        try {
            ni = place != null ? PortalsInterface.open(nic) : openSomewhere(nic);
            return new PortalsTransport(context, ni, sizes);
        } catch (PortalsException e) {
            if (ni != null) {
                ni.closeAll();
            }
            throw new TransportException(
                    "open portals://" + context.job() + "/: " + e.getMessage(), 0, e);
        }
    }

    /**
     * Opens at a pid of our own choice: the library would try one after the other from 1, which
     * takes long in a job of many.
     */
    private static PortalsInterface openSomewhere(PortalsInterfaceContext nic) {
        long first = ProcessHandle.current().pid() * PID_FACTOR;
        for (int i = 0; i < PID_TRIES; i++) {
            long pid = (first + OPENED.getAndIncrement() * PID_STEP) % PID_MAX + 1;
            try {
                return PortalsInterface.open(nic.pid((int) pid));
            } catch (PortalsException e) {
                if (e.code() != PortalsCode.PID_INVALID) {
                    throw e;
                }
            }
        }
        return PortalsInterface.open(nic.pid(0));
    }
}
