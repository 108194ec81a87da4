package dev.verbena.verbs;

import dev.verbena.rdma.calls.VerbsLayout;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What a device can do and how much of it: {@code struct ibv_device_attr_ex}, a copy. Immutable.
 *
 * <p>The limits that programs ask for most have methods of their own; {@link #limits()} has all, by
 * their names in C.
 */
public final class DeviceAttributes {
    private final String firmware;
    private final Map<String, Long> limits = new LinkedHashMap<>();
    private final String atomicity;

    DeviceAttributes(long at) {
        firmware = CallMemory.text(at + VerbsLayout.DEVICE_ATTR_FW_VER, 64);
        long node = Long.reverseBytes(CallMemory.getLong(at + VerbsLayout.DEVICE_ATTR_NODE_GUID));
        long image =
                Long.reverseBytes(CallMemory.getLong(at + VerbsLayout.DEVICE_ATTR_SYS_IMAGE_GUID));
        limits.put("node_guid", node);
        limits.put("sys_image_guid", image);
        atomicity =
                switch (CallMemory.getInt(at + VerbsLayout.DEVICE_ATTR_ATOMIC_CAP)) {
                    case VerbsLayout.IBV_ATOMIC_HCA -> "among this device's queue pairs";
                    case VerbsLayout.IBV_ATOMIC_GLOB -> "with the processor too";
                    default -> "none";
                };
        putLimits(at);
        putExtended(at);
        putOffloads(at);
    }

    private void putLimits(long at) {
        putLong("max_mr_size", at + VerbsLayout.DEVICE_ATTR_MAX_MR_SIZE);
        putLong("page_size_cap", at + VerbsLayout.DEVICE_ATTR_PAGE_SIZE_CAP);
        putInt("vendor_id", at + VerbsLayout.DEVICE_ATTR_VENDOR_ID);
        putInt("vendor_part_id", at + VerbsLayout.DEVICE_ATTR_VENDOR_PART_ID);
        putInt("hw_ver", at + VerbsLayout.DEVICE_ATTR_HW_VER);
        putInt("max_qp", at + VerbsLayout.DEVICE_ATTR_MAX_QP);
        putInt("max_qp_wr", at + VerbsLayout.DEVICE_ATTR_MAX_QP_WR);
        putInt("device_cap_flags", at + VerbsLayout.DEVICE_ATTR_DEVICE_CAP_FLAGS);
        putInt("max_sge", at + VerbsLayout.DEVICE_ATTR_MAX_SGE);
        putInt("max_sge_rd", at + VerbsLayout.DEVICE_ATTR_MAX_SGE_RD);
        putInt("max_cq", at + VerbsLayout.DEVICE_ATTR_MAX_CQ);
        putInt("max_cqe", at + VerbsLayout.DEVICE_ATTR_MAX_CQE);
        putInt("max_mr", at + VerbsLayout.DEVICE_ATTR_MAX_MR);
        putInt("max_pd", at + VerbsLayout.DEVICE_ATTR_MAX_PD);
        putInt("max_qp_rd_atom", at + VerbsLayout.DEVICE_ATTR_MAX_QP_RD_ATOM);
        putInt("max_ee_rd_atom", at + VerbsLayout.DEVICE_ATTR_MAX_EE_RD_ATOM);
        putInt("max_res_rd_atom", at + VerbsLayout.DEVICE_ATTR_MAX_RES_RD_ATOM);
        putInt("max_qp_init_rd_atom", at + VerbsLayout.DEVICE_ATTR_MAX_QP_INIT_RD_ATOM);
        putInt("max_ee_init_rd_atom", at + VerbsLayout.DEVICE_ATTR_MAX_EE_INIT_RD_ATOM);
        putInt("max_ee", at + VerbsLayout.DEVICE_ATTR_MAX_EE);
        putInt("max_rdd", at + VerbsLayout.DEVICE_ATTR_MAX_RDD);
        putInt("max_mw", at + VerbsLayout.DEVICE_ATTR_MAX_MW);
        putInt("max_raw_ipv6_qp", at + VerbsLayout.DEVICE_ATTR_MAX_RAW_IPV6_QP);
        putInt("max_raw_ethy_qp", at + VerbsLayout.DEVICE_ATTR_MAX_RAW_ETHY_QP);
        putInt("max_mcast_grp", at + VerbsLayout.DEVICE_ATTR_MAX_MCAST_GRP);
        putInt("max_mcast_qp_attach", at + VerbsLayout.DEVICE_ATTR_MAX_MCAST_QP_ATTACH);
        putInt("max_total_mcast_qp_attach", at + VerbsLayout.DEVICE_ATTR_MAX_TOTAL_MCAST_QP_ATTACH);
        putInt("max_ah", at + VerbsLayout.DEVICE_ATTR_MAX_AH);
        putInt("max_fmr", at + VerbsLayout.DEVICE_ATTR_MAX_FMR);
        putInt("max_map_per_fmr", at + VerbsLayout.DEVICE_ATTR_MAX_MAP_PER_FMR);
        putInt("max_srq", at + VerbsLayout.DEVICE_ATTR_MAX_SRQ);
        putInt("max_srq_wr", at + VerbsLayout.DEVICE_ATTR_MAX_SRQ_WR);
        putInt("max_srq_sge", at + VerbsLayout.DEVICE_ATTR_MAX_SRQ_SGE);
        putShort("max_pkeys", at + VerbsLayout.DEVICE_ATTR_MAX_PKEYS);
        putByte("local_ca_ack_delay", at + VerbsLayout.DEVICE_ATTR_LOCAL_CA_ACK_DELAY);
        putByte("phys_port_cnt", at + VerbsLayout.DEVICE_ATTR_PHYS_PORT_CNT);
    }

    private void putExtended(long at) {
        putLong("general_odp_caps", at + VerbsLayout.DEVICE_ATTR_EX_ODP_CAPS_GENERAL_CAPS);
        putInt(
                "rc_odp_caps",
                at + VerbsLayout.DEVICE_ATTR_EX_ODP_CAPS_PER_TRANSPORT_CAPS_RC_ODP_CAPS);
        putInt(
                "uc_odp_caps",
                at + VerbsLayout.DEVICE_ATTR_EX_ODP_CAPS_PER_TRANSPORT_CAPS_UC_ODP_CAPS);
        putInt(
                "ud_odp_caps",
                at + VerbsLayout.DEVICE_ATTR_EX_ODP_CAPS_PER_TRANSPORT_CAPS_UD_ODP_CAPS);
        putLong(
                "completion_timestamp_mask",
                at + VerbsLayout.DEVICE_ATTR_EX_COMPLETION_TIMESTAMP_MASK);
        putLong("hca_core_clock", at + VerbsLayout.DEVICE_ATTR_EX_HCA_CORE_CLOCK);
        putLong("device_cap_flags_ex", at + VerbsLayout.DEVICE_ATTR_EX_DEVICE_CAP_FLAGS_EX);
        putInt("xrc_odp_caps", at + VerbsLayout.DEVICE_ATTR_EX_XRC_ODP_CAPS);
        putInt("max_tso", at + VerbsLayout.DEVICE_ATTR_EX_TSO_CAPS_MAX_TSO);
        putInt("tso_supported_qpts", at + VerbsLayout.DEVICE_ATTR_EX_TSO_CAPS_SUPPORTED_QPTS);
        putInt("raw_packet_caps", at + VerbsLayout.DEVICE_ATTR_EX_RAW_PACKET_CAPS);
        putInt("max_wq_type_rq", at + VerbsLayout.DEVICE_ATTR_EX_MAX_WQ_TYPE_RQ);
        putInt("tm_max_num_tags", at + VerbsLayout.DEVICE_ATTR_EX_TM_CAPS_MAX_NUM_TAGS);
        putShort("max_cq_count", at + VerbsLayout.DEVICE_ATTR_EX_CQ_MOD_CAPS_MAX_CQ_COUNT);
        putShort("max_cq_period", at + VerbsLayout.DEVICE_ATTR_EX_CQ_MOD_CAPS_MAX_CQ_PERIOD);
        putLong("max_dm_size", at + VerbsLayout.DEVICE_ATTR_EX_MAX_DM_SIZE);
        putInt("phys_port_cnt_ex", at + VerbsLayout.DEVICE_ATTR_EX_PHYS_PORT_CNT_EX);
    }

    /** What a NIC can do beyond queue pairs: spreading receives, pacing, matching tags. */
    private void putOffloads(long at) {
        putInt("rss_supported_qpts", at + VerbsLayout.DEVICE_ATTR_EX_RSS_CAPS_SUPPORTED_QPTS);
        putInt(
                "max_rwq_indirection_tables",
                at + VerbsLayout.DEVICE_ATTR_EX_RSS_CAPS_MAX_RWQ_INDIRECTION_TABLES);
        putInt(
                "max_rwq_indirection_table_size",
                at + VerbsLayout.DEVICE_ATTR_EX_RSS_CAPS_MAX_RWQ_INDIRECTION_TABLE_SIZE);
        putByte("rx_hash_function", at + VerbsLayout.DEVICE_ATTR_EX_RSS_CAPS_RX_HASH_FUNCTION);
        putLong(
                "rx_hash_fields_mask",
                at + VerbsLayout.DEVICE_ATTR_EX_RSS_CAPS_RX_HASH_FIELDS_MASK);
        putInt(
                "qp_rate_limit_min",
                at + VerbsLayout.DEVICE_ATTR_EX_PACKET_PACING_CAPS_QP_RATE_LIMIT_MIN);
        putInt(
                "qp_rate_limit_max",
                at + VerbsLayout.DEVICE_ATTR_EX_PACKET_PACING_CAPS_QP_RATE_LIMIT_MAX);
        putInt(
                "packet_pacing_supported_qpts",
                at + VerbsLayout.DEVICE_ATTR_EX_PACKET_PACING_CAPS_SUPPORTED_QPTS);
        putInt("tm_max_rndv_hdr_size", at + VerbsLayout.DEVICE_ATTR_EX_TM_CAPS_MAX_RNDV_HDR_SIZE);
        putInt("tm_flags", at + VerbsLayout.DEVICE_ATTR_EX_TM_CAPS_FLAGS);
        putInt("tm_max_ops", at + VerbsLayout.DEVICE_ATTR_EX_TM_CAPS_MAX_OPS);
        putInt("tm_max_sge", at + VerbsLayout.DEVICE_ATTR_EX_TM_CAPS_MAX_SGE);
        putShort("pci_fetch_add", at + VerbsLayout.DEVICE_ATTR_EX_PCI_ATOMIC_CAPS_FETCH_ADD);
        putShort("pci_swap", at + VerbsLayout.DEVICE_ATTR_EX_PCI_ATOMIC_CAPS_SWAP);
        putShort("pci_compare_swap", at + VerbsLayout.DEVICE_ATTR_EX_PCI_ATOMIC_CAPS_COMPARE_SWAP);
    }

    private void putLong(String name, long at) {
        limits.put(name, CallMemory.getLong(at));
    }

    private void putByte(String name, long at) {
        limits.put(name, (long) CallMemory.getByte(at));
    }

    private void putShort(String name, long at) {
        limits.put(name, (long) CallMemory.getShort(at));
    }

    private void putInt(String name, long at) {
        limits.put(name, CallMemory.getInt(at) & 0xffff_ffffL);
    }

    /** Firmware's version; may be empty. */
    public String firmware() {
        return firmware;
    }

    /** What atomics are atomic against, in words. */
    public String atomicity() {
        return atomicity;
    }

    /** A number by its name in C, for example {@code max_qp_wr}; unsigned 32-bit values as such. */
    public long limit(String name) {
        Long value = limits.get(name);
        if (value == null) {
            throw new IllegalArgumentException(
                    "no limit '" + name + "'; there are " + limits.keySet());
        }
        return value;
    }

    /** All numbers by their names in C, in C's order. */
    public Map<String, Long> limits() {
        return new LinkedHashMap<>(limits);
    }

    /** Physical ports. */
    public int portCount() {
        return (int) limit("phys_port_cnt");
    }

    /** Most work requests of a queue. */
    public int requestsMax() {
        return (int) limit("max_qp_wr");
    }

    /** Most pieces of memory in a request. */
    public int segmentsMax() {
        return (int) limit("max_sge");
    }

    /** Most completions that a queue holds. */
    public int completionsMax() {
        return (int) limit("max_cqe");
    }

    /** True if memory need not be pinned: on-demand paging. */
    public boolean hasOnDemandPaging() {
        return (limit("general_odp_caps") & VerbsLayout.IBV_ODP_SUPPORT) != 0;
    }
}
