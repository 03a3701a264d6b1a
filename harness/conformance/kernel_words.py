# SPDX-License-Identifier: MIT
"""The clauses that words of ``[kernel]`` in ``port.toml`` exclude from the suite.

docs/kernel-words.rst is made from this.  Checks test the words themselves (``bench.kernel``); the
lists of clauses here are for verdicts and for the document.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from harness.config import KernelFile
from harness.conformance.catalogue import BuildKind, load_catalogue
from harness.isa import Abi, Form


@dataclass(frozen=True, slots=True)
class KernelWord:
    """A word that excludes something.

    ``excuses``: clauses that do not apply to the port any more.  ``narrows``: clauses that require
    less of it, or nothing if nothing is left.
    """

    key: str
    value: str
    """As in ``port.toml``; N for a number."""
    says: str
    """The property of the kernel, as in the reason of a verdict."""
    left_out: str
    excuses: tuple[str, ...] = ()
    narrows: tuple[str, ...] = ()

    def rules_out(self, kernel: KernelFile) -> bool:
        """Whether the kernel's table has the word."""
        return bool(getattr(kernel, self.key) != KernelFile.model_fields[self.key].default)


def _static() -> tuple[str, ...]:
    builds = (BuildKind.STATIC,)
    return tuple(clause.id for clause in load_catalogue().clause if clause.builds == builds)


WORDS = (
    KernelWord(
        "nested_functions",
        "false",
        "the kernel has no nested functions",
        "The workload and the modules have no nested function, and the register of the static "
        "chain need not survive. Long calls have no instructions for it, so all have one length.",
        narrows=("C1d", "C1j", "C2a", "C4c", "C4f", "C7f", "M1a", "M1b", "M2a", "M2c"),
    ),
    KernelWord(
        "floating_point",
        "false",
        "the kernel's code has no floating point",
        "No function of the workload and the modules uses floating-point numbers, and "
        "floating-point registers are not compared. The handlers of the graph tracer do not "
        "change them.",
        excuses=("C5b",),
        narrows=("C1a", "C1c", "C1h", "C4c", "C4f", "C4i", "C5d"),
    ),
    KernelWord(
        "FRAME_WARN",
        "N",
        "the kernel has no frames above FRAME_WARN",
        "No stack frame of the workload and the modules has more than N bytes. If N fits into the "
        "immediate of one instruction, no frame needs more than that one.",
        narrows=("C4d", "C4i"),
    ),
    KernelWord(
        "DYNAMIC_FTRACE",
        "true",
        "the kernel always has DYNAMIC_FTRACE",
        "There are no static builds. Clauses of both builds are judged in the dynamic one.",
        excuses=_static(),
        narrows=("C4m",),
    ),
    KernelWord(
        "PREEMPTION",
        "false",
        "no kernel code is preempted, and text changes with the machine stopped",
        "No CPU and no thread is at a call site or in a stub while that changes.",
        excuses=("C9i", "C10c"),
        narrows=("C2a", "C8f", "C9l", "C11e", "C20c", "M2c"),
    ),
    KernelWord(
        "call_target",
        '"ftrace_caller"',
        "the target of every call is ftrace_caller",
        "`ftrace_make_call` and `ftrace_make_nop` are called only with the address of "
        "`ftrace_caller`, and `ftrace_modify_call` with those of the stubs.",
        excuses=("C9f", "C9g"),
        narrows=("C9b", "C9c", "C9e", "C21d"),
    ),
    KernelWord(
        "tracers",
        '"kernel"',
        "tracers are functions of the kernel itself",
        "`ftrace_update_ftrace_func` is called with no function out of reach: a tracer in a "
        "module is called by a function of the kernel.",
        excuses=("C10d",),
    ),
    KernelWord(
        "sites_told_by",
        '"address"',
        "a site's form is recognised by its address",
        "No site of the kernel's form lies outside of the kernel's text, and none of a module's "
        "in it. So none is made at the end of a page.",
        excuses=("C9n",),
        narrows=("M1d", "C9j", "C9k"),
    ),
    KernelWord(
        "KPROBES",
        "true",
        "a kprobe may be in front of rec->ip",
        "Words of a site in front of `rec->ip` are the kernel's: a kprobe may have put its "
        "breakpoint there, and the site is switched all the same. So the port need not compare "
        "them.",
        narrows=("C9e", "C21d", "C22e"),
    ),
    KernelWord(
        "retp",
        '"cookie"',
        "the unwinder identifies a frame by a cookie",
        "The argument `retp` of `function_graph_enter` need not be the address of the return "
        "address: it may be any value that no other active call of the thread has. The unwinder "
        "of the guests' kernel needs the address, so its stack traces through hijacked functions "
        "are not judged.",
        excuses=("C12b",),
        narrows=("C12a", "C14b"),
    ),
    KernelWord(
        "graph_tracer",
        '"slot"',
        "the graph tracer has a slot of its own",
        "With DYNAMIC_FTRACE_WITH_REGS the function tracer is an ops, and the graph tracer is "
        "none: the stubs have a second slot, at `ftrace_graph_call`, which calls "
        "`prepare_ftrace_return`.",
        excuses=("C20a", "C20b"),
    ),
    KernelWord(
        "syscall_numbers",
        '"table"',
        "only numbers in the table of system calls are looked up",
        "`arch_syscall_addr` is called with no number in front of the table or behind it.",
        narrows=("C13f",),
    ),
    KernelWord(
        "mips_sites",
        "2013",
        "call sites of MIPS have the words of 2013",
        "Instead of the jump of the commit of 2009 the shared address has a branch to "
        "`ftrace_stub`, which is removed at boot; a site that is on calls the address after it, "
        "two words farther; and on o32 the delay slot of a site that is on is a nop.",
        excuses=("M5c",),
        narrows=("M4b", "M4c", "M5b", "C8b", "C9b", "C9d"),
    ),
)


def ruled_out(kernel: KernelFile) -> Iterator[KernelWord]:
    """The words in a port's table."""
    return (word for word in WORDS if word.rules_out(kernel))


def excused(kernel: KernelFile, clause: str) -> str:
    """Why a clause does not apply to a port; empty if it does."""
    return _reason(word.says for word in ruled_out(kernel) if clause in word.excuses)


def narrowed(kernel: KernelFile, clause: str) -> str:
    """Why a clause requires less of a port than of others; empty if it does not."""
    return _reason(word.says for word in ruled_out(kernel) if clause in word.narrows)


def _reason(said: Iterator[str]) -> str:
    text = "; ".join(said)
    return f"port.toml: {text}" if text else ""


def since_2013(kernel: KernelFile) -> bool:
    """Whether call sites of MIPS have other words than in the commit of 2009."""
    return kernel.mips_sites != KernelFile().mips_sites


def live_registers(abi: Abi, form: Form, kernel: KernelFile) -> tuple[str, ...]:
    """The registers that are live in a traced function at its call site."""
    chain = "" if kernel.nested_functions else abi.static_chain
    return tuple(name for name in abi.at_site(form).live if name != chain)
