#!/usr/bin/env bash
# Sets up everything on a fresh machine and runs every check: ruff, mypy, the tests (core, contract, nodes, graph,
# models, extras), a colcon build and a wheel. Ends with 0 when all passed. About 20 minutes the first time on two cores.
#
#   ./scripts/test.sh              all of it
#   ./scripts/test.sh core nodes   only these: lint core contract nodes graph models colcon extras
# extras are the workstation's backends, whose libraries take 1.4 GB in build/extras; TORCH names another build of torch
# than the one tested with, pip's way.
# LOGS names a folder for the logs of what runs in the background (default: build/logs).

source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
cd "$ROOT"
TESTING=yes
WANTED=" ${*:-lint core contract nodes graph models colcon extras} "
LOGS="${LOGS:-$ROOT/build/logs}"
mkdir -p "$LOGS"
if [ "$#" -gt 0 ]; then
  for name in "$@"; do
    [[ ' lint core contract nodes graph models colcon extras ' == *" $name "* ]] || { echo "unknown part: $name" >&2; exit 2; }
  done
fi
# Libraries that each take every core fight over two; what is timed in the tests sets its own numbers.
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 TOKENIZERS_PARALLELISM=false
export CMAKE_BUILD_PARALLEL_LEVEL="${CMAKE_BUILD_PARALLEL_LEVEL:-$(getconf _NPROCESSORS_ONLN)}"
# Tests of the graph must meet no other ROS on the network.
export ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST
FAILED=()

wants() { [[ "$WANTED" == *" $1 "* ]]; }
check() {
  local name="$1" begin=$SECONDS
  shift
  say "$name"
  if "$@"; then
    say "$name: passed in $((SECONDS - begin)) s"
  else
    say "$name: FAILED after $((SECONDS - begin)) s"
    FAILED+=("$name")
  fi
}
tests() { if [ -d "test/$1" ]; then "$VENV/bin/python" -m pytest "test/$1" "${@:2}"; else echo "no test/$1"; return 1; fi; }

pull_models() {
  "$VENV/bin/emavatar" models pull --profile embedded && "$VENV/bin/emavatar" models pull qwen-0.5b
}

# What pyproject.toml says is needed to build (colcon and the wheel are built without pip's isolated environment), or for
# the extras named.
requires() {
  "$VENV/bin/python" - "$@" << 'END'
import sys
from pip._vendor import tomli
project = tomli.load(open('pyproject.toml', 'rb'))
extras = project['project']['optional-dependencies']
print('\n'.join([need for name in sys.argv[1:] for need in extras[name]] or project['build-system']['requires']))
END
}

# A copy of the sources: CMake refuses to export a package whose environment lies inside its source folder. Without what
# begins with a dot: mypy, which runs meanwhile, makes and removes files in its cache.
SOURCE="$ROOT/build/source"
copy_sources() {
  # By name, not as ".": the folder itself changes while tools put their caches into it.
  rm -rf "$SOURCE" && mkdir -p "$SOURCE" \
    && (cd "$ROOT" && tar -cf - --exclude=build --exclude='*.so' --exclude=__pycache__ --exclude='*.egg-info' \
      --exclude=emavatar_ros/msg --exclude=emavatar_ros/srv --exclude=emavatar_ros/action -- *) | tar -C "$SOURCE" -xf -
}

# The same package by colcon, as on a robot with apt ROS 2, on the ROS wheels of the environment.
colcon_build() {
  local work="$ROOT/build/colcon"
  AMENT_PREFIX_PATH="$VENV" CMAKE_PREFIX_PATH="$VENV" PATH="$VENV/bin:$PATH" "$VENV/bin/colcon" --log-base "$work/log" \
    build --base-paths "$SOURCE" --build-base "$work/build" --install-base "$work/install" \
    --packages-select emavatar_ros --event-handlers console_direct+ --cmake-args -G Ninja \
    -DPython3_EXECUTABLE="$VENV/bin/python3" -DBUILD_TESTING=OFF \
    && "$VENV/bin/python" scripts/check_install.py "$work/install/emavatar_ros"
}

# And as pip installs it for somebody else: a wheel.
wheel_build() {
  rm -rf build/wheel
  "$VENV/bin/python" -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation -w build/wheel \
    "$SOURCE" \
    && "$VENV/bin/python" scripts/check_install.py build/wheel/*.whl
}

# Before anything runs in the background: the extras' pip reads the environment that this one writes.
build_tools() {
  local needs
  mapfile -t needs < <(requires)
  "$VENV/bin/python" -m pip install --quiet --disable-pip-version-check colcon-common-extensions "${needs[@]}"
}
builds() { copy_sources && colcon_build && wheel_build; }

# The extras' libraries lie in an environment of their own upon the other one, which stays as users have it.
EXTRAS_VENV="$ROOT/build/extras"
install_extras() {
  local needs packages
  "$VENV/bin/python" -m venv "$EXTRAS_VENV" || return 1
  packages="$("$VENV/bin/python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')"
  echo "import site; site.addsitedir('$packages')" \
    > "$("$EXTRAS_VENV/bin/python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')/upon.pth"
  mapfile -t needs < <(requires "$@")
  # Compiling what is never imported would take most of the time.
  "$EXTRAS_VENV/bin/python" -m pip install --quiet --disable-pip-version-check --progress-bar off --no-compile \
    "${needs[@]}" "${TORCH:-torch==2.13.0}"
}

# background NAME COMMAND: runs it with a log of its own; `collect NAME` waits for it and shows the log when it failed.
declare -A RUNNING
background() {
  "${@:2}" > "$LOGS/$1.log" 2>&1 &
  RUNNING[$1]=$!
}
collect() { wait "${RUNNING[$1]}" || { tail -n 60 "$LOGS/$1.log" >&2; return 1; }; }

system_packages
begin=$SECONDS
environment embedded test
say "environment ready after $((SECONDS - begin)) s"

for name in contract nodes graph models; do
  if wants "$name"; then background pull pull_models; break; fi
done
if wants colcon; then
  check 'build tools' build_tools
  background builds builds
fi
if wants extras; then background extras install_extras transformers funasr deepface; fi
if wants lint; then
  check ruff "$VENV/bin/ruff" check .
  check mypy "$VENV/bin/mypy"
fi
if wants core; then check core tests core; fi
# What follows measures time or uses the models: it has the machine for itself.
if [ -n "${RUNNING[builds]:-}" ]; then check 'colcon and wheel' collect builds; fi
if [ -n "${RUNNING[pull]:-}" ]; then check 'models pulled' collect pull; fi
if [ -n "${RUNNING[extras]:-}" ]; then
  check 'extras installed' collect extras
  check extras "$EXTRAS_VENV/bin/python" -m pytest test/extras -rs
fi
for name in contract nodes models graph; do
  if wants "$name"; then check "$name" tests "$name"; fi
done

if [ "${#FAILED[@]}" -gt 0 ]; then
  say "failed: ${FAILED[*]}"
  exit 1
fi
say "all passed in $((SECONDS - begin)) s"
