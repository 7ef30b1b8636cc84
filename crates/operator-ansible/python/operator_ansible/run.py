# Copyright The operator-forge authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One run of a role or a playbook, in a process of its own."""

import os
import sys
import tempfile

# What a role of an operator uses. What is imported here is imported once, and shared by all runs.
PRELOADED = [
    "ansible.executor.playbook_executor",
    "ansible.playbook.play",
    "ansible.plugins.strategy.linear",
    "ansible.plugins.connection.local",
    "ansible.plugins.shell.sh",
    "ansible.plugins.action.normal",
    "ansible.plugins.action.set_fact",
    "ansible.plugins.action.include_vars",
    "ansible.plugins.action.debug",
    "ansible.plugins.action.template",
    "ansible.module_utils.basic",
    "jinja2.sandbox",
]


# What may be missing.
CORE = "ansible_collections.kubernetes.core.plugins"
OPTIONAL = [
    "kubernetes.client",
    "kubernetes.config",
    "kubernetes.dynamic",
    "kubernetes.dynamic.discovery",
    "jsonpatch",
    f"{CORE}.module_utils.common",
    f"{CORE}.module_utils.ansiblemodule",
    f"{CORE}.module_utils.args_common",
    f"{CORE}.module_utils.apply",
    f"{CORE}.module_utils.client.discovery",
    f"{CORE}.module_utils.client.resource",
    f"{CORE}.module_utils.k8s.client",
    f"{CORE}.module_utils.k8s.core",
    f"{CORE}.module_utils.k8s.resource",
    f"{CORE}.module_utils.k8s.runner",
    f"{CORE}.module_utils.k8s.service",
    f"{CORE}.module_utils.k8s.waiter",
]


def load(directory):
    """Imports Ansible and what modules for Kubernetes need. Returns the version of Ansible."""
    os.environ["ANSIBLE_LOCAL_TEMP"] = os.path.join(directory, "tmp")
    os.makedirs(os.environ["ANSIBLE_LOCAL_TEMP"], mode=0o700, exist_ok=True)
    os.environ.setdefault("ANSIBLE_HOME", os.path.join(directory, "home"))
    # Ansible asks for an encoding of UTF-8.
    os.environ.setdefault("LC_ALL", "C.UTF-8")
    # The Ansible of operator-sdk takes conditions that are no booleans, such as `when: name`. Ansible 2.19 refuses them without it.
    os.environ.setdefault("ANSIBLE_ALLOW_BROKEN_CONDITIONALS", "true")
    import importlib

    from ansible.release import __version__

    # An older one evaluates templates in what an object says.
    if [int(part) for part in __version__.split(".")[:2]] < [2, 19]:
        sys.exit(f"ansible-core {__version__} is too old: 2.19 or newer is needed")
    from ansible import context
    from ansible.utils.vars import load_extra_vars
    from ansible.module_utils.common.collections import ImmutableDict
    from ansible.plugins.loader import init_plugin_loader

    context.CLIARGS = ImmutableDict(
        become=None,
        become_ask_pass=False,
        become_method=None,
        become_user=None,
        check=False,
        connection="local",
        diff=False,
        extra_vars=(),
        flush_cache=None,
        force_handlers=None,
        forks=5,
        inventory=(),
        listhosts=None,
        listtags=None,
        listtasks=None,
        private_key_file=None,
        remote_user=None,
        skip_tags=(),
        start_at_task=None,
        step=None,
        subset=None,
        syntax=None,
        tags=("all",),
        timeout=None,
        verbosity=0,
    )
    init_plugin_loader([os.path.join(directory, "collections")])
    for name in PRELOADED:
        importlib.import_module(name)
    for name in OPTIONAL:
        try:
            importlib.import_module(name)
        except ImportError:
            pass
    from ansible.plugins import loader

    for kind in (loader.connection_loader, loader.shell_loader, loader.become_loader):
        list(kind.all(class_only=True))
    list(loader.filter_loader.all())
    list(loader.test_loader.all())
    # The short names of our modules.
    loader.module_loader.add_directory(
        os.path.join(directory, "collections", "ansible_collections", "operator_sdk", "util", "plugins", "modules")
    )
    from operator_ansible import events, in_process  # noqa: F401
    from ansible.inventory.manager import InventoryManager
    from ansible.parsing.dataloader import DataLoader
    from ansible.vars.manager import VariableManager

    # The first use loads plugins, and the settings of plugins.
    data = DataLoader()
    VariableManager(loader=data, inventory=InventoryManager(loader=data, sources=("localhost,",)))
    del load_extra_vars.extra_vars

    return __version__


def _trusted(value):
    """Marks texts of the operator's author: templates in them are evaluated. Those of the object are not marked, and never evaluated."""
    from ansible._internal._datatag._tags import TrustedAsTemplate

    if isinstance(value, str):
        return TrustedAsTemplate().tag(value)
    if isinstance(value, list):
        return [_trusted(item) for item in value]
    if isinstance(value, dict):
        return {key: _trusted(item) for key, item in value.items()}
    return value


def run(request, place, stream, prefer_in_process):
    """Runs what the request asks for; returns the exit code."""
    from operator_ansible import events

    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    # The server's standard error is the operator's log: nothing of a run goes there.
    os.dup2(null, 2)
    writer = events.Writer(stream)
    try:
        return _run(request, place, writer, prefer_in_process)
    except BaseException as error:
        from ansible.errors import AnsibleError

        message = str(error) if isinstance(error, AnsibleError) else f"{type(error).__name__}: {error}"
        writer.write({"event": "error", "message": message})
        return 4


def _run(request, place, writer, prefer_in_process):
    from operator_ansible import events
    from operator_ansible import in_process

    temporary = os.path.join(place, "tmp")
    os.mkdir(temporary, 0o700)
    tempfile.tempdir = temporary
    os.environ.update(
        TMPDIR=temporary,
        HOME=os.environ.get("HOME") or place,
        ANSIBLE_LOCAL_TEMP=temporary,
        ANSIBLE_REMOTE_TEMP=temporary,
        ANSIBLE_ASYNC_DIR=os.path.join(place, "async"),
    )
    for name, content in request.get("files", {}).items():
        path = os.path.join(place, name)
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(content)
    for name, value in request.get("environment", {}).items():
        os.environ[name] = value.replace("{place}", place)

    from ansible import constants as C
    from ansible import context
    from ansible.executor.playbook_executor import PlaybookExecutor
    from ansible.executor.task_queue_manager import AnsibleEndPlay, TaskQueueManager
    from ansible.inventory.manager import InventoryManager
    from ansible.module_utils.common.collections import ImmutableDict
    from ansible.parsing.dataloader import DataLoader
    from ansible.playbook.play import Play
    from ansible.utils.collection_loader import AnsibleCollectionConfig
    from ansible.utils.display import Display
    from ansible.utils.vars import load_extra_vars, load_options_vars
    from ansible.vars.manager import VariableManager

    C.DEFAULT_LOCAL_TMP = temporary
    verbosity = int(request.get("verbosity", 0))
    Display().verbosity = verbosity
    context.CLIARGS = ImmutableDict(context.CLIARGS, verbosity=verbosity)
    # It remembers the variables of the fork server's options, such as `ansible_verbosity`.
    load_options_vars.options_vars = None
    events.show(Display(), writer)
    in_process.enabled = prefer_in_process

    kind, path = request["kind"], request["path"]
    # A role finds its own files, and nothing else is meant for it.
    project = os.path.dirname(path) if kind == "playbook" else place
    os.chdir(project)
    loader = DataLoader()
    loader.set_basedir(project)
    extra = dict(request.get("vars", {}))
    extra.update(_trusted(request.get("trusted", {})))
    load_extra_vars.extra_vars = extra
    inventory = InventoryManager(loader=loader, sources=(os.environ.get("ANSIBLE_INVENTORY") or "localhost,",))
    # Without an own entry, it is the one that Ansible adds to every inventory.
    host = inventory.get_host("localhost")
    host.set_variable("ansible_connection", "local")
    host.set_variable("ansible_python_interpreter", sys.executable)
    host.set_variable("ansible_remote_tmp", temporary)
    variables = VariableManager(loader=loader, inventory=inventory)
    callback = events.Events(writer)
    callback._init_callback_methods()

    if kind == "playbook":
        AnsibleCollectionConfig.playbook_paths = [project]
        executor = PlaybookExecutor([path], inventory, variables, loader, {})
        executor._tqm._callback_plugins.append(callback)
        callback.stats = executor._tqm._stats
        result = executor.run()
        return int(result)
    play = {"name": request.get("name", "role"), "hosts": "localhost", "roles": [{"name": path}]}
    if "/" in path:
        C.DEFAULT_ROLES_PATH = [os.path.dirname(path), *(C.DEFAULT_ROLES_PATH or [])]
        play["roles"] = [{"name": os.path.basename(path)}]
    if os.environ.get("ANSIBLE_GATHERING") == "explicit":
        play["gather_facts"] = False
    manager = TaskQueueManager(inventory=inventory, variable_manager=variables, loader=loader, passwords={}, forks=1)
    manager._callback_plugins.append(callback)
    callback.stats = manager._stats
    play = Play().load(play, variable_manager=variables, loader=loader)
    try:
        try:
            result = manager.run(play)
        except AnsibleEndPlay as end:
            # `meta: end_play`.
            result = end.result
        manager.send_callback("v2_playbook_on_stats", manager._stats)
    finally:
        manager.cleanup()
        loader.cleanup_all_tmp_files()
    return int(result)
