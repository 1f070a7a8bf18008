#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The CI recipes are well-formed and run what there is; README's table of kernels and acltap check
# name the same versions.
. "$(dirname "$0")/lib.sh"

if "$PYTHON" -c 'import yaml' 2>/dev/null; then
	check "the CI recipes run .ci/run and make vm-test, in Debian 12" "$PYTHON" - <<'END'
import yaml

def commands(node):
    if isinstance(node, dict):
        for key, value in node.items():
            if key in ("run", "script"):
                yield from [value] if isinstance(value, str) else value
            yield from commands(value)
    elif isinstance(node, list):
        for value in node:
            yield from commands(value)

def images(node):
    if isinstance(node, dict):
        for key, value in node.items():
            if key == "image":
                yield value
            yield from images(value)

for name in ".ci/github.yml", ".ci/gitlab.yml":
    with open(name, encoding="utf-8") as file:
        recipe = yaml.safe_load(file)
    found = list(commands(recipe))
    for command in ".ci/run", "make vm-test":
        assert command in found, (name, command, found)
    assert set(images(recipe)) == {"debian:12"}, (name, list(images(recipe)))
END
else
	skip_one "CI recipes" "no YAML module"
fi
check "there is something to run: .ci/run" test -x .ci/run
check "there is something to run: make vm-test" make -n vm-test

n=0
while IFS='|' read -r _ feature since _; do
	feature=${feature## } feature=${feature%% } since=${since// /}
	grep -q "\"$feature" user/cmd/check.c || continue
	n=$((n + 1))
	label=$(grep -o "\"$feature[^\"]*\"" user/cmd/check.c)
	case $label in
	*'('[0-9]*) assert_eq "README: $feature" "$since" "$(sed 's/.*(\(.*\)).*/\1/' <<<"$label")" ;;
	*) ok "README: $feature" ;;
	esac
done < <(sed -n '/^## Supported kernels/,/^## T/p' README.md | grep '^| ')
assert_eq "README names the features that acltap check does" "$((n >= 5))" 1
finish
