# Copyright The operator-forge authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The events of a run, as lines of JSON. Ansible removes the results of tasks with `no_log` before a callback sees them."""

import json
import re

from ansible.plugins.callback import CallbackBase

# How long a message may be: a condition has at most 32 KiB.
LONGEST = 8192

HIDDEN = "the output has been hidden due to the fact that 'no_log: true' was specified for this result"


def short(text):
    text = text if isinstance(text, str) else str(text)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


class Writer:
    def __init__(self, stream):
        self.stream = stream

    def write(self, event):
        self.stream.sendall(json.dumps(event, default=str).encode("utf-8", "replace") + b"\n")


def show(display, writer):
    """Sends warnings and errors that Ansible shows to the operator's log. They name files and lines, and no results of tasks."""

    original = display.__class__.display

    def patched(self, msg, *args, **kwargs):
        # A worker process sends what it shows through a queue, to the process that shows it.
        if self._final_q:
            return original(self, msg, *args, **kwargs)
        text = re.sub(r"\x1b\[[0-9;]*m", "", str(msg)).strip()
        if text.startswith("["):
            writer.write({"event": "log", "message": short(text)})

    display.__class__.display = patched


class Events(CallbackBase):
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "stdout"
    CALLBACK_NAME = "operator_events"

    def __init__(self, writer):
        super().__init__()
        self.writer = writer
        self.stats = None
        self.rescued = {}

    def _task(self, event, result, **more):
        task = result.task
        data = result.result
        what = {
            "event": event,
            "task": short(task.get_name()),
            "action": task.action,
            "role": task._role.get_name() if task._role else None,
            "host": result.host.get_name(),
        }
        if path := task.get_path():
            what["path"] = path
        what.update(more)
        if data.get("changed"):
            what["changed"] = True
        return what, data

    def _metric(self, what, data):
        if what["action"].rpartition(".")[2] == "osdk_metric" and isinstance(data.get("metric"), dict):
            what["metric"] = data["metric"]

    def _message(self, data):
        if "censored" in data:
            return HIDDEN
        message = data.get("msg")
        message = message if isinstance(message, str) else json.dumps(message, default=str) if message else ""
        for key in ("stderr", "module_stderr"):
            more = data.get(key)
            if isinstance(more, str) and more.strip() and more.strip() not in message:
                message = f"{message}: {more.strip()[-1024:]}" if message else more.strip()[-1024:]
        if not message and data.get("exception"):
            message = str(data["exception"]).strip().splitlines()[-1]
        return short(message.strip() or "unknown playbook failure")

    def v2_playbook_on_task_start(self, task, is_conditional):
        self.writer.write({"event": "task", "task": short(task.get_name()), "action": task.action})

    def v2_playbook_on_handler_task_start(self, task):
        self.v2_playbook_on_task_start(task, False)

    def v2_runner_on_ok(self, result):
        what, data = self._task("ok", result)
        name = what["action"].rpartition(".")[2]
        if name == "requeue_after" and isinstance(data.get("period"), str):
            what["period"] = data["period"]
        self._metric(what, data)
        if name in ("debug", "assert") and "censored" not in data and data.get("msg") is not None:
            what["message"] = self._message({"msg": data["msg"]})
        self.writer.write(what)

    def v2_runner_on_failed(self, result, ignore_errors=False):
        # Ansible has counted it already: as a failure, or as one that a `rescue` handles.
        host = result.host.get_name()
        rescued = self.stats.rescued.get(host, 0)
        before = self.rescued.get(host, 0)
        what, data = self._task("failed", result, ignored=bool(ignore_errors), rescued=rescued > before)
        self.rescued[host] = rescued
        what["message"] = self._message(data)
        self.writer.write(what)

    def v2_runner_item_on_failed(self, result):
        what, data = self._task("item_failed", result)
        what["message"] = self._message(data)
        if "censored" not in data:
            what["item"] = short(self._get_item_label(data))
        self.writer.write(what)

    def v2_runner_item_on_ok(self, result):
        what, data = self._task("item_ok", result)
        self._metric(what, data)
        self.writer.write(what)

    def v2_runner_on_skipped(self, result):
        self.writer.write(self._task("skipped", result)[0])

    def v2_runner_on_unreachable(self, result):
        what, data = self._task("unreachable", result, ignored=bool(result.task.ignore_unreachable))
        what["message"] = self._message(data)
        self.writer.write(what)

    def v2_playbook_on_stats(self, stats):
        names = ("ok", "changed", "skipped", "failures", "rescued", "ignored")
        # Of all hosts: an inventory may name others.
        counts = {name: sum(getattr(stats, name).values()) for name in names}
        counts["unreachable"] = sum(stats.dark.values())
        self.writer.write({"event": "stats", **counts})
