# SPDX-License-Identifier: LGPL-3.0-or-later
"""Random operations by many clients, each answer compared with the truth.

    model     what the tree must look like and what each request must answer
    generate  random steps
    clients   the clients, and what each of them can do
    oracle    compares an answer with the model and with the backend
    run       carries out steps, one at a time or several at once
    variants  servers, budgets and clients to run with

A run is told by its variant, its seed and its number of steps.  The next step
is chosen from the model alone, so a run of single steps repeats itself; one
with steps at once is repeated, as near as their order allows, from the trace
that a failure leaves.
"""
