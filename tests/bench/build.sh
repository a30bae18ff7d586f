# SPDX-License-Identifier: LGPL-3.0-or-later
# shellcheck shell=bash
#
# Sourced by a benchmark's run: $build is the build folder;
# build_benchmark TARGET... builds programs in it, or ends with status 2;
# serve_benchmark NAME ARGUMENT... builds what the benchmarks of a whole server
# need and runs the main.py in the folder NAME.

top=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")
build=${SCALE_BUILD:-$top/build}
configure=(-DSCALE_FSAL=OFF)

build_benchmark() {
	log=$build/log/bench-$1.log
	mkdir -p "$build/log"
	if [ ! -e "$build/CMakeCache.txt" ] && ! cmake -S "$top" -B "$build" \
		"${configure[@]}" >"$log" 2>&1; then
		tail -n 20 "$log" >&2
		echo "ci/bench: configuring failed: run ci/setup" >&2
		exit 2
	fi
	if ! cmake --build "$build" --target "$@" -j "$(nproc)" \
		>>"$log" 2>&1; then
		tail -n 20 "$log" >&2
		echo "ci/bench: building failed (log: $log): run ci/setup" >&2
		exit 2
	fi
}

serve_benchmark() {
	local main=$top/tests/bench/$1/main.py
	shift
	configure=()
	case " $* " in
	*" --help "* | *" -h "* | *" --version "*) ;;
	*) build_benchmark nfsload delay-relay freshprobe fsalscale \
		fsalfault swbuild ;;
	esac
	unset PYTHONHOME
	export SCALE_BUILD=$build LC_ALL=C.UTF-8 PYTHONPATH=$top/tests/bench
	export SCALE_MODULE=$build/fsal_scale/libfsalscale.so
	PYTHONPATH+=:$top/tests/integration:$top/tests/fsal_fault:$top/config
	exec /usr/bin/python3 -B "$main" "$@"
}
