# SPDX-License-Identifier: GPL-2.0-only
# Programs to trace, and the stand-in library in each form that the real one has. All of it goes
# to $(O)/targets/. TCC is the compiler of the targets (a cross compiler works).

TCC    ?= $(CC)
TSTRIP ?= strip
T      := $(O)/targets
TS     := tests/targets
PYTHON3 ?= /usr/bin/python3

T_MACHINE := $(shell $(TCC) -dumpmachine 2>/dev/null)
T_ARM64 := $(findstring aarch64,$(T_MACHINE))
FORMS  := jmp stack endbr push $(if $(T_ARM64),pac)
T_BASE := -std=gnu11 -D_GNU_SOURCE $(WARN) -g
T_PLAIN := $(if $(findstring x86_64,$(T_MACHINE)),-fcf-protection=none,-mbranch-protection=none)
T_GUARD := $(if $(findstring x86_64,$(T_MACHINE)),-fcf-protection=full,-mbranch-protection=standard)

# The flags that give each form; check_forms.sh fails the build when the compiler gave another.
FORM_jmp   := -Os $(T_PLAIN) -fno-stack-protector
FORM_stack := -Os $(T_PLAIN) -fstack-protector-all
# arm64: without the start files, which have no landing pads, its pages are guarded.
FORM_endbr := -Os $(T_GUARD) -fno-stack-protector $(if $(T_ARM64),-nostartfiles -z force-bti)
FORM_pac   := $(FORM_endbr) -fno-omit-frame-pointer -fno-optimize-sibling-calls
FORM_push  := -Os $(T_PLAIN) -fno-stack-protector -fno-omit-frame-pointer -fno-optimize-sibling-calls

T_SO := -shared -fPIC -Wl,--hash-style=gnu -Wl,-z,now -Wl,-rpath,'$$ORIGIN'
T_LIBS := $(foreach f,$(FORMS),$(T)/$(f)/.checked)
# Without LD_LIBRARY_PATH a target uses the form jmp.
T_LINK := -L$(T)/jmp -Wl,-rpath,'$$ORIGIN/jmp' -lmsprofiler -Wl,-rpath-link,$(T)/jmp -lpthread

$(T)/%/libprofapi.so: $(TS)/lib/profapi.c
	$(call say,TARGET,$@)
	@mkdir -p $(@D)
	$(Q)$(TCC) $(T_BASE) -O2 $(T_PLAIN) -fno-stack-protector $(T_SO) -MMD -MP -MF $(@:.so=.d) \
		-Wl,-soname,libprofapi.so -o $@ $< -lpthread

$(T)/%/libmsprofiler.so: $(TS)/lib/msprofiler.c $(T)/%/libprofapi.so
	$(call say,TARGET,$@)
	$(Q)$(TCC) $(T_BASE) $(FORM_$*) $(T_SO) -MMD -MP -MF $(@:.so=.d) \
		-Wl,-soname,libmsprofiler.so -o $@ $< -L$(@D) -lprofapi
	$(Q)$(TSTRIP) --strip-all $@

$(T)/%/libascendcl.so: $(TS)/lib/ascendcl.c $(T)/%/libmsprofiler.so
	$(call say,TARGET,$@)
	$(Q)$(TCC) $(T_BASE) -O2 $(T_PLAIN) $(T_SO) -MMD -MP -MF $(@:.so=.d) \
		-Wl,-soname,libascendcl.so -Wl,--no-as-needed -o $@ $< -L$(@D) -lmsprofiler

$(T)/%/.checked: $(T)/%/libmsprofiler.so $(T)/%/libascendcl.so $(TS)/check_forms.sh
	$(Q)bash $(TS)/check_forms.sh $* $(@D)
	$(Q)touch $@

# ---- Libraries that are not what one expects, see the sources ----------------------------------
T_ODD := $(T)/acl1/libmsprofiler.so $(T)/forward/libforward.so $(T)/interpose/libinterpose.so $(T)/versions/libmsprofiler.so \
	$(T)/odd/libmsprofiler.so $(T)/versions/threads
T_ODD_LIB = $(TCC) $(T_BASE) $(FORM_jmp) $(T_SO) -o $@ $<

# As jmp, with versioned symbols.
$(T)/acl1/libmsprofiler.so: $(TS)/lib/msprofiler.c $(T)/jmp/libprofapi.so
	$(call say,TARGET,$@)
	@mkdir -p $(@D) && cp $(T)/jmp/libprofapi.so $(@D)/ && echo 'ACL_1 { aclprof*; };' >$(@D)/map
	$(Q)$(T_ODD_LIB) -Wl,--version-script=$(@D)/map -Wl,-soname,libmsprofiler.so -L$(@D) -lprofapi

$(T)/forward/libforward.so: $(TS)/lib/forward.c $(T)/acl1/libmsprofiler.so
	$(call say,TARGET,$@)
	@mkdir -p $(@D) && echo 'ACL_2 { global: aclprof*; local: *; };' >$(@D)/map
	$(Q)$(T_ODD_LIB) -Wl,--version-script=$(@D)/map -L$(T)/acl1 -lmsprofiler

$(T)/interpose/libinterpose.so: $(TS)/lib/interpose.c
	$(call say,TARGET,$@)
	@mkdir -p $(@D)
	$(Q)$(T_ODD_LIB) -ldl

$(T)/versions/libmsprofiler.so: $(TS)/lib/versions.c $(T)/jmp/libprofapi.so
	$(call say,TARGET,$@)
	@mkdir -p $(@D) && cp $(T)/jmp/libprofapi.so $(@D)/
	@echo 'ACL_1 { aclprof*; }; ACL_2 { } ACL_1;' >$(@D)/map
	$(Q)$(T_ODD_LIB) -Wl,--version-script=$(@D)/map -Wl,-soname,libmsprofiler.so -L$(@D) -lprofapi

# A program that was linked with it; older ones reach the first version.
$(T)/versions/threads: $(T)/obj/threads.o $(T)/obj/truth.o $(T)/obj/calls.o $(T)/versions/libmsprofiler.so
	$(call say,TARGET,$@)
	$(Q)$(TCC) -pie -o $@ $(filter %.o,$^) -L$(@D) -lmsprofiler -lprofapi -lpthread

$(T)/odd/libmsprofiler.so: $(TS)/lib/odd.c $(T)/jmp/libprofapi.so
	$(call say,TARGET,$@)
	@mkdir -p $(@D) && cp $(T)/jmp/libprofapi.so $(@D)/
	$(Q)$(T_ODD_LIB) -L$(@D) -lprofapi

$(filter %.so,$(T_ODD)): $(TS)/lib/acl_prof.h

# ---- Python: limited API, so any Python 3 of the machine can load it --------------------------
T_PYINC ?= $(shell $(PYTHON3) -c 'import sysconfig; print(sysconfig.get_path("include"))' 2>/dev/null)
T_PY := $(if $(wildcard $(T_PYINC)/Python.h),$(T)/acl.abi3.so)

$(T)/acl.abi3.so: $(TS)/lib/aclmodule.c $(T)/jmp/.checked
	$(call say,TARGET,$@)
	$(Q)$(TCC) $(T_BASE) -O2 -isystem $(T_PYINC) -shared -fPIC -MMD -MP -MF $(T)/acl.abi3.d -o $@ $< $(T_LINK)

# ---- Programs ---------------------------------------------------------------------------------
T_PROGS := seed_loops behaviour threads thread_exec short crash fork_exec leader_exit nullstamp messages storm rwx steps \
	forkstorm clonevm longjmp seccomped names corners crowd
T_BIN := $(T_PROGS:%=$(T)/%)
T_EXTRA := $(T)/dlopen_late $(T)/handler $(T)/seed_nopie $(T)/seed_static

$(T)/obj/%.o: $(TS)/%.c
	$(call say,TARGET,$@)
	@mkdir -p $(@D)
	$(Q)$(TCC) $(T_BASE) -O2 -fPIE -MMD -MP -c -o $@ $<

$(T_BIN): $(T)/%: $(T)/obj/%.o $(T)/obj/truth.o $(T)/obj/calls.o $(T)/jmp/.checked
	$(call say,TARGET,$@)
	$(Q)$(TCC) -pie -o $@ $(filter %.o,$^) $(T_LINK)

$(T)/dlopen_late: $(T)/obj/dlopen_late.o $(T)/obj/truth.o # knows nothing of the library
	$(call say,TARGET,$@)
	$(Q)$(TCC) -pie -o $@ $^ -ldl

$(T)/handler: $(T)/obj/handler.o $(T)/obj/truth.o # has the functions itself
	$(call say,TARGET,$@)
	$(Q)$(TCC) -pie -o $@ $^

$(T)/seed_nopie: $(TS)/seed_loops.c $(T)/jmp/.checked
	$(call say,TARGET,$@)
	$(Q)$(TCC) $(T_BASE) -O2 -fno-pie -no-pie -MMD -MP -MF $@.d -o $@ $< $(T_LINK)

# The API inside the program, found by .symtab only.
$(T)/seed_static: $(TS)/seed_loops.c $(TS)/lib/msprofiler.c $(TS)/lib/profapi.c
	$(call say,TARGET,$@)
	@mkdir -p $(@D)
	$(Q)$(TCC) $(T_BASE) $(FORM_jmp) -static -o $@ $^ -lpthread

$(T)/seed_static: $(TS)/lib/acl_prof.h

# ---- The same with another C library, where its compiler is installed -------------------------
MUSL_CC ?= $(shell command -v musl-gcc)
ifneq ($(MUSL_CC),)
T_EXTRA += $(T)/musl/seed_loops

$(T)/musl/seed_loops: $(TS)/seed_loops.c $(TS)/lib/msprofiler.c $(TS)/lib/profapi.c
	$(call say,TARGET,$@)
	@mkdir -p $(@D)
	$(Q)$(MUSL_CC) $(T_BASE) -O2 $(T_PLAIN) $(T_SO) -Wl,-soname,libprofapi.so \
		-o $(@D)/libprofapi.so $(TS)/lib/profapi.c
	$(Q)$(MUSL_CC) $(T_BASE) $(FORM_jmp) $(T_SO) -Wl,-soname,libmsprofiler.so \
		-o $(@D)/libmsprofiler.so $(TS)/lib/msprofiler.c -L$(@D) -lprofapi
	$(Q)$(MUSL_CC) $(T_BASE) -O2 -o $@ $< -L$(@D) -lmsprofiler -lprofapi -Wl,-rpath,'$$ORIGIN'

$(T)/musl/seed_loops: $(TS)/lib/acl_prof.h
endif

targets: $(T_LIBS) $(T_ODD) $(T_PY) $(T_BIN) $(T_EXTRA) ## build the programs that the live tests trace

-include $(wildcard $(T)/*.d $(T)/*/*.d)
