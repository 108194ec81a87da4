package dev.verbena.verbs;

import dev.verbena.rdma.calls.verbscalls;
import java.util.function.LongToIntFunction;

/** The C call that destroys an object; 0 or {@code -errno}. */
enum DestroyCall {
    DEVICE("ibv_close_device", verbscalls::vv_close_device),
    XRC_DOMAIN("ibv_close_xrcd", verbscalls::vv_close_xrcd),
    ADDRESS_HANDLE("ibv_destroy_ah", verbscalls::vv_destroy_ah),
    COMPLETION_CHANNEL("ibv_destroy_comp_channel", verbscalls::vv_destroy_comp_channel),
    COMPLETION_QUEUE("ibv_destroy_cq", verbscalls::vv_destroy_cq),
    CONNECTION_CHANNEL("rdma_destroy_event_channel", verbscalls::vv_cm_destroy_channel),
    CONNECTION_IDENTIFIER("rdma_destroy_id", verbscalls::vv_cm_destroy_id),
    DEVICE_MEMORY("ibv_free_dm", verbscalls::vv_free_dm),
    IMPORTED_DEVICE_MEMORY("ibv_unimport_dm", verbscalls::vv_unimport_dm),
    FLOW_RULE("ibv_destroy_flow", verbscalls::vv_destroy_flow),
    MEMORY_REGION("ibv_dereg_mr", verbscalls::vv_dereg_mr),
    IMPORTED_MEMORY_REGION("ibv_unimport_mr", verbscalls::vv_unimport_mr),
    /** A part of an implicit region is no object of C. */
    PART_OF_REGION("no call", address -> 0),
    MEMORY_WINDOW("ibv_dealloc_mw", verbscalls::vv_dealloc_mw),
    PROTECTION_DOMAIN("ibv_dealloc_pd", verbscalls::vv_dealloc_pd),
    IMPORTED_PROTECTION_DOMAIN("ibv_unimport_pd", verbscalls::vv_unimport_pd),
    QUEUE_PAIR("ibv_destroy_qp", verbscalls::vv_destroy_qp),
    RECEIVE_QUEUE("ibv_destroy_wq", verbscalls::vv_destroy_wq),
    RECEIVE_TABLE("ibv_destroy_rwq_ind_table", verbscalls::vv_destroy_table),
    SHARED_RECEIVE_QUEUE("ibv_destroy_srq", verbscalls::vv_destroy_srq),
    THREAD_DOMAIN("ibv_dealloc_td", verbscalls::vv_dealloc_td);

    private final String nameInC;
    private final LongToIntFunction call;

    DestroyCall(String nameInC, LongToIntFunction call) {
        this.nameInC = nameInC;
        this.call = call;
    }

    String nameInC() {
        return nameInC;
    }

    int destroy(long address) {
        return call.applyAsInt(address);
    }
}
