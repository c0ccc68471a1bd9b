"""Pages are run by copies of a process that has already imported what they import.

A kernel that begins with nothing imports NumPy, SciPy, pandas, scikit-learn, matplotlib and the package, and
many pages do not take longer than that. Before any page is read, Sphinx's own process, which has them all,
makes a copy of itself, and this makes a copy of itself for each page: a kernel that no page has changed.
"""

import importlib
import json
import multiprocessing
import os
import select
import shutil
import signal
import socket
import subprocess
import tempfile
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

from jupyter_client.connect import KernelConnectionInfo
from jupyter_client.provisioning import KernelProvisionerFactory, LocalProvisioner
from sphinx.application import Sphinx

# What pages need that the extensions have not imported.
NEEDED = (
    "ipykernel.kernelapp",
    "matplotlib.pyplot",
    "matplotlib_inline.backend_inline",
    "numba",
    "scipy.stats",
)
# Seconds after which it is looked whether the build was killed, which tells nobody.
A_WHILE = 2.0
_address: list[str] = []


def begin(app: Sphinx) -> None:
    """Make the process that is copied for each page, and let kernels be such copies."""
    for name in NEEDED:
        importlib.import_module(name)
    folder = tempfile.TemporaryDirectory(prefix="kernels-")
    _address[:] = [str(Path(folder.name) / "socket")]
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(_address[0])
    listener.listen()
    asked = listener, os.getpid()
    server = multiprocessing.get_context("fork").Process(target=copy_for_each, args=asked, daemon=True)
    server.start()
    listener.close()

    def end(app: Sphinx, error: Exception | None) -> None:
        server.kill()
        folder.cleanup()

    app.connect("build-finished", end)
    factory = KernelProvisionerFactory.instance()
    factory.provisioners["warm"] = EntryPoint("warm", f"{__name__}:WarmProvisioner", factory.GROUP_NAME)
    factory.default_provisioner_name = "warm"


def copy_for_each(listener: socket.socket, builder: int) -> None:
    """Become a kernel in a new process for everybody who asks, as long as the process that builds lives."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # who asked waits for it
    while os.getppid() == builder:
        if not select.select([listener], [], [], A_WHILE)[0]:
            continue
        asked, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            become_kernel(asked)
            os._exit(0)
        asked.close()
    shutil.rmtree(Path(listener.getsockname()).parent)  # which the build would have removed


def become_kernel(asked: socket.socket) -> None:
    """Run a kernel as it was asked for; the socket stays open as long as it lives."""
    from ipykernel.kernelapp import IPKernelApp  # noqa: PLC0415 -- where pages are run only

    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    wanted = json.loads(asked.makefile().readline())
    os.environ.clear()
    os.environ.update(wanted["env"])
    os.chdir(wanted["cwd"])
    asked.sendall(f"{os.getpid()}\n".encode())
    # A kernel that knows its parent ends when that does.
    IPKernelApp.launch_instance([*wanted["arguments"], f"--IPKernelApp.parent_handle={os.getppid()}"])


class Kernel:
    """A kernel that is another process's child: what `subprocess.Popen` knows of one that is ours."""

    stdin = stdout = stderr = None

    def __init__(self, arguments: list[str], cwd: str, env: dict[str, str]) -> None:
        self._line = socket.socket(socket.AF_UNIX)
        self._line.connect(_address[0])
        self._line.sendall(json.dumps({"arguments": arguments, "cwd": cwd, "env": env}).encode() + b"\n")
        self.pid = int(self._line.makefile().readline())

    def poll(self) -> int | None:
        """None as long as it lives: it says nothing, and its end of the line is closed when it is gone."""
        return 0 if select.select([self._line], [], [], 0)[0] else None

    def wait(self, timeout: float | None = None) -> int:
        """Wait until it is gone."""
        if not select.select([self._line], [], [], timeout)[0]:
            raise subprocess.TimeoutExpired("kernel", timeout or 0)
        return 0

    def send_signal(self, number: int) -> None:
        """Send it a signal."""
        os.kill(self.pid, number)

    def kill(self) -> None:
        """End it."""
        self.send_signal(signal.SIGKILL)

    terminate = kill


class WarmProvisioner(LocalProvisioner):
    """Kernels as copies of a process that has imported everything."""

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> KernelConnectionInfo:
        """Ask for a copy in place of starting the command, whose words from `-f` on are the kernel's."""
        process = Kernel(cmd[cmd.index("-f") :], str(kwargs.get("cwd") or Path.cwd()), kwargs["env"])
        self.process, self.pid, self.pgid = process, process.pid, process.pid
        self.cwd = kwargs.get("cwd", Path.cwd())
        return self.connection_info

    async def shutdown_requested(self, restart: bool = False) -> None:
        """A page that is done leaves nothing to tidy up."""
        await self.kill(restart)


def setup(app: Sphinx) -> dict[str, Any]:
    """Begin before pages are read."""
    app.connect("builder-inited", begin)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
