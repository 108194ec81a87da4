/* gni-run's arguments. */
#include "gni_run.h"
#include "pmi_shared.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void run_usage(int is_error)
{
    FILE *to = is_error ? stderr : stdout;

    fputs("usage: gni-run [OPTIONS] -n COUNT PROGRAM [ARGUMENTS] [: -n COUNT PROGRAM "
          "[ARGUMENTS]]...\n",
          to);
    if (is_error) {
        fputs("gni-run --help lists the options.\n", to);
        return;
    }
    fputs("Starts the processes of programs written for uGNI on this host, in one protection "
          "domain.\n"
          "  -n COUNT          processes of the program that follows; 1 if not given\n"
          "  --ptag N          protection tag, 3 to 253; otherwise chosen for this job\n"
          "  --cookie N        its cookie; otherwise chosen for this job\n"
          "  --nodes N         N addresses of NICs: the processes are dealt out to them in blocks\n"
          "  --aries           what GNI_GetDeviceType tells, and what the collective engine needs\n"
          "  --stdin WHO       a rank, all or none: whose standard input is this one's; 0 if not "
          "given\n"
          "  --ccm FOLDER      writes ccm_alps_info there, which libfabric reads (from /tmp)\n"
          "  -h, --help        this text\n"
          "Exit code: 0 when all processes ended with 0, else that of the first one that did not "
          "(128\n"
          "and the number of the signal if it was killed); the others are ended then. 2: wrong\n"
          "arguments. 127: a program that cannot be started. SIGUSR1 and SIGUSR2 are passed on;\n"
          "SIGINT, SIGTERM, SIGHUP and SIGQUIT are passed on and end the job.\n",
          to);
}

static int number(const char *text, long least, long most, long *value)
{
    char *end;

    errno = 0;
    *value = strtol(text, &end, 0);
    return errno == 0 && end != text && *end == '\0' && *value >= least && *value <= most ? 0 : -1;
}

/* What is wrong with an option's value. */
static const char *refuse(const char *option, const char *text, const char *allowed)
{
    static char wrong[256];

    snprintf(wrong, sizeof(wrong), "%s %s: %s", option, text, allowed);
    return wrong;
}

static int is_count(const char *option)
{
    return strcmp(option, "-n") == 0 || strcmp(option, "-np") == 0;
}

static int has_value(const char *option)
{
    static const char *const known[] = {"--ptag", "--cookie", "--nodes", "--ccm", "--stdin"};

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strcmp(option, known[i]) == 0)
            return 1;
    return is_count(option);
}

static const char *take_stdin(struct job *job, const char *text)
{
    long value;

    if (strcmp(text, "all") == 0)
        job->stdin_rank = -2;
    else if (strcmp(text, "none") == 0)
        job->stdin_rank = -1;
    else if (number(text, 0, PMI_SIZE_MAX - 1, &value) == 0)
        job->stdin_rank = (int)value;
    else
        return refuse("--stdin", text, "a rank, all or none");
    return NULL;
}

/* An option that has a value. */
static const char *take_value(struct job *job, struct program *program, const char *option,
                              const char *text)
{
    long value;

    if (is_count(option)) {
        if (number(text, 1, PMI_SIZE_MAX, &value) != 0)
            return refuse(option, text, "a number from 1 to 4096");
        program->count = (int)value;
    } else if (strcmp(option, "--ptag") == 0) {
        if (number(text, 3, 253, &value) != 0)
            return refuse(option, text, "a number from 3 to 253");
        job->ptag = (unsigned)value;
    } else if (strcmp(option, "--cookie") == 0) {
        if (number(text, 1, 0xffffffffl, &value) != 0)
            return refuse(option, text, "a number from 1 to 4294967295");
        job->cookie = (unsigned)value;
    } else if (strcmp(option, "--nodes") == 0) {
        if (number(text, 1, NODES_MAX, &value) != 0)
            return refuse(option, text, "a number from 1 to 256");
        job->nodes = (int)value;
    } else if (strcmp(option, "--ccm") == 0) {
        job->ccm = text;
    } else {
        return take_stdin(job, text);
    }
    return NULL;
}

/* Takes the options of one program; its name stays at **argv. */
static const char *take_options(struct job *job, struct program *program, char ***argv)
{
    while (**argv != NULL && (**argv)[0] == '-') {
        const char *option = *(*argv)++, *wrong;

        if (strcmp(option, "--") == 0)
            break;
        if (strcmp(option, "-h") == 0 || strcmp(option, "--help") == 0) {
            job->wants_help = 1;
            return NULL;
        }
        if (strcmp(option, "--aries") == 0) {
            job->is_aries = 1;
            continue;
        }
        if (!has_value(option))
            return refuse("option", option, "there is none of this name");
        if (**argv == NULL)
            return refuse("option", option, "it needs a value");
        wrong = take_value(job, program, option, **argv);
        if (wrong != NULL)
            return wrong;
        (*argv)++;
    }
    return NULL;
}

const char *run_parse(struct job *job, char **argv)
{
    job->nodes = 1;
    for (;;) {
        struct program *program = &job->program[job->programs];
        const char *wrong;

        program->count = 1;
        wrong = take_options(job, program, &argv);
        if (wrong != NULL || job->wants_help)
            return wrong;
        if (*argv == NULL || strcmp(*argv, ":") == 0)
            return "no program is given";
        program->arguments = argv;
        job->size += program->count;
        job->programs++;
        while (*argv != NULL && strcmp(*argv, ":") != 0)
            argv++;
        if (job->size > PMI_SIZE_MAX)
            return "more than 4096 processes";
        if (*argv == NULL)
            break;
        if (job->programs == PROGRAMS_MAX)
            return "more than 64 programs";
        *argv++ = NULL;
    }
    if (job->nodes > job->size)
        return "--nodes: more than there are processes";
    return job->stdin_rank >= job->size ? "--stdin: there is no such rank" : NULL;
}
