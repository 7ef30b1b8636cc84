#!/usr/bin/python
# Copyright The operator-forge authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asks the operator to run the role again."""

DOCUMENTATION = """
module: requeue_after
short_description: Run the role or playbook again after a time
description: The operator runs the role or playbook of the custom resource again after this time, if nothing changes earlier.
author: The operator-forge authors
options:
  period:
    description: The time, such as C(30s), C(5m) or C(1h30m).
    type: str
    required: true
"""

EXAMPLES = """
- operator_sdk.util.requeue_after:
    period: 30s
  when: not database.ready
"""

import re

from ansible.module_utils.basic import AnsibleModule

PART = r"(\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)"


def main():
    module = AnsibleModule(argument_spec={"period": {"type": "str", "required": True}}, supports_check_mode=True)
    period = module.params["period"]
    if not re.fullmatch(f"({PART})+", period):
        module.fail_json(msg=f"period is `{period}`, and has to be a duration such as 30s, 5m or 1h30m")
    module.exit_json(period=period)


if __name__ == "__main__":
    main()
