# SPDX-License-Identifier: MIT
"""QEMU's command line."""

from pathlib import Path

from harness.config import LinuxConfig, list_configs, load_config
from harness.machine.command import qemu_command

KERNEL = Path("/a directory/vm,linux")


def command(config, **more):
    descriptors = {"console_fd": 5, "monitor_fd": 6, "gdb_fd": 7}
    return qemu_command(load_config(config), KERNEL, **descriptors, **more)


def test_every_machine_is_bare_paused_and_private():
    for name in list_configs():
        words = command(name)
        assert {"-nodefaults", "-no-user-config", "-no-reboot", "-S"} <= set(words)
        assert words[words.index("-kernel") + 1] == str(KERNEL)
        chardevs = [words[i + 1] for i, word in enumerate(words) if word == "-chardev"]
        assert [chardev.split(",")[2] for chardev in chardevs] == ["fd=5", "fd=6", "fd=7"]
        assert not any("tcp" in word or "port=" in word for word in words)


def test_the_config_says_what_machine():
    words = command("mips-malta")
    config = load_config("mips-malta").qemu
    assert words[0] == config.binary
    for option, value in (
        ("-machine", config.machine),
        ("-cpu", config.cpu),
        ("-m", config.memory),
    ):
        assert words[words.index(option) + 1] == value


def test_deterministic():
    assert "-icount" not in command("mips-malta")
    words = command("mips-malta", deterministic=True)
    assert words[words.index("-icount") + 1] == "shift=0,sleep=off"
    assert "clock=vm,base=2020-01-01T00:00:00" in words


def test_a_deterministic_linux_guest_sleeps_while_it_is_idle():
    """Else QEMU hangs when the guest stops at a breakpoint with a timer's interrupt pending."""
    config = load_config("aarch64-virt")
    linux = LinuxConfig.model_construct(name="linux", qemu=config.qemu)
    words = qemu_command(linux, KERNEL, console_fd=5, monitor_fd=6, gdb_fd=7, deterministic=True)
    assert words[words.index("-icount") + 1] == "shift=0"
    assert "clock=vm,base=2020-01-01T00:00:00" in words


def test_each_cpu_has_a_thread_but_where_time_is_counted_in_instructions():
    assert "-accel" not in command("mips-malta")
    words = command("mips64-malta-smp")
    assert words[words.index("-accel") + 1] == "tcg,thread=multi"
    assert "-accel" not in command("mips64-malta-smp", deterministic=True)


def test_plugins_and_more_arguments():
    config = load_config("mips-malta")
    config = config.model_copy(
        update={"qemu": config.qemu.model_copy(update={"arguments": ("-d", "guest_errors")})}
    )
    words = qemu_command(
        config, KERNEL, console_fd=5, monitor_fd=6, gdb_fd=7, plugins=["a.so,x=1", "b.so"]
    )
    assert words[-6:] == ["-plugin", "a.so,x=1", "-plugin", "b.so", "-d", "guest_errors"]
