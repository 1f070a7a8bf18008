# SPDX-License-Identifier: GPL-2.0-only
# What `make bench` measures with; see tests/bench/README.md. All of it goes to $(O)/bench/.

B := $(O)/bench
B_OBJ := $(patsubst %,$(O)/tests/bench/%.o,loop floor bench_core bench_sink bench_capture)
B_BIN := $(patsubst %,$(B)/%,loop floor bench_core bench_sink bench_capture)

$(O)/tests/bench/loop.o: BASE += -Itests/targets/lib

$(B)/loop: $(O)/tests/bench/loop.o $(T)/jmp/.checked
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) -o $@ $< -L$(T)/jmp -lmsprofiler -Wl,-rpath-link,$(T)/jmp

$(B)/floor: $(O)/tests/bench/floor.o $(O)/user/live/multi_link.o
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) -o $@ $^ $(LIBS)

$(B)/bench_%: $(O)/tests/bench/bench_%.o $(PURE_OBJ)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) -o $@ $^ $(LIBS_PURE)

$(B)/bench_capture: $(O)/tests/harness/kernelsim.o
$(O)/tests/bench/bench_capture.o $(O)/tests/harness/kernelsim.o: BASE += -Itests

bench-bin: $(B_BIN)
.PHONY: bench-bin

-include $(B_OBJ:.o=.d) $(O)/tests/harness/kernelsim.d
