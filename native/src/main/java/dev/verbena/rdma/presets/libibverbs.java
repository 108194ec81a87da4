package dev.verbena.rdma.presets;

import org.bytedeco.javacpp.annotation.Platform;
import org.bytedeco.javacpp.annotation.Properties;
import org.bytedeco.javacpp.tools.Info;
import org.bytedeco.javacpp.tools.InfoMap;
import org.bytedeco.javacpp.tools.InfoMapper;

/**
 * Mapping rules from {@code infiniband/verbs.h} and what it includes to {@code
 * dev.verbena.rdma.bindings}: every function, constant and structure, except what is a provider's
 * business ({@code verbs_context}, the tables of operations) and the ESP flow actions.
 *
 * <p>The library is not linked: its functions are reached through {@code verbs_library.c}. Fields
 * and parameters of type {@code __be16} to {@code __be64} stay big-endian.
 */
@Properties(
        value = {
            @Platform(
                    value = {"linux"},
                    include = {
                        "infiniband/ib_user_ioctl_verbs.h",
                        "infiniband/verbs_api.h",
                        "infiniband/verbs.h"
                    },
                    library = "jniverbs")
        },
        target = "dev.verbena.rdma.bindings",
        global = "dev.verbena.rdma.bindings.libibverbs")
@SuppressWarnings("checkstyle:TypeName")
public class libibverbs implements InfoMapper {
    /** Structures whose locks no caller may touch. */
    private static final String[] LOCKED = {
        "ibv_context", "ibv_qp", "ibv_cq", "ibv_cq_ex", "ibv_srq", "ibv_wq"
    };

    /** Structures of the ESP flow actions, left out; {@code verbs_api.h} names them again. */
    private static final String[] FLOW_ACTIONS_ESP = {
        "flow_action_esp_keymat_aes_gcm",
        "flow_action_esp_replay_bmp",
        "flow_action_esp_encap",
        "flow_action_esp"
    };

    /** Macros of {@code verbs_api.h} that stand for the name of an enumeration. */
    private static final String[] ENUMERATIONS = {
        "ibv_flow_action_esp_keymat",
        "ibv_flow_action_esp_keymat_aes_gcm_iv_algo",
        "ibv_flow_action_esp_replay",
        "ibv_flow_action_esp_flags",
        "ibv_advise_mr_advice"
    };

    /** Macros for enumerators that are long in C. */
    private static final String[] LONGS = {
        "INLINE_CRYPTO",
        "FULL_OFFLOAD",
        "TUNNEL",
        "TRANSPORT",
        "DECRYPT",
        "ENCRYPT",
        "ESN_NEW_WINDOW"
    };

    /** For the generator of bindings, which makes one. */
    public libibverbs() {}

    @Override
    public void map(InfoMap infoMap) {
        mapIntegers(infoMap);
        mapConditions(infoMap);
        // Structures of the system, passed on by address.
        infoMap.put(new Info("timespec").cast().pointerTypes("Pointer"));
        for (String name : LOCKED) {
            infoMap.put(new Info(name + "::mutex", name + "::cond").skip());
        }
        // A provider's business.
        infoMap.put(
                new Info(
                                "verbs_context",
                                "verbs_get_ctx",
                                "verbs_ex_private",
                                "ibv_context_ops",
                                "ibv_context::ops",
                                "_ibv_device_ops",
                                "ibv_device::_ops",
                                "_compat_ibv_port_attr")
                        .skip());
        mapMacros(infoMap);
    }

    private static void mapIntegers(InfoMap infoMap) {
        infoMap.put(integer("byte", "BytePointer", "ByteBuffer", "__u8", "__s8"))
                .put(integer("short", "ShortPointer", "ShortBuffer", "__u16", "__s16", "__be16"))
                .put(integer("int", "IntPointer", "IntBuffer", "__u32", "__s32", "__be32"))
                .put(
                        integer(
                                "long",
                                "LongPointer",
                                "LongBuffer",
                                "__u64",
                                "__s64",
                                "__be64",
                                "__aligned_u64"));
    }

    private static Info integer(String java, String pointer, String buffer, String... names) {
        return new Info(names).cast().valueTypes(java).pointerTypes(pointer, buffer, java + "[]");
    }

    private static void mapConditions(InfoMap infoMap) {
        infoMap.put(
                new Info("UINTPTR_MAX == UINT32_MAX", "RDMA_STATIC_PROVIDERS", "__CHECKER__")
                        .define(false));
    }

    private static void mapMacros(InfoMap infoMap) {
        infoMap.put(new Info("__attribute_const").cppTypes().annotations());
        infoMap.put(
                new Info(
                                "__VERBS_ABI_IS_EXTENDED",
                                "IBV_ALLOCATOR_USE_DEFAULT",
                                "vext_field_avail",
                                "verbs_get_ctx_op",
                                "RDMA_UAPI_PTR")
                        .cppTypes()
                        .annotations());
        // A macro hides a function of the same name that takes another structure.
        infoMap.put(new Info("ibv_query_port").skip());
        infoMap.put(new Info("___ibv_query_port").javaNames("ibv_query_port"));
        infoMap.put(new Info("__ibv_reg_mr", "__ibv_reg_mr_iova").skip());
        for (String name : FLOW_ACTIONS_ESP) {
            infoMap.put(new Info("ib_uverbs_" + name).skip());
            infoMap.put(new Info("ibv_" + name).cppTypes().skip());
        }
        infoMap.put(
                new Info(
                                "ib_uverbs_query_port_resp_ex", // the kernel's, needs its headers
                                "ibv_flow_action_esp_attr",
                                "ibv_create_flow_action_esp",
                                "ibv_modify_flow_action_esp")
                        .skip());
        for (String name : LONGS) {
            infoMap.put(new Info("IBV_FLOW_ACTION_ESP_FLAGS_" + name).cppTypes("long").translate());
        }
        infoMap.put(
                new Info(ENUMERATIONS)
                        .cppTypes()
                        .cast()
                        .valueTypes("int")
                        .pointerTypes("IntPointer", "IntBuffer", "int[]"));
    }
}
