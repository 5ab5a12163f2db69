"""Verification of a workspace by its public files alone: `Verifier(policy).verify(tree)`.

The twelve steps are described in docs/verify.md and named in steps.py. What the verifier chooses
(network, grade, trusted keys) stands in policy.py; the tested files choose nothing.
"""
