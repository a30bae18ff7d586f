# SPDX-License-Identifier: LGPL-3.0-or-later
#
# The engine against a reference model. MODEL_SEED, MODEL_OPS, MODEL_SECONDS and
# MODEL_THREADS in the environment reproduce or extend a run (model_test.c).

add_executable(test_model
	model_change.c
	model_check.c
	model_engine.c
	model_exact.c
	model_fetch.c
	model_foreign.c
	model_iterate.c
	model_misc.c
	model_pool.c
	model_read.c
	model_run.c
	model_test.c
	model_values.c
	model_world.c)
target_include_directories(test_model PRIVATE
	${CMAKE_SOURCE_DIR}/mdcache_ext/src ${CMAKE_SOURCE_DIR}/tests/unit)
target_link_libraries(test_model PRIVATE mdcache_ext PkgConfig::CUNIT)
add_test(NAME engine/model COMMAND test_model)
# By steps, not by time: a busy machine must not make it test less. Of each of
# the four tests:
set(ops 1000000)
if(SCALE_SANITIZE MATCHES thread)
	set(ops 60000)
elseif(SCALE_SANITIZE)
	set(ops 150000)
endif()
set_tests_properties(engine/model PROPERTIES TIMEOUT 900 PROCESSORS 2
	ENVIRONMENT "MODEL_OPS=${ops}")
