"""A headless browser for tests and screenshots."""

import base64
import io
import json
import os
import select
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from matplotlib.image import imread

PATIENCE = 60  # seconds
# The protocol is spoken on the descriptors 3 and 4, which only the child may take.
LAUNCH = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.dup2(int(sys.argv[2]), 4)
os.execv(sys.argv[3], sys.argv[3:])
"""
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--no-first-run",
    "--disable-background-networking",
    # What nobody looks at takes time with every page: extensions, and the page before, kept for a way back.
    "--disable-extensions",
    "--disable-component-update",
    "--disable-features=BackForwardCache,MediaRouter,OptimizationHints,Translate",
    "--remote-debugging-pipe",
)


class Chromium:
    """A headless browser, spoken to in the DevTools protocol over a pipe: no port, and no package."""

    def __init__(self, program: str, profile: Path) -> None:
        ours_in, self._out = os.pipe()
        self._in, theirs_out = os.pipe()
        call = [sys.executable, "-c", LAUNCH, str(ours_in), str(theirs_out), program, *FLAGS]
        self._process = subprocess.Popen(  # noqa: S603 -- the browser found on the path, and our own words
            [*call, f"--user-data-dir={profile}", "about:blank"],
            pass_fds=(ours_in, theirs_out),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(ours_in)
        os.close(theirs_out)
        self._rest, self._last, self.events = b"", 0, []
        self._session: str | None = None
        self._view: tuple[int, str] = (0, "")

    def open(self, page: Path, width: int, scheme: str, *, scripts: bool = True) -> None:
        """Show a file in a new tab, and wait until it is loaded."""
        self._session, self._view = None, (0, "")
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.view(width, scheme)
        self.call("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.show(page)

    def view(self, width: int, scheme: str) -> None:
        """Make the window so wide, for a reader who likes it light or dark, where it is not so already."""
        if self._view[0] != width:
            size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
            self.call("Emulation.setDeviceMetricsOverride", **size)
        if self._view[1] != scheme:
            feature = {"name": "prefers-color-scheme", "value": scheme}
            self.call("Emulation.setEmulatedMedia", features=[feature])
        self._view = (width, scheme)

    def show(self, page: Path) -> None:
        """Show another file in the tab that is open, and wait until it is loaded: quicker than a new tab."""
        self.events = []
        self.call("Page.navigate", url=page.as_uri())
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self._read()

    def evaluate(self, script: str) -> Any:
        """What a script returns in the page."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def screenshot(self, path: Path, clip: dict[str, float] | None = None, form: str = "png") -> None:
        """Keep a picture of the whole page, or of a part of it."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        whole = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 16000), "scale": 1}
        how: dict[str, Any] = {"format": form} if form == "png" else {"format": form, "quality": 45}
        shot = self.call("Page.captureScreenshot", **how, clip=clip or whole, captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(shot["data"]))

    def pixels(self, x: float, y: float, width: float, height: float) -> Any:
        """The colours (height, width, 3 or 4) of a part of the page, between 0 and 1."""
        clip = {"x": x, "y": y, "width": width, "height": height, "scale": 1}
        shot = self.call("Page.captureScreenshot", format="png", clip=clip, captureBeyondViewport=True)
        return imread(io.BytesIO(base64.b64decode(shot["data"])), format="png")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Call a method of the protocol and wait for its answer; events on the way are kept."""
        self._last += 1
        message = {"id": self._last, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._last:
                assert "error" not in answer, (method, answer)
                return dict(answer["result"])

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            assert select.select([self._in], [], [], PATIENCE)[0], "the browser says nothing"
            part = os.read(self._in, 1 << 16)
            assert part, "the browser has gone"
            self._rest += part
        line, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        if "method" in message and message.get("sessionId") == self._session:
            self.events.append(message)
        return message

    def close(self) -> None:
        """End the browser."""
        os.close(self._out)
        os.close(self._in)
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def installed() -> str | None:
    """Where Chromium is, if it is on the path."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return next((found for name in names if (found := shutil.which(name)) is not None), None)
