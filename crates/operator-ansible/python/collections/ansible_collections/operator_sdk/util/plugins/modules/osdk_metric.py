#!/usr/bin/python
# Copyright The operator-forge authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes a metric of the operator."""

DOCUMENTATION = """
module: osdk_metric
short_description: Change a metric of the operator
description: Creates the metric at its first use. Exactly one of counter, gauge, histogram and summary is given.
author: The operator-forge authors
options:
  name:
    description: The name of the metric.
    type: str
    required: true
  description:
    description: What it measures.
    type: str
    required: true
  counter:
    description: Adds to a counter.
    type: dict
    suboptions:
      increment: {type: bool, description: Adds one.}
      add: {type: float, description: Adds this.}
  gauge:
    description: Changes a gauge.
    type: dict
    suboptions:
      set: {type: float, description: Sets it.}
      increment: {type: bool, description: Adds one.}
      decrement: {type: bool, description: Subtracts one.}
      set_to_current_time: {type: bool, description: Sets it to the time in seconds.}
      add: {type: float, description: Adds this.}
      subtract: {type: float, description: Subtracts this.}
  histogram:
    description: Observes a value.
    type: dict
    suboptions:
      observe: {type: float, description: The value.}
  summary:
    description: Observes a value.
    type: dict
    suboptions:
      observe: {type: float, description: The value.}
"""

import math
import re

from ansible.module_utils.basic import AnsibleModule


def kind(**options):
    one = list(options)
    return {"type": "dict", "options": options, "mutually_exclusive": [one], "required_one_of": [one]}


def main():
    number, flag = {"type": "float"}, {"type": "bool"}
    kinds = ["counter", "gauge", "histogram", "summary"]
    module = AnsibleModule(
        argument_spec={
            "name": {"type": "str", "required": True},
            "description": {"type": "str", "required": True},
            "counter": kind(increment=flag, add=number),
            "gauge": kind(
                set=number, increment=flag, decrement=flag, set_to_current_time=flag, add=number, subtract=number
            ),
            "histogram": kind(observe=number),
            "summary": kind(observe=number),
        },
        mutually_exclusive=[kinds],
        required_one_of=[kinds],
        supports_check_mode=True,
    )
    name = module.params["name"]
    if not re.fullmatch("[a-zA-Z_:][a-zA-Z0-9_:]*", name):
        module.fail_json(msg=f"name is `{name}`, which is no name of a metric")
    metric = {key: value for key, value in module.params.items() if value is not None}
    for of in kinds:
        if of in metric:
            metric[of] = {key: value for key, value in metric[of].items() if value is not None}
            if not all(math.isfinite(value) for value in metric[of].values()):
                module.fail_json(msg=f"{of} is {metric[of]}, and has to be finite")
    if metric.get("counter", {}).get("add", 0) < 0:
        module.fail_json(msg="counter metrics cannot decrease in value")
    module.exit_json(changed=not module.check_mode, metric=metric)


if __name__ == "__main__":
    main()
