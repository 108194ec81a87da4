package dev.verbena.ofi;

import dev.verbena.ofi.bindings.fabric;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.bytedeco.javacpp.BytePointer;

/**
 * One way of communicating that {@code fi_getinfo} offers, for reliable datagram endpoints ({@code
 * FI_EP_RDM}). Immutable until its close, which frees it; objects that were opened with it stay
 * open. Thread-safe, but closing while another thread uses it is a mistake of the caller's.
 */
public final class FabricInfo implements AutoCloseable {
    /** Capability: messages. */
    public static final long MESSAGES = fabric.VFI_MSG;

    /** Capability: remote reads and writes. */
    public static final long RMA = fabric.VFI_RMA;

    /** Capability: atomics. */
    public static final long ATOMICS = fabric.VFI_ATOMIC;

    private final boolean isSerial;
    private volatile long info;

    private FabricInfo(long info, boolean isSerial) {
        this.info = info;
        this.isSerial = isSerial;
    }

    /**
     * What there is for any threads ({@code FI_THREAD_SAFE}), libfabric's preference first; empty
     * if nothing fits. The caller closes each.
     *
     * @param provider for example {@code tcp}; empty: any
     * @param node address or interface to come from; empty: any
     * @param service port to come from; empty: any
     * @param capabilities bits of this class
     * @throws IllegalStateException if libfabric is unavailable
     * @throws OfiException if it fails for another reason than that nothing fits
     */
    public static List<FabricInfo> list(
            String provider, String node, String service, long capabilities) {
        return list(provider, node, service, capabilities, false);
    }

    private static List<FabricInfo> list(
            String provider, String node, String service, long capabilities, boolean isSerial) {
        OfiLibrary.open();
        List<FabricInfo> found = new ArrayList<>();
        try (BytePointer p = text(provider);
                BytePointer n = text(node);
                BytePointer s = text(service)) {
            long first = fabric.vfi_info(p, n, s, capabilities, isSerial ? 1 : 0);
            if (first == -fabric.VFI_ENODATA) {
                return found;
            }
            OfiObject.check("fi_getinfo", first, ": provider '" + provider + "'");
            try {
                for (long info = first; info != 0; info = fabric.vfi_info_next(info)) {
                    long copy = fabric.vfi_info_copy(info);
                    found.add(new FabricInfo(OfiObject.check("fi_dupinfo", copy, ""), isSerial));
                }
            } catch (OfiException e) {
                found.forEach(FabricInfo::close);
                throw e;
            } finally {
                fabric.vfi_info_free(first);
            }
        }
        return found;
    }

    /**
     * The one that libfabric prefers, or null if nothing fits. As {@link #list}; the caller closes
     * it.
     */
    public static FabricInfo first(
            String provider, String node, String service, long capabilities) {
        return first(provider, node, service, capabilities, false);
    }

    /**
     * As {@link #first(String, String, String, long)}.
     *
     * @param isSerial whether the caller lets all calls for a domain and its objects follow one
     *     another, whatever their threads ({@code FI_THREAD_DOMAIN}): the provider may do without
     *     locks
     */
    public static FabricInfo first(
            String provider, String node, String service, long capabilities, boolean isSerial) {
        List<FabricInfo> found = list(provider, node, service, capabilities, isSerial);
        for (int i = 1; i < found.size(); i++) {
            found.get(i).close();
        }
        return found.isEmpty() ? null : found.get(0);
    }

    private static BytePointer text(String text) {
        return new BytePointer(text, StandardCharsets.UTF_8);
    }

    /** Address of the C object; not after close. */
    long info() {
        long open = info;
        if (open == 0) {
            throw new IllegalStateException("closed: an info of fi_getinfo");
        }
        return open;
    }

    /** {@code fi_freeinfo}. Idempotent. */
    @Override
    public synchronized void close() {
        if (info != 0) {
            fabric.vfi_info_free(info);
            info = 0;
        }
    }

    private String text(int which) {
        BytePointer text = fabric.vfi_info_text(info(), which);
        return text == null || text.isNull() ? "" : text.getString(StandardCharsets.UTF_8);
    }

    private long number(int which) {
        return fabric.vfi_info_number(info(), which);
    }

    /** Name of the provider, layers separated by semicolons: {@code tcp;ofi_rxm}. */
    public String provider() {
        return text(fabric.VFI_TEXT_PROVIDER);
    }

    /** Name of the fabric, for example a network. */
    public String fabricName() {
        return text(fabric.VFI_TEXT_FABRIC);
    }

    /** Name of the domain, for example an interface. */
    public String domainName() {
        return text(fabric.VFI_TEXT_DOMAIN);
    }

    /** Capability bits. */
    public long capabilities() {
        return number(fabric.VFI_INFO_CAPS);
    }

    /** Longest single transfer, bytes. */
    public long messageMax() {
        return number(fabric.VFI_INFO_MESSAGE_MAX);
    }

    /** Longest message that needs no completion, bytes. */
    public int injectMax() {
        return (int) Math.min(Integer.MAX_VALUE, number(fabric.VFI_INFO_INJECT_MAX));
    }

    /** Whether the caller has promised that all calls follow one another. */
    public boolean isSerial() {
        return isSerial;
    }

    /** Whether it works without calls of the program. */
    public boolean isProgressAutomatic() {
        return number(fabric.VFI_INFO_AUTO_PROGRESS) != 0;
    }

    /** Whether peers name memory by its address, and not by the offset in its registration. */
    public boolean usesVirtualAddresses() {
        return (number(fabric.VFI_INFO_MR_MODE) & fabric.VFI_MR_VIRT_ADDR) != 0;
    }

    /** Whether memory of the operations' own side has to be registered, too. */
    public boolean needsLocalRegistration() {
        return (number(fabric.VFI_INFO_MR_MODE) & fabric.VFI_MR_LOCAL) != 0;
    }

    /** Whether memory is bound to an endpoint. */
    public boolean bindsMemoryToEndpoints() {
        return (number(fabric.VFI_INFO_MR_MODE) & fabric.VFI_MR_ENDPOINT) != 0;
    }

    /** Whether endpoints' names are socket addresses of IPv4 or IPv6. */
    public boolean hasSocketAddresses() {
        long format = number(fabric.VFI_INFO_ADDRESS_FORMAT);
        return format == fabric.VFI_SOCKADDR_IN || format == fabric.VFI_SOCKADDR_IN6;
    }

    @Override
    public String toString() {
        return provider() + " " + fabricName() + " " + domainName();
    }
}
