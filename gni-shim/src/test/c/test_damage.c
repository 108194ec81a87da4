/* A target whose segment and queue hold nonsense: an initiator gets answers, never a crash, never
 * an endless walk; and the target's own reading of its queue survives, too. */
#define _GNU_SOURCE
#include "check.h"
#include "gni_area.h"
#include "softnic_layout.h"
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROUNDS 1500

static struct node a, b;
static uint64_t seed;

static uint64_t chance(uint64_t below)
{
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (seed >> 33) % below;
}

/* ---- b's files, as another process of this user could open them ---- */

static char segment_path[512], ring_path[512];

static int remember(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    char own[64], memory[64];

    (void)st;
    snprintf(own, sizeof(own), "%x.2", b.pe);
    snprintf(memory, sizeof(memory), "%x.2+m", b.pe);
    if (flag == FTW_F && strcmp(path + ftw->base, own) == 0)
        snprintf(segment_path, sizeof(segment_path), "%s", path);
    if (flag == FTW_F && strncmp(path + ftw->base, memory, strlen(memory)) == 0)
        snprintf(ring_path, sizeof(ring_path), "%s", path);
    return 0;
}

static uint8_t *map_file(const char *path, uint64_t *bytes)
{
    int fd = open(path, O_RDWR);
    struct stat st;
    void *at;

    CHECK(fd >= 0 && fstat(fd, &st) == 0);
    *bytes = (uint64_t)st.st_size;
    at = mmap(NULL, *bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(at != MAP_FAILED);
    close(fd);
    return at;
}

/* ---- nonsense ---- */

static void scribble(uint8_t *at, uint64_t bytes)
{
    uint64_t value = chance(4) == 0 ? ~0ull : chance(3) == 0 ? chance(64) : seed;
    uint64_t where = chance(bytes / 8) * 8;

    memcpy(at + where, &value, 8);
}

static void use_it(gni_ep_handle_t datagrams)
{
    gni_post_descriptor_t d = transaction(GNI_POST_FMA_PUT, &a, &b, 64), *done;
    gni_cq_entry_t entry;
    uint8_t in[128];

    d.cq_mode = GNI_CQMODE_GLOBAL_EVENT | GNI_CQMODE_REMOTE_EVENT;
    GNI_PostFma(a.ep, &d);
    while (GNI_CqGetEvent(a.cq, &entry) != GNI_RC_NOT_DONE)
        GNI_GetCompleted(a.cq, entry, &done);
    d.type = GNI_POST_RDMA_GET;
    GNI_PostRdma(a.ep, &d);
    d.type = GNI_POST_AMO;
    d.amo_cmd = GNI_FMA_ATOMIC2_FIADD_S;
    d.length = 4;
    GNI_PostFma(a.ep, &d);
    while (GNI_CqGetEvent(a.cq, &entry) != GNI_RC_NOT_DONE)
        GNI_GetCompleted(a.cq, entry, &done);
    GNI_EpPostData(datagrams, in, 100, in, 128);
    GNI_EpPostDataCancel(datagrams);
    gni_post_state_t state;
    uint32_t pe, inst;
    GNI_EpPostDataTest(datagrams, &state, &pe, &inst);
    for (int i = 0; i < 200 && GNI_CqGetEvent(b.dst, &entry) != GNI_RC_NOT_DONE; i++)
        ;
}

static void nonsense(void)
{
    uint64_t segment_bytes, ring_bytes, area_at;
    uint8_t *segment, *ring, *kept_area, *kept_ring;
    gni_ep_handle_t datagrams, open;
    uint8_t in[128];
    uint64_t area_bytes = gni_area_bytes();

    seed = check_seed();
    pair_open(&a, &b, 0, 0);
    OK(GNI_EpCreate(a.nic, NULL, &datagrams));
    OK(GNI_EpBind(datagrams, b.pe, b.inst));
    OK(GNI_EpCreate(b.nic, NULL, &open));
    OK(GNI_EpPostDataWId(open, in, 100, in, 128, 5));
    use_it(datagrams);
    CHECK(nftw(getenv("GNI_SHIM_DIR"), remember, 16, FTW_PHYS) == 0);
    segment = map_file(segment_path, &segment_bytes);
    ring = map_file(ring_path, &ring_bytes);
    area_at = ((const struct snic_header *)(const void *)segment)->area_offset;
    kept_area = malloc(area_bytes);
    kept_ring = malloc(ring_bytes);
    memcpy(kept_area, segment + area_at, area_bytes);
    memcpy(kept_ring, ring, ring_bytes);
    for (int i = 0; i < ROUNDS; i++) {
        uint8_t *area = segment + area_at;
        uint64_t tables = sizeof(struct gni_area) + 4 * sizeof(struct gni_mdh);
        uint64_t exchanges = area_bytes - GNI_DATAGRAMS * sizeof(struct gni_datagram);

        for (uint64_t k = chance(4); k > 0; k--) /* the locks stay: a wait of 200 ms each */
            scribble(area + sizeof(struct gni_area), tables - sizeof(struct gni_area));
        for (uint64_t k = chance(4); k > 0; k--)
            scribble(area + exchanges, 4 * sizeof(struct gni_datagram));
        for (uint64_t k = chance(6); k > 0; k--)
            scribble(ring, chance(2) ? GNI_RING_HEADER : ring_bytes);
        use_it(datagrams);
        memcpy(ring, kept_ring, ring_bytes);
        memcpy(area, kept_area, area_bytes);
    }
    /* Put right, it works. */
    gni_post_descriptor_t d = transaction(GNI_POST_FMA_PUT, &a, &b, 64);
    fill(a.memory, 64, 3);
    OK(post_and_wait(&a, &d));
    CHECK(is_filled(b.memory, 64, 3));
    free(kept_area);
    free(kept_ring);
}

static const struct check_case cases[] = {
    {"", "nonsense_in_shared_memory", nonsense},
};

int main(int argc, char **argv)
{
    return check_main(cases, sizeof(cases) / sizeof(*cases), argc, argv);
}
