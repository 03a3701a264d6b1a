# SPDX-License-Identifier: MIT
"""The verbs of the session, and how a line is parsed."""

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harness.errors import UsageError
from harness.shell.session import Session
from harness.tracefs import DIRECTORIES, shortened


@dataclass(frozen=True)
class Arguments:
    """The words after a verb; ``redirect`` is ``>``, ``>>`` or empty, as in a shell."""

    words: tuple[str, ...] = ()
    redirect: str = ""

    @property
    def reads(self) -> bool:
        """Whether the verb shows a value, and does not change it."""
        return not self.words and not self.redirect


Run = Callable[[Session, Arguments], None]


@dataclass(frozen=True)
class Verb:
    """One command of the session.

    ``takes`` is the synopsis of its arguments, ``most`` their maximum number, ``completes`` their
    kind.
    """

    name: str
    run: Run
    takes: str
    most: int
    completes: str
    example: str
    group: str

    @property
    def summary(self) -> str:
        """The first line of its help."""
        return (self.run.__doc__ or "").strip().split("\n")[0]

    @property
    def help(self) -> str:
        """The whole help, with an example."""
        lines = [line.strip() for line in (self.run.__doc__ or "").strip().split("\n")]
        synopsis = f"{self.name} {self.takes}".rstrip()
        return "\n".join([synopsis, "", *lines, "", f"Example: {self.example or self.name}"])


VERBS: dict[str, Verb] = {}
UNLIMITED = 1 << 16
FILES = "tracefs"
"""The group of the verbs for files of tracefs, which accept > and >>."""


def verb(
    takes: str = "",
    *,
    most: int | None = None,
    completes: str = "",
    example: str = "",
    group: str,
    name: str = "",
) -> Callable[[Run], Run]:
    """Register a function as a verb, with the function's name, and its docstring as the help."""

    def register(run: Run) -> Run:
        called = name or run.__name__.rstrip("_")
        limit = len(takes.split()) if most is None else most
        VERBS[called] = Verb(called, run, takes, limit, completes, example, group)
        return run

    return register


def parse(line: str) -> tuple[Verb, Arguments] | None:
    """The verb and the arguments of a line; None if it is no verb's.

    ``echo WORDS > FILE`` and ``cat FILE`` are as in tracefs, with a path in it or from the root.
    """
    first = line.split(maxsplit=1)[0]
    if first not in VERBS and first not in ("echo", "cat") and not _is_path(first):
        return None
    words = _split(line)
    if first == "cat":
        if len(words) != 2:
            raise UsageError("cat takes one file of tracefs", "Example: cat set_ftrace_filter")
        return file_verb(words[1]), Arguments()
    if first == "echo":
        if len(words) < 3 or words[-2] not in (">", ">>"):
            # gdb has an echo too, which prints.
            if ">" not in words and ">>" not in words:
                return None
            raise UsageError(
                "echo writes to a file of tracefs", "Example: echo 'do_*' > set_ftrace_filter"
            )
        return file_verb(words[-1]), Arguments(tuple(words[1:-2]), words[-2])
    verb = VERBS[first] if first in VERBS else file_verb(first)
    return verb, _arguments(words[1:])


def file_verb(path: str) -> Verb:
    """The verb of a file of tracefs, by its path."""
    name = shortened(path)
    if name in VERBS and VERBS[name].group == FILES:
        return VERBS[name]

    def run(session: Session, arguments: Arguments) -> None:
        read_or_write(session, name, arguments)

    return Verb(name, run, "[> | >>] [TEXT...]", UNLIMITED, "", "", FILES)


def read_or_write(session: Session, name: str, arguments: Arguments) -> None:
    """Print a file of tracefs, or write the words to it."""
    if not arguments.reads:
        session.tracefs.write(name, " ".join(arguments.words), arguments.redirect == ">>")
        return
    file = session.tracefs.file(name)
    if file.stream is not None:
        raise UsageError(f"{name} is read while the guest runs", "Use: trace_pipe")
    if file.read is None:
        raise UsageError(f"{name} is only written", f"See: help {name}")
    session.print_all(file.read(session.live))


def _is_path(word: str) -> bool:
    name = shortened(word)
    return "/" in word and (name in VERBS or name.partition("/")[0] in DIRECTORIES)


def check(verb: Verb, arguments: Arguments) -> None:
    """UsageError if the verb does not accept these arguments."""
    if len(arguments.words) > verb.most:
        takes = f"takes {verb.takes}" if verb.takes else "takes nothing"
        raise UsageError(f"{verb.name} {takes}", f"See: help {verb.name}")
    if arguments.redirect and (verb.group != FILES or not verb.takes):
        raise UsageError(
            f"{verb.name} takes no {arguments.redirect}",
            "Only files of tracefs are written to; record and report write with -o FILE.",
        )
    if arguments.redirect and not arguments.words and ">" not in verb.takes:
        raise UsageError(f"what is to be written to {verb.name}?", f"See: help {verb.name}")


def _arguments(words: Sequence[str]) -> Arguments:
    if words and words[0] in (">", ">>"):
        return Arguments(tuple(words[1:]), words[0])
    if ">" in words or ">>" in words:
        raise UsageError("> and >> come before all words", "Example: set_ftrace_filter >> f*")
    return Arguments(tuple(words))


def _split(line: str) -> list[str]:
    lexer = shlex.shlex(line, posix=True, punctuation_chars=">")
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        words = list(lexer)
    except ValueError as error:
        raise UsageError(f"the line cannot be read: {error}") from error
    if "" in words:
        raise UsageError("the line has an empty word")
    return words
