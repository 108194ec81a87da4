package dev.verbena.softnic.presets;

import org.bytedeco.javacpp.annotation.Platform;
import org.bytedeco.javacpp.annotation.Properties;
import org.bytedeco.javacpp.tools.Info;
import org.bytedeco.javacpp.tools.InfoMap;
import org.bytedeco.javacpp.tools.InfoMapper;

/**
 * Mapping rules from {@code softnic.h} and {@code shm.h} to the generated class {@code
 * dev.verbena.softnic.bindings.softnic}.
 *
 * <p>Functions are bound with raw addresses ({@code long}) instead of JavaCPP's pointers: a call
 * costs no object, and nothing is freed by a garbage collector. All structures are left out, and
 * Java reaches fields at the offsets in the generated class {@code Layout}.
 */
@Properties(
        value = {
            @Platform(
                    value = {"linux"},
                    include = {"softnic.h", "shm.h", "native_access.h"},
                    library = "jnisoftnic")
        },
        target = "dev.verbena.softnic.bindings",
        global = "dev.verbena.softnic.bindings.softnic")
@SuppressWarnings("checkstyle:TypeName")
public class softnic implements InfoMapper {
    /** Functions and constants that Java has no use for, or has in {@code Layout}. */
    private static final String UNBOUND =
            """
            snic_open snic_close snic_watch snic_unwatch snic_area_bytes snic_area_reserve
            snic_publish snic_attach snic_detach snic_peer_area snic_peer_area_bytes snic_peer_slot
            snic_peer_incarnation snic_initiator_liveness snic_peer_initiator_liveness
            snic_peer_view snic_file_fill snic_map_shared snic_memory_mapped snic_locate snic_write
            snic_read snic_copy snic_recover_fn snic_lock_peer snic_unlock_peer snic_lock_own
            snic_unlock_own snic_check snic_personality snic_right snic_foreign snic_liveness
            shm_event_type SNIC_LAYOUT_VERSION SNIC_NAME_MAX SNIC_WHY_MAX SNIC_HUGE_PAGE
            SNIC_LOCK_SELF""";

    /** Structures whose addresses the functions take: without a class, a {@code long}. */
    private static final String ADDRESSED =
            """
            snic snic_t snic_peer snic_peer_t snic_options_t snic_view_t snic_location_t snic_key_t
            snic_lock_t shm shm_t shm_options_t shm_event_t shm_view_t""";

    /** For the generator of bindings, which makes one. */
    public softnic() {}

    @Override
    public void map(InfoMap infoMap) {
        infoMap.put(new Info("SNIC_TEST").define(false));
        infoMap.put(new Info(UNBOUND.split("\\s+")).skip());
        infoMap.put(new Info(ADDRESSED.split("\\s+")).cast().valueTypes("long").skip());
        infoMap.put(new Info("char", "const char", "uint64_t").cast().valueTypes("long"));
        infoMap.put(new Info("void").cast().valueTypes("void").pointerTypes("long"));
        infoMap.put(new Info("uint32_t").cast().valueTypes("int").pointerTypes("long"));
        bindExceptions(infoMap);
    }

    /** What the generator would bind otherwise: a pointer to a pointer to anything, and a text. */
    private static void bindExceptions(InfoMap infoMap) {
        String nic = "@Cast(\"snic_t*\") long nic, ";
        String path = "@Cast(\"const char*\") long path, ";
        String address = "@Cast(\"void**\") long address";
        String why = ", @Cast(\"char*\") long why, long whySize";
        bind(infoMap, "int snic_memory_alloc", nic + "long length, int flags, " + address + why);
        bind(infoMap, "int snic_memory_map", nic + path + "long length, " + address + why);
        bind(infoMap, "int vna_map", "long length, int pages, " + address);
        bind(infoMap, "int vna_map_file", path + "long offset, long length, int write, " + address);
        bind(infoMap, "@Cast(\"const char*\") BytePointer vna_layout_name", "int row");
    }

    private static void bind(InfoMap infoMap, String resultAndName, String parameters) {
        String name = resultAndName.substring(resultAndName.lastIndexOf(' ') + 1);
        String text = "public static native " + resultAndName + "(" + parameters + ");";
        infoMap.put(new Info(name).javaText(text));
    }
}
