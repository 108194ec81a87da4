/*
 * Fuzzes PMI over a shared file that other processes fill with anything: keys, values, counts, the
 * barrier's words. The file's bytes are exactly as many as there are, so that the sanitizer sees
 * the first one too far.
 */
#define LOCK_TRIES 1
#include "../../main/c/pmi/pmi.c"
#include "fuzz_input.h"

#define TOUCHED 4 /* pairs at the beginning, and as many at the end */

static void clean(void)
{
    struct pmi_shared *s = pmi.shared;

    memset((void *)s, 0, sizeof(*s) - sizeof(s->pair) - sizeof(s->gather));
    memset(s->pair, 0, TOUCHED * sizeof(*s->pair));
    memset(s->pair + PMI_KEYS_MAX - TOUCHED, 0, TOUCHED * sizeof(*s->pair));
    s->magic = PMI_SHARED_MAGIC;
    s->size = 1;
    s->aborted = 1; /* so that nobody waits at a barrier that others' words keep closed */
}

static struct pmi_pair *pair(struct input *in)
{
    uint32_t which = (uint32_t)number(in, 1) % (2 * TOUCHED);

    return &pmi.shared->pair[which < TOUCHED ? which : PMI_KEYS_MAX - 2 * TOUCHED + which];
}

static void damage(struct input *in)
{
    struct pmi_shared *s = pmi.shared;

    switch (number(in, 1) % 6) {
    case 0:
        atomic_store(&s->pairs, (uint32_t)wild(in));
        break;
    case 1:
        atomic_store(&s->arrived, (uint32_t)wild(in));
        break;
    case 2:
        atomic_store(&s->phase, (uint32_t)wild(in));
        break;
    case 3:
        atomic_store(&s->owner, (uint32_t)wild(in));
        break;
    case 4:
        memset(pair(in), (int)number(in, 1), sizeof(struct pmi_pair));
        break;
    default:
        s->size = (uint32_t)wild(in);
        pair(in)->key[number(in, 1) % PMI_KEY_MAX] = (char)number(in, 1);
    }
}

static void use(struct input *in)
{
    char key[PMI_KEY_MAX + 8] = "", value[PMI_VALUE_MAX + 8] = "", out[64];

    memset(key, 'a' + (int)number(in, 1) % 3, number(in, 1) % (PMI_KEY_MAX + 4));
    memset(value, 'v', number(in, 2) % (PMI_VALUE_MAX + 4));
    switch (number(in, 1) % 4) {
    case 0:
        (void)PMI_KVS_Put("kvs", key, value);
        break;
    case 1:
        (void)PMI_KVS_Get("kvs", key, value, (int)(number(in, 2) % sizeof(value)));
        break;
    case 2:
        (void)PMI_Barrier();
        break;
    default:
        (void)PMI_Allgather(key, out, (int)(number(in, 1) % sizeof(out)));
    }
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static const uint8_t seed[] = {1, 0, 3, 0, 9, 0, 1, 0, 3, 0, 9, 1, 2, 0, 0, 0, 5, 1, 1, 3, 0};

    write_seed(*argc, *argv, "seed-pmi", seed, sizeof(seed));
    write_long_seed(*argc, *argv);
    pmi.shared = malloc(sizeof(struct pmi_shared));
    must(pmi.shared != NULL, "memory");
    memset((void *)pmi.shared, 0, sizeof(*pmi.shared));
    pmi.is_initialised = 1;
    pmi.size = 1;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};

    clean();
    while (in.size > 0) {
        if (number(&in, 1) & 1)
            use(&in);
        else
            damage(&in);
    }
    return 0;
}
