# SPDX-License-Identifier: MIT
"""What a verb of the session is, and how a line is taken apart into one."""

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harness.errors import UsageError
from harness.shell.session import Session


@dataclass(frozen=True)
class Arguments:
    """The words behind a verb; ``redirect`` is ``>``, ``>>`` or nothing, as in a shell."""

    words: tuple[str, ...] = ()
    redirect: str = ""

    @property
    def reads(self) -> bool:
        """Whether the verb is asked for what it is, and not told what to become."""
        return not self.words and not self.redirect


Run = Callable[[Session, Arguments], None]


@dataclass(frozen=True)
class Verb:
    """One command of the session.

    ``takes`` is what may follow, as a synopsis; ``most`` how many words that is at most;
    ``completes`` says of what kind those words are.
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
        """All of its help, with an example."""
        lines = [line.strip() for line in (self.run.__doc__ or "").strip().split("\n")]
        synopsis = f"{self.name} {self.takes}".rstrip()
        return "\n".join([synopsis, "", *lines, "", f"Example: {self.example or self.name}"])


VERBS: dict[str, Verb] = {}
UNLIMITED = 1 << 16
FILES = "tracefs"
"""The group of the verbs that are files: > and >> write to them."""


def verb(
    takes: str = "",
    *,
    most: int | None = None,
    completes: str = "",
    example: str = "",
    group: str,
    name: str = "",
) -> Callable[[Run], Run]:
    """Make a function a verb; its name is the verb's, its docstring the help."""

    def register(run: Run) -> Run:
        called = name or run.__name__.rstrip("_")
        limit = len(takes.split()) if most is None else most
        VERBS[called] = Verb(called, run, takes, limit, completes, example, group)
        return run

    return register


def parse(line: str) -> tuple[Verb, Arguments] | None:
    """The verb that a line names and its arguments; None if the line is no verb's.

    ``echo WORDS > VERB`` and ``cat VERB`` are what they are in tracefs.
    """
    first = line.split(maxsplit=1)[0]
    if first not in VERBS and first not in ("echo", "cat"):
        return None
    words = _split(line)
    if first == "cat":
        if len(words) != 2 or words[1] not in VERBS:
            raise UsageError("cat shows one file of tracefs", "Example: cat set_ftrace_filter")
        return VERBS[words[1]], Arguments()
    if first == "echo":
        if len(words) < 3 or words[-2] not in (">", ">>") or words[-1] not in VERBS:
            # gdb has an echo too, which prints.
            if ">" not in words and ">>" not in words:
                return None
            raise UsageError(
                "echo writes to a file of tracefs", "Example: echo 'do_*' > set_ftrace_filter"
            )
        return VERBS[words[-1]], Arguments(tuple(words[1:-2]), words[-2])
    return VERBS[first], _arguments(words[1:])


def check(verb: Verb, arguments: Arguments) -> None:
    """UsageError if the verb does not take so many words, or none in such a way."""
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
        raise UsageError("> and >> stand in front of all words", "Example: set_ftrace_filter >> f*")
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
        raise UsageError("the line has an empty word, which names nothing")
    return words
