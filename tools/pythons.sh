#!/bin/sh
# The supported Pythons that this machine has beside one: a path on each line, the newest first.
# Usage: tools/pythons.sh PYTHON, the one that is not named again. Looks on PATH and at pyenv's.
this=$("$1" -c 'import sys; print("3.%d" % sys.version_info[1])' 2>/dev/null)
versions=${PYENV_ROOT:-$(pyenv root 2>/dev/null || echo "$HOME/.pyenv")}/versions
for version in 3.14 3.13 3.12 3.11; do
  [ "$version" = "$this" ] && continue
  # Of pyenv's the highest; its shims on PATH may be there without what they stand for.
  for python in "$(command -v "python$version")" \
    $(ls -d "$versions/$version".*/bin/python 2>/dev/null | sort -t. -k3 -rn); do
    if [ -n "$python" ] && "$python" -c 'import venv, ensurepip' 2>/dev/null; then
      echo "$python"
      break
    fi
  done
done
