package dev.verbena.verbs;

import dev.verbena.rdma.calls.VerbsLayout;

/** Which packets a flow rule is about: {@code enum ibv_flow_attr_type}. */
public enum FlowType {
    /** Those that it describes. */
    NORMAL(VerbsLayout.IBV_FLOW_ATTR_NORMAL),

    /** All that no other rule steers. */
    ALL_DEFAULT(VerbsLayout.IBV_FLOW_ATTR_ALL_DEFAULT),

    /** All to multicast addresses that no other rule steers. */
    MULTICAST_DEFAULT(VerbsLayout.IBV_FLOW_ATTR_MC_DEFAULT),

    /** A copy of everything that passes the port. */
    SNIFFER(VerbsLayout.IBV_FLOW_ATTR_SNIFFER);

    private final int code;

    FlowType(int code) {
        this.code = code;
    }

    int code() {
        return code;
    }
}
