# SPDX-License-Identifier: Apache-2.0
# Shared by the installers; sourced, not run.
set -euo pipefail
exec </dev/null
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
START=$SECONDS

# say TEXT: one progress line with the seconds since the start.
say() { printf '[%4ds] %s\n' $((SECONDS - START)) "$*"; }
die() { printf 'error: %s\n' "$*" >&2; exit 1; }

# build PRESET [TARGET...]: configures and builds; the compiler cache is used where it is installed.
build() {
  local preset=$1
  shift
  say "Configuring build/$preset"
  (cd "$ROOT" && cmake --preset "$preset" --log-level=WARNING "${CMAKE_ARGS[@]}") || die "CMake could not configure preset '$preset'"
  say "Building (the first build takes a few minutes, later ones seconds)"
  NINJA_STATUS='[%f/%t, %es] ' ninja -C "$ROOT/build/$preset" "$@" | progress || die "The build failed; the messages above say where"
  say "Built"
}

# progress: every line on a terminal; otherwise each fiftieth step, and everything that is not a step.
progress() {
  if [ -t 1 ]; then cat; return; fi
  awk '/^\[[0-9]+\/[0-9]+, / { split(substr($1, 2), n, /[\/,]/); if (n[1] % 50 == 0 || n[1] == n[2]) { print; fflush() } next } { print; fflush() }'
}

# say_learner: what goes without it.
say_learner() { [ -x "$ROOT/build/release/bin/tw-learner" ] || say "Without neural cost models and TorchScript files; installers/learner adds them (libtorch, 1 GB)"; }
CMAKE_ARGS=()
