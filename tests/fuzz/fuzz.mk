# SPDX-License-Identifier: GPL-2.0-only
# Programs that attack the parsers: the pure files once more with clang, libFuzzer, ASan and UBSan,
# one program per tests/fuzz/fuzz_*.c. Seeds come from tests/fuzz/seed_*.c. FUZZ_SECONDS each.

FUZZ_SECONDS ?= 30
FUZZ_RT := $(wildcard $(shell $(CLANG) -print-runtime-dir 2>/dev/null)/libclang_rt.fuzzer-$(ARCH).a)
FUZZ_SAN := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
FUZZ_SRC := $(filter-out $(if $(HAVE_CAPSTONE),,%/fuzz_site.c),$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_OBJ := $(patsubst %.c,$(O)/fuzz/%.o,$(PURE_SRC) tests/fuzz/checker.c \
	$(filter-out %/tmpdir.c %/compile.c,$(HARNESS_SRC))) $(filter $(O)/gen/%,$(PURE_OBJ))
FUZZ_BIN := $(if $(FUZZ_RT),$(FUZZ_SRC:tests/fuzz/%.c=$(O)/fuzz/%)) \
	$(patsubst tests/fuzz/%.c,$(O)/san/%,$(wildcard tests/fuzz/seed_*.c))

$(O)/fuzz/%.o: %.c $(O)/flags
	$(call say,CC-FUZZ,$@)
	@mkdir -p $(@D)
	$(Q)$(CLANG) $(FUZZ_SAN) -fsanitize=fuzzer-no-link $(BASE) -Itests \
		-DSORT_BUDGET=65536 -MMD -MP -c -o $@ $<

$(O)/fuzz/user/sink/pftrace.o: | $(PROTO_OBJ)

$(O)/fuzz/libpure.a: $(FUZZ_OBJ)
	$(Q)rm -f $@ && ar rcs $@ $^

$(O)/fuzz/fuzz_%: $(O)/fuzz/tests/fuzz/fuzz_%.o $(O)/fuzz/libpure.a
	$(call say,LINK,$@)
	$(Q)$(CLANG) $(FUZZ_SAN) -fsanitize=fuzzer -o $@ $^ $(LIBS_PURE) \
		$(if $(HAVE_CAPSTONE),$(call pkg,--libs,capstone))

$(O)/san/seed_%: $(O)/san/tests/fuzz/seed_%.o $(O)/san/libpure.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(SAN) -o $@ $^ $(LIBS_PURE)

fuzz-bin: $(FUZZ_BIN) targets

fuzz: deps ## attack the parsers with random files, FUZZ_SECONDS=30 each
	$(Q)$(MAKE) --no-print-directory O=$(O) fuzz-bin
	$(Q)O=$(O) FUZZ_SECONDS=$(FUZZ_SECONDS) scripts/run-tests.sh fuzz

.PHONY: fuzz-bin

-include $(FUZZ_OBJ:.o=.d) $(FUZZ_SRC:%.c=$(O)/fuzz/%.d)
