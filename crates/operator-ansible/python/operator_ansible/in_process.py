# Copyright The operator-forge authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the modules of a task in a fork of the process, rather than in a new Python.

A new Python takes 0.1 s to start, and 0.5 s for the modules of kubernetes.core. A fork has everything imported. What is not an ordinary
Python module of Ansible or of a collection, on this host, with this Python, runs as Ansible runs it.
"""

import atexit
import errno
import json
import os
import re
import runpy
import select
import shutil
import signal
import sys
import tempfile

from ansible import constants as C
from ansible.executor import module_common
from ansible.module_utils import _internal
from ansible.module_utils import basic
from ansible.module_utils._internal import _traceback
from ansible.module_utils.common.json import Direction, get_module_encoder
from ansible.plugins.action import ActionBase

enabled = True

PROFILE = "legacy"

# What marks a module as one that Ansible wraps (`new`).
_NEW = re.compile(rb"AnsibleModule\s*\(|from +ansible\.module_utils\.|from +ansible_collections\.[^.]+\.[^.]+\.plugins\.module_utils|import +ansible\.module_utils\.")

# Modules that replace the process, or that look at how they were started.
_NEVER = {"ansible.modules.async_wrapper", "ansible.modules.async_status", "ansible.modules.setup"}

_module_traceback = _traceback._is_module_traceback_enabled if hasattr(_traceback, "_is_module_traceback_enabled") else None


class Job(bytes):
    """Stands for the text of a module that runs in a fork."""

    name: str
    path: str
    parameters: bytes
    environment: dict


def _is_ours(action, task_vars):
    connection = action._connection
    task = action._task
    if not enabled or task.async_val or connection.become or getattr(connection, "_load_name", None) not in ("local", "ansible.builtin.local"):
        return False
    return task_vars.get("ansible_python_interpreter") == sys.executable


def _job(action, module_name, module_args, task_vars):
    """The job for a module, if it can run in a fork."""
    found = action._shared_loader_obj.module_loader.find_plugin_with_context(module_name, ".py", collection_list=action._task.collections)
    path = found.plugin_resolved_path if found.resolved else None
    if not path or not path.endswith(".py"):
        return None
    with open(path, "rb") as file:
        text = file.read()
    if not _NEW.search(text) or b"serialization_profile" in text or b"WANT_JSON" in text or b"respawn_module" in text:
        return None
    try:
        name = module_common._get_ansible_module_fqn(path)
    except ValueError:
        return None
    if name in _NEVER:
        return None
    job = Job(b"job")
    job.name, job.path = name, path
    job.parameters = json.dumps(
        {"ANSIBLE_MODULE_ARGS": module_args}, cls=get_module_encoder(PROFILE, Direction.CONTROLLER_TO_MODULE)
    ).encode()
    job.environment = {}
    action._compute_environment_string(job.environment)
    return job


_configure_module = ActionBase._configure_module
_low_level_execute_command = ActionBase._low_level_execute_command
_make_tmp_path = ActionBase._make_tmp_path
_remove_tmp_path = ActionBase._remove_tmp_path


def configure(self, module_name, module_args, task_vars):
    job = _job(self, module_name, module_args, task_vars) if _is_ours(self, task_vars) else None
    if job is None:
        return _configure_module(self, module_name, module_args, task_vars)
    built = module_common._BuiltModule(
        b_module_data=job, module_style="new", shebang=f"#!{sys.executable}", serialization_profile=PROFILE
    )
    return built, job.path


def execute(self, cmd, sudoable=True, in_data=None, **options):
    if not isinstance(in_data, Job):
        return _low_level_execute_command(self, cmd, sudoable=sudoable, in_data=in_data, **options)
    code, out, err = _fork(in_data)
    out, err = (text.decode("utf-8", "surrogateescape") for text in (out, err))
    return {
        "rc": code,
        "stdout": out,
        "stdout_lines": out.splitlines(),
        "stderr": err,
        "stderr_lines": err.splitlines(),
    }


def _fork(job):
    """Runs the module in a fork; returns its exit code and what it wrote."""
    out, out_end = os.pipe()
    err, err_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.dup2(os.open(os.devnull, os.O_RDWR), 0)
            os.dup2(out_end, 1)
            os.dup2(err_end, 2)
            for end in (out, err, out_end, err_end):
                if end > 2:
                    os.close(end)
            code = _be_module(job)
        finally:
            os._exit(code)
    os.close(out_end)
    os.close(err_end)
    texts = {out: [], err: []}
    left = [out, err]
    ended = None
    while left:
        # A process that the module left in the background may hold the pipes open.
        ready, _, _ = select.select(left, [], [], 0.05 if ended is None else 0)
        for end in ready:
            data = os.read(end, 1 << 16)
            if data:
                texts[end].append(data)
            else:
                left.remove(end)
        if ended is not None and not ready:
            break
        if ended is None:
            done, status = os.waitpid(pid, os.WNOHANG)
            ended = status if done else None
    if ended is None:
        _, ended = os.waitpid(pid, 0)
    os.close(out)
    os.close(err)
    return os.waitstatus_to_exitcode(ended), b"".join(texts[out]), b"".join(texts[err])


def _be_module(job):
    """Makes this process the module; returns its exit code."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    # What Ansible itself would do at its end is not for a module to do.
    atexit._clear()
    sys.stdin = open(0, closefd=False)
    sys.stdout = open(1, "w", closefd=False, encoding="utf-8", errors="surrogateescape")
    sys.stderr = open(2, "w", closefd=False, encoding="utf-8", errors="surrogateescape")
    sys.argv = [job.path]
    os.environ.update(job.environment)
    # It is the module of a task, and not Ansible.
    _internal.is_controller = False
    if _module_traceback is not None:
        _traceback._is_traceback_enabled = _module_traceback
    basic._ANSIBLE_ARGS = job.parameters
    basic._ANSIBLE_PROFILE = PROFILE
    basic._PARSED_MODULE_ARGS = None
    try:
        try:
            globals_ = {"_module_fqn": job.name, "_modlib_path": None}
            runpy.run_module(job.name, init_globals=globals_, run_name="__main__", alter_sys=True)
            raise RuntimeError("New-style module did not handle its own exit.")
        except Exception as error:
            from ansible.module_utils._internal._ansiballz import _loader

            _loader._handle_exception(error, PROFILE)
    except SystemExit as end:
        code = end.code
        if code is None:
            code = 0
        if not isinstance(code, int):
            print(code, file=sys.stderr)
            code = 1
    finally:
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    return code


def make_tmp(self, remote_user=None):
    """Makes the temporary directory of a task without a shell."""
    if self._connection.become or getattr(self._connection, "_load_name", None) not in ("local", "ansible.builtin.local"):
        return _make_tmp_path(self, remote_user)
    self._connection._shell.tmpdir = tempfile.mkdtemp(prefix="ansible-tmp-", dir=C.DEFAULT_LOCAL_TMP)
    return self._connection._shell.tmpdir


def remove_tmp(self, tmp_path, force=False):
    inside = tmp_path is not None and os.path.dirname(tmp_path) == C.DEFAULT_LOCAL_TMP
    if not inside or not (force or self._should_remove_tmp_path(tmp_path)):
        return _remove_tmp_path(self, tmp_path, force)
    try:
        shutil.rmtree(tmp_path)
    except OSError as error:
        if error.errno != errno.ENOENT:
            return _remove_tmp_path(self, tmp_path, force)
    self._connection._shell.tmpdir = None


ActionBase._configure_module = configure
ActionBase._low_level_execute_command = execute
ActionBase._make_tmp_path = make_tmp
ActionBase._remove_tmp_path = remove_tmp
