# SPDX-License-Identifier: GPL-2.0-only
# Sourced by what gets Debian packages without installing them.
# shellcheck shell=bash

# Writes FOLDER/apt.conf, for apt-get -c: lists, cache and status of its own in FOLDER, another
# architecture, and none of the machine's hooks (those of Docker's images empty the package cache).
# The mirrors are the machine's, unless standard input, which is added, says others. Needs no root.
make_private_apt() {	# folder (absolute), Debian architecture
	mkdir -p "$1"/{lists,cache/archives}/partial "$1/state" || return 1
	: >"$1/state/status"
	{
		cat <<-END
		#clear APT::Update::Pre-Invoke;
		#clear APT::Update::Post-Invoke;
		#clear APT::Update::Post-Invoke-Success;
		#clear APT::Architectures;
		APT::Architecture "$2";
		APT::Architectures { "$2"; };
		APT::Sandbox::User "$(id -un)";
		Acquire::Languages "none";
		Acquire::Retries "3";
		Dir::State "$1/state";
		Dir::State::status "$1/state/status";
		Dir::State::lists "$1/lists";
		Dir::Cache "$1/cache";
		END
		cat
	} >"$1/apt.conf"
}
