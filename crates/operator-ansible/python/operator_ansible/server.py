# Copyright The operator-forge authors
# SPDX-License-Identifier: GPL-3.0-or-later
#
# This program is free software: you can redistribute it and/or modify it under the terms of the GNU General Public License as published by
# the Free Software Foundation, either version 3 of the License, or (at your option) any later version. It comes WITHOUT ANY WARRANTY. See
# https://www.gnu.org/licenses/ for the license.
#
# Why not Apache-2.0, as the rest of the repository: it imports ansible-core, which is GPL-3.0-or-later. It is a program of its own, which the
# operator starts as a process, and to which it speaks over pipes and a socket.
"""The fork server: imports Ansible once, and forks a process for each run.

Standard input has one request a line: `{"run": {...}}` or `{"cancel": "ID"}`. Standard output has `{"ready": {...}}` and
`{"ended": {...}}`. The events of a run go to the socket of the operator. When standard input ends, so do all runs and this server.
"""

import ctypes
import gc
import json
import os
import select
import shutil
import signal
import socket
import sys
import time

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36

# How long killed processes may take to end. One that hangs in the kernel must not hold up the other runs.
PATIENCE = 5.0

_libc = ctypes.CDLL(None, use_errno=True)


def prctl(option, value):
    if _libc.prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


def children(parent):
    """The processes whose parent is this one."""
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                stat = file.read()
        except OSError:
            continue
        # The name of the program, in parentheses, may have spaces and parentheses.
        if int(stat[stat.rindex(b")") + 2 :].split()[1]) == parent:
            found.append(int(name))
    return found


class Server:
    def __init__(self, directory, prefer_in_process):
        self.directory = directory
        self.prefer_in_process = prefer_in_process
        self.runs = {}  # The processes of the runs, by their ids.
        self.requests = b""

    def say(self, message):
        data = json.dumps(message).encode() + b"\n"
        while data:
            data = data[os.write(1, data) :]

    def start(self, request):
        id_ = request["id"]
        place = os.path.join(self.directory, "runs", id_)
        stream = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            stream.connect(os.path.join(self.directory, "events"))
            stream.sendall(json.dumps({"id": id_}).encode() + b"\n")
            os.makedirs(place, mode=0o700)
            pid = os.fork()
        except OSError as error:
            stream.close()
            shutil.rmtree(place, ignore_errors=True)
            self.say({"ended": {"id": id_, "error": f"the run cannot be started: {error}"}})
            return
        if pid == 0:
            self.be_run(request, place, stream)
        stream.close()
        self.runs[pid] = id_

    def be_run(self, request, place, stream):
        """Makes this process, which was forked, the run."""
        code = 70
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            # What its processes leave behind comes to it, so that the server knows whose it is.
            prctl(PR_SET_CHILD_SUBREAPER, 1)
            os.setsid()
            from operator_ansible import run

            code = run.run(request, place, stream, self.prefer_in_process)
        finally:
            os._exit(code)

    def reap(self):
        """Takes the ended processes, and ends what they left behind."""
        ended = []
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if pid == 0:
                break
            if pid in self.runs:
                ended.append((self.runs.pop(pid), status))
        if not ended:
            return
        self.sweep()
        for id_, status in ended:
            shutil.rmtree(os.path.join(self.directory, "runs", id_), ignore_errors=True)
            if os.WIFSIGNALED(status):
                how = {"signal": os.WTERMSIG(status)}
            else:
                how = {"code": os.WEXITSTATUS(status)}
            self.say({"ended": {"id": id_, **how}})

    def sweep(self):
        """Kills the children that are no runs: processes of ended runs, which come to this server, again and again until none is left."""
        deadline = time.monotonic() + PATIENCE
        while True:
            left = [pid for pid in children(os.getpid()) if pid not in self.runs]
            if not left:
                return
            if time.monotonic() > deadline:
                print(f"processes {left} do not end", file=sys.stderr)
                return
            for pid in left:
                try:
                    os.kill(pid, signal.SIGKILL)
                except OSError:
                    pass
                try:
                    os.waitpid(pid, os.WNOHANG)
                except OSError:
                    pass
            time.sleep(0.001)

    def cancel(self, id_):
        for pid, run in self.runs.items():
            if run == id_:
                os.kill(pid, signal.SIGKILL)

    def request(self, line):
        message = json.loads(line)
        if "run" in message:
            self.start(message["run"])
        elif "cancel" in message:
            self.cancel(message["cancel"])

    def serve(self):
        wake, waker = os.pipe()
        os.set_blocking(wake, False)
        os.set_blocking(waker, False)
        signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        while True:
            ready, _, _ = select.select([0, wake], [], [])
            if wake in ready:
                try:
                    while os.read(wake, 4096):
                        pass
                except BlockingIOError:
                    pass
            self.reap()
            if 0 in ready:
                data = os.read(0, 1 << 16)
                if not data:
                    return
                self.requests += data
                *lines, self.requests = self.requests.split(b"\n")
                for line in lines:
                    self.request(line)

    def end(self):
        for pid in list(self.runs):
            os.kill(pid, signal.SIGKILL)
        self.runs.clear()
        self.sweep()
        shutil.rmtree(self.directory, ignore_errors=True)


def main():
    directory = sys.argv[1]
    # In place of the directory of this file, whose names are too common.
    sys.path[0] = os.path.join(directory, "python")
    os.makedirs(os.path.join(directory, "runs"), mode=0o700, exist_ok=True)
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    # Every process that Python forks ends with the one that forked it. The server itself ends with its standard input.
    os.register_at_fork(after_in_child=lambda: prctl(PR_SET_PDEATHSIG, signal.SIGKILL))
    # A stop of the operator's process group is the operator's to handle.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    server = Server(directory, prefer_in_process=os.environ.get("OPERATOR_ANSIBLE_MODULES") != "processes")
    try:
        from operator_ansible import run

        version = run.load(directory)
        # What is loaded stays shared with the runs: the collector would write to every page.
        gc.collect()
        gc.freeze()
        server.say({"ready": {"pid": os.getpid(), "ansible": version}})
        server.serve()
    finally:
        server.end()


if __name__ == "__main__":
    main()
