#!/usr/bin/env bash
# What demo.sh and test.sh share: system packages, the virtual environment, the models. Source it, or run it to set up
# without running anything (`./scripts/setup.sh`).
# PYTHON names an interpreter, VENV a folder for the environment (default: .venv in the repository).

set -euo pipefail
ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
VENV="${VENV:-$ROOT/.venv}"

say() { printf '\033[1m== %s\033[0m\n' "$*" >&2; }
fail() { printf '%s\n' "$*" >&2; exit 3; }

# The first Python that is new enough. Those after 3.13 have no ROS 2 wheels yet.
find_python() {
  local candidate
  for candidate in "${PYTHON:-}" python3 python3.12 python3.13 python3.11 python3.10; do
    if [ -n "$candidate" ] && command -v "$candidate" > /dev/null \
        && "$candidate" -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 13))'; then
      command -v "$candidate"
      return
    fi
  done
  return 1
}

has_library() { { /sbin/ldconfig -p || ldconfig -p; } 2> /dev/null | grep -qF "$1"; }

# Debian and Ubuntu packages that are not there; each is looked for by what it brings, so that another way of
# installing it counts too.
missing_packages() {
  local python="$1"
  command -v g++ > /dev/null || echo g++
  if [ -z "$python" ]; then
    echo python3 python3-venv python3-dev
  else
    "$python" -c 'import ensurepip, venv' 2> /dev/null || echo python3-venv
    "$python" -c 'import os, sysconfig
raise SystemExit(not os.path.exists(os.path.join(sysconfig.get_paths()["include"], "Python.h")))' || echo python3-dev
  fi
  command -v espeak-ng > /dev/null || echo espeak-ng
  has_library libEGL.so.1 || echo libegl1
  has_library libGL.so.1 || echo libgl1
  compgen -G '/usr/share/glvnd/egl_vendor.d/*.json' > /dev/null || echo libegl-mesa0
  { compgen -G '/usr/lib/*/dri/*_dri.so' || compgen -G '/usr/lib/*/libgallium*.so'; } > /dev/null || echo libgl1-mesa-dri
  has_library libportaudio.so.2 || echo libportaudio2
  # The tests play to a sound server without a sound card.
  [ -z "${TESTING:-}" ] || command -v pulseaudio > /dev/null || echo pulseaudio libasound2-plugins
}

system_packages() {
  local python wanted
  python="$(find_python || true)"
  wanted="$(missing_packages "$python" | xargs)"
  if [ -n "$wanted" ]; then
    if ! command -v apt-get > /dev/null; then
      fail "This machine lacks what these Debian packages bring: $wanted. Install them, then run this again."
    elif [ "$(id -u)" != 0 ]; then
      fail "Run this once, then start again: sudo apt-get install -y --no-install-recommends $wanted"
    fi
    say "Installing system packages: $wanted"
    apt-get update -qq >&2
    # shellcheck disable=SC2086
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $wanted >&2
  fi
  find_python > /dev/null || fail 'Python 3.10 to 3.13 is needed and not here: install one and name it, PYTHON=python3.12 ./scripts/...'
}

# What the installation was made from: the build files and the messages. The Python code itself is used in place.
fingerprint() {
  (cd "$ROOT" && cat pyproject.toml setup.py CMakeLists.txt package.xml msg/*.msg srv/*.srv action/*.action \
    && find launch config avatars -type f | LC_ALL=C sort) | cat - <(echo "$VENV") | sha256sum | cut -d' ' -f1
}

# environment EXTRA...: the virtual environment with the package and these extras; nothing to do when it is there.
environment() {
  local now extra extras there=yes
  now="$(fingerprint)"
  extras="$(IFS=,; echo "$*")"
  for extra in "$@"; do
    [ "$(cat "$VENV/.emavatar-$extra" 2> /dev/null)" = "$now" ] || there=no
  done
  if [ "$there" = yes ] && [ -x "$VENV/bin/emavatar" ]; then
    return
  fi
  if ! [ -x "$VENV/bin/python" ]; then
    say "Making the environment $VENV"
    "$(find_python)" -m venv "$VENV"
    "$VENV/bin/python" -m pip install --quiet --disable-pip-version-check --upgrade pip
  fi
  say "Installing emavatar-ros[$extras] (the first time: some minutes)"
  # In place (-e): the messages are built into the tree, and the code is that of the checkout.
  CMAKE_BUILD_PARALLEL_LEVEL="${CMAKE_BUILD_PARALLEL_LEVEL:-$(getconf _NPROCESSORS_ONLN)}" \
    "$VENV/bin/python" -m pip install --quiet --disable-pip-version-check --progress-bar off -e "$ROOT[$extras]" >&2
  for extra in "$@"; do echo "$now" > "$VENV/.emavatar-$extra"; done
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
  system_packages
  environment embedded
  "$VENV/bin/emavatar" models pull --profile embedded
  "$VENV/bin/emavatar" doctor
fi
