# SPDX-License-Identifier: LGPL-3.0-or-later
# shellcheck shell=bash
#
# Sourced by a benchmark's run: $build is the build folder, and
# build_benchmark TARGET builds a program in it, or ends with status 2.

top=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")
build=${SCALE_BUILD:-$top/build}

build_benchmark() {
	log=$build/log/bench-$1.log
	mkdir -p "$build/log"
	if [ ! -e "$build/CMakeCache.txt" ] &&
		! cmake -S "$top" -B "$build" -DSCALE_FSAL=OFF >"$log" 2>&1; then
		tail -n 20 "$log" >&2
		echo "ci/bench: configuring failed: run ci/setup" >&2
		exit 2
	fi
	if ! cmake --build "$build" --target "$1" -j "$(nproc)" \
		>>"$log" 2>&1; then
		tail -n 20 "$log" >&2
		echo "ci/bench: building failed (log: $log): run ci/setup" >&2
		exit 2
	fi
}
