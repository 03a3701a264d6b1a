# SPDX-License-Identifier: MIT
"""Patching of call sites of modules, which are out of reach of the kernel's calls."""

import subprocess

import capstone
import pytest

from harness import boot
from harness.config import list_configs, load_config
from harness.guest import run_kernel
from harness.isa import Form, Property, SiteState
from harness.kbuild import GuestSpec, plan_build

pytestmark = pytest.mark.guest(workload="modules", modules=["callbacks", "numbers"])

MODULES = ["callbacks", "numbers"]
RIGHT = 7 + 8
"""What run_modules() returns when every function of both modules gives the right result."""

EINVAL, EEXIST, ENOENT, ERANGE = -22, -17, -2, -34

MIPS = [name for name in list_configs() if load_config(name).architecture == "mips"]
N64 = [name for name in MIPS if "-mabi=64" in load_config(name).build.cflags]
FAR = [name for name in list_configs() if Property.FAR_MODULES in load_config(name).properties]
AARCH64 = [name for name in FAR if load_config(name).architecture == "aarch64"]

CALLBACKS = [
    *("callbacks_run", "mod_leaf", "mod_nested", "mod_middle", "mod_leaf"),
    *("mod_recursion", "mod_recursion", "mod_recursion", "mod_sort"),
]


def images(guest):
    return list(guest.image.modules.values())


def sites_of(guest, *names):
    return [
        site
        for image in images(guest)
        for site in image.sites
        if not names or site.function in names
    ]


def text(guest):
    return [guest.debugger.dump_memory(i.text.start, len(i.text)) for i in images(guest)]


def code_at(guest, site):
    return guest.debugger.read_memory(site.address, len(site.as_built))


def word(guest, address):
    raw = guest.debugger.read_memory(address, guest.image.isa.word_size)
    return int.from_bytes(raw, guest.image.byteorder)


def records(guest):
    """Each record of the modules' call sites, with its module's struct, by its ``ip``."""
    found = {}
    for image in images(guest):
        module = image.address_of("__this_module")
        start, sites = guest.port.records(module)
        for index, site in enumerate(sites):
            found[site] = module, start + index * guest.port.record.size
    return found


def patch(guest, function, address=None):
    """Call the port's own function for each site of the modules; its results."""
    target = guest.image.pointer_to("ftrace_caller") if address is None else address
    with_module = function == "ftrace_make_nop"
    return [
        guest.call(function, *([module] if with_module else []), record, target)
        for module, record in records(guest).values()
    ]


def calls_directly(guest, site, target):
    """Whether the site's own instruction may call any function, and reaches this one."""
    sites = guest.image.isa.sites
    return site.form is not Form.LONG_CALL and sites.reaches(sites.call_address(site), target)


def functions(events):
    """The function of each event, without the name of its module."""
    return [event.function.split()[0] for event in events]


def test_inside_and_outside_leave_the_same_text(config, guest):
    off = text(guest)
    assert set(records(guest)) == {site.ip for site in sites_of(guest)}
    guest.tracer.current = "function"
    on = text(guest)
    guest.tracer.current = "nop"
    assert text(guest) == off
    assert set(patch(guest, "ftrace_make_call")) == {0}
    assert text(guest) == on
    assert all(a != b for a, b in zip(on, off, strict=True))
    assert set(patch(guest, "ftrace_make_call")) == {EINVAL}
    assert set(patch(guest, "ftrace_make_nop")) == {0}
    assert text(guest) == off
    assert set(patch(guest, "ftrace_make_nop")) == {EINVAL}


@pytest.mark.parametrize("machine", MIPS)
def test_switched_on_a_long_call_is_what_the_linker_made(machine):
    with boot(machine, "modules", modules=MODULES) as guest:
        off = [code_at(guest, site) for site in sites_of(guest)]
        assert {site.form for site in sites_of(guest)} == {Form.LONG_CALL}
        guest.tracer.current = "function"
        for site, code in zip(sites_of(guest), off, strict=True):
            assert code_at(guest, site) == site.as_built
            branch = guest.image.isa.encode(0x10000000 + len(code) // 4 - 1)
            assert code == branch + site.as_built[4:]


@pytest.mark.parametrize("machine", FAR)
def test_a_site_goes_through_a_trampoline_of_its_module(machine):
    with boot(machine, "modules", modules=MODULES) as guest:
        guest.tracer.current = "function"
        debugger, code = guest.debugger, guest.image.isa.sites
        caller = guest.address_of("ftrace_caller")
        for site in sites_of(guest):
            address = code.call_address(site)
            target = code.call_target(address, debugger.read_memory(address, 4))
            assert any(target in image.text for image in images(guest))
            low, high = code.reach(address)
            assert not low <= caller <= high
            debugger.write_register("pc", target)
            passed = [debugger.step_instruction().address for _ in range(3)]
            assert caller in passed


@pytest.mark.parametrize("machine", AARCH64)
def test_a_trampoline_of_aarch64(machine):
    with boot(machine, "modules", modules=MODULES) as guest:
        guest.tracer.current = "function"
        engine = capstone.Cs(capstone.CS_ARCH_ARM64, capstone.CS_MODE_LITTLE_ENDIAN)
        engine.detail = True
        caller = guest.address_of("ftrace_caller")
        for site in sites_of(guest):
            address = site.address + len(site.as_built) - 4
            (call,) = engine.disasm(guest.debugger.read_memory(address, 4), address)
            assert call.mnemonic == "bl"
            target = call.operands[0].imm
            assert any(target in image.text for image in images(guest))
            assert abs(caller - address) > 128 << 20
            pad, load, jump = engine.disasm(guest.debugger.read_memory(target, 12), target)
            assert (pad.mnemonic, pad.op_str) == ("bti", "c")
            assert (load.mnemonic, jump.mnemonic, jump.op_str) == ("ldr", "br", "x16")
            assert word(guest, load.operands[1].imm) == caller


def test_a_target_that_the_site_cannot_call_is_refused(config, guest):
    off = text(guest)
    for far in (guest.address_of("ftrace_caller") + 8, guest.address_of("run_modules")):
        if not any(calls_directly(guest, site, far) for site in sites_of(guest)):
            assert set(patch(guest, "ftrace_make_call", far)) <= {EINVAL, ERANGE}
        assert set(patch(guest, "ftrace_make_nop", far)) <= {EINVAL, ERANGE}
    assert text(guest) == off


def test_a_module_whose_sites_are_not_what_they_must_be_is_not_loaded(config):
    """With one bad word in the last of its sites."""
    with boot(config, "modules") as guest:
        module = guest.modules.find("callbacks")[0]
        put(guest, module.image)
        site = module.image.sites[-1]
        guest.debugger.write_memory(site.address, b"\xff\xff\xff\xff")
        assert guest.call("load_module", module.image.this_module) in (EINVAL, ERANGE)
        assert guest.call("do_init_module", module.image.this_module) == ENOENT
        assert guest.call("run_modules", 1) == 0
        put(guest, module.image)
        assert guest.call("load_module", module.image.this_module) == 0
        assert guest.call("load_module", module.image.this_module) == EEXIST
        assert guest.call("do_init_module", module.image.this_module) == 0
        assert guest.call("run_modules", 1) == 7
        assert guest.call("unload_module", module.image.this_module) == 0
        assert guest.call("unload_module", module.image.this_module) == ENOENT
        assert guest.call("run_modules", 1) == 0


def put(guest, image):
    for address, data in image.segments:
        guest.debugger.restore_memory(address, data)


def test_switched_off_a_site_goes_on_behind_itself(config, guest):
    """Each site that the workload reaches, in single steps; sp must not change (B06)."""
    stack = guest.image.isa.abi.stack_register
    left = {site.address: site for site in sites_of(guest)}
    for name in ("callbacks_init", "callbacks_exit"):
        left = {address: site for address, site in left.items() if site.function != name}
    numbers = {a: guest.debugger.breakpoints.insert(a) for a in left}
    guest.debugger.resume()
    while left:
        assert guest.debugger.wait_stop(30) is not None
        pc = guest.debugger.read_register("pc") & guest.image.isa.mask
        site = left.pop(pc)
        guest.debugger.breakpoints.delete(numbers.pop(pc))
        sp = guest.debugger.read_register(stack)
        end = pc + len(site.as_built)
        for _ in guest.image.isa.split(site.as_built):
            guest.debugger.step_instruction()
            now = guest.debugger.read_register("pc") & guest.image.isa.mask
            if now not in range(pc, end):
                break
        assert now == end
        pops = guest.image.isa.abi.at_site(site.form).pops
        assert guest.debugger.read_register(stack) == sp + pops
        if left:
            guest.debugger.resume()
    guest.run()
    assert guest.workload_status == 0


def test_a_site_may_change_under_a_cpu_at_any_of_its_words(config, guest):
    """A site of several words, in a function that is called often."""
    (site,) = sites_of(guest, "mod_compare")
    guest.tracer.set_filter("mod_compare")
    for word_number in range(len(guest.image.isa.split(site.as_built))):
        for before, after in (("function", "nop"), ("nop", "function")):
            guest.tracer.current = before
            guest.run(until=site.address)
            for _ in range(word_number):
                guest.debugger.step_instruction()
            guest.tracer.current = after
    guest.run()
    assert guest.workload_status == 0


@pytest.mark.parametrize("build", ["dynamic", "static"])
def test_events_of_a_module(config, build):
    if build == "static" and load_config(config).build.form == Form.PATCHABLE_ENTRY:
        pytest.skip("patchable entries are for dynamic guests")
    features = None if build == "dynamic" else STATIC
    with boot(config, "modules", modules=MODULES, features=features) as guest:
        check_events(guest)


STATIC = [
    *("FUNCTION_TRACER", "FTRACE_MCOUNT_RECORD", "FUNCTION_GRAPH_TRACER"),
    *("FUNCTION_GRAPH_FP_TEST", "FUNCTION_GRAPH_RET_ADDR_PTR"),
]


def check_events(guest):
    """Both tracers name the modules' functions by their call sites, and no result changes."""
    sites = {site.ip for site in sites_of(guest)}
    assert guest.call("run_modules", 1) == RIGHT
    guest.tracer.current = "function"
    assert guest.call("run_modules", 1) == RIGHT
    guest.tracer.current = "nop"
    events = [event for event in guest.tracer.events() if event.ip in sites]
    entered = functions(events)
    start = entered.index("callbacks_run")
    assert entered[start : start + len(CALLBACKS)] == CALLBACKS
    assert set(entered) == {
        site.function for site in sites_of(guest) if not site.function.endswith(("_init", "_exit"))
    }
    # The kernel has called some of them through pointers.
    callers = {guest.image.symbolize(event.parent_ip).split("+")[0] for event in events}
    assert "run_modules" in callers
    assert callers & {"qsort", "sink"}

    guest.tracer.clear()
    guest.tracer.current = "function_graph"
    assert guest.call("run_modules", 1) == RIGHT
    guest.tracer.current = "nop"
    graph = [event for event in guest.tracer.events() if event.func in sites]
    assert functions(event for event in graph if event.name == "funcgraph_entry") == entered
    assert sum(event.name == "funcgraph_exit" for event in graph) == len(entered)
    guest.run()
    assert guest.workload_status == 0


@pytest.mark.parametrize("machine", N64)
def test_long_calls_with_addresses_of_64_bits(machine, tmp_path):
    """-mno-sym32: eight words before the delay slot, and a module that needs them."""
    kernel = make(machine, tmp_path, "CFLAGS_MODULE=-mno-sym32")
    with run_kernel(GuestSpec.of(machine), kernel) as guest:
        guest.run(until="workload")
        for name in MODULES:
            guest.load_module(tmp_path / "modules" / f"{name}.ko")
        sites = sites_of(guest)
        assert {len(site.as_built) for site in sites} <= {36, 40}
        assert all(site.address >> 56 == 0x98 for site in sites)
        off = text(guest)
        guest.tracer.current = "function"
        on = text(guest)
        guest.tracer.current = "nop"
        assert set(patch(guest, "ftrace_make_call")) == {0}
        assert text(guest) == on
        assert set(patch(guest, "ftrace_make_nop")) == {0}
        assert text(guest) == off
        check_events(guest)


@pytest.mark.parametrize("machine", MIPS[:1])
def test_a_module_without_long_calls_does_not_link(machine, tmp_path):
    """B14: a call out of reach must be an error of the linker."""
    with pytest.raises(subprocess.CalledProcessError) as failure:
        make(machine, tmp_path, "CFLAGS_MODULE=-mno-long-calls")
    assert "relocation truncated to fit" in failure.value.stderr


def make(config, directory, *variables):
    """Build a kernel by hand, with some other variables of make."""
    plan = plan_build(GuestSpec.of(config, "modules", modules=MODULES))
    command = [*plan.command(directory), *variables]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return directory / "vmlinux"


def test_states_of_a_module_that_is_loaded(config, guest):
    """Every site is off from the start, by the words that the port wrote."""
    states = {now.state for now in guest.tracer.sites() if now.site in sites_of(guest)}
    assert states == {SiteState.NOP}
