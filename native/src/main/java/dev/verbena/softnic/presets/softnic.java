package dev.verbena.softnic.presets;

import java.util.ArrayList;
import java.util.List;
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
 * costs no object, and nothing is freed by a garbage collector. {@link #FUNCTIONS} is the list of
 * what is bound; other functions and all structures are left out, and Java reaches fields at the
 * offsets in the generated class {@code Layout}.
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
    /** C declarations of the functions to bind, without parameter names' underscores. */
    private static final String[] FUNCTIONS = {
        "void* snic_area(snic_t* nic)",
        "int snic_memory_alloc(snic_t* nic, uint64_t length, uint32_t flags, void** address,"
                + " char* why, size_t whySize)",
        "int snic_memory_free(snic_t* nic, void* address)",
        "int snic_register(snic_t* nic, const void* address, uint64_t length, uint32_t rights,"
                + " snic_key_t* key, char* why, size_t whySize)",
        "int snic_deregister(snic_t* nic, const snic_key_t* key, uint32_t timeoutMs)",
        "uint64_t snic_incarnation(const snic_t* nic)",
        "const char* snic_name(const snic_t* nic)",
        "int snic_peer_liveness(snic_peer_t* peer)",
        "int snic_peer_is_open(const snic_peer_t* peer)",
        "int snic_put(snic_peer_t* peer, const snic_key_t* key, uint64_t offset, const void* from,"
                + " uint64_t length)",
        "int snic_get(snic_peer_t* peer, const snic_key_t* key, uint64_t offset, void* to,"
                + " uint64_t length)",
        "int snic_fetch_add(snic_peer_t* peer, const snic_key_t* key, uint64_t offset,"
                + " uint64_t delta, uint64_t* before)",
        "int snic_compare_swap(snic_peer_t* peer, const snic_key_t* key, uint64_t offset,"
                + " uint64_t expected, uint64_t update, uint64_t* before)",
        "void* snic_map(snic_peer_t* peer, const snic_location_t* location, uint64_t offset,"
                + " uint64_t length)",
        "uint32_t snic_doorbell(snic_t* nic)",
        "int snic_wait(snic_t* nic, uint32_t seen, int64_t timeoutNs)",
        "void snic_ring(snic_peer_t* peer)",
        "void snic_ring_self(snic_t* nic)",
        "int shm_create(const shm_options_t* options, shm_t** shm, char* why, size_t whySize)",
        "int shm_close(shm_t* shm)",
        "snic_t* shm_nic(shm_t* shm)",
        "uint32_t shm_connections_max(const shm_t* shm)",
        "int shm_listen(shm_t* shm)",
        "int64_t shm_connect(shm_t* shm, const char* name, uint64_t incarnation,"
                + " const void* privateData, uint32_t privateLength, uint64_t context,"
                + " int64_t timeoutNs, char* why, size_t whySize)",
        "int shm_accept(shm_t* shm, int64_t connection, uint64_t context)",
        "int shm_reject(shm_t* shm, int64_t connection)",
        "int shm_disconnect(shm_t* shm, int64_t connection)",
        "snic_peer_t* shm_peer(shm_t* shm, int64_t connection)",
        "int shm_send(shm_t* shm, int64_t connection, const void* data, uint32_t length)",
        "int shm_put_notify(shm_t* shm, int64_t connection, const snic_key_t* key,"
                + " uint64_t offset, const void* from, uint64_t length, uint32_t tag)",
        "int shm_poll(shm_t* shm, shm_event_t* events, int limit)",
        "int shm_release(shm_t* shm, uint64_t token)",
        "int shm_control(shm_t* shm, shm_event_t* events, int limit)",
        "int vna_map(uint64_t length, int pages, void** address)",
        "int vna_map_file(const char* path, uint64_t offset, uint64_t length, int write,"
                + " void** address)",
        "int vna_sync(void* address, uint64_t length)",
        "int vna_unmap(void* address, uint64_t length)",
    };

    private static final String FINISH = "int shm_finish(shm_t* shm, int64_t connection)";
    private static final String VIEW =
            "int shm_view(shm_t* shm, int64_t connection, shm_view_t* view)";

    /** Passed by address, never seen as a Java class. */
    private static final String[] STRUCTURES = {
        "snic_t",
        "snic_peer_t",
        "snic_options_t",
        "snic_location_t",
        "snic_key_t",
        "snic_view_t",
        "snic_lock_t",
        "shm_t",
        "shm_options_t",
        "shm_event_t",
        "shm_view_t",
    };

    /** Functions that Java does not need. */
    private static final String[] UNBOUND = {
        "snic_open",
        "snic_close",
        "snic_area_bytes",
        "snic_publish",
        "snic_attach",
        "snic_detach",
        "snic_peer_area",
        "snic_peer_area_bytes",
        "snic_peer_slot",
        "snic_peer_incarnation",
        "snic_peer_epoch",
        "snic_initiator_liveness",
        "snic_initiator_name",
        "snic_initiator_identity",
        "snic_peer_initiator_liveness",
        "snic_peer_view",
        "snic_locate",
        "snic_write",
        "snic_read",
        "snic_lock_peer",
        "snic_unlock_peer",
        "snic_lock_own",
        "snic_unlock_own",
        "snic_step_hook",
        "shm_message_max",
        "shm_credits",
        "shm_put",
        "shm_get",
        "shm_fetch_add",
        "shm_compare_swap",
        "shm_await",
        "shm_wakeup",
    };

    @Override
    public void map(InfoMap infoMap) {
        infoMap.put(new Info("_Atomic").cppTypes().annotations());
        infoMap.put(new Info("SNIC_TEST").define(false));
        skip(infoMap, "VERBENA_NATIVE_ACCESS_H", "SNIC_STEP", "snic_planted", "snic_step_hook");
        skip(infoMap, "snic", "snic_peer", "snic_options", "snic_location", "snic_key");
        skip(infoMap, "snic_view", "snic_lock", "snic_recover_fn");
        skip(infoMap, "shm", "shm_options", "shm_event", "shm_view");
        for (String structure : STRUCTURES) {
            infoMap.put(new Info(structure).cast().pointerTypes("Pointer"));
        }
        for (String unbound : UNBOUND) {
            skip(infoMap, unbound);
        }
        for (String function : FUNCTIONS) {
            int open = function.indexOf('(');
            String name = function.substring(function.lastIndexOf(' ', open) + 1, open);
            infoMap.put(new Info(name).javaText(javaText(function)));
        }
        // shm_view is a structure as well as a function: it rides on its neighbour.
        infoMap.put(new Info("shm_finish").javaText(javaText(FINISH) + "\n" + javaText(VIEW)));
    }

    private static void skip(InfoMap infoMap, String... names) {
        infoMap.put(new Info(names).skip());
    }

    private static String javaText(String declaration) {
        int open = declaration.indexOf('(');
        int space = declaration.lastIndexOf(' ', open);
        String name = declaration.substring(space + 1, open);
        List<String> parameters = new ArrayList<>();
        String list = declaration.substring(open + 1, declaration.indexOf(')'));
        for (String parameter : list.split(", *")) {
            int last = parameter.lastIndexOf(' ');
            parameters.add(
                    javaType(parameter.substring(0, last)) + " " + parameter.substring(last + 1));
        }
        return "public static native "
                + javaType(declaration.substring(0, space))
                + " "
                + name
                + "("
                + String.join(", ", parameters)
                + ");";
    }

    private static String javaType(String c) {
        return switch (c) {
            case "void", "int" -> c;
            case "uint32_t" -> "@Cast(\"uint32_t\") int";
            default -> "@Cast(\"" + c + "\") long";
        };
    }
}
