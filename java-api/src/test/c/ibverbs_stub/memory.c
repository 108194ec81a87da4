/* Domains, regions, memory on the card, windows. */

EXPORT struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
    if (enter("ibv_alloc_pd"))
        return NULL;
    struct ibv_pd *pd = object(sizeof *pd);
    pd->context = context;
    pd->handle = 5;
    return pd;
}

EXPORT int ibv_dealloc_pd(struct ibv_pd *pd)
{
    return destroy("ibv_dealloc_pd", pd);
}

static struct ibv_mr *region(struct ibv_pd *pd, void *address, size_t length)
{
    struct ibv_mr *mr = object(sizeof *mr);
    mr->context = pd->context;
    mr->pd = pd;
    mr->addr = address;
    mr->length = length;
    mr->lkey = 0x11220000u + (uint32_t)next_number++;
    mr->rkey = 0x99aa0000u + (uint32_t)next_number;
    return mr;
}

/* Imported ones: taking them back is no call of the kernel's. */

EXPORT struct ibv_pd *ibv_import_pd(struct ibv_context *context, uint32_t handle)
{
    args(handle, (uintptr_t)context, 0, 0, 0);
    if (enter("ibv_import_pd"))
        return NULL;
    struct ibv_pd *pd = object(sizeof *pd);
    pd->context = context;
    pd->handle = handle;
    return pd;
}

EXPORT void ibv_unimport_pd(struct ibv_pd *pd)
{
    destroy("ibv_unimport_pd", pd);
}

EXPORT struct ibv_mr *ibv_import_mr(struct ibv_pd *pd, uint32_t handle)
{
    args(handle, (uintptr_t)pd, 0, 0, 0);
    if (enter("ibv_import_mr"))
        return NULL;
    struct ibv_mr *mr = region(pd, NULL, 4096);
    mr->handle = handle;
    return mr;
}

EXPORT void ibv_unimport_mr(struct ibv_mr *mr)
{
    destroy("ibv_unimport_mr", mr);
}

static struct ibv_mr *alloc_null_mr(struct ibv_pd *pd)
{
    return enter("ibv_alloc_null_mr") ? NULL : region(pd, NULL, 0);
}

/* A macro in the header. */
#undef ibv_reg_mr
#undef ibv_reg_mr_iova
EXPORT struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *address, size_t length, int access)
{
    args((uintptr_t)address, length, (uintptr_t)address, (uint64_t)access, 0);
    return enter("ibv_reg_mr") ? NULL : region(pd, address, length);
}

EXPORT struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *address, size_t length,
                                       uint64_t iova, unsigned int access)
{
    args((uintptr_t)address, length, iova, access, 2);
    return enter("ibv_reg_mr") ? NULL : region(pd, address, length);
}

EXPORT struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *address, size_t length,
                                      uint64_t iova, int access)
{
    return ibv_reg_mr_iova2(pd, address, length, iova, (unsigned int)access);
}

EXPORT struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length,
                                        uint64_t iova, int file, int access)
{
    args(offset, length, iova, (uint64_t)file, (uint64_t)access);
    return enter("ibv_reg_dmabuf_mr") ? NULL : region(pd, NULL, length);
}

EXPORT int ibv_rereg_mr(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *address,
                        size_t length, int access)
{
    args((uint64_t)flags, (uintptr_t)pd, (uintptr_t)address, length, (uint64_t)access);
    if (!enter("ibv_rereg_mr")) {
        mr->lkey += 0x100; /* as a device may */
        mr->rkey += 0x100;
        return 0;
    }
    switch (errno) {
    case EFAULT:
    case EOPNOTSUPP:
        return IBV_REREG_MR_ERR_CMD;
    case EIO:
        return IBV_REREG_MR_ERR_CMD_AND_DO_FORK_NEW;
    case ENOMEM:
        return IBV_REREG_MR_ERR_DONT_FORK_NEW;
    case EAGAIN:
        mr->rkey += 0x200;
        return IBV_REREG_MR_ERR_DO_FORK_OLD;
    default:
        return IBV_REREG_MR_ERR_INPUT;
    }
}

/* Memory of the card: behind its handle. */
struct stub_dm {
    struct ibv_dm dm;
    uint8_t bytes[4096];
};

static int memcpy_to_dm(struct ibv_dm *dm, uint64_t offset, const void *host, size_t length)
{
    args(offset, (uintptr_t)host, length, 0, 0);
    if (enter("ibv_memcpy_to_dm"))
        return errno;
    memcpy(((struct stub_dm *)dm)->bytes + offset, host, length);
    return 0;
}

static int memcpy_from_dm(void *host, struct ibv_dm *dm, uint64_t offset, size_t length)
{
    args(offset, (uintptr_t)host, length, 0, 0);
    if (enter("ibv_memcpy_from_dm"))
        return errno;
    memcpy(host, ((struct stub_dm *)dm)->bytes + offset, length);
    return 0;
}

static struct ibv_dm *alloc_dm(struct ibv_context *context, struct ibv_alloc_dm_attr *attr)
{
    args(attr->length, attr->log_align_req, attr->comp_mask, 0, 0);
    if (enter("ibv_alloc_dm"))
        return NULL;
    struct stub_dm *made = object(sizeof *made);
    made->dm.context = context;
    made->dm.memcpy_to_dm = memcpy_to_dm;
    made->dm.memcpy_from_dm = memcpy_from_dm;
    return &made->dm;
}

EXPORT struct ibv_dm *ibv_import_dm(struct ibv_context *context, uint32_t handle)
{
    args(handle, (uintptr_t)context, 0, 0, 0);
    if (enter("ibv_import_dm"))
        return NULL;
    struct stub_dm *made = object(sizeof *made);
    made->dm.context = context;
    made->dm.memcpy_to_dm = memcpy_to_dm;
    made->dm.memcpy_from_dm = memcpy_from_dm;
    made->dm.handle = handle;
    return &made->dm;
}

EXPORT void ibv_unimport_dm(struct ibv_dm *dm)
{
    destroy("ibv_unimport_dm", dm);
}

static int free_dm(struct ibv_dm *dm)
{
    return destroy("ibv_free_dm", dm);
}

static struct ibv_mr *reg_dm_mr(struct ibv_pd *pd, struct ibv_dm *dm, uint64_t offset,
                                size_t length, unsigned int access)
{
    args((uintptr_t)dm, offset, length, access, 0);
    return enter("ibv_reg_dm_mr") ? NULL : region(pd, NULL, length);
}

EXPORT int ibv_dereg_mr(struct ibv_mr *mr)
{
    return destroy("ibv_dereg_mr", mr);
}

static struct ibv_mw *alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
    args((uint64_t)type, 0, 0, 0, 0);
    if (enter("ibv_alloc_mw"))
        return NULL;
    struct ibv_mw *mw = object(sizeof *mw);
    mw->context = pd->context;
    mw->pd = pd;
    mw->type = type;
    mw->rkey = 0x00345ffe;
    return mw;
}

static int bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind)
{
    (void)qp;
    keep(bind, sizeof *bind);
    args((uintptr_t)mw, 0, 0, 0, 0);
    if (enter("ibv_bind_mw"))
        return errno;
    memcpy(record.request[0], &bind->wr_id, sizeof bind->wr_id);
    record.posted = 1;
    mw->rkey = ibv_inc_rkey(mw->rkey);
    return 0;
}

static int dealloc_mw(struct ibv_mw *mw)
{
    return destroy("ibv_dealloc_mw", mw);
}

static struct ibv_td *alloc_td(struct ibv_context *context, struct ibv_td_init_attr *attr)
{
    args(attr->comp_mask, 0, 0, 0, 0);
    if (enter("ibv_alloc_td"))
        return NULL;
    struct ibv_td *td = object(sizeof *td);
    td->context = context;
    return td;
}

static int dealloc_td(struct ibv_td *td)
{
    return destroy("ibv_dealloc_td", td);
}

static struct ibv_pd *alloc_parent_domain(struct ibv_context *context,
                                          struct ibv_parent_domain_init_attr *attr)
{
    args((uintptr_t)attr->pd, (uintptr_t)attr->td, attr->comp_mask, 0, 0);
    if (enter("ibv_alloc_parent_domain"))
        return NULL;
    struct ibv_pd *pd = object(sizeof *pd);
    pd->context = context;
    pd->handle = attr->pd->handle;
    return pd;
}

static int advise_mr(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags,
                     struct ibv_sge *list, uint32_t count)
{
    (void)pd;
    keep(list, sizeof *list);
    args((uint64_t)advice, flags, count, 0, 0);
    return enter("ibv_advise_mr") ? errno : 0;
}
