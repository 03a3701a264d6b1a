# SPDX-License-Identifier: MIT
"""A terminal with somebody at it: pexpect types, pyte shows what would be seen."""

import os
import signal
import time

import pexpect
import pyte

from support.command import HARNESS

TIMEOUT = 30.0


class Screen(pyte.HistoryScreen):
    """A screen whose answers (where is the cursor?) go back to the program."""

    def __init__(self, columns, lines, answer):
        super().__init__(columns, lines, history=10_000, ratio=0.01)
        self._answer = answer

    def write_process_input(self, data):
        self._answer(data)


class Terminal:
    """The command ``harness`` on a terminal; what it needs of the environment comes from here."""

    def __init__(self, *arguments, state_home, columns=160, lines=40, program=HARNESS, pager="cat"):
        environment = dict(os.environ, TERM="xterm", XDG_STATE_HOME=str(state_home))
        environment["PAGER"] = pager
        self.child = pexpect.spawn(
            program,
            list(map(str, arguments)),
            env=environment,
            dimensions=(lines, columns),
            timeout=TIMEOUT,
            # A background job's shell ignores it, and what it starts does too.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        self.screen = Screen(columns, lines, self._answer)
        self._stream = pyte.ByteStream(self.screen)
        self._seen = 0

    def __enter__(self):
        return self

    def __exit__(self, *details):
        self.child.close(force=True)

    def _answer(self, data):
        self.child.send(data)

    @property
    def text(self):
        """Everything that was shown and is still remembered."""
        scrolled = [
            "".join(row[column].data for column in range(self.screen.columns)).rstrip()
            for row in self.screen.history.top
        ]
        return "\n".join(scrolled + [line.rstrip() for line in self.screen.display])

    def wait(self, *wanted, timeout=TIMEOUT):
        """Read until every one of ``wanted`` is shown; what is shown then."""
        end = time.monotonic() + timeout
        shown = self.text
        while not all(text in shown for text in wanted):
            if time.monotonic() > end:
                raise AssertionError(f"{wanted} did not appear on the screen:\n{shown.strip()}")
            # To draw the screen takes longer than most answers.
            if self._read():
                shown = self.text
        return shown

    def type(self, keys):
        """Press keys."""
        self.child.send(keys)

    def do(self, line, *wanted, ready=" | "):
        """Clear the screen, give a line, and wait for what is to appear and for the prompt."""
        self.screen.reset()
        self.type(f"\x15{line}\r")
        return self.wait(*wanted, ready)

    def control(self, letter):
        """Press a key with Control held."""
        self.child.sendcontrol(letter)

    def end(self):
        """Wait for the end of the program; its exit status."""
        while True:
            try:
                self._stream.feed(self.child.read_nonblocking(65536, timeout=TIMEOUT))
            except pexpect.EOF:
                break
        self.child.wait()
        return self.child.exitstatus

    def _read(self):
        """Wait for output and take all that has come; whether there was any."""
        try:
            self._stream.feed(self.child.read_nonblocking(65536, timeout=0.2))
        except pexpect.TIMEOUT:
            return False
        except pexpect.EOF as error:
            raise AssertionError(f"the program has ended:\n{self.text}") from error
        return True
