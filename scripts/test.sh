#!/usr/bin/env bash
# Sets up everything on a fresh machine and runs every check: ruff, mypy, the tests (core, contract, nodes, graph,
# models), a colcon build and a wheel. Ends with 0 when all passed. About 20 minutes the first time on two cores.
#
#   ./scripts/test.sh              all of it
#   ./scripts/test.sh core nodes   only these: lint core contract nodes graph models colcon
# LOGS names a folder for the logs of what runs in the background (default: build/logs).

source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
cd "$ROOT"
WANTED=" ${*:-lint core contract nodes graph models colcon} "
LOGS="${LOGS:-$ROOT/build/logs}"
mkdir -p "$LOGS"
# Libraries that each take every core fight over two; what is timed in the tests sets its own numbers.
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 TOKENIZERS_PARALLELISM=false
export CMAKE_BUILD_PARALLEL_LEVEL="${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}"
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

# The same package by colcon, as on a robot with apt ROS 2, on the ROS wheels of the environment; then a wheel.
colcon_build() {
  local work="$ROOT/build/colcon" prefix="$ROOT/build/colcon/install/emavatar_ros"
  "$VENV/bin/python" -m pip install --quiet --disable-pip-version-check colcon-common-extensions
  # The environment's python is one with -e's finder: a copy of the paths without it, or the check would import that.
  mkdir -p "$work"
  AMENT_PREFIX_PATH="$VENV" CMAKE_PREFIX_PATH="$VENV" PATH="$VENV/bin:$PATH" nice "$VENV/bin/colcon" --log-base "$work/log" build \
    --base-paths "$ROOT" --build-base "$work/build" --install-base "$work/install" --packages-select emavatar_ros \
    --event-handlers console_direct+ --cmake-args -G Ninja -DCMAKE_MAKE_PROGRAM="$VENV/bin/ninja" \
    -DPython3_EXECUTABLE="$VENV/bin/python3" -DBUILD_TESTING=OFF || return 1
  "$VENV/bin/python" "$ROOT/scripts/check_install.py" "$prefix"
}

wheel_build() {
  rm -rf build/wheel
  "$VENV/bin/python" -m pip wheel --quiet --disable-pip-version-check --no-deps -w build/wheel . \
    && "$VENV/bin/python" scripts/check_install.py build/wheel/*.whl
}

system_packages
begin=$SECONDS
environment embedded
environment test
say "environment ready after $((SECONDS - begin)) s"

if wants contract || wants models || wants graph || wants nodes; then
  pull_models > "$LOGS/models.log" 2>&1 &
  models=$!
fi
if wants lint; then
  check ruff "$VENV/bin/ruff" check .
  check mypy "$VENV/bin/mypy"
fi
if wants core; then check core tests core -n 2; fi
if [ -n "${models:-}" ]; then
  check 'models pulled' wait "$models" || cat "$LOGS/models.log"
fi
if wants contract; then check contract tests contract; fi
if wants nodes; then check nodes tests nodes; fi
if wants models; then check models tests models; fi
if wants graph; then check graph tests graph; fi
if wants colcon; then
  check colcon colcon_build > "$LOGS/colcon.log" 2>&1 || true
  check wheel wheel_build
fi

if [ "${#FAILED[@]}" -gt 0 ]; then
  say "failed: ${FAILED[*]}"
  exit 1
fi
say "all passed in $((SECONDS - begin)) s"
