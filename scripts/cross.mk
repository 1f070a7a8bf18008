# SPDX-License-Identifier: GPL-2.0-only
# Part of the Makefile when ARCH is not this machine's: a cross compiler, and a folder with the
# libraries of the other machine, unpacked from Debian's packages (scripts/cross-sysroot.sh). The
# BPF objects are compiled for the other machine's registers; bpftool and protoc-c are our own.

.DEFAULT_GOAL := all
CROSS   ?= $(ARCH)-linux-gnu-
SYSROOT := $(abspath $(O))/sysroot
CC      := $(CROSS)gcc --sysroot=$(SYSROOT)
AR      := $(CROSS)ar
TSTRIP  := $(CROSS)strip
PKG_CONFIG := PKG_CONFIG_LIBDIR=$(SYSROOT)/usr/lib/$(ARCH)-linux-gnu/pkgconfig \
	PKG_CONFIG_SYSROOT_DIR=$(SYSROOT) pkg-config
MUSL_CC :=
T_PYINC := $(lastword $(wildcard $(SYSROOT)/usr/include/python3.*))
export OBJDUMP := $(CROSS)objdump
export READELF := $(CROSS)readelf

# make reads its files again when this one was made.
ifeq ($(filter clean help,$(MAKECMDGOALS)),)
include $(O)/sysroot.mk
endif
$(O)/sysroot.mk: scripts/cross-sysroot.sh scripts/private-apt.sh scripts/deps.sh
	@mkdir -p $(@D)
	$(Q)scripts/cross-sysroot.sh $(ARCH) $(SYSROOT) $$(scripts/deps.sh sysroot)
	@touch $@
