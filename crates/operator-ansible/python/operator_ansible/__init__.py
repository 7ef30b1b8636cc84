# Copyright The operator-forge authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs Ansible for an operator. `server.py` says why this part has another license than the rest of the repository."""
