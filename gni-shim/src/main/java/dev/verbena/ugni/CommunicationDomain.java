package dev.verbena.ugni;

import dev.verbena.ugni.bindings.ugni;
import java.util.ArrayList;
import java.util.List;
import org.agrona.BitUtil;
import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * A process's membership in a job: processes with the same protection tag and cookie can reach each
 * other, and nobody else can reach them. Parent of every other uGNI object. C: {@code
 * gni_cdm_handle_t} (specification, section on communication domains).
 *
 * <p>Threads: owned by the thread that created it, with everything made from it; {@link #moveTo}
 * hands it over.
 */
public final class CommunicationDomain implements AutoCloseable {
    /**
     * System property, read once: {@code auto} (the default; Cray's {@code libugni.so.0} if one is
     * on the library path and has a device, else Verbena's own), {@code builtin} (Verbena's own),
     * {@code system} (Cray's, or nothing), or the path of a library.
     */
    public static final String LIBRARY_PROPERTY = "verbena.ugni.library";

    /** Mode: RDMA posts may ask for both a local and a global event. */
    public static final int MODE_DUAL_EVENTS = ugni.GNI_CDM_MODE_DUAL_EVENTS;

    /** Mode: an error ends the process, as uGNI's default did; not for a JVM. */
    public static final int MODE_ERR_ALL_KILL = ugni.GNI_CDM_MODE_ERR_ALL_KILL;

    /** Mode: an error does not end the process. */
    public static final int MODE_ERR_NO_KILL = ugni.GNI_CDM_MODE_ERR_NO_KILL;

    /** For {@link #attach}: the first device that has no NIC handle yet. */
    public static final int ANY_DEVICE = -1;

    private static final int PTAG_MAX = 255;
    private static final int RESOURCE_WORDS = 4;

    private final long handle;
    private final int instance;
    private final int ptag;
    private final int cookie;
    private final List<Nic> nics = new ArrayList<>();
    private Thread ownerThread = Thread.currentThread();
    private final Object closing = new Object();
    private volatile boolean isClosed;

    private CommunicationDomain(long handle, int instance, int ptag, int cookie) {
        this.handle = handle;
        this.instance = instance;
        this.ptag = ptag;
        this.cookie = cookie;
    }

    /**
     * Creates a domain. C: {@code GNI_CdmCreate}.
     *
     * @param instance number of this process in the job; with a device's address it names a NIC
     *     handle, so no two domains of a host may share tag, cookie and instance
     * @param ptag protection tag, 0 to 254; 255: derived from the cookie
     * @param cookie 32 bits that the job's processes share
     * @param modes sum of {@code MODE_...}
     * @throws IllegalStateException if there is an {@link #unavailabilityCause}
     * @throws IllegalArgumentException for a tag outside 0 to 255, or a mode that would end the JVM
     */
    public static CommunicationDomain create(int instance, int ptag, int cookie, int modes) {
        UgniNative.open();
        if (ptag < 0 || ptag > PTAG_MAX) {
            throw new IllegalArgumentException("ptag " + ptag + " is outside 0 to 255");
        }
        if ((modes & MODE_ERR_ALL_KILL) != 0) {
            throw new IllegalArgumentException("MODE_ERR_ALL_KILL would end the JVM at an error");
        }
        long made =
                UgniNative.check(
                        "GNI_CdmCreate",
                        ugni.vgn_cdm_create(instance, ptag, cookie, modes),
                        "ptag " + ptag + ", instance " + Integer.toUnsignedString(instance));
        return new CommunicationDomain(made, instance, ptag, cookie);
    }

    /**
     * A NIC handle of a device. One for each device and domain. C: {@code GNI_CdmAttach}.
     *
     * @param device 0 and up, or {@link #ANY_DEVICE}
     * @throws UgniException NO_MATCH without such a device; INVALID_STATE if the domain has it
     *     already or another process has this instance
     */
    public Nic attach(int device) {
        checkOwner();
        UnsafeBuffer address =
                new UnsafeBuffer(
                        BufferUtil.allocateDirectAligned(Long.BYTES, BitUtil.CACHE_LINE_LENGTH));
        long made =
                UgniNative.check(
                        "GNI_CdmAttach",
                        ugni.vgn_cdm_attach(handle, device, address.addressOffset()),
                        this + ", device " + device);
        Nic nic = new Nic(this, made, address.getInt(0));
        nics.add(nic);
        return nic;
    }

    /** Why uGNI cannot work here and what to do about it; null if it can. */
    public static String unavailabilityCause() {
        return UgniNative.unavailabilityCause();
    }

    /** {@code builtin}, or what was opened: see {@link #LIBRARY_PROPERTY}. */
    public static String library() {
        return UgniNative.library();
    }

    /** Devices of this host. C: {@code GNI_GetNumLocalDevices}. */
    public static int deviceCount() {
        UgniNative.open();
        return (int) UgniNative.check("GNI_GetNumLocalDevices", ugni.vgn_device_count(), "host");
    }

    /** Address that peers bind endpoints to. C: {@code GNI_CdmGetNicAddress}. */
    public static int deviceAddress(int device) {
        UgniNative.open();
        return (int)
                UgniNative.check(
                        "GNI_CdmGetNicAddress", ugni.vgn_nic_address(device), "device " + device);
    }

    /**
     * Version of the library, {@code major << 24 | minor << 16 | revision}. C: {@code
     * GNI_GetVersion}.
     */
    public static int version() {
        UgniNative.open();
        return (int) UgniNative.check("GNI_GetVersion", ugni.vgn_version(), "library");
    }

    /** Whether the devices say that they are Aries, not Gemini. C: {@code GNI_GetDeviceType}. */
    public static boolean isAries() {
        UgniNative.open();
        return UgniNative.check("GNI_GetDeviceType", ugni.vgn_device_type(), "host")
                == ugni.GNI_DEVICE_ARIES;
    }

    /** Protection tag that belongs to a cookie. C: {@code GNI_GetPtag}. */
    public static int ptagOf(int device, int cookie) {
        UgniNative.open();
        return (int)
                UgniNative.check(
                        "GNI_GetPtag",
                        ugni.vgn_ptag(device, cookie),
                        "cookie 0x" + Integer.toHexString(cookie));
    }

    /**
     * What a device has left of a resource. C: {@code GNI_GetDevResInfo}. Allocates.
     *
     * @param resource its number in {@code gni_dev_res_t}
     * @return available, reserved, held, total
     */
    public static long[] deviceResource(int device, int resource) {
        UnsafeBuffer words = Nic.aligned(RESOURCE_WORDS * Long.BYTES);
        UgniNative.check(
                "GNI_GetDevResInfo",
                ugni.vgn_device_resource(device, resource, words.addressOffset()),
                "device " + device + ", resource " + resource);
        long[] values = new long[RESOURCE_WORDS];
        for (int i = 0; i < RESOURCE_WORDS; i++) {
            values[i] = words.getLong(i * Long.BYTES);
        }
        return values;
    }

    /** Number of this process in the job. */
    public int instance() {
        return instance;
    }

    /** Cookie of the job. */
    public int cookie() {
        return cookie;
    }

    /** Hands the domain and its objects over to a thread; the owner has stopped using them. */
    public void moveTo(Thread thread) {
        ownerThread = thread;
    }

    /** True after {@link #close}. */
    public boolean isClosed() {
        return isClosed;
    }

    /**
     * Closes, with the NIC handles. Idempotent. C: {@code GNI_CdmDestroy}.
     *
     * @throws IllegalStateException naming objects that are still open; nothing is closed then
     */
    @Override
    public void close() {
        if (isClosed) {
            return;
        }
        checkOwner();
        for (Nic nic : nics) {
            nic.checkNoChildren();
        }
        closeAll();
    }

    /** Closes with everything that was made from it; what is in flight is forgotten. */
    public void closeAll() {
        if (isClosed) {
            return;
        }
        checkOwner();
        // Nothing in Java may look into memory that goes.
        for (Nic nic : nics) {
            nic.retireChildren();
        }
        synchronized (closing) { // nobody is ringing from here on
            isClosed = true;
        }
        int result = ugni.vgn_cdm_destroy(handle);
        for (Nic nic : nics) {
            nic.memory().freeAll();
        }
        UgniNative.check("GNI_CdmDestroy", result, this);
    }

    void ring(long nic) {
        synchronized (closing) {
            if (!isClosed) {
                UgniNative.check("GNI_ExtRing", ugni.vgn_ext_ring(nic), this);
            }
        }
    }

    void checkOwner() {
        if (Thread.currentThread() != ownerThread || isClosed) {
            throw refused();
        }
    }

    private IllegalStateException refused() {
        return new IllegalStateException(
                isClosed
                        ? "closed: " + this
                        : "%s is owned by thread '%s', not by '%s'"
                                .formatted(
                                        this,
                                        ownerThread.getName(),
                                        Thread.currentThread().getName()));
    }

    @Override
    public String toString() {
        return "communication domain %s/0x%x instance %s"
                .formatted(ptag, cookie, Integer.toUnsignedString(instance));
    }
}
