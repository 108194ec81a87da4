/* softnic-fsck: checks the segments of a job. Exit code 0 clean, 1 violations, 2 wrong usage or no
 * such job. */
#include "softnic.h"
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    static char text[1 << 16];
    if (argc != 2 && argc != 3) {
        fprintf(stderr,
                "usage: softnic-fsck JOB [DIRECTORY]\n"
                "Checks the shared-memory segments of a job. DIRECTORY: as VERBENA_SHM_DIR, "
                "by default /dev/shm.\n");
        return 2;
    }
    int n = snic_check(argc == 3 ? argv[2] : NULL, argv[1], text, sizeof text);
    if (n < 0) {
        fprintf(stderr, "softnic-fsck: job %s: %s\n", argv[1], strerror(-n));
        return 2;
    }
    fputs(text, stdout);
    printf("job %s: %d violation%s\n", argv[1], n, n == 1 ? "" : "s");
    return n != 0;
}
