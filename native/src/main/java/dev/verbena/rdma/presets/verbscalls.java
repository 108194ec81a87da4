package dev.verbena.rdma.presets;

import java.util.ArrayList;
import java.util.List;
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
    /** The declaration in whose place all others stand. */
    private static final String PLACE = "vv_layout_count";

    /** C declarations of the functions to bind, with Java's names for the parameters. */
    private static final String[] FUNCTIONS = {
        "int vv_layout_count()",
        "int64_t vv_layout_value(int row)",
        "int vv_symbol_count()",
        "int vv_open_ibverbs(const char* path, char* why, size_t whySize)",
        "int vv_open_rdmacm(const char* path, char* why, size_t whySize)",
        "int vv_device_list(struct ibv_device*** out)",
        "int vv_device_list_free(struct ibv_device** list)",
        "struct ibv_device* vv_device(struct ibv_device** list, int index)",
        "uint64_t vv_device_guid(struct ibv_device* device)",
        "int vv_open_device(struct ibv_device* device, struct ibv_context** out)",
        "int vv_import_device(int file, struct ibv_context** out)",
        "struct ibv_device* vv_device_of(struct ibv_context* context)",
        "int vv_close_device(struct ibv_context* context)",
        "int vv_query_device(struct ibv_context* context, struct ibv_device_attr_ex* attr)",
        "int vv_query_port(struct ibv_context* context, int port, struct ibv_port_attr* attr)",
        "int vv_query_gid(struct ibv_context* context, int port, int index, struct"
                + " ibv_gid_entry* entry)",
        "int vv_query_pkey(struct ibv_context* context, int port, int index)",
        "int vv_query_rt_values(struct ibv_context* context, struct ibv_values_ex* values)",
        "int vv_fork_init()",
        "int vv_fork_status()",
        "int vv_set_nonblocking(int file)",
        "int vv_wait(int file, int timeoutMs)",
        "int vv_wait_either(int first, int second, int timeoutMs)",
        "int vv_open_bell()",
        "int vv_ring_bell(int bell)",
        "int vv_still_bell(int bell)",
        "int vv_close_bell(int bell)",
        "int vv_get_async_event(struct ibv_context* context, struct ibv_async_event* event)",
        "int vv_ack_async_event(struct ibv_async_event* event)",
        "int vv_create_comp_channel(struct ibv_context* context, struct ibv_comp_channel** out)",
        "int vv_destroy_comp_channel(struct ibv_comp_channel* channel)",
        "int vv_get_cq_event(struct ibv_comp_channel* channel, struct ibv_cq** out)",
        "int vv_ack_cq_events(struct ibv_cq* cq, uint32_t count)",
        "int vv_alloc_pd(struct ibv_context* context, struct ibv_pd** out)",
        "int vv_dealloc_pd(struct ibv_pd* pd)",
        "int vv_import_pd(struct ibv_context* context, uint32_t handle, struct ibv_pd** out)",
        "int vv_unimport_pd(struct ibv_pd* pd)",
        "int vv_import_mr(struct ibv_pd* pd, uint32_t handle, struct ibv_mr** out)",
        "int vv_unimport_mr(struct ibv_mr* mr)",
        "int vv_import_dm(struct ibv_context* context, uint32_t handle, struct ibv_dm** out)",
        "int vv_unimport_dm(struct ibv_dm* dm)",
        "int vv_alloc_td(struct ibv_context* context, struct ibv_td** out)",
        "int vv_dealloc_td(struct ibv_td* td)",
        "int vv_alloc_parent_domain(struct ibv_pd* pd, struct ibv_td* td, struct ibv_pd** out)",
        "int vv_reg_mr(struct ibv_pd* pd, void* address, uint64_t length, uint64_t iova,"
                + " uint32_t access, struct ibv_mr** out)",
        "int vv_reg_dmabuf_mr(struct ibv_pd* pd, uint64_t offset, uint64_t length,"
                + " uint64_t iova, int file, uint32_t access, struct ibv_mr** out)",
        "int vv_alloc_null_mr(struct ibv_pd* pd, struct ibv_mr** out)",
        "int vv_rereg_mr(struct ibv_mr* mr, int flags, struct ibv_pd* pd, void* address,"
                + " uint64_t length, uint32_t access)",
        "int vv_dereg_mr(struct ibv_mr* mr)",
        "int vv_alloc_dm(struct ibv_context* context, uint64_t length, int alignmentLog2,"
                + " struct ibv_dm** out)",
        "int vv_free_dm(struct ibv_dm* dm)",
        "int vv_memcpy_to_dm(struct ibv_dm* dm, uint64_t offset, const void* from, uint64_t"
                + " length)",
        "int vv_memcpy_from_dm(void* to, struct ibv_dm* dm, uint64_t offset, uint64_t length)",
        "int vv_reg_dm_mr(struct ibv_pd* pd, struct ibv_dm* dm, uint64_t offset, uint64_t"
                + " length, uint32_t access, struct ibv_mr** out)",
        "int vv_advise_mr(struct ibv_pd* pd, int advice, uint32_t flags, struct ibv_sge*"
                + " list, int count)",
        "int vv_alloc_mw(struct ibv_pd* pd, int type, struct ibv_mw** out)",
        "int vv_bind_mw(struct ibv_qp* qp, struct ibv_mw* mw, struct ibv_mw_bind* bind)",
        "int vv_dealloc_mw(struct ibv_mw* mw)",
        "int vv_create_cq(struct ibv_context* context, struct ibv_cq_init_attr_ex* attr,"
                + " struct ibv_cq** out)",
        "int vv_resize_cq(struct ibv_cq* cq, int entries)",
        "int vv_modify_cq(struct ibv_cq* cq, int count, int periodUs)",
        "int vv_req_notify_cq(struct ibv_cq* cq, int solicitedOnly)",
        "int vv_poll_cq(struct ibv_cq* cq, int limit, struct ibv_wc* completions)",
        "int vv_poll_cq_ex(struct ibv_cq* cq, uint64_t fields, int limit, struct vv_completion*"
                + " out)",
        "int vv_destroy_cq(struct ibv_cq* cq)",
        "int vv_create_srq(struct ibv_context* context, struct ibv_srq_init_attr_ex*"
                + " attr, struct ibv_srq** out)",
        "int vv_modify_srq(struct ibv_srq* srq, struct ibv_srq_attr* attr, int mask)",
        "int vv_query_srq(struct ibv_srq* srq, struct ibv_srq_attr* attr)",
        "int vv_srq_number(struct ibv_srq* srq, uint32_t* out)",
        "int vv_destroy_srq(struct ibv_srq* srq)",
        "int vv_post_srq_recv(struct ibv_srq* srq, struct ibv_recv_wr* request, struct"
                + " ibv_recv_wr** bad)",
        "int vv_open_xrcd(struct ibv_context* context, struct ibv_xrcd_init_attr* attr,"
                + " struct ibv_xrcd** out)",
        "int vv_close_xrcd(struct ibv_xrcd* xrcd)",
        "int vv_create_qp(struct ibv_context* context, struct ibv_qp_init_attr_ex* attr,"
                + " struct ibv_qp** out)",
        "int vv_modify_qp(struct ibv_qp* qp, struct ibv_qp_attr* attr, int mask)",
        "int vv_query_qp(struct ibv_qp* qp, struct ibv_qp_attr* attr, int mask, struct"
                + " ibv_qp_init_attr* init)",
        "int vv_destroy_qp(struct ibv_qp* qp)",
        "int vv_post_send(struct ibv_qp* qp, struct ibv_send_wr* request, struct"
                + " ibv_send_wr** bad)",
        "int64_t vv_post_and_poll(struct ibv_qp* qp, struct ibv_send_wr* request, struct"
                + " ibv_send_wr** bad, struct ibv_cq* cq, int limit, struct ibv_wc* completions)",
        "int vv_post_recv(struct ibv_qp* qp, struct ibv_recv_wr* request, struct"
                + " ibv_recv_wr** bad)",
        "int64_t vv_hot_call(int which)",
        "int vv_query_qp_data_in_order(struct ibv_qp* qp, int opcode)",
        "int vv_query_ece(struct ibv_qp* qp, struct ibv_ece* ece)",
        "int vv_set_ece(struct ibv_qp* qp, struct ibv_ece* ece)",
        "int vv_create_wq(struct ibv_context* context, struct ibv_wq_init_attr* attr,"
                + " struct ibv_wq** out)",
        "int vv_modify_wq(struct ibv_wq* wq, struct ibv_wq_attr* attr)",
        "int vv_destroy_wq(struct ibv_wq* wq)",
        "int vv_post_wq_recv(struct ibv_wq* wq, struct ibv_recv_wr* request, struct"
                + " ibv_recv_wr** bad)",
        "int vv_create_table(struct ibv_context* context, struct"
                + " ibv_rwq_ind_table_init_attr* attr, struct ibv_rwq_ind_table** out)",
        "int vv_destroy_table(struct ibv_rwq_ind_table* table)",
        "int vv_create_flow(struct ibv_qp* qp, struct ibv_flow_attr* attr, struct ibv_flow** out)",
        "int vv_destroy_flow(struct ibv_flow* flow)",
        "struct ibv_qp_ex* vv_qp_ex(struct ibv_qp* qp)",
        "int vv_wr_post(struct ibv_qp_ex* qp, uint64_t operations, const struct ibv_send_wr* first)",
        "int vv_attach_mcast(struct ibv_qp* qp, const union ibv_gid* gid, int lid)",
        "int vv_detach_mcast(struct ibv_qp* qp, const union ibv_gid* gid, int lid)",
        "int vv_create_ah(struct ibv_pd* pd, struct ibv_ah_attr* attr, struct ibv_ah** out)",
        "int vv_create_ah_from_wc(struct ibv_pd* pd, struct ibv_wc* wc, struct ibv_grh*"
                + " grh, int port, struct ibv_ah** out)",
        "int vv_destroy_ah(struct ibv_ah* ah)",
        "int vv_cm_create_channel(struct rdma_event_channel** out)",
        "int vv_cm_destroy_channel(struct rdma_event_channel* channel)",
        "int vv_cm_create_id(struct rdma_event_channel* channel, int portSpace,"
                + " struct rdma_cm_id** out)",
        "int vv_cm_destroy_id(struct rdma_cm_id* id)",
        "int vv_cm_set_option(struct rdma_cm_id* id, int option, int value)",
        "int vv_cm_bind(struct rdma_cm_id* id, struct sockaddr* address)",
        "int vv_cm_resolve_addr(struct rdma_cm_id* id, struct sockaddr* source,"
                + " struct sockaddr* target, int timeoutMs)",
        "int vv_cm_resolve_route(struct rdma_cm_id* id, int timeoutMs)",
        "int vv_cm_listen(struct rdma_cm_id* id, int backlog)",
        "int vv_cm_init_qp_attr(struct rdma_cm_id* id, struct ibv_qp_attr* attr)",
        "int vv_cm_connect(struct rdma_cm_id* id, struct rdma_conn_param* param)",
        "int vv_cm_establish(struct rdma_cm_id* id)",
        "int vv_cm_accept(struct rdma_cm_id* id, struct rdma_conn_param* param)",
        "int vv_cm_reject(struct rdma_cm_id* id, const void* data, int length)",
        "int vv_cm_disconnect(struct rdma_cm_id* id)",
        "int vv_cm_migrate(struct rdma_cm_id* id, struct rdma_event_channel* channel)",
        "int vv_cm_notify(struct rdma_cm_id* id, int event)",
        "int vv_cm_join(struct rdma_cm_id* id, struct sockaddr* group, int isSendOnly)",
        "int vv_cm_leave(struct rdma_cm_id* id, struct sockaddr* group)",
        "int vv_cm_get_event(struct rdma_event_channel* channel, struct rdma_cm_event** out)",
        "int vv_cm_ack_event(struct rdma_cm_event* event)",
    };

    /** For the generator of bindings, which makes one. */
    public verbscalls() {}

    @Override
    public void map(InfoMap infoMap) {
        StringBuilder text = new StringBuilder();
        for (String function : FUNCTIONS) {
            text.append(javaText(function)).append('\n');
            if (!nameOf(function).equals(PLACE)) {
                infoMap.put(new Info(nameOf(function)).skip());
            }
        }
        infoMap.put(new Info("VERBENA_VERBS_CALLS_H", "vv_completion").skip());
        infoMap.put(new Info(PLACE).javaText(text.toString()));
    }

    private static String nameOf(String declaration) {
        int open = declaration.indexOf('(');
        return declaration.substring(declaration.lastIndexOf(' ', open) + 1, open);
    }

    private static String javaText(String declaration) {
        int open = declaration.indexOf('(');
        String name = nameOf(declaration);
        List<String> parameters = new ArrayList<>();
        String list = declaration.substring(open + 1, declaration.indexOf(')'));
        for (String parameter : list.isEmpty() ? new String[0] : list.split(", *")) {
            int last = parameter.lastIndexOf(' ');
            parameters.add(
                    javaType(parameter.substring(0, last)) + " " + parameter.substring(last + 1));
        }
        return "public static native "
                + javaType(declaration.substring(0, open - name.length() - 1))
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
