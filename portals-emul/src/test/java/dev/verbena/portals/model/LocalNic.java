package dev.verbena.portals.model;

import dev.verbena.portals.PortalsCode;
import dev.verbena.portals.PortalsInterface;
import dev.verbena.portals.bindings.portals;
import dev.verbena.portals.bindings.ptl_ext_options_t;
import dev.verbena.portals.bindings.ptl_ni_limits_t;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.zip.CRC32C;
import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;
import org.bytedeco.javacpp.BytePointer;
import org.bytedeco.javacpp.IntPointer;
import org.bytedeco.javacpp.PointerScope;

/** An interface of libportals3 in this process. */
final class LocalNic implements NicCalls {
    private static final int EQ_NONE = 0xbfffffff;
    private static final Map<String, Integer> LAYOUT = layout();

    private final String job;
    private final long[] event = new long[ModelEvent.WORDS];
    private final UnsafeBuffer inC;
    private UnsafeBuffer memory = new UnsafeBuffer();
    private ByteBuffer foreign;
    private int handle;
    private boolean isOpen;

    LocalNic(String job) {
        String cause = PortalsInterface.unavailabilityCause();
        if (cause != null) {
            throw new IllegalStateException(cause);
        }
        this.job = job;
        this.inC =
                new UnsafeBuffer(
                        BufferUtil.allocateDirectAligned(LAYOUT.get("sizeof(ptl_event_t)"), 64));
    }

    private static Map<String, Integer> layout() {
        PortalsInterface.unavailabilityCause(); // loads the library
        Map<String, Integer> rows = new HashMap<>();
        for (int row = 0; portals.PtlExtLayoutName(row) != null; row++) {
            BytePointer name = portals.PtlExtLayoutName(row);
            rows.put(name.getString(), (int) portals.PtlExtLayoutValue(row));
        }
        return rows;
    }

    @Override
    public long[] event() {
        return event;
    }

    @Override
    public long call(int what, long... a) {
        return switch (what) {
            case OPEN -> open(a);
            case ATTACH, ATTACH_ANY, INSERT -> entry(what, a);
            case MD_ATTACH, BIND, UPDATE -> descriptor(what, a);
            case ME_UNLINK -> -portals.PtlMEUnlink((int) a[0]);
            case MD_UNLINK -> -portals.PtlMDUnlink((int) a[0]);
            case QUEUE -> portals.vpn_eq_alloc(handle, a[0]);
            case QUEUE_FREE -> -portals.PtlEQFree((int) a[0]);
            case PUT, GET, GET_PUT -> move(what, a);
            case ACCESS ->
                    portals.vpn_ac_entry(
                            handle,
                            (int) a[0],
                            (int) a[1],
                            (int) a[2],
                            (int) a[3],
                            (int) a[4],
                            (int) a[5]);
            case STATUS -> portals.vpn_status(handle, (int) a[0]);
            case UID -> portals.vpn_uid(handle);
            case CHECK -> faults();
            case FILL -> fill((int) a[0], (int) a[1], a[2]);
            case SUM -> sum();
            case TAKE -> take((int) a[0]);
            case CLOSE -> shut();
            default -> throw new IllegalArgumentException("call " + what);
        };
    }

    @SuppressWarnings("try") // the scope is not read; what is made in it ends with it
    private long open(long[] a) {
        try (PointerScope scope = new PointerScope()) {
            ptl_ext_options_t options = new ptl_ext_options_t();
            options.job(new BytePointer(job, StandardCharsets.UTF_8));
            options.flavor((int) a[0]);
            options.jid((int) a[6]);
            options.event_slots(4096);
            options.initiators_max(8);
            ptl_ni_limits_t limits = new ptl_ni_limits_t();
            limits.max_mes((int) a[1]);
            limits.max_mds((int) a[2]);
            limits.max_eqs((int) a[3]);
            limits.max_ac_index(ModelNic.ACCESSES - 1);
            limits.max_pt_index(ModelNic.PORTALS - 1);
            limits.max_md_iovecs(0);
            limits.max_me_list((int) a[4]);
            limits.max_getput_md(64);
            IntPointer made = new IntPointer(1);
            BytePointer why = new BytePointer(512).zero();
            int code = portals.PtlExtNIOpen(options, limits, new ptl_ni_limits_t(), made, why, 512);
            if (code != PortalsCode.OK) {
                throw new IllegalStateException(PortalsCode.name(code) + ": " + why.getString());
            }
            handle = made.get();
        }
        isOpen = true;
        int bytes = (int) a[5];
        if (a[7] != 0) {
            foreign = BufferUtil.allocateDirectAligned(bytes, 64);
            memory.wrap(foreign);
        } else {
            memory.wrap(portals.vpn_memory_alloc(handle, bytes, 0), bytes);
        }
        return portals.vpn_id(handle);
    }

    private long entry(int what, long[] a) {
        return switch (what) {
            case ATTACH ->
                    portals.vpn_me_attach(
                            handle,
                            (int) a[0],
                            (int) a[1],
                            (int) a[2],
                            a[3],
                            a[4],
                            (int) a[5],
                            (int) a[6]);
            case INSERT ->
                    portals.vpn_me_insert(
                            (int) a[0], (int) a[1], (int) a[2], a[3], a[4], (int) a[5], (int) a[6]);
            default ->
                    portals.vpn_me_attach_any(
                            handle, (int) a[0], (int) a[1], a[2], a[3], (int) a[4]);
        };
    }

    private static int queue(long handle) {
        return handle == 0 ? EQ_NONE : (int) handle;
    }

    private long descriptor(int what, long[] a) {
        long start = memory.addressOffset() + a[1];
        return switch (what) {
            case MD_ATTACH ->
                    portals.vpn_md_attach(
                            (int) a[0],
                            start,
                            a[2],
                            (int) a[3],
                            a[4],
                            (int) a[5],
                            a[6],
                            queue(a[7]),
                            (int) a[8]);
            case BIND ->
                    portals.vpn_md_bind(
                            handle,
                            start,
                            a[2],
                            (int) a[3],
                            a[4],
                            (int) a[5],
                            a[6],
                            queue(a[7]),
                            (int) a[8]);
            default ->
                    portals.vpn_md_update(
                            (int) a[0],
                            start,
                            a[2],
                            (int) a[3],
                            a[4],
                            (int) a[5],
                            a[6],
                            queue(a[7]),
                            queue(a[8]));
        };
    }

    private static long move(int what, long[] a) {
        return switch (what) {
            case PUT ->
                    portals.vpn_put(
                            (int) a[0],
                            a[1],
                            a[2],
                            a[3] != 0 ? portals.PTL_ACK_REQ : portals.PTL_NO_ACK_REQ,
                            a[4],
                            (int) a[5],
                            (int) a[6],
                            a[7],
                            a[8],
                            a[9]);
            case GET ->
                    portals.vpn_get(
                            (int) a[0], a[1], a[2], a[3], (int) a[4], (int) a[5], a[6], a[7]);
            default ->
                    portals.vpn_get_put(
                            (int) a[0], (int) a[1], a[2], (int) a[3], (int) a[4], a[5], a[6], a[7]);
        };
    }

    private long faults() {
        try (BytePointer why = new BytePointer(512).zero()) {
            int faults = portals.PtlExtCheck(handle, why, 512);
            if (faults != 0) {
                throw new AssertionError(faults + " faults in the segment: " + why.getString());
            }
            return faults;
        }
    }

    private long fill(int offset, int length, long seed) {
        for (int i = 0; i < length; i++) {
            memory.putByte(offset + i, NicCalls.pattern(seed, i));
        }
        return 0;
    }

    private long sum() {
        byte[] bytes = new byte[memory.capacity()];
        memory.getBytes(0, bytes);
        CRC32C sum = new CRC32C();
        sum.update(bytes);
        return sum.getValue();
    }

    private int number(String field) {
        return inC.getInt(LAYOUT.get("ptl_event_t." + field));
    }

    private long wide(String field) {
        return inC.getLong(LAYOUT.get("ptl_event_t." + field));
    }

    private long take(int queue) {
        long code = portals.vpn_eq_get(queue, inC.addressOffset());
        if (code < 0) {
            return code;
        }
        int initiator = LAYOUT.get("ptl_event_t.initiator");
        int md = LAYOUT.get("ptl_event_t.md");
        event[ModelEvent.KIND] = number("type");
        event[ModelEvent.PROCESS] =
                (long) inC.getInt(initiator) << 32
                        | inC.getInt(initiator + LAYOUT.get("ptl_process_id_t.pid"));
        event[ModelEvent.UID] = number("uid");
        event[ModelEvent.JID] = number("jid");
        event[ModelEvent.PORTAL] = number("pt_index");
        event[ModelEvent.BITS] = wide("match_bits");
        event[ModelEvent.REQUESTED] = wide("rlength");
        event[ModelEvent.LENGTH] = wide("mlength");
        event[ModelEvent.OFFSET] = wide("offset");
        event[ModelEvent.MD] = number("md_handle");
        event[ModelEvent.MD_START] =
                inC.getLong(md + LAYOUT.get("ptl_md_t.start")) - memory.addressOffset();
        event[ModelEvent.MD_LENGTH] = inC.getLong(md + LAYOUT.get("ptl_md_t.length"));
        event[ModelEvent.MD_THRESHOLD] = inC.getInt(md + LAYOUT.get("ptl_md_t.threshold"));
        event[ModelEvent.MD_MAX_SIZE] = inC.getLong(md + LAYOUT.get("ptl_md_t.max_size"));
        event[ModelEvent.MD_OPTIONS] = inC.getInt(md + LAYOUT.get("ptl_md_t.options"));
        event[ModelEvent.MD_USER] = inC.getLong(md + LAYOUT.get("ptl_md_t.user_ptr"));
        event[ModelEvent.HEADER] = wide("hdr_data");
        event[ModelEvent.LINK] = number("link") & 0xffffffffL;
        event[ModelEvent.FAIL] = number("ni_fail_type");
        event[ModelEvent.SEQUENCE] = number("sequence") & 0xffffffffL;
        return code;
    }

    private long shut() {
        if (isOpen) {
            isOpen = false;
            portals.PtlNIFini(handle);
        }
        return 0;
    }

    @Override
    public void close() {
        shut();
    }
}
