# Flags shared by the library and its tests. No name of the folder is compiled in: two builds give the same bytes.
SNIC_CFLAGS := -std=c11 -O2 -g -Wall -Wextra -Werror -fPIC -fvisibility=hidden -pthread -ffile-prefix-map="$(CURDIR)"=. $(CFLAGS)
SNIC_LDFLAGS := -pthread
ifeq ($(SNIC_TEST),1)
SNIC_CFLAGS += -DSNIC_TEST
# What softnic has in test builds.
SNIC_ROOT := $(dir $(lastword $(MAKEFILE_LIST)))
SNIC_HOOKS := $(BUILD)/softnic_hooks.o
$(SNIC_HOOKS): $(SNIC_ROOT)../../test/c/hooks/softnic_hooks.c $(wildcard $(SNIC_ROOT)softnic/*.h)
	@mkdir -p $(@D)
	@$(CC) $(SNIC_CFLAGS) -I$(SNIC_ROOT)softnic -c -o $@ $<
# The first goal is that of the including file.
.DEFAULT_GOAL :=
endif
ifeq ($(SAN),asan)
SNIC_CFLAGS += -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
SNIC_LDFLAGS += -fsanitize=address,undefined
endif
ifeq ($(SAN),ubsan)
SNIC_CFLAGS += -fsanitize=undefined -fno-sanitize-recover=all
SNIC_LDFLAGS += -fsanitize=undefined
endif
ifeq ($(SAN),tsan)
SNIC_CFLAGS += -fsanitize=thread
SNIC_LDFLAGS += -fsanitize=thread
endif
ifeq ($(SAN),fuzz)
SNIC_CFLAGS += -fsanitize=fuzzer-no-link,address
SNIC_LDFLAGS += -fsanitize=fuzzer,address
endif
# Tests under sanitizers spend more time being compiled than a better optimiser saves them.
ifneq ($(filter asan ubsan tsan,$(SAN)),)
SNIC_CFLAGS := $(patsubst -O2,-O1,$(patsubst -g,-g1,$(SNIC_CFLAGS)))
endif
