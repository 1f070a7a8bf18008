# SPDX-License-Identifier: GPL-2.0-only
# acltap: traces user annotations on Ascend NPUs from outside the process.
#
#   make          build $(O)/acltap          make test     build and run every test
#   make demo     trace a real program       make help     all targets
#
# Variables: O=dir (build folder), V=1 (show commands), WERROR=1, DESTDIR, PREFIX, CC, CLANG,
# ARCH=aarch64 (or x86_64: builds for another machine, into build/aarch64; scripts/cross.mk).

HOST   := $(shell uname -m)
ARCH   ?= $(HOST)
O      ?= build$(if $(filter-out $(HOST),$(ARCH)),/$(ARCH))
PREFIX ?= /usr/local
CC     ?= gcc
CLANG  ?= clang
BPFTOOL ?= $(firstword $(wildcard /usr/sbin/bpftool /usr/local/sbin/bpftool) bpftool)
BPF_ARCH := $(subst x86_64,x86,$(subst aarch64,arm64,$(ARCH)))
VERSION := 0.1.0

PKG_CONFIG ?= pkg-config

Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-8s %s\n' '$(1)' '$(patsubst $(O)/%,%,$(2))';)

ifneq ($(ARCH),$(HOST))
include scripts/cross.mk
endif

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wformat=2 -Wvla \
	$(if $(WERROR),-Werror)
CFLAGS ?= -O2 -g
BASE := -std=gnu11 $(WARN) -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -DACLTAP_VERSION='"$(VERSION)"' \
	-Iinclude -Iuser -I$(O)/gen
SAN  := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
BPF_CFLAGS := -g -O2 -target bpf -D__TARGET_ARCH_$(BPF_ARCH) -Wall -Wextra -Iinclude -Ibpf \
	-idirafter $(SYSROOT)/usr/include/$(ARCH)-linux-gnu

pkg = $(shell $(PKG_CONFIG) $(1) $(2) 2>/dev/null)
HAVE_CAPSTONE := $(shell $(PKG_CONFIG) --exists capstone 2>/dev/null && echo 1)
HAVE_SQLITE := $(shell $(PKG_CONFIG) --exists sqlite3 2>/dev/null && echo 1)
HAVE_PROTOBUF_C := $(shell $(PKG_CONFIG) --exists libprotobuf-c && command -v protoc-c >/dev/null && echo 1)
BASE += $(if $(HAVE_CAPSTONE),-DHAVE_CAPSTONE) $(if $(HAVE_SQLITE),-DHAVE_SQLITE) \
	$(if $(HAVE_PROTOBUF_C),-DHAVE_PROTOBUF_C)
LIBS_PURE := -lz -lm $(call pkg,--libs,libelf) $(if $(HAVE_SQLITE),$(call pkg,--libs,sqlite3)) \
	$(if $(HAVE_PROTOBUF_C),$(call pkg,--libs,libprotobuf-c))
LIBS := $(call pkg,--libs,libbpf) $(LIBS_PURE) -lpthread

# ---- Sources, in the order in which an event passes through them -----------------------------
BPF := events follow
DISCOVER := maps procread procmaps proc elfread byname elfsym libpath disasm plt_names site site_x86 site_x86_step site_arm64 plan ktypes
LIVE := multi_link try_return features bpfload ahead attach files prelook stops facts procset procs proclook join launch guardian ring recorder status session
CORE := entry decode order text stack names state spans startstop calls range tracks counts model tee values reservoir filter stats stats_result \
	ranktest compare pids lane align rankstat pipeline
STORE := keep capwrite capread replay mergein mergeplan merge
SINK := out escape repair ids lanes intern versions pack sort csv json event_rows events $(if $(HAVE_SQLITE),dbfile sqlite sqlite_facts) \
	$(if $(HAVE_PROTOBUF_C),pftrace pftracks perfetto) \
	html_text html_spans html_facts html null sink summary summary_print
VIEW := table hist lines
CMD := cmd owner giveup targets filters live record stat trace tableout diff outputs finish merge export list check
UTIL := log opt str map crc procfd readall regular unit rights nofile privs safepath

src = $(wildcard $(addsuffix .c,$(addprefix user/$(1)/,$(2))))
PURE_SRC := $(call src,util,$(UTIL)) $(call src,core,$(CORE)) $(call src,store,$(STORE)) \
	$(call src,sink,$(SINK)) $(call src,discover,$(DISCOVER)) $(call src,view,$(VIEW))
TOOL_SRC := $(PURE_SRC) $(call src,live,$(LIVE)) $(call src,cmd,$(CMD)) $(wildcard user/main.c)
HARNESS_SRC := $(wildcard tests/harness/*.c)
UNIT_SRC := $(filter-out $(if $(HAVE_SQLITE),,%/test_sqlite.c) \
	$(if $(HAVE_PROTOBUF_C),,%/test_perfetto.c),$(wildcard tests/unit/test_*.c))

PROTO_OBJ := $(if $(HAVE_PROTOBUF_C),$(O)/gen/sink/perfetto.pb-c.o)
PAGE_OBJ := $(O)/gen/sink/html_page.o
TOOL_OBJ := $(TOOL_SRC:%.c=$(O)/%.o) $(PROTO_OBJ) $(PAGE_OBJ)
PURE_OBJ := $(PURE_SRC:%.c=$(O)/%.o) $(PROTO_OBJ) $(PAGE_OBJ)
SAN_OBJ  := $(PURE_SRC:%.c=$(O)/san/%.o) $(HARNESS_SRC:%.c=$(O)/san/%.o) $(PROTO_OBJ) $(PAGE_OBJ)
UNIT_BIN := $(UNIT_SRC:tests/unit/%.c=$(O)/san/unit/%)
SKEL := $(patsubst %,$(O)/gen/%.skel.h,$(foreach b,$(BPF),$(if $(wildcard bpf/$(b).bpf.c),$(b))))

.PHONY: all demo test unit golden golden-update live vm-test bench fuzz targets install uninstall format check clean help deps
.DELETE_ON_ERROR:
.SECONDARY:
all: $(O)/acltap ## build $(O)/acltap

# ---- The tool --------------------------------------------------------------------------------
$(O)/acltap: $(TOOL_OBJ)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

# A library that came or went since the last build changes what is compiled.
$(O)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(BASE)' | cmp -s - $@ || echo '$(BASE)' >$@
FORCE:

$(O)/%.o: %.c $(O)/flags
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(BASE) -MMD -MP -c -o $@ $<

# Only the live layer sees the skeletons.
$(filter $(O)/user/live/%,$(TOOL_OBJ)): | $(SKEL)

$(O)/gen/%.bpf.o: bpf/%.bpf.c
	$(call say,BPF,$@)
	@mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -MMD -MP -MF $(@:.o=.d) -MT $@ -c -o $@ $<

$(O)/gen/%.skel.h: $(O)/gen/%.bpf.o
	$(call say,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name $(*F)_bpf > $@

# Perfetto's messages; the code is generated, so without our warnings.
$(O)/gen/%.pb-c.c: user/%.proto
	$(call say,PROTO,$@)
	@mkdir -p $(@D)
	$(Q)protoc-c --c_out=$(O)/gen -I user $<

$(O)/gen/%.pb-c.o: $(O)/gen/%.pb-c.c
	$(Q)$(CC) $(CFLAGS) -I$(O)/gen -c -o $@ $<

$(O)/user/sink/pftrace.o $(O)/san/user/sink/pftrace.o: | $(PROTO_OBJ)

# The page of the .html output, in one piece.
$(O)/gen/sink/html_page.c: scripts/embed-report.sh $(wildcard user/sink/report/*)
	$(call say,PAGE,$@)
	@mkdir -p $(@D)
	$(Q)scripts/embed-report.sh user/sink/report >$@

$(PAGE_OBJ): $(O)/gen/sink/html_page.c
	$(Q)$(CC) $(CFLAGS) -Iuser -c -o $@ $<

# ---- Tests: every pure file again with sanitizers, one program per tests/unit/test_*.c --------
$(O)/san/%.o: %.c $(O)/flags
	$(call say,CC-SAN,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(SAN) $(BASE) -Itests -MMD -MP -Werror=unused-function -c -o $@ $<

$(O)/san/libpure.a: $(SAN_OBJ)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(O)/san/unit/%: $(O)/san/tests/unit/%.o $(O)/san/libpure.a
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(SAN) -o $@ $^ -lcmocka $(LIBS_PURE) -lm

$(O)/san/golden: $(O)/san/tests/golden/golden.o $(O)/san/libpure.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(SAN) -o $@ $^ $(LIBS_PURE) -lm

golden: deps $(O)/san/golden $(O)/acltap ## compare every output of every event script with what is expected
	$(Q)O=$(O) scripts/run-tests.sh golden

golden-update: $(O)/san/golden $(O)/acltap ## write what is expected anew (then read it)
	$(Q)$(O)/san/golden --update tests/golden/*.ev
	$(Q)O=$(O) tests/golden/test_binary.sh --update
	$(Q)O=$(O) tests/golden/test_tables.sh --update

unit: deps $(UNIT_BIN) ## build and run the unit tests (ASan, UBSan)
	$(Q)O=$(O) scripts/run-tests.sh unit

test: ## install what is missing, build, run every test that can run here
	$(Q)scripts/deps.sh test
	$(Q)$(MAKE) --no-print-directory O=$(O) all targets $(UNIT_BIN) $(O)/san/golden fuzz-bin
	$(Q)O=$(O) scripts/run-tests.sh vm fuzz golden unit live

vm-test: ## boot each kernel in an emulated machine, run the live tests there, print a table
	$(Q)scripts/deps.sh vm
	$(Q)$(MAKE) --no-print-directory O=$(O) all targets
	$(Q)O=$(O) scripts/vm-test.sh

unit-bin: $(UNIT_BIN) ## build the unit tests

deps:
	$(Q)scripts/deps.sh build

-include tests/targets/targets.mk
-include tests/bench/bench.mk
include user/doc/doc.mk
-include tests/fuzz/fuzz.mk

# ---- The rest --------------------------------------------------------------------------------
demo: ## install what is missing, build, trace a Python program, show the result
	$(Q)scripts/deps.sh demo
	$(Q)$(MAKE) --no-print-directory O=$(O) all targets
	$(Q)O=$(O) scripts/demo.sh

bench: ## compare what tracing costs with other tracers and the kernel's floor (QUICK=1: roughly)
	$(Q)scripts/deps.sh demo
	$(Q)$(MAKE) --no-print-directory O=$(O) all targets bench-bin
	$(Q)O=$(O) tests/bench/bench.sh $(if $(QUICK),--quick)

install: all install-doc ## install into $(DESTDIR)$(PREFIX)
	install -d "$(DESTDIR)$(PREFIX)/bin"
	install -m 755 $(O)/acltap "$(DESTDIR)$(PREFIX)/bin/acltap"

uninstall: uninstall-doc ## remove what install put there
	rm -f "$(DESTDIR)$(PREFIX)/bin/acltap"

check: $(filter-out $(O)/user/live/% $(O)/user/cmd/% $(O)/user/main.o,$(TOOL_OBJ)) ## layers, formatting, sizes
	$(Q)O=$(O) scripts/check-layers.sh
	$(Q)scripts/check-format.sh || [ $$? -eq 77 ]
	$(Q)scripts/check-size.sh

format: ## format all C sources with clang-format 14
	clang-format -i $$(git ls-files '*.c' '*.h')

clean: ## remove the build folder
	rm -rf $(O)

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' Makefile tests/targets/targets.mk tests/fuzz/fuzz.mk user/doc/doc.mk | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 22
	@echo '  make ARCH=aarch64   build for another machine, into build/aarch64 (with all, targets)'

-include $(TOOL_OBJ:.o=.d) $(SAN_OBJ:.o=.d) $(UNIT_SRC:%.c=$(O)/san/%.d) \
	$(O)/san/tests/golden/golden.d $(wildcard $(O)/gen/*.d)
