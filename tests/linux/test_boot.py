# SPDX-License-Identifier: MIT
"""A Linux kernel boots by its machine config, up to the function where it is stopped."""

from pathlib import Path

from harness import boot


def test_it_is_stopped_before_its_first_process(linux_config: Path) -> None:
    with boot(linux_config, timeout=600.0) as guest:
        assert guest.machine is not None
        guest.machine.console.drain()
        said = guest.machine.console.log.read_text(errors="replace")
        assert "Linux version " in said
        assert "init: ready" not in said
        # The first process reads this file, and nothing else does.
        guest.run("version_proc_show", timeout=600.0)
        guest.machine.console.drain()
        assert "init: ready" in guest.machine.console.log.read_text(errors="replace")
