# SPDX-License-Identifier: MIT
"""The calling convention: registers by class, frames, and what the compiler counts on at a site."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from harness.isa.code import Code
from harness.isa.sites import Form


@dataclass(frozen=True, slots=True)
class AtSite:
    """What is where at the first instruction of a call site of one form.

    ``live`` registers mean something to the traced function and have to come through.  Behind the
    site each key of ``moved`` holds what the register of its value held in front of it.  ``pinned``
    may not be given an arbitrary value, because the site or the stub uses it.
    """

    live: tuple[str, ...]
    moved: Mapping[str, str]
    pinned: tuple[str, ...]


class FrameRecord(NamedTuple):
    """Two words of the stack: what ``register`` held in the caller, and a return address.

    The first of them lies ``offset`` bytes from where the register points; in a list of records
    each points so to the next.
    """

    register: str
    offset: int


class Abi(ABC):
    """Registers by gdb's names, in classes that do not depend on any one piece of code.

    A class of registers is a tuple in which order means something only where it says so.
    """

    general_registers: tuple[str, ...]
    """In the order in which a dump shows them."""
    status_registers: tuple[str, ...]
    """What a dump shows beside them; the first has the flags that an instruction may leave to the
    next."""
    pc_register = "pc"
    stack_register = "sp"
    return_register: str
    """What holds the return address at a function's entry."""
    current_register: str
    """In what the guest keeps the address of the running thread."""

    argument_registers: tuple[str, ...]
    """For integers, the first argument first."""
    scratch: tuple[str, ...]
    """What a function may leave changed."""
    saved: tuple[str, ...]
    """What it may not, without the stack pointer."""
    fixed: tuple[str, ...]
    """What keeps one value for as long as a thread runs."""
    results: tuple[str, ...]
    """What can carry what a function returns, the first word first."""
    float_scratch: tuple[str, ...]
    float_saved: tuple[str, ...]
    float_results: tuple[str, ...]
    float_arguments: tuple[str, ...]
    float_status: tuple[str, ...]
    """Modes and flags of floating point, which last."""

    stack_alignment: int
    static_chain: str = ""
    """What hands a nested function its caller's variables at a call site, where anything does."""
    home_area: int = 0
    """Bytes from the stack pointer up that a function may write when it is entered."""
    frame_record: FrameRecord | None = None
    """What heads the list of frame records at the entry of a function, where the ABI has one."""
    first_syscall: int = 0
    """The number of the first system call, ``__NR_Linux``."""

    def __init__(self, code: Code) -> None:
        self.code = code

    @abstractmethod
    def at_site(self, form: Form) -> AtSite:
        """What the compiler counts on at a call site of this form."""

    @abstractmethod
    def float_assignments(self, register: str, number: int) -> tuple[str, ...]:
        """gdb expressions that fill a floating-point register with a pattern of that number."""
