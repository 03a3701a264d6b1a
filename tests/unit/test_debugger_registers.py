# SPDX-License-Identifier: MIT
"""gdb's tables of register groups."""

from harness.debugger.registers import general_registers

AARCH64 = """\
 Name         Nr  Rel Offset    Size  Type            Groups
 x0            0    0      0       8 long            general,all,save,restore
 sp           31   31    248       8 *1              general,all,save,restore
 cpsr         33   33    264       4 int             general,all,save,restore
 v0           34   34    268      16 aarch64v        vector,all,save,restore
 fpsr         66   66    780       4 int             general,all,save,restore
 ID_MMFR5     68   68    788       8 long            general,all,save,restore,cp_regs
 ID_AA64PFR2_EL1_RESERVED   72   72    820       8 long            general,all,save,restore,cp_regs
"""
MIPS = """\
 Name         Nr  Rel Offset    Size  Type            Groups
 ''           89   89    356       4 int32_t
 zero         90    0    360       4 int32_t         general,all,save,restore
 pc          127   37    508       4 int32_t         general,all,save,restore
 f0          128   38    512       4 float           float,all,save,restore
"""
# gdb 16.
ALIGNED = """\
Name                     Nr   Rel  Offset   Size  Type            Groups \n\
''                       0    0    0        4     int32_t          \n\
zero                     90   0    360      4     int32_t         general,all,save,restore \n\
pc                       127  37   508      4     int32_t         general,all,save,restore \n\
f0                       128  38   512      4     float           float,all,save,restore \n\
"""


def test_both_layouts_of_the_table_are_read():
    assert general_registers(ALIGNED) == general_registers(MIPS)


def test_system_and_vector_registers_are_left_out():
    assert general_registers(AARCH64) == {0: "x0", 31: "sp", 33: "cpsr", 66: "fpsr"}


def test_numbers_are_gdbs_own_not_the_stubs():
    assert general_registers(MIPS) == {90: "zero", 127: "pc"}


def test_nonsense_has_no_registers():
    assert general_registers("") == {}
    assert general_registers("general\n\x00 1 2 general\n") == {}
