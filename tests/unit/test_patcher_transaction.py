# SPDX-License-Identifier: MIT
"""All of a plan or nothing of it, against a memory that fails where it is told to."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import DeadlineMissed, GuestError, HostError, SiteMismatch, UsageError
from harness.patcher import Patch, PatchPlan, apply

BASE = 0x80100000
NOP = b"\0\0\0\0"
JAL = b"\x0c\x04\x00\x10"
ADJUST = b"\x27\xbd\xff\xf8"


class FakeText:
    """Guest text that counts transfers and fails on demand."""

    def __init__(self, size=64 * 1024):
        self.memory = bytearray(size)
        self.reads = self.writes = 0
        self.fail_write = None
        self.lose_write = None

    def dump_memory(self, address, size):
        self.reads += 1
        return bytes(self.memory[address - BASE : address - BASE + size])

    def restore_memory(self, address, data):
        self.writes += 1
        if self.writes == self.fail_write:
            # As a connection does that breaks in the middle of a transfer.
            self.memory[address - BASE : address - BASE + 4] = data[:4]
            raise HostError("the connection broke")
        if self.writes != self.lose_write:
            self.memory[address - BASE : address - BASE + len(data)] = data


class FakeCpus:
    """CPUs that advance one word with each step, and threads that get on when these run."""

    def __init__(self, *pcs, stuck=False, dead=False, saved=(), entry=()):
        self.pcs = dict(enumerate(pcs))
        self.stuck = stuck or dead
        self.dead = dead
        self.saved = list(saved)
        self.entry = entry
        self.steps = []
        self.runs = []

    def program_counters(self):
        return dict(self.pcs)

    def step(self, cpu):
        self.steps.append(cpu)
        if not self.stuck:
            self.pcs[cpu] += 4

    def enters(self, pc):
        return pc in self.entry

    def saved_contexts(self):
        return {f"thread t-{pid}": pc for pid, pc in enumerate(self.saved, 1)}

    def run_briefly(self):
        self.runs.append(None)
        self.stuck = self.dead

    def run_to(self, address):
        if self.stuck:
            raise DeadlineMissed("it did not come there")
        self.runs.append(address)
        self.saved[:1] = []


def listing(code, address):
    return [f"{address:#x} {code.hex()}"]


def site(offset, old=NOP + NOP, new=JAL + ADJUST):
    return Patch(BASE + offset, old, new, f"the call site of f{offset:x}")


def test_every_patch_of_a_plan_is_written():
    text = FakeText()
    apply(PatchPlan([site(0x100), site(0x200)]), text, FakeCpus(BASE), listing)
    assert text.memory[0x100:0x108] == text.memory[0x200:0x208] == JAL + ADJUST


def test_neighbours_share_transfers():
    text = FakeText()
    apply(PatchPlan(site(64 * i) for i in range(200)), text, FakeCpus(BASE + 4096 * 15), listing)
    assert (text.reads, text.writes) == (2, 1)


def test_a_wrong_word_changes_nothing_and_is_shown():
    text = FakeText()
    text.memory[0x200:0x204] = b"\xde\xad\xbe\xef"
    before = bytes(text.memory)
    with pytest.raises(SiteMismatch) as caught:
        apply(PatchPlan([site(0x100), site(0x200)]), text, FakeCpus(BASE), listing)
    assert text.memory == before
    assert text.writes == 0
    assert "f200 at 0x80100200" in caught.value.message
    assert "deadbeef00000000" in caught.value.evidence
    assert "0000000000000000" in caught.value.evidence


@pytest.mark.parametrize("fail", [1, 2, 3])
def test_a_broken_write_puts_everything_back(fail):
    text = FakeText()
    text.fail_write = fail
    before = bytes(text.memory)
    with pytest.raises(HostError, match="the connection broke"):
        apply(PatchPlan(site(0x2000 * i) for i in range(3)), text, FakeCpus(BASE + 4), listing)
    assert text.memory == before


def test_a_write_that_does_not_arrive_is_noticed_and_undone():
    text = FakeText()
    text.lose_write = 2
    before = bytes(text.memory)
    with pytest.raises(GuestError, match="did not take"):
        apply(PatchPlan(site(0x2000 * i) for i in range(3)), text, FakeCpus(BASE), listing)
    assert text.memory == before


def test_a_cpu_between_the_words_is_moved_out_first():
    cpus = FakeCpus(BASE, BASE + 0x104)
    apply(PatchPlan([site(0x100)]), FakeText(), cpus, listing)
    assert cpus.steps == [1]


def test_a_cpu_that_does_not_leave_refuses_the_plan():
    text = FakeText()
    with pytest.raises(GuestError, match="CPU 0 at 0x80100104 does not leave a call site"):
        apply(PatchPlan([site(0x100)]), text, FakeCpus(BASE + 0x104, dead=True), listing)
    assert text.writes == 0


def test_a_thread_between_the_words_is_let_run_first():
    cpus = FakeCpus(BASE, saved=[BASE + 0x104, BASE + 0x204, BASE + 0x300])
    apply(PatchPlan([site(0x100), site(0x200)]), FakeText(), cpus, listing)
    assert cpus.runs == [BASE + 0x108, BASE + 0x208]
    assert cpus.steps == []


def test_a_thread_that_does_not_go_on_is_named_and_nothing_changes():
    text = FakeText()
    cpus = FakeCpus(BASE, stuck=True, saved=[BASE, BASE + 0x104])
    with pytest.raises(GuestError, match="thread t-2 at 0x80100104 does not leave") as caught:
        apply(PatchPlan([site(0x100)]), text, cpus, listing)
    assert "nothing has been changed" in caught.value.message
    assert text.writes == 0


def test_a_cpu_that_has_interrupted_something_unknown_is_stepped():
    entry = range(BASE + 0x800, BASE + 0x810, 4)
    cpus = FakeCpus(BASE, BASE + 0x804, entry=entry)
    apply(PatchPlan([site(0x100)]), FakeText(), cpus, listing)
    assert cpus.steps == [1, 1, 1]


def test_a_cpu_that_steps_do_not_move_is_let_run():
    cpus = FakeCpus(BASE + 0x104, stuck=True)
    apply(PatchPlan([site(0x100)]), FakeText(), cpus, listing)
    assert cpus.runs == [None]
    assert cpus.pcs[0] == BASE + 0x108


def test_one_word_may_change_under_everybody():
    cpus = FakeCpus(BASE + 0x100, saved=[BASE + 0x100], entry=[BASE + 0x100], stuck=True)
    plan = PatchPlan([site(0x100, old=NOP, new=JAL)])
    apply(plan, FakeText(), cpus, listing)
    assert cpus.steps == cpus.runs == []


def test_a_cpu_at_the_first_or_behind_the_last_word_may_stay():
    cpus = FakeCpus(BASE + 0x100, BASE + 0x108)
    apply(PatchPlan([site(0x100)]), FakeText(), cpus, listing)
    assert not cpus.steps


def test_only_changed_words_count_as_the_inside_of_a_site():
    # mov x9, x30; nop  ->  mov x9, x30; bl: a CPU at the second word has done the first.
    assert not site(0x100, old=ADJUST + NOP, new=ADJUST + JAL).interior
    assert list(site(0x100).interior) == [BASE + 0x104]
    assert list(Patch(BASE, NOP * 4, JAL + NOP * 2 + JAL, "long").interior) == [
        BASE + 4,
        BASE + 8,
        BASE + 12,
    ]


def test_a_call_is_left_before_it_goes():
    """Its delay slot may have been interrupted, and the return register has changed by then."""
    call = Patch(BASE, JAL, NOP, "a call", delay_slot=4)
    assert list(call.interior) == [BASE + 4]
    assert list(call.unsafe) == [BASE, BASE + 4]
    assert call.behind == BASE + 8
    cpus = FakeCpus(BASE + 0x1000, saved=[BASE])
    text = FakeText()
    text.memory[:4] = JAL
    apply(PatchPlan([call]), text, cpus, listing)
    assert cpus.runs == [BASE + 8]
    assert not Patch(BASE, NOP, JAL, "a call to be", delay_slot=0).unsafe
    wide = Patch(BASE, JAL + ADJUST, NOP + NOP, "a call of o32", delay_slot=4)
    assert (list(wide.unsafe), wide.behind) == ([BASE, BASE + 4], BASE + 8)


def test_instructions_of_16_bits_are_places_too():
    short = Patch(BASE, NOP * 2, JAL + NOP, "c.nop twice", unit=2)
    assert list(short.interior) == [BASE + 2]


def test_overlapping_and_crooked_patches_are_refused():
    with pytest.raises(UsageError, match="overlap"):
        PatchPlan([site(0x100), site(0x104)])
    with pytest.raises(UsageError, match="not word aligned"):
        site(0x102)
    with pytest.raises(UsageError, match="whole words"):
        site(0x100, old=NOP)


@given(st.sets(st.integers(0, 1000), max_size=60), st.data())
def test_any_plan_and_its_reverse_restore_the_text(places, data):
    text = FakeText()
    text.memory[:] = data.draw(st.binary(min_size=16, max_size=16)) * (len(text.memory) // 16)
    before = bytes(text.memory)
    there, back = [], []
    for place in places:
        old = bytes(text.memory[place * 8 : place * 8 + 8])
        there.append(site(place * 8, old, JAL + ADJUST))
        back.append(site(place * 8, JAL + ADJUST, old))
    apply(PatchPlan(there), text, FakeCpus(BASE + 0xF000), listing)
    assert all(text.memory[p * 8 : p * 8 + 8] == JAL + ADJUST for p in places)
    apply(PatchPlan(back), text, FakeCpus(BASE + 0xF000), listing)
    assert text.memory == before
