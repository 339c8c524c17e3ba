"""A desktop without a screen (Xvfb and the window manager openbox) and the debugger's window on it,
used as a person does: with the mouse and the keyboard (xdotool), and with files that are dropped on
it. What the window shows is read from the file of `--state`; every wait is for something that stands
there, and none is for a time."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAMS = pathlib.Path(os.environ.get("REPRISE_PROGRAMS", "build/dev/bin")).resolve()
ROOT = pathlib.Path(__file__).resolve().parents[3]
DATA = ROOT / "tests/debugger/data"
SECONDS = 30  # for anything that is waited for
SCREEN = (1680, 1000)


def wait_for(what, condition, tell=lambda: "", seconds=SECONDS):
    """Returns what `condition` returns, as soon as that is true; tests fail with `what` otherwise."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds} s: {what}\n{tell()}")
        time.sleep(0.01)  # between two looks


class Desktop:
    def __init__(self, screen=SCREEN):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="reprise-window-"))
        read, write = os.pipe()
        self.server = subprocess.Popen(
            ["Xvfb", "-displayfd", str(write), "-screen", "0", f"{screen[0]}x{screen[1]}x24",
             "-noreset", "-nolisten", "tcp"], pass_fds=[write], stderr=subprocess.DEVNULL)
        os.close(write)
        with os.fdopen(read) as pipe:
            display = pipe.readline().strip()
        if not display:
            raise AssertionError("Xvfb did not start")
        self.environment = dict(os.environ, DISPLAY=":" + display, HOME=str(self.folder),
                                XDG_CONFIG_HOME=str(self.folder / "config"))
        self.manager = subprocess.Popen(["openbox", "--sm-disable"], env=self.environment,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for("a window manager", lambda: self.ask("get_num_desktops").returncode == 0)

    def ask(self, *arguments):
        return subprocess.run(["xdotool", *map(str, arguments)], env=self.environment,
                              capture_output=True, text=True, check=False)

    def do(self, *arguments):
        done = self.ask(*arguments)
        if done.returncode != 0:
            raise AssertionError(f"xdotool {arguments}: {done.stderr}")
        return done.stdout.strip()

    def close(self):
        for process in (self.manager, self.server):
            process.terminate()
            process.wait()
        shutil.rmtree(self.folder)


class Window:
    """A program that was started with `arguments` and has opened a window."""

    def __init__(self, desktop, *arguments, program="reprise-debugger", cwd=None):
        self.desktop = desktop
        self.inputs = 0  # clicks, keys and turns of the wheel up to now
        self.state_file = desktop.folder / "state.json"
        self.state_file.unlink(missing_ok=True)
        self.printed = desktop.folder / "printed"
        with open(self.printed, "w", encoding="utf-8") as printed:
            self.process = subprocess.Popen(
                [str(PROGRAMS / program), *map(str, arguments), "--state", str(self.state_file)],
                env=desktop.environment, stdout=printed, stderr=printed,
                cwd=cwd or desktop.folder)
        self.id = self.wait("a window", lambda: self.desktop.ask(
            "search", "--onlyvisible", "--pid", self.process.pid).stdout.split())[-1]
        self.wait_for_keyboard()
        self.wait("a first frame", lambda: self.state["frames"] > 0)

    def wait_for_keyboard(self):
        self.wait("the window has the keyboard",
                  lambda: self.desktop.ask("getwindowfocus").stdout.strip() == self.id)

    # ---- what it shows
    @property
    def state(self):
        try:
            return json.loads(self.state_file.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {"frames": 0, "inputs": 0, "still": False, "widgets": {}, "values": {}}

    def wait(self, what, condition, seconds=SECONDS):
        def alive():
            found = condition()
            if not found and self.process.poll() is not None:
                raise AssertionError(f"the program ended before: {what}\n{self.tell()}")
            return found
        return wait_for(what, alive, self.tell, seconds)

    def output(self):
        return self.printed.read_text(encoding="utf-8")

    def tell(self):
        state = self.state
        texts = {path: widget["text"] for path, widget in state["widgets"].items()
                 if widget["text"] and path.count("/") < 3}
        return (f"it printed: {self.output()}\n"
                f"frames {state['frames']}, inputs {state['inputs']} of {self.inputs}, "
                f"still {state['still']}, {state['values']}\n" +
                "\n".join(f"  {path}: {text}" for path, text in texts.items()))

    def settled(self):
        """The state once all input was taken and nothing is left to read or draw."""
        def look():
            state = self.state
            return state if state["still"] and state["inputs"] >= self.inputs else None
        return self.wait("all input is taken, all is drawn", look)

    def widget(self, path):
        """Waits for it to be there."""
        return self.wait(f"a widget {path}", lambda: self.state["widgets"].get(path))

    def text(self, path):
        return self.settled()["widgets"].get(path, {}).get("text", "")

    def value(self, name):
        return self.settled()["values"].get(name, "")

    def expect(self, path, text):
        """Waits until the widget, or the published value, says this."""
        def said():
            state = self.state
            return text in state["widgets"].get(path, {}).get("text", "") + "\n" + (
                state["values"].get(path, ""))
        self.wait(f"({path}) says ({text})", said)

    def first(self, beginning):
        """The uppermost widget in sight whose path is that and one part more: a row of a list."""
        tops = {path: widget["box"][1] for path, widget in self.settled()["widgets"].items()
                if path.startswith(beginning) and "/" not in path[len(beginning):] and
                widget["box"][3] > widget["box"][1]}
        if not tops:
            raise AssertionError(f"nothing in sight begins with ({beginning})\n{self.tell()}")
        return min(tops, key=tops.get)

    def selected(self, beginning):
        """The widgets that are selected and whose paths begin with that."""
        return {path for path, widget in self.settled()["widgets"].items()
                if path.startswith(beginning) and "selected" in widget["state"].split()}

    # ---- what a person does
    def point(self, path, x=0.5, y=0.5):
        """Where in the window that part of a widget is."""
        self.settled()
        left, top, right, bottom = self.widget(path)["box"]
        if right <= left or bottom <= top:
            raise AssertionError(f"({path}) is out of sight\n{self.tell()}")
        return int(left + (right - left) * x), int(top + (bottom - top) * y)

    def move(self, path, x=0.5, y=0.5):
        self.desktop.do("mousemove", "--window", self.id, *self.point(path, x, y))

    def click(self, path, button=1, times=1, x=0.5, y=0.5):
        self.desktop.do("mousemove", "--window", self.id, *self.point(path, x, y),
                        *["click", button] * times)
        self.inputs += times

    def wheel(self, path, steps):
        self.click(path, button=4 if steps > 0 else 5, times=abs(steps))

    def drag(self, path, to, x=0.5, y=0.5):
        """`to`: pixels from there."""
        left, top = self.point(path, x, y)
        moves = []
        for step in (1, 2, 3, 4):
            moves += ["mousemove", "--window", self.id, left + to[0] * step // 4,
                      top + to[1] * step // 4]
        self.desktop.do("mousemove", "--window", self.id, left, top, "mousedown", 1, *moves,
                        "mouseup", 1)
        self.inputs += 1

    def key(self, *keys):
        self.settled()
        self.desktop.do("key", *keys)
        self.inputs += len(keys)

    def type(self, text):
        self.settled()
        self.desktop.do("type", text)
        self.inputs += len(text)

    def drop(self, file):
        self.settled()
        subprocess.run([PROGRAMS / "reprise_drop_file", self.id, file.as_uri()], check=True,
                       env=self.desktop.environment, timeout=SECONDS)

    def resize(self, width, height):
        self.desktop.do("windowsize", self.id, width, height)
        self.wait(f"{width}x{height} is drawn",
                  lambda: (self.state["width"], self.state["height"]) == (width, height))

    # ---- how it ends
    def close(self):
        """As with the button of the frame. Returns the exit status."""
        self.wait_for_keyboard()  # it may just have been raised
        self.desktop.do("key", "alt+F4")
        self.process.wait(SECONDS)
        return self.process.returncode

    def kill(self, by=signal.SIGKILL):
        if self.process.poll() is None:
            self.process.send_signal(by)
        return self.process.wait(SECONDS)


class WindowTest(unittest.TestCase):
    """A desktop for each test, and a window that is gone after it."""
    screen = SCREEN

    def setUp(self):
        self.desktop = Desktop(self.screen)
        self.addCleanup(self.desktop.close)

    def open(self, *arguments, **how):
        window = Window(self.desktop, *arguments, **how)
        self.addCleanup(window.kill)
        return window

    def copy(self, name):
        """A file of tests/debugger/data that nobody else uses."""
        return pathlib.Path(shutil.copy(DATA / name, self.desktop.folder))


def main():
    for needed in ("Xvfb", "openbox", "xdotool"):
        if shutil.which(needed) is None:
            sys.exit(f"error: No {needed} is installed; ./check installs it.")
    unittest.main(verbosity=2)
