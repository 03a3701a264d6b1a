# SPDX-License-Identifier: MIT
"""``harness record`` and ``report``: their files, also after errors and signals."""

import os
import re
import signal
import subprocess
import time

import pytest

from support.command import HARNESS, children, harness, start

SUMMARY = re.compile(r"(\d+) events, (\d+) lost, ended by (\w+)")

SPIN = """\
__attribute__((noinline)) int step(int x) { return x + 1; }
int workload(void) { volatile int x = 0; for (;;) x = step(x); }
"""
PANIC = """\
__attribute__((noinline)) void before(void) { __asm__ volatile(""); }
int workload(void) { int *volatile nowhere = (int *)8; before(); return *nowhere; }
"""
RECURSES = """\
__attribute__((noinline)) int deeper(int x)
{
	volatile char frame[512];
	frame[x & 511] = 1;
	return x < 0 ? x : deeper(x + 1) + frame[3];
}
int workload(void) { return deeper(0); }
"""
FAILS = "int workload(void) { return 3; }\n"


@pytest.fixture
def workload(tmp_path):
    def write(source):
        path = tmp_path / "mine.c"
        path.write_text(source)
        return path

    return write


def no_leftovers(directory):
    return [entry.name for entry in directory.iterdir() if entry.name.startswith(".")] == []


def lines(report):
    return [line for line in report.stdout.splitlines() if not line.startswith("#")]


def test_record_and_report(config, tmp_path):
    file = tmp_path / "calls.dat"
    done = harness("record", "-c", config, "-p", "function", "-o", file)
    assert done.returncode == 0, done.stderr
    events, lost, ended = SUMMARY.search(done.stdout).groups()
    assert (lost, ended) == ("0", "workload_done")
    report = harness("report", file)
    assert report.returncode == 0, report.stderr
    assert len(lines(report)) == int(events) > 20
    assert " leaf <-" in report.stdout


def test_filters_of_the_command_line(config, tmp_path):
    file = tmp_path / "some.dat"
    done = harness("record", "-c", config, "-l", "do_*", "-l", "leaf", "-n", "leaf", "-o", file)
    assert done.returncode == 0, done.stderr
    functions = {line.split()[-2] for line in lines(harness("report", file))}
    assert functions
    assert all(function.startswith("do_") for function in functions)


def test_no_name_is_not_the_name_of_an_end(tmp_path):
    file = tmp_path / "x.dat"
    done = harness("record", "-c", "mips-malta", "--until", "", "-o", file)
    assert done.returncode == 2
    assert "the guest has no symbol ''" in done.stderr
    assert not file.exists()


def test_events_ends_after_exactly_so_many(tmp_path, workload):
    file = tmp_path / "some.dat"
    source = workload(SPIN)
    options = ["--workload", source, "--events", 1234]
    done = harness("record", "-c", "mipsel-malta", *options, "-o", file)
    assert done.returncode == 0, done.stderr
    assert SUMMARY.search(done.stdout)[1] == "1234"
    assert len(lines(harness("report", file))) == 1234


def test_duration_ends_an_endless_workload(config, tmp_path, workload):
    file = tmp_path / "some.dat"
    source = workload(SPIN)
    options = ["--workload", source, "--overwrite", "--buffer-size", 64, "--duration", 0.3]
    done = harness("record", "-c", config, *options, "-o", file)
    assert done.returncode == 0, done.stderr
    events, _, ended = SUMMARY.search(done.stdout).groups()
    assert ended == "duration"
    assert int(events) > 0


def test_until_a_function(tmp_path):
    file = tmp_path / "some.dat"
    done = harness("record", "-c", "aarch64-virt", "--until", "leaf", "-o", file)
    assert done.returncode == 0, done.stderr
    assert SUMMARY.search(done.stdout)[3] == "leaf"
    assert " leaf <-" not in harness("report", file).stdout


def test_overwrite_keeps_the_newest_and_counts_the_rest(config, tmp_path):
    file = tmp_path / "some.dat"
    options = ["--workload", "sort", "--overwrite", "--buffer-size", 8]
    done = harness("record", "-c", config, *options, "-o", file)
    assert done.returncode == 0, done.stderr
    events, lost, _ = SUMMARY.search(done.stdout).groups()
    assert int(events) > 0
    assert int(lost) > 0
    # Each CPU has lines of its own.
    told = re.findall(r"\[LOST (\d+) EVENTS\]", harness("report", file).stdout)
    assert sum(map(int, told)) == int(lost)


def test_ctrl_c_closes_the_trace(tmp_path, workload):
    file = tmp_path / "some.dat"
    process = start("record", "-c", "mips-malta", "--workload", workload(SPIN), "-o", file)
    wait_for_line(process, "recording")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert SUMMARY.search(out)[3] == "stopped"
    assert harness("report", file).returncode == 0
    assert no_leftovers(tmp_path)


def test_a_panic_is_reported_with_its_evidence_and_the_events_are_kept(config, tmp_path, workload):
    file = tmp_path / "some.dat"
    done = harness("record", "-c", config, "--workload", workload(PANIC), "-o", file)
    assert done.returncode == 1
    assert "the guest panicked" in done.stderr
    assert "Kernel panic - not syncing" in done.stderr
    assert re.search(r"  workload\+0x| in workload ", done.stderr)
    assert " before <-workload" in harness("report", file).stdout


def test_a_stack_that_overflows_is_a_panic_and_the_events_are_kept(config, tmp_path, workload):
    file = tmp_path / "some.dat"
    done = harness("record", "-c", config, "--workload", workload(RECURSES), "-o", file)
    assert done.returncode == 1
    assert "the guest panicked" in done.stderr
    assert "Kernel panic - not syncing" in done.stderr
    assert " deeper <-deeper" in harness("report", file).stdout


def test_a_guest_that_hangs_comes_to_a_deadline_and_the_events_are_kept(tmp_path, workload):
    file = tmp_path / "some.dat"
    source = workload(SPIN)
    options = ["--workload", source, "--overwrite", "--buffer-size", 64, "--timeout", 1]
    done = harness("record", "-c", "aarch64-virt", *options, "-o", file)
    assert done.returncode == 1
    assert "did not reach workload_done within 1 s" in done.stderr
    assert " step <-workload" in harness("report", file).stdout


@pytest.mark.parametrize("victim", ["qemu-system", "gdb"])
def test_a_killed_child_is_the_hosts_fault_and_the_events_are_kept(tmp_path, workload, victim):
    file = tmp_path / "some.dat"
    # Overwriting, so that an endless workload leaves a small file.
    options = ["--workload", workload(SPIN), "--overwrite", "--buffer-size", 64]
    process = start("record", "-c", "mips64-malta", *options, "-o", file)
    wait_for_line(process, "recording")
    time.sleep(2)  # so that something has been read; nothing below depends on how much
    (pid,) = children(process.pid, victim)
    os.kill(pid, signal.SIGKILL)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 3
    assert "killed by SIGKILL" in err
    assert " step <-workload" in harness("report", file).stdout
    assert no_leftovers(tmp_path)


def test_a_killed_harness_takes_qemu_and_gdb_with_it(tmp_path, workload):
    source = workload(SPIN)
    process = start("record", "-c", "mips-malta", "--workload", source, "-o", tmp_path / "x.dat")
    wait_for_line(process, "recording")
    pids = children(process.pid, "qemu-system") + children(process.pid, "gdb")
    assert len(pids) == 2
    process.kill()
    process.communicate(timeout=60)
    deadline = time.monotonic() + 10
    while any(alive(pid) for pid in pids):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_failing_workload_is_the_guests_fault(tmp_path, workload):
    source = workload(FAILS)
    done = harness("record", "-c", "mips-malta", "--workload", source, "-o", tmp_path / "x.dat")
    assert done.returncode == 1
    assert "returned 3" in done.stderr


def test_a_full_disk_leaves_nothing_and_says_so(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    script = 'mount -t tmpfs -o size=4k none "$1" && "$2" record -c mips-malta -o "$1/x.dat"; '
    script += 'status=$?; ls -A "$1"; exit $status'
    command = ["unshare", "--mount", "--map-root-user", "sh", "-c", script, "sh", disk, HARNESS]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    if "unshare" in done.stderr or "mount" in done.stderr:
        pytest.skip(f"no file system of one's own here: {done.stderr.strip()}")
    assert done.returncode == 3
    assert "No space left on device" in done.stderr
    assert done.stdout == ""


def test_a_device_is_not_replaced(tmp_path):
    done = harness("record", "-c", "mips-malta", "-o", "/dev/null")
    assert done.returncode == 2
    assert "not a regular file" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-c", "mips-maltha"], "mips-malta"),
        (["-c", "mips-malta", "-l", "laef"], "leaf"),
        (["-c", "mips-malta", "-p", "functions"], "function"),
        (["-c", "mips-malta", "--workload", "cals"], "calls"),
        (["-c", "mips-malta", "--workload", "/nowhere/x.c"], "/nowhere/x.c"),
        (["-c", "mips-malta", "--until", "workload_don"], "workload_done"),
        (["-c", "mips-malta", "--buffer-size", "1"], "not possible"),
        (["-c", "mips-malta", "-o", "/nowhere/x.dat"], "/nowhere/x.dat"),
    ],
)
def test_wrong_use_is_one_plain_sentence(tmp_path, arguments, said):
    done = harness("record", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_workload_that_does_not_compile(tmp_path, workload):
    source = workload("int workload(void) { return undeclared; }\n")
    done = harness("record", "-c", "mips-malta", "--workload", source, "-o", tmp_path / "x.dat")
    assert done.returncode == 2
    assert "undeclared" in done.stderr
    assert not (tmp_path / "x.dat").exists()


@pytest.mark.parametrize("content", [b"", b"not a trace", b"\x17\x08\x44tracing6\0" + bytes(100)])
def test_a_file_that_is_no_trace(tmp_path, content):
    file = tmp_path / "x.dat"
    file.write_bytes(content)
    done = harness("report", file)
    assert done.returncode == 2
    assert "trace.dat" in done.stderr


def wait_for_line(process, start_of_line):
    for line in process.stderr:
        if line.startswith(start_of_line):
            return
    raise AssertionError(f"the command ended: {process.wait()}")


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
