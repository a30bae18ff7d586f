# SPDX-License-Identifier: LGPL-3.0-or-later
"""The parts of ci/test: functions that add their results to a Runner."""

from lint import lint
from runner import BUILD, JOBS, TOP

MODULE = BUILD / "fsal_scale/libfsalscale.so"


def setup(runner):
    """Install the packages that are missing."""
    runner.step("packages", TOP / "ci/setup", "--no-build")


def build(runner):
    """Configure and build, warnings being errors."""
    if runner.step("build", TOP / "ci/setup"):
        runner.add("module", MODULE.is_file(), f"no {MODULE}")


def unit(runner):
    """Tests of single functions, by ctest and pytest."""
    runner.ctest("unit-ctest", BUILD)
    runner.pytest("unit-pytest", "tests/unit")


def sanitize(runner):
    """The engine's tests under the address, undefined and thread sanitizers.

    They cannot be run inside Ganesha: it loads modules with RTLD_DEEPBIND.
    """
    for name, sanitizers in (("address", "address,undefined"),
                             ("thread", "thread")):
        folder = BUILD / f"sanitize-{name}"
        if (runner.step(f"{name}-configure", "cmake", "-S", TOP, "-B", folder,
                        "-DSCALE_FSAL=OFF", f"-DSCALE_SANITIZE={sanitizers}")
                and runner.step(f"{name}-build", "make", "-C", folder, "-j",
                                JOBS)):
            runner.ctest(f"sanitize-{name}", folder)


def fuzz(runner):
    """The engine's packed formats and name tables, half a minute each."""
    folder = BUILD / "fuzz"
    if (runner.step("fuzz-configure", "cmake", "-S", TOP, "-B", folder,
                    "-DCMAKE_C_COMPILER=clang", "-DSCALE_FSAL=OFF",
                    "-DSCALE_FUZZ=ON")
            and runner.step("fuzz-build", "make", "-C", folder, "-j", JOBS,
                            "fuzz")):
        runner.ctest("fuzz", folder, "-R", "^fuzz_")


def package(runner):
    """cpack, lintian, and the package installed, used and removed."""
    runner.pytest("package", "tests/package")


def serve(runner):
    """ci/serve: mount lines, clean end, plain refusals."""
    runner.pytest("serve", "tests/serve")


def integration(runner):
    """Real servers and real clients over each backend."""
    runner.pytest("integration", "-n", JOBS, "tests/integration",
                  env={"SCALE_MODULE": str(MODULE)})


def available():
    """The parts in their order: name -> function."""
    functions = [setup, build, lint, unit, sanitize, fuzz, package, serve,
                 integration]
    return {function.__name__: function for function in functions}
