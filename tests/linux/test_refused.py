# SPDX-License-Identifier: MIT
"""Kernels that hide: at addresses that are not those of the vmlinux, and locked down."""

from pathlib import Path

import pytest

from harness.config import LinuxConfig, load_any_config
from harness.errors import GuestError, WrongGuest
from harness.guest import attach
from harness.guest.linux_start import read_vmlinux
from harness.machine import Machine
from tests.linux.test_controls import check_no_warning, names
from tests.linux.test_function import booted


def needs(config: Path, symbol: str) -> LinuxConfig:
    """The config; skips unless its kernel has the symbol."""
    loaded = load_any_config(config)
    assert isinstance(loaded, LinuxConfig)
    vmlinux = loaded.linux.vmlinux
    if symbol not in read_vmlinux(vmlinux.read_bytes(), str(vmlinux)).symbols:
        pytest.skip(f"this kernel was built without {symbol}")
    return loaded


def test_a_kernel_at_random_addresses_is_refused_with_the_option(linux_config: Path) -> None:
    config = needs(linux_config, "kaslr_init")
    table = config.linux
    append = " ".join(word for word in table.append.split() if word != "nokaslr")
    with Machine(config, table.boot_file, append=append, initrd=table.initrd) as machine:
        machine.qmp("cont")
        machine.console.expect("Run /init as init", 600.0)
        before = machine.console.log.read_bytes()
        with (
            pytest.raises(WrongGuest) as refused,
            attach(table.vmlinux, str(machine.gdb_socket)),
        ):
            pass
        assert "nokaslr" in refused.value.advice
        machine.console.drain()
        assert machine.console.log.read_bytes().startswith(before)


@pytest.mark.parametrize(("level", "refused"), [("confidentiality", True), ("integrity", False)])
def test_a_kernel_that_is_locked_down(linux_config: Path, level: str, refused: bool) -> None:
    config = needs(linux_config, "kernel_locked_down")
    append = f"{config.linux.append} lockdown={level}"
    table = config.linux.model_copy(update={"append": append})
    with booted(config.model_copy(update={"linux": table}), "work:2") as guest:
        if refused:
            with pytest.raises(GuestError, match="is locked down"):
                guest.tracer.current = "function"
            guest.run(timeout=600.0)
        else:
            guest.collector.configure()
            guest.tracer.set_filter("vfs_*")
            guest.tracer.current = "function"
            guest.run(timeout=600.0)
            guest.drain()
            assert {"vfs_open", "vfs_read"} <= names(guest)
        check_no_warning(guest)
