package dev.verbena.ugni.presets;

import org.bytedeco.javacpp.annotation.Platform;
import org.bytedeco.javacpp.annotation.Properties;
import org.bytedeco.javacpp.tools.Info;
import org.bytedeco.javacpp.tools.InfoMap;
import org.bytedeco.javacpp.tools.InfoMapper;

/**
 * Mapping rules from {@code gni_pub.h} and the calls with flat arguments to the generated class
 * {@code dev.verbena.ugni.bindings.ugni}.
 *
 * <p>Of {@code gni_pub.h} the constants are taken, which are in two files that it includes. Its
 * functions are called through the flat calls ({@code vgn_...}), which take and return integers
 * only, so that a call costs no object, and which lead to the library that was chosen; its
 * structures are read by flyweights at the offsets that {@code gni_native.h} names and the C
 * compiler has compared.
 */
@Properties(
        value = {
            @Platform(
                    value = {"linux"},
                    include = {
                        "gni_pub.h",
                        "gni_pub_values.h",
                        "gni_pub_commands.h",
                        "gni_ext.h",
                        "gni_native.h"
                    },
                    library = "jniugni")
        },
        target = "dev.verbena.ugni.bindings",
        global = "dev.verbena.ugni.bindings.ugni")
public class ugni implements InfoMapper {
    /** For the generator of bindings, which makes one. */
    public ugni() {}

    @Override
    public void map(InfoMap infoMap) {
        infoMap.put(new Info("gni_pub.h").skip());
        infoMap.put(
                new Info("gni_pub_values.h")
                        .linePatterns(
                                "typedef enum gni_return .*",
                                "/\\* Names of the above.*",
                                "/\\* ---- protection tags.*",
                                "extern const char \\*gni_statistic_str.*",
                                "/\\* ---- balanced injection, version text.*",
                                "/\\* clang-format on \\*/"));
        infoMap.put(
                new Info("gni_ext.h")
                        .linePatterns(
                                "typedef enum gni_ext_peer_state .*", "\\} gni_ext_peer_state_t;"));
        infoMap.put(new Info("CRAY_CONFIG_GHAL_ARIES").define(false));
        infoMap.put(
                new Info(
                                "GNI_CQMODE_DUAL_EVENTS",
                                "GNI_CQ_EVENT_TYPE_POST",
                                "GNI_CQ_EVENT_TYPE_SMSG",
                                "GNI_CQ_EVENT_TYPE_DMAPP",
                                "GNI_CQ_EVENT_TYPE_MSGQ",
                                "GNI_CDM_MODE_PRIV_RESERVED_4",
                                "GNI_CDM_MODE_PRIV_MASK",
                                "GNI_FIND_ALLOC_PTAG",
                                "GNI_DLVMODE_IN_ORDER",
                                "GNI_DLVMODE_MNON_HASH",
                                "GNI_DLVMODE_ADAPTIVE0",
                                "GNI_JOB_INVALID_LIMIT",
                                "GNI_JOB_CREATE_COOKIE",
                                "GNI_EXMEM_FLAGS",
                                "gni_statistic_str",
                                "GNI_MEM_IS_EXTERNAL",
                                "GNI_CQ_IS_NON_BLOCKING",
                                "GNI_CQ_IS_BLOCKING",
                                "GNI_CQ_IS_EMULATED",
                                "GNI_CQ_IS_NOT_EMULATED",
                                "GNI_CQ_IS_INVALID_EMULATED",
                                "GNI_CQ_USE_PHYS_PAGES",
                                "VERBENA_GNI_NATIVE_H")
                        .skip());
        for (String type :
                new String[] {
                    "gni_return", "gni_mem_handle_attr", "gni_post_type", "gni_post_state",
                    "gni_smsg_type", "gni_nic_device", "gni_dev_res", "gni_job_res",
                    "gni_statistic", "gni_ce_child", "gni_ce_cmd_type", "gni_fma_cmd_type",
                    "gni_ext_peer_state"
                }) {
            infoMap.put(new Info(type, type + "_t").enumerate(false).valueTypes("int").cast());
        }
    }
}
