# SPDX-License-Identifier: MIT
"""Steps through a stub of the port, instruction by instruction."""

from harness.debugger import return_address
from harness.errors import UsageError
from harness.guest import Outcome, SourceListing
from harness.shell import gdb
from harness.shell.session import Session

MAX_INSTRUCTIONS = 20_000
"""More than any tracer executes for one event."""


def walk(session: Session, stub: str) -> None:
    """Run to ``stub`` if the guest is not there, and step until it has returned."""
    guest = session.live
    image, isa, debugger = guest.image, guest.image.isa, guest.debugger
    entry = guest.address_of(stub)
    if debugger.stop is None or debugger.stop.address != entry:
        outcome = gdb.run(session, entry)
        if outcome == Outcome.ENDED:
            raise UsageError(f"{session.ended} without a call of {stub}")
        if outcome != Outcome.REACHED:
            raise UsageError(
                f"the guest did not reach {stub}: {outcome}",
                "Is a tracer enabled? See: current_tracer",
            )
    back = return_address(debugger, isa.abi)
    before = last = debugger.registers()
    own = image.function_at(entry)
    listing = SourceListing(image, guest.sources)
    elsewhere = 0
    pc = entry
    for _ in range(MAX_INSTRUCTIONS):
        session.interrupt.check()
        inside = own is not None and own.address <= pc < own.address + own.size
        if inside and elsewhere:
            session.say(f"   ... {elsewhere} instructions elsewhere")
            elsewhere, last = 0, debugger.registers()
        here = isa.disassemble(debugger.read_memory(pc, isa.longest), pc)[0]
        pc = debugger.step_instruction().address & isa.mask
        if not inside:
            elsewhere += 1
            if pc == back:
                break
            continue
        now = debugger.registers()
        changed = [
            f"{name}={now[name]:x}"
            for name in isa.abi.general_registers
            if now.get(name) != last.get(name)
        ]
        if source := listing.before(here.address):
            session.say(f"   {source}")
        session.print(f"{image.symbolize(here.address):26} {here.text:34} {' '.join(changed)}")
        last = now
        if pc == back:
            break
    else:
        session.say(f"(after {MAX_INSTRUCTIONS} instructions it has not returned)", "yellow")
    _survivors(session, before)
    gdb.show_next(session)


def _survivors(session: Session, before: dict[str, int]) -> None:
    """The registers that a call site must preserve, at the stub's entry and now."""
    guest = session.guest
    isa, now = guest.image.isa, guest.debugger.registers()
    digits = guest.image.bits // 4
    form = guest.image.sites[0].form
    nested = guest.spec is None or guest.spec.port.kernel.nested_functions
    without = "" if nested else isa.abi.static_chain
    for name in dict.fromkeys((*isa.abi.at_site(form).live, *isa.abi.saved, *isa.abi.fixed)):
        if name not in before or name == without:
            continue
        then, value = before[name], now[name]
        line = f"{name:>6}  {then & isa.mask:0{digits}x}  {value & isa.mask:0{digits}x}"
        if then == value:
            session.print(line)
        else:
            session.say(f"{line}  changed", "red")
