package dev.verbena.softnic.presets;

import org.bytedeco.javacpp.annotation.Platform;
import org.bytedeco.javacpp.annotation.Properties;
import org.bytedeco.javacpp.tools.Info;
import org.bytedeco.javacpp.tools.InfoMap;
import org.bytedeco.javacpp.tools.InfoMapper;

/**
 * Mapping rules from {@code softnic.h} to the generated class {@code
 * dev.verbena.softnic.bindings.softnic}.
 *
 * <p>Set-up calls are bound as the header declares them, with JavaCPP's classes for structures.
 * Calls that happen while data moves are bound with raw addresses ({@code long}) only: such a call
 * costs no object. Locks are left out: Java does not take them.
 */
@Properties(
        value = {
            @Platform(
                    value = {"linux"},
                    include = {"softnic.h", "native_access.h"},
                    library = "jnisoftnic")
        },
        target = "dev.verbena.softnic.bindings",
        global = "dev.verbena.softnic.bindings.softnic")
public class softnic implements InfoMapper {
    private static final String NIC = "@Cast(\"snic_t*\") long nic";
    private static final String PEER = "@Cast(\"snic_peer_t*\") long peer";
    private static final String KEY = "@Cast(\"const snic_key_t*\") long key";
    private static final String OFFSET = "@Cast(\"uint64_t\") long offset";
    private static final String LENGTH = "@Cast(\"uint64_t\") long length";
    private static final String FROM = "@Cast(\"const void*\") long from";
    private static final String TO = "@Cast(\"void*\") long to";
    private static final String BEFORE = "@Cast(\"uint64_t*\") long before";
    private static final String ADDRESS = "@Cast(\"void*\")";

    @Override
    public void map(InfoMap infoMap) {
        infoMap.put(new Info("_Atomic").cppTypes().annotations());
        infoMap.put(
                new Info(
                                "snic_lock",
                                "snic_lock_t",
                                "snic_recover_fn",
                                "snic_lock_peer",
                                "snic_unlock_peer",
                                "snic_lock_own",
                                "snic_unlock_own",
                                "SNIC_STEP",
                                "snic_planted",
                                "snic_step_hook",
                                "VERBENA_NATIVE_ACCESS_H")
                        .skip());
        infoMap.put(new Info("SNIC_TEST").define(false));
        raw(infoMap, "uint64_t", "snic_incarnation", "@Cast(\"const snic_t*\") long nic");
        raw(infoMap, "void*", "snic_area", NIC);
        raw(infoMap, "int", "snic_publish", NIC);
        raw(infoMap, "int", "snic_close", NIC);
        raw(infoMap, "int", "snic_detach", PEER);
        raw(infoMap, "void*", "snic_peer_area", PEER);
        raw(infoMap, "int", "snic_peer_liveness", PEER);
        raw(infoMap, "int", "snic_peer_is_open", PEER);
        raw(infoMap, "int", "snic_initiator_liveness", NIC, "@Cast(\"uint32_t\") int slot");
        raw(infoMap, "int", "snic_put", PEER, KEY, OFFSET, FROM, LENGTH);
        raw(infoMap, "int", "snic_get", PEER, KEY, OFFSET, TO, LENGTH);
        raw(
                infoMap,
                "int",
                "snic_fetch_add",
                PEER,
                KEY,
                OFFSET,
                "@Cast(\"uint64_t\") long delta",
                BEFORE);
        raw(
                infoMap,
                "int",
                "snic_compare_swap",
                PEER,
                KEY,
                OFFSET,
                "@Cast(\"uint64_t\") long expected",
                "@Cast(\"uint64_t\") long update",
                BEFORE);
        raw(
                infoMap,
                "void*",
                "snic_map",
                PEER,
                "@Cast(\"const snic_location_t*\") long location",
                OFFSET,
                LENGTH);
        raw(infoMap, "uint32_t", "snic_doorbell", NIC);
        raw(
                infoMap,
                "int",
                "snic_wait",
                NIC,
                "@Cast(\"uint32_t\") int seen",
                "@Cast(\"int64_t\") long timeoutNs");
        raw(infoMap, "void", "snic_ring", PEER);
        raw(infoMap, "void", "snic_ring_self", NIC);
    }

    /** Binds a function with raw addresses instead of pointers. */
    private static void raw(InfoMap infoMap, String result, String name, String... parameters) {
        String java =
                switch (result) {
                    case "void", "int" -> result;
                    case "uint32_t" -> "@Cast(\"uint32_t\") int";
                    default -> ADDRESS.replace("void*", result) + " long";
                };
        infoMap.put(
                new Info(name)
                        .javaText(
                                "public static native "
                                        + java
                                        + " "
                                        + name
                                        + "("
                                        + String.join(", ", parameters)
                                        + ");"));
    }
}
