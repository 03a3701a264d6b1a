# SPDX-License-Identifier: MIT
"""Verbs for porters: call sites, text, slots, stubs, and the raw ring buffer."""

from harness.errors import UsageError
from harness.image import Image
from harness.isa import CallSite, Instruction
from harness.readout import Collector
from harness.ring import decode_page, page_header
from harness.shell.session import Session
from harness.shell.verb import Arguments, verb
from harness.shell.verbs.tracefs import natural
from harness.shell.walk import walk
from harness.tracefs import number

GROUP = "port"
RET_STACK = 50
"""FTRACE_RETFUNC_DEPTH."""
SHOWN = 4096
"""Maximum bytes of a disassembled function."""


@verb("[GLOB]", completes="functions", example="sites do_*", group=GROUP)
def sites(session: Session, arguments: Arguments) -> None:
    """Call sites: address, current state, form, function."""
    guest = session.live
    wanted = set(guest.tracer.sites_of(*arguments.words))
    digits = guest.image.bits // 4
    for now in guest.tracer.sites():
        site = now.site
        if site in wanted:
            session.print(f"{site.address:0{digits}x}  {now.state:8}  {site.form}  {site.function}")


@verb("[FUNCTION | ADDRESS]", most=1, completes="functions", example="disasm leaf", group=GROUP)
def disasm(session: Session, arguments: Arguments) -> None:
    """Disassemble a function; changed instructions are marked, with the original.

    Default: the function in which the guest is stopped.
    """
    guest = session.live
    image, isa = guest.image, guest.image.isa
    start, size = _extent(session, arguments)
    now = guest.debugger.dump_memory(start, size)
    built = {one.address: one for one in isa.disassemble(image.read(start, size), start)}
    pc = guest.debugger.stop.address if guest.debugger.stop else -1
    for one in isa.disassemble(now, start):
        old = built.get(one.address)
        mark = "=>" if one.address == pc else "  "
        text = _with_target(image, one)
        line = f"{mark} {image.symbolize(one.address):24} {one.bytes_.hex()}  {text}"
        if old is not None and one.bytes_ != old.bytes_:
            session.say(f"{line:64} # built: {_with_target(image, old)}", "yellow")
        else:
            session.print(line)


@verb("FUNCTION | ADDRESS", most=1, completes="sites", example="patch leaf", group=GROUP)
def patch(session: Session, arguments: Arguments) -> None:
    """Enable one call site, whatever the filters say."""
    session.live.tracer.set_site(_site(session, arguments), True)


@verb("FUNCTION | ADDRESS", most=1, completes="sites", example="unpatch leaf", group=GROUP)
def unpatch(session: Session, arguments: Arguments) -> None:
    """Disable one call site, whatever the filters say."""
    session.live.tracer.set_site(_site(session, arguments), False)


@verb(group=GROUP)
def slots(session: Session, arguments: Arguments) -> None:
    """The instructions in the port's slots, now and as built."""
    guest = session.live
    image, isa = guest.image, guest.image.isa
    held = guest.tracer.slots()
    if not held:
        raise UsageError("a static guest has no slots", "See: p ftrace_trace_function")
    for name, (address, code) in held.items():
        (now,) = isa.disassemble(code, address)
        (built,) = isa.disassemble(image.read(address, len(code)), address)
        same = now.bytes_ == built.bytes_
        changed = "" if same else f"   # built: {_with_target(image, built)}"
        text = _with_target(image, now)
        session.print(f"{address:0{image.bits // 4}x}  {name:24} {text}{changed}")


@verb("[STUB]", completes="functions", example="stubs ftrace_caller", group=GROUP)
def stubs(session: Session, arguments: Arguments) -> None:
    """Run to a stub of the port and step through it.

    Shows the stub's instructions with the registers they change, and at the end the old and new
    value of each register that must be preserved.
    """
    image = session.live.image
    default = "ftrace_caller" if "ftrace_caller" in image.symbols else image.isa.sites.mcount
    walk(session, arguments.words[0] if arguments.words else default)


@verb("[PID]", example="ret_stack 1", group=GROUP)
def ret_stack(session: Session, arguments: Arguments) -> None:
    """The stack of return addresses of the graph tracer, for one thread or all."""
    guest = session.live
    isa, image = guest.image.isa, guest.image
    wanted = [number(word) for word in arguments.words]
    found = [thread for thread in guest.threads() if not wanted or thread.pid in wanted]
    if wanted and not found:
        raise UsageError(f"there is no thread {wanted[0]}", "See: threads")
    size = number(guest.debugger.cli("output sizeof(struct ftrace_ret_stack)").strip() or "0")
    for thread in found:
        depth = min(thread.curr_ret_stack + 1, RET_STACK) if thread.ret_stack else 0
        session.print(f"{thread}: {depth} taken")
        for index in reversed(range(depth)):
            entry = guest.debugger.read_memory(thread.ret_stack + index * size, 2 * isa.word_size)
            back, function = (
                int.from_bytes(entry[at : at + isa.word_size], image.byteorder)
                for at in (0, isa.word_size)
            )
            name = image.symbolize(function).partition("+")[0]
            session.print(f"  {index:>2} {name} returns to {image.symbolize(back)}")


@verb("[CPU [PAGE]]", most=2, example="ring 0 0", group=GROUP)
def ring(session: Session, arguments: Arguments) -> None:
    """The ring buffer's header; with a CPU, its counters; with a page, its raw events."""
    guest = session.live
    if not isinstance(guest.collector, Collector):
        raise UsageError("ring shows the header of a guest of the harness, and this is none")
    header = guest.collector.header()
    form = header.page_format
    if not arguments.words:
        session.print(
            f"{len(header.cpus)} CPUs, {form.byteorder} endian, long {form.long_size}, "
            f"page {form.page_size}, clock {header.clock_hz} Hz, "
            f"overwrite {int(header.overwrite)}, record_disabled {header.record_disabled}"
        )
    chosen = [natural(word) for word in arguments.words]
    if chosen and not chosen[0] < len(header.cpus):
        raise UsageError(f"there is no CPU {chosen[0]}", f"CPUs: 0 to {len(header.cpus) - 1}.")
    for cpu in header.cpus if not chosen else [header.cpus[chosen[0]]]:
        session.print(
            f"CPU {cpu.index}: pages {cpu.head}..{cpu.tail} of {cpu.nr_pages} at {cpu.pages:#x}, "
            f"entries {cpu.entries}, overrun {cpu.overrun}, dropped {cpu.dropped}, "
            f"writing {cpu.writing}, record_disabled {cpu.record_disabled}, "
            f"last {cpu.last_stamp}"
        )
    if len(chosen) < 2:
        return
    cpu = header.cpus[chosen[0]]
    address = cpu.page_address(chosen[1])
    page = guest.debugger.dump_memory(address, form.page_size)
    first = page_header(page, form)
    session.print(f"page {chosen[1]} at {address:#x}: stamp {first.stamp}, {first.used} bytes used")
    for record in decode_page(page, form):
        session.print(f"  {record.offset:#06x} {record.stamp} {record.payload.hex(' ', 4)}")


def _with_target(image: Image, instruction: Instruction) -> str:
    """An instruction's text, with the name of a call's target."""
    target = instruction.calls
    return instruction.text if target is None else f"{instruction.text} <{image.symbolize(target)}>"


def _site(session: Session, arguments: Arguments) -> CallSite:
    if not arguments.words:
        raise UsageError("which call site?", "Name a function or an address: patch leaf")
    word = arguments.words[0]
    image = session.live.image
    if word[:1].isdigit():
        address = number(word) & image.isa.mask
        found = [site for site in image.sites if address in (site.address, site.ip)]
        if not found:
            raise UsageError(f"there is no call site at {address:#x}", "See: sites")
        return found[0]
    found = session.live.tracer.sites_of(word)
    if len(found) > 1:
        raise UsageError(
            f"{word} has {len(found)} call sites", "Give one's address; see: sites " + word
        )
    return found[0]


def _extent(session: Session, arguments: Arguments) -> tuple[int, int]:
    guest = session.live
    if not arguments.words:
        address = guest.debugger.stop.address if guest.debugger.stop else 0
    elif arguments.words[0][:1].isdigit():
        address = number(arguments.words[0])
    else:
        address = guest.address_of(arguments.words[0])
    function = guest.image.function_at(address)
    if function is None:
        raise UsageError(
            f"no function of the guest lies at {address:#x}", f"Ask gdb: x/8i {address:#x}"
        )
    return function.address, min(function.size, SHOWN)
