# SPDX-License-Identifier: GPL-2.0-only
# Manual pages and completion, from the tables of options: what is new there is here by itself. All
# of it goes to $(O)/doc/. The generator runs on this machine, also when acltap is built for
# another one. It has the commands' tables but none of what commands call: hence the linker's
# option, and static, for else the loader would look for it.

HOSTCC ?= gcc
D := $(O)/doc
D_SRC := $(wildcard user/doc/*.c) $(call src,cmd,$(CMD))
D_OBJ := $(D_SRC:%.c=$(D)/obj/%.o)
D_DATE = $(or $(shell git log -1 --format=%cs -- user/doc 2>/dev/null),$(shell date -r user/doc +%F))
D_SHARE := $(DESTDIR)$(PREFIX)/share
D_BASH := $(D_SHARE)/bash-completion/completions/acltap
D_ZSH := $(D_SHARE)/zsh/site-functions/_acltap

$(D)/obj/%.o: %.c $(O)/flags user/doc/doc.mk
	@mkdir -p $(@D)
	$(Q)$(HOSTCC) -O1 $(BASE) -MMD -MP -c -o $@ $<

$(D)/gendoc: $(D_OBJ) $(D)/obj/user/util/opt.o
	$(call say,LINK,$@)
	$(Q)$(HOSTCC) -static -Wl,--unresolved-symbols=ignore-all -o $@ $^

# Commands without a text of their own have a page as well.
$(D)/.done: $(D)/gendoc $(wildcard user/doc/man/*.man user/doc/*.sh)
	$(call say,DOC,$(D))
	$(Q)rm -rf $(D)/man1 && mkdir -p $(D)/man1
	$(Q)cat user/doc/man/acltap.man | $< man "$(D_DATE)" >$(D)/man1/acltap.1
	$(Q)set -e; for c in $$($< names); do \
		cat user/doc/man/$$c.man 2>/dev/null | \
			$< man "$(D_DATE)" $$c >$(D)/man1/acltap-$$c.1; done
	$(Q)$< bash >$(D)/acltap.bash && cat user/doc/bash.sh >>$(D)/acltap.bash
	$(Q)$< zsh >$(D)/_acltap && cat user/doc/zsh.sh >>$(D)/_acltap
	@touch $@

doc: $(D)/.done ## manual pages and completion for bash and zsh, into $(O)/doc
.PHONY: doc install-doc uninstall-doc

install-doc: $(D)/.done
	install -d "$(D_SHARE)/man/man1" "$(D_SHARE)/bash-completion/completions" \
		"$(D_SHARE)/zsh/site-functions"
	install -m 644 $(D)/man1/*.1 "$(D_SHARE)/man/man1"
	install -m 644 $(D)/acltap.bash "$(D_BASH)"
	install -m 644 $(D)/_acltap "$(D_ZSH)"

uninstall-doc: $(D)/.done
	cd $(D)/man1 && for page in *.1; do rm -f "$(D_SHARE)/man/man1/$$page"; done
	rm -f "$(D_BASH)" "$(D_ZSH)"

-include $(D_OBJ:.o=.d)
