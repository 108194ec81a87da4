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
    /** C declarations of the functions to bind, with Java's names for the parameters. */
    private static final String[] FUNCTIONS = {
        "void* snic_area(snic_t* nic)",
        "int snic_memory_alloc(snic_t* nic, uint64_t length, uint32_t flags, void** address,"
                + " char* why, size_t whySize)",
        "int snic_memory_map(snic_t* nic, const char* file, uint64_t length, void** address,"
                + " char* why, size_t whySize)",
        "int snic_memory_free(snic_t* nic, void* address)",
        "int snic_register(snic_t* nic, const void* address, uint64_t length, uint32_t rights,"
                + " snic_key_t* key, char* why, size_t whySize)",
        "int snic_deregister(snic_t* nic, const snic_key_t* key, uint32_t timeoutMs)",
        "int snic_damage(const snic_t* nic, char* why, size_t whySize)",
        "uint64_t snic_incarnation(const snic_t* nic)",
        "const char* snic_name(const snic_t* nic)",
        "int snic_peer_liveness(snic_peer_t* peer)",
        "int snic_peer_is_open(const snic_peer_t* peer)",
        "int snic_put(snic_peer_t* peer, const snic_key_t* key, uint64_t offset, const void* from,"
                + " uint64_t length)",
        "int snic_put_streamed(snic_peer_t* peer, const snic_key_t* key, uint64_t offset, const void* from,"
                + " uint64_t length)",
        "int snic_get(snic_peer_t* peer, const snic_key_t* key, uint64_t offset, void* to,"
                + " uint64_t length)",
        "int snic_put_summed(snic_peer_t* peer, const snic_key_t* key, uint64_t offset,"
                + " const void* from, uint64_t length, int streamed, uint32_t* sum)",
        "int snic_get_summed(snic_peer_t* peer, const snic_key_t* key, uint64_t offset, void* to,"
                + " uint64_t length, uint32_t* sum)",
        "uint32_t snic_sum(uint32_t before, const void* bytes, uint64_t length)",
        "int snic_sums_are_fast()",
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
        "int shm_finish(shm_t* shm, int64_t connection)",
        "int shm_view(shm_t* shm, int64_t connection, shm_view_t* view)",
        "int vna_layout_count()",
        "int vna_map(uint64_t length, int pages, void** address)",
        "int vna_map_file(const char* path, uint64_t offset, uint64_t length, int write,"
                + " void** address)",
        "int vna_unmap(void* address, uint64_t length)",
        "int vna_affinity_get(void* mask, uint64_t length)",
        "int vna_affinity_set(const void* mask, uint64_t length)",
    };

    /** For the generator of bindings, which makes one. */
    public softnic() {}

    /**
     * The headers of softnic are compiled but not parsed: all declarations stand in the place of
     * one that is.
     */
    @Override
    public void map(InfoMap infoMap) {
        // Their guards count as defined, so the parser finds them empty.
        infoMap.put(new Info("SOFTNIC_H", "SOFTNIC_SHM_H").define(true));
        infoMap.put(new Info("VERBENA_NATIVE_ACCESS_H").skip());
        infoMap.put(new Info("vna_map", "vna_map_file", "vna_unmap").skip());
        infoMap.put(new Info("vna_affinity_get", "vna_affinity_set").skip());
        StringBuilder text = new StringBuilder();
        for (String function : FUNCTIONS) {
            text.append(javaText(function)).append('\n');
        }
        infoMap.put(new Info("vna_layout_count").javaText(text.toString()));
    }

    private static String javaText(String declaration) {
        int open = declaration.indexOf('(');
        int space = declaration.lastIndexOf(' ', open);
        String name = declaration.substring(space + 1, open);
        List<String> parameters = new ArrayList<>();
        String list = declaration.substring(open + 1, declaration.indexOf(')'));
        for (String parameter : list.isEmpty() ? new String[0] : list.split(", *")) {
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
