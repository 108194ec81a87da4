/* The two devices: their attributes, opening, events, fork status. */

static struct ibv_device devices[2] = {
    {.node_type = IBV_NODE_CA,
     .transport_type = IBV_TRANSPORT_IB,
     .name = "stub0",
     .dev_name = "uverbs0",
     .ibdev_path = "/sys/class/infiniband/stub0"},
    {.node_type = IBV_NODE_CA,
     .transport_type = IBV_TRANSPORT_IB,
     .name = "nothing0",
     .dev_name = "uverbs1",
     .ibdev_path = "/sys/class/infiniband/nothing0"},
};

EXPORT struct ibv_device **ibv_get_device_list(int *count)
{
    if (enter("ibv_get_device_list"))
        return NULL;
    struct ibv_device **list = calloc(3, sizeof *list);
    list[0] = &devices[0];
    list[1] = &devices[1];
    *count = 2;
    return list;
}

EXPORT void ibv_free_device_list(struct ibv_device **list)
{
    free(list);
}

EXPORT __be64 ibv_get_device_guid(struct ibv_device *device)
{
    (void)device;
    return __builtin_bswap64(0x0102030405060708ULL);
}

EXPORT int ibv_get_device_index(struct ibv_device *device)
{
    return (int)(device - devices);
}

static int query_device_ex(struct ibv_context *context,
                           const struct ibv_query_device_ex_input *input,
                           struct ibv_device_attr_ex *attr, size_t size)
{
    (void)input;
    if (enter("ibv_query_device_ex"))
        return errno;
    memset(attr, 0, size);
    strcpy(attr->orig_attr.fw_ver, "1.2.3");
    attr->orig_attr.max_mr_size = (uintptr_t)&record;
    attr->orig_attr.max_qp_wr = 0x4000;
    attr->orig_attr.max_sge = 30;
    attr->orig_attr.max_pkeys = 65535;
    attr->orig_attr.max_cqe = 0x10000;
    attr->orig_attr.max_srq_wr = 0x4000;
    attr->orig_attr.max_qp_rd_atom = 16;
    attr->orig_attr.max_qp_init_rd_atom = 16;
    attr->orig_attr.phys_port_cnt = 2;
    attr->orig_attr.device_cap_flags = 0xfedcba98u;
    attr->orig_attr.atomic_cap = IBV_ATOMIC_HCA;
    attr->odp_caps.general_caps = IBV_ODP_SUPPORT;
    attr->cq_mod_caps.max_cq_period = 4095;
    attr->orig_attr.max_ee_rd_atom = 41;
    attr->orig_attr.max_ee_init_rd_atom = 42;
    attr->orig_attr.max_ee = 43;
    attr->orig_attr.max_rdd = 44;
    attr->orig_attr.max_raw_ipv6_qp = 45;
    attr->orig_attr.max_raw_ethy_qp = 46;
    attr->orig_attr.max_fmr = 47;
    attr->orig_attr.max_map_per_fmr = 48;
    attr->rss_caps.rx_hash_fields_mask = 1ull << 40;
    attr->packet_pacing_caps.qp_rate_limit_max = 0x80000001u;
    attr->tm_caps.max_ops = 33;
    attr->pci_atomic_caps.swap = 0xfffe;
    if (context->device == &devices[1]) { /* what a transport asks for */
        attr->orig_attr.max_cqe = 1 << 16;
        attr->orig_attr.max_srq_wr = 1 << 16;
        attr->orig_attr.max_qp_rd_atom = 16;
        attr->orig_attr.max_qp_init_rd_atom = 16;
    }
    return 0;
}

static int query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr,
                      size_t size)
{
    (void)context;
    (void)size;
    if (enter("ibv_query_port"))
        return errno;
    if (port != 1 && port != 2)
        return EINVAL;
    attr->state = port == 1 ? IBV_PORT_ACTIVE : IBV_PORT_DOWN;
    attr->max_mtu = IBV_MTU_4096;
    attr->active_mtu = IBV_MTU_1024;
    attr->gid_tbl_len = 5;
    attr->pkey_tbl_len = 1;
    attr->max_msg_sz = 0x80000000u;
    attr->lid = 0xabcd;
    attr->max_vl_num = 4;
    attr->bad_pkey_cntr = 0x12345;
    attr->qkey_viol_cntr = 77;
    attr->sm_sl = 9;
    attr->subnet_timeout = 18;
    attr->init_type_reply = 5;
    attr->link_layer = port == 1 ? IBV_LINK_LAYER_ETHERNET : IBV_LINK_LAYER_INFINIBAND;
    return 0;
}

/* Port 1: link-local v1 and v2, then v1 and v2 of 10.99.0.1; the fifth place is empty. */
EXPORT int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port, uint32_t index,
                             struct ibv_gid_entry *entry, uint32_t flags, size_t size)
{
    static const uint8_t local[16] = {0xfe, 0x80, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0xff, 0xfe, 0, 0, 1};
    static const uint8_t ipv4[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 99, 0, 1};
    (void)context;
    (void)flags;
    (void)size;
    if (enter("ibv_query_gid_ex"))
        return errno;
    if (index > 4)
        return EINVAL;
    if (index == 4)
        return ENODATA;
    memcpy(entry->gid.raw, index < 2 ? local : ipv4, 16);
    entry->gid_index = index;
    entry->port_num = port;
    entry->gid_type = index % 2 ? IBV_GID_TYPE_ROCE_V2 : IBV_GID_TYPE_ROCE_V1;
    entry->ndev_ifindex = 7;
    return 0;
}

EXPORT int ibv_query_pkey(struct ibv_context *context, uint8_t port, int index, __be16 *key)
{
    (void)port;
    if (context->device == &devices[1] && index > 100) {
        measure(context, index / 1000000, index % 1000000);
        *key = 0;
        return 0;
    }
    if (enter("ibv_query_pkey") || index) {
        errno = errno ? errno : EINVAL;
        return -1;
    }
    *key = __builtin_bswap16(0xff7f);
    return 0;
}

static int modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr)
{
    (void)cq;
    args(attr->attr_mask, attr->moderate.cq_count, attr->moderate.cq_period, 0, 0);
    return enter("ibv_modify_cq") ? errno : 0;
}

static int query_rt_values(struct ibv_context *context, struct ibv_values_ex *values)
{
    (void)context;
    args(values->comp_mask, 0, 0, 0, 0);
    if (enter("ibv_query_rt_values_ex"))
        return errno;
    values->raw_clock.tv_sec = 3;
    values->raw_clock.tv_nsec = 7;
    return 0;
}

static struct ibv_context *new_context(struct ibv_device *device, int file)
{
    struct verbs_context *made = object(sizeof *made);
    made->sz = sizeof *made;
    made->context.abi_compat = __VERBS_ABI_IS_EXTENDED;
    made->context.device = device;
    made->context.num_comp_vectors = 3;
    made->context.cmd_fd = file;
    made->context.async_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    made->query_port = query_port;
    made->query_device_ex = query_device_ex;
    made->alloc_null_mr = alloc_null_mr;
    made->create_qp_ex = create_qp_ex;
    made->create_cq_ex = create_cq_ex;
    made->alloc_td = alloc_td;
    made->dealloc_td = dealloc_td;
    made->alloc_parent_domain = alloc_parent_domain;
    made->advise_mr = advise_mr;
    made->open_xrcd = open_xrcd;
    made->close_xrcd = close_xrcd;
    made->create_srq_ex = create_srq_ex;
    made->get_srq_num = get_srq_num;
    made->alloc_dm = alloc_dm;
    made->free_dm = free_dm;
    made->reg_dm_mr = reg_dm_mr;
    made->modify_cq = modify_cq;
    made->query_rt_values = query_rt_values;
    made->ibv_create_flow = create_flow;
    made->ibv_destroy_flow = destroy_flow;
    made->create_wq = create_wq;
    made->modify_wq = modify_wq;
    made->destroy_wq = destroy_wq;
    made->create_rwq_ind_table = create_rwq_ind_table;
    made->destroy_rwq_ind_table = destroy_rwq_ind_table;
    made->context.ops.alloc_mw = alloc_mw;
    made->context.ops.bind_mw = bind_mw;
    made->context.ops.dealloc_mw = dealloc_mw;
    int silent = device == &devices[1];
    made->context.ops.post_send = silent ? no_post : post_send;
    made->context.ops.poll_cq = silent ? no_poll : poll_cq;
    made->context.ops.post_recv = post_recv;
    made->context.ops.post_srq_recv = post_srq_recv;
    made->context.ops.req_notify_cq = req_notify_cq;
    return &made->context;
}

EXPORT struct ibv_context *ibv_open_device(struct ibv_device *device)
{
    if (enter("ibv_open_device"))
        return NULL;
    const char *scatter = getenv("MLX5_SCATTER_TO_CQE");
    keep(scatter ? scatter : "unset", scatter ? strlen(scatter) + 1 : sizeof "unset");
    return new_context(device, open("/dev/null", O_RDWR | O_CLOEXEC));
}

/* Any file will do; as the real one it is closed with what was made of it, and only then. */
EXPORT struct ibv_context *ibv_import_device(int file)
{
    args((uint64_t)file, (uint64_t)fcntl(file, F_GETFD), 0, 0, 0);
    return enter("ibv_import_device") ? NULL : new_context(&devices[0], file);
}

EXPORT int ibv_close_device(struct ibv_context *context)
{
    if (enter("ibv_close_device"))
        return -1;
    record.open_objects--;
    close(context->cmd_fd);
    close(context->async_fd);
    free((char *)context - offsetof(struct verbs_context, context));
    return 0;
}

EXPORT int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
    (void)context;
    if (record.fail_errno && !strcmp(record.fail_call, "ibv_get_async_event") &&
        enter("ibv_get_async_event"))
        return -1;
    if (record.event < 0) {
        errno = EAGAIN;
        return -1;
    }
    event->event_type = (enum ibv_event_type)record.event;
    switch (record.event) {
    case IBV_EVENT_PORT_ERR:
    case IBV_EVENT_PORT_ACTIVE:
    case IBV_EVENT_GID_CHANGE:
    case IBV_EVENT_LID_CHANGE:
        event->element.port_num = 1;
        break;
    case IBV_EVENT_WQ_FATAL:
        event->element.wq = last_wq;
        break;
    default:
        event->element.qp = last_qp;
    }
    record.event = -1;
    return 0;
}

EXPORT void ibv_ack_async_event(struct ibv_async_event *event)
{
    (void)event;
    enter("ibv_ack_async_event");
}

EXPORT int ibv_fork_init(void)
{
    args(0, 0, 0, 0, 0);
    return enter("ibv_fork_init") ? errno : 0;
}

EXPORT enum ibv_fork_status ibv_is_fork_initialized(void)
{
    return IBV_FORK_UNNEEDED;
}
