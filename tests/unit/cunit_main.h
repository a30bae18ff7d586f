/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file cunit_main.h
 * @brief One test program is one CUnit suite
 */
#ifndef CUNIT_MAIN_H
#define CUNIT_MAIN_H

#include <CUnit/Basic.h>
#include <stdlib.h>

/**
 * @brief Run a suite and tell what failed
 *
 * @param[in] name   Of the suite
 * @param[in] setup  Run before the first test; not 0 fails the suite. May be
 *                   NULL
 * @param[in] tests  Ends with CU_TEST_INFO_NULL
 *
 * @return The program's exit status: EXIT_FAILURE when a test failed or none
 *         was run.
 */
static inline int cunit_main(const char *name, int (*setup)(void),
			     CU_TestInfo *tests)
{
	CU_SuiteInfo suites[] = {
		{ .pName = name, .pInitFunc = setup, .pTests = tests },
		CU_SUITE_INFO_NULL
	};
	int status = EXIT_FAILURE;

	if (CU_initialize_registry() != CUE_SUCCESS)
		return EXIT_FAILURE;
	if (CU_register_suites(suites) == CUE_SUCCESS) {
		CU_basic_set_mode(CU_BRM_VERBOSE);
		if (CU_basic_run_tests() == CUE_SUCCESS &&
		    CU_get_number_of_tests_run() > 0 &&
		    CU_get_number_of_failures() == 0 &&
		    CU_get_number_of_suites_failed() == 0)
			status = EXIT_SUCCESS;
	}
	CU_cleanup_registry();
	return status;
}

#endif /* CUNIT_MAIN_H */
