# SPDX-License-Identifier: MIT
"""The function tracer of a stopped kernel, switched by writes to its memory.

No code of the kernel runs, so this works at any moment after ftrace_init(): before there are
processes, and in a kernel that will never run again.  The kernel's own idea of its state is kept
true, so that it can switch tracers by itself afterwards.
"""

from collections.abc import Mapping

from harness.errors import GuestError
from harness.isa import CallSite
from harness.linux.kernel import Kernel
from harness.linux.records import TRACED, SiteRecords

ENABLED = 1
"""FTRACE_OPS_FL_ENABLED."""

STACKS = 1
"""TRACE_FUNC_OPT_STACK."""

OPTION = "FUNCTION_TRACER"

Writes = dict[int, tuple[int, int]]
"""Values and their sizes in bytes, by address."""


class FunctionSwitch:
    """What the kernel remembers of the function tracer besides the call sites."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._trace = kernel.symbol("global_trace", "TRACING")
        self._ops = kernel.symbol("global_ops", OPTION)
        self._direct = kernel.image.isa.linux.direct
        self.has_call_ops = kernel.has("ftrace_nop_ops")
        """Whether each call site has a pointer to an ops instead of the stub's slot."""

    @property
    def tracer(self) -> str:
        """The name of the kernel's current tracer."""
        kernel, layouts = self._kernel, self._kernel.layouts
        address = kernel.pointer(self._trace + layouts["trace_array"].place("current_trace").offset)
        if not address:
            return "nop"
        return kernel.name(kernel.pointer(address + layouts["tracer"].place("name").offset), 64)

    @property
    def users(self) -> int:
        """How often call sites were switched on by the kernel, or by us."""
        return self._kernel.number(self._kernel.symbol("ftrace_start_up", OPTION), 4)

    @property
    def is_ours(self) -> bool:
        """Whether the only user is the function tracer, with all call sites that it may trace."""
        kernel = self._kernel
        first = kernel.pointer(kernel.symbol("ftrace_ops_list", OPTION))
        following = kernel.view("ftrace_ops", self._ops)["next"] if first == self._ops else 0
        end = kernel.symbol("ftrace_list_end", OPTION)
        return self.users == 1 and first == self._ops and following == end

    def check_free(self) -> None:
        """GuestError if the kernel itself uses its call sites."""
        if self.users:
            raise GuestError(
                f"the kernel traces functions itself: its tracer is {self.tracer!r}, and its call "
                f"sites have {self.users} users",
                "Switch that off in the guest; give the kernel ftrace=nop on its command line.",
            )

    def check_ours(self) -> None:
        """GuestError if others than the function tracer have come to use the call sites."""
        if not self.is_ours:
            raise GuestError(
                f"the kernel itself uses its call sites since the tracer was switched on: they "
                f"have {self.users} users",
                "Switch that off in the guest first: kprobes, live patches, other tracers.",
            )

    def ops(self, on: bool) -> bytes:
        """The pointer of a call site to its ops, where they have one."""
        kernel = self._kernel
        address = self._ops if on else kernel.symbol("ftrace_nop_ops", "DYNAMIC_FTRACE")
        return address.to_bytes(kernel.word, kernel.image.byteorder)

    def ops_before(self, on: bool, of_module: int) -> bytes:
        """The pointer before a call site is switched; ``of_module``: where a module has it, or 0.

        The kernel, which traces the functions of a new module by itself, gives them its list.
        """
        kernel = self._kernel
        every = kernel.image.symbols.get("ftrace_list_ops", 0)
        if on or not of_module or kernel.pointer(of_module) != every:
            return self.ops(not on)
        return every.to_bytes(kernel.word, kernel.image.byteorder)

    @property
    def traced(self) -> int:
        """The flags of a record while its call site is on, with one user."""
        if not self.has_call_ops:
            return TRACED
        constant = self._kernel.layouts.constant
        return TRACED | constant("FTRACE_FL_CALL_OPS") | constant("FTRACE_FL_CALL_OPS_EN")

    @property
    def slot(self) -> int:
        """The address of the instruction in the stub that calls the tracer."""
        return self._kernel.symbol("ftrace_call", "DYNAMIC_FTRACE")

    def callee(self, on: bool) -> int:
        """What the stub calls."""
        name = self._called if self._direct else "arch_ftrace_ops_list_func"
        return self._kernel.symbol(name if on else "ftrace_stub", OPTION)

    @property
    def _tracer(self) -> str:
        """The function that records a call."""
        if not self._kernel.has("func_flags"):
            return "function_trace_call"
        place = self._kernel.layouts["tracer_flags"].place("val")
        address = self._kernel.image.symbols["func_flags"] + place.offset
        stacks = self._kernel.number(address, place.size) & STACKS
        return "function_stack_trace_call" if stacks else "function_trace_call"

    @property
    def _called(self) -> str:
        """The function that is called for each call: of chosen processes only, another one."""
        if "function_pids" in self._kernel.layouts["trace_array"]:
            place = self._kernel.layouts["trace_array"].place("function_pids")
            if self._kernel.pointer(self._trace + place.offset):
                return "ftrace_pid_func"
        return self._tracer

    def writes(self, on: bool) -> Writes:
        """What the kernel's variables hold while the tracer is on, or after it was switched off."""
        kernel, word = self._kernel, self._kernel.word
        ops, trace = kernel.layouts["ftrace_ops"], kernel.layouts["trace_array"]
        end = kernel.symbol("ftrace_list_end", OPTION)
        tracer = kernel.symbol(self._tracer if on else "ftrace_stub", OPTION)
        function = kernel.symbol(self._called if on else "ftrace_stub", OPTION)
        flags = ops.place("flags")
        before = kernel.number(self._ops + flags.offset, flags.size) & ~ENABLED
        start_up = kernel.symbol("ftrace_start_up", OPTION)
        found: Writes = {
            self._ops + ops.place("func").offset: (function, word),
            self._ops + ops.place("private").offset: (self._trace, word),
            self._ops + flags.offset: (before | ENABLED * on, flags.size),
            self._ops + ops.place("next").offset: (end, word),
            kernel.symbol("ftrace_ops_list", OPTION): (self._ops if on else end, word),
            kernel.symbol("ftrace_trace_function", OPTION): (self.callee(on), word),
            start_up: (self.users + (1 if on else -1), 4),
        }
        if "saved_func" in ops:
            found[self._ops + ops.place("saved_func").offset] = (tracer, word)
        for name, value in (
            ("saved_ftrace_func", self.callee(on)),
            ("function_trace_op", self._ops if on else end),
        ):
            if kernel.has(name):
                found[kernel.image.symbols[name]] = (value, word)
        enabled, current = trace.place("function_enabled"), trace.place("current_trace")
        switched = kernel.symbol("function_trace" if on else "nop_trace", OPTION)
        found[self._trace + enabled.offset] = (int(on), enabled.size)
        if "enabled" in kernel.layouts["tracer"]:
            counter = kernel.layouts["tracer"].place("enabled")
            for name, change in (("function_trace", 1), ("nop_trace", -1)):
                at = kernel.symbol(name, OPTION) + counter.offset
                value = kernel.number(at, counter.size) + (change if on else -change)
                found[at] = (value, counter.size)
        found[self._trace + current.offset] = (switched, word)
        return found

    def store(self, writes: Writes) -> Writes:
        """Write the variables; returns what they held, to be written back."""
        before: Writes = {}
        for address, (value, size) in writes.items():
            before[address] = (self._kernel.number(address, size), size)
            self._kernel.store(address, value, size)
        return before


def write_flags(records: SiteRecords, changes: Mapping[CallSite, bool], traced: int) -> None:
    """Note in the records which call sites were switched on or off; ``traced``: flags for on."""
    records.write({site.address: traced * on for site, on in changes.items()})
