package dev.verbena.rdma.presets;

import org.bytedeco.javacpp.annotation.Platform;
import org.bytedeco.javacpp.annotation.Properties;
import org.bytedeco.javacpp.tools.Info;
import org.bytedeco.javacpp.tools.InfoMap;
import org.bytedeco.javacpp.tools.InfoMapper;

/**
 * Mapping rules from {@code verbs_calls.h} to the generated class {@code
 * dev.verbena.rdma.calls.verbscalls}: calls with raw addresses ({@code long}), which cost no object
 * and answer {@code -errno}.
 */
@Properties(
        value = {
            @Platform(
                    value = {"linux"},
                    include = {"verbs_calls.h"},
                    library = "jniverbs")
        },
        target = "dev.verbena.rdma.calls",
        global = "dev.verbena.rdma.calls.verbscalls")
@SuppressWarnings("checkstyle:TypeName")
public class verbscalls implements InfoMapper {
    /** Structures and unions whose addresses the calls take: without a class, a {@code long}. */
    private static final String ADDRESSED =
            """
            ibv_ah ibv_ah_attr ibv_async_event ibv_comp_channel ibv_context ibv_cq
            ibv_cq_init_attr_ex ibv_device ibv_device_attr_ex ibv_dm ibv_ece ibv_flow ibv_flow_attr
            ibv_gid ibv_gid_entry ibv_grh ibv_mr ibv_mw ibv_mw_bind ibv_pd ibv_port_attr ibv_qp
            ibv_qp_attr ibv_qp_ex ibv_qp_init_attr ibv_qp_init_attr_ex ibv_recv_wr ibv_rwq_ind_table
            ibv_rwq_ind_table_init_attr ibv_send_wr ibv_sge ibv_srq ibv_srq_attr
            ibv_srq_init_attr_ex ibv_td ibv_values_ex ibv_wc ibv_wq ibv_wq_attr ibv_wq_init_attr
            ibv_xrcd ibv_xrcd_init_attr rdma_cm_event rdma_cm_id rdma_conn_param rdma_event_channel
            sockaddr""";

    /** For the generator of bindings, which makes one. */
    public verbscalls() {}

    @Override
    public void map(InfoMap infoMap) {
        // Without a type for pointers, a pointer of any depth is a value.
        infoMap.put(new Info(ADDRESSED.split("\\s+")).cast().valueTypes("long"));
        infoMap.put(new Info("vv_completion").cast().valueTypes("long").skip());
        infoMap.put(new Info("void").cast().valueTypes("void").pointerTypes("long"));
        infoMap.put(new Info("char", "const char").cast().pointerTypes("long"));
        infoMap.put(new Info("uint32_t").cast().valueTypes("int").pointerTypes("long"));
        infoMap.put(new Info("VERBENA_VERBS_CALLS_H").skip());
        for (String name : new String[] {"vv_symbol_name", "vv_layout_name"}) {
            String result = "@Cast(\"const char*\") BytePointer ";
            infoMap.put(
                    new Info(name)
                            .javaText("public static native " + result + name + "(int row);"));
        }
    }
}
