# SPDX-License-Identifier: MIT
"""Every transfer of control by the masks of its architecture, judged by a disassembler."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness.isa import FlowKind, for_elf

MIPS = {
    **dict.fromkeys(("jal", "jalr", "jalr.hb", "bal"), FlowKind.CALL),
    **dict.fromkeys(("bgezal", "bltzal", "bgezall", "bltzall"), FlowKind.CALL),
    **dict.fromkeys(("jr", "jr.hb"), FlowKind.INDIRECT_JUMP),
    "eret": FlowKind.EXCEPTION_RETURN,
}
AARCH64 = {
    **dict.fromkeys(("bl", "blr", "blraa", "blrab", "blraaz", "blrabz"), FlowKind.CALL),
    **dict.fromkeys(("br", "braa", "brab", "braaz", "brabz"), FlowKind.INDIRECT_JUMP),
    **dict.fromkeys(("ret", "retaa", "retab"), FlowKind.INDIRECT_JUMP),
    **dict.fromkeys(("eret", "eretaa", "eretab"), FlowKind.EXCEPTION_RETURN),
}
ISAS = [
    (for_elf(8, 32, "big"), MIPS),
    (for_elf(8, 64, "little"), MIPS),
    (for_elf(183, 64, "little"), AARCH64),
]
# Random words seldom hit the opcodes that matter: most words come from around them.
WORDS = st.one_of(
    st.integers(0, 0xFFFFFFFF),
    st.integers(0, 0x03FFFFFF),
    st.integers(0x04000000, 0x0FFFFFFF),
    st.integers(0xD6000000, 0xD7FFFFFF),
    st.integers(0x94000000, 0x97FFFFFF),
    st.builds(lambda rs, low: rs << 21 | low, st.integers(0, 31), st.integers(0, 0xFFFF)),
    st.builds(
        lambda top, register: 0xD61F0000 | top << 21 | register << 5,
        st.integers(0, 15),
        st.integers(0, 31),
    ),
    st.just(0x42000018),
)


def classify(isa, word):
    for pattern in isa.cpu.flow_patterns:
        if word & pattern.mask == pattern.value:
            return pattern.kind
    return None


@pytest.mark.parametrize(("isa", "kinds"), ISAS, ids=["mips", "mips64", "aarch64"])
@given(word=WORDS)
@example(word=0x00200409)
def test_masks_and_disassembler_agree(isa, kinds, word):
    (instruction,) = isa.disassemble(isa.encode(word), 0)
    if not instruction.text.startswith("."):
        # A jalr that links in $zero is a jump; capstone says jr for some of them.
        name = instruction.text.replace("jalr.hb $zero,", "jr.hb").split()[0]
        assert classify(isa, word) == kinds.get(name)
