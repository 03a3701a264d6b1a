# SPDX-License-Identifier: MIT
"""Names of addresses."""

from hypothesis import given
from hypothesis import strategies as st

from harness.trace import Symbols
from harness.trace import symbols as module

TABLE = """\
80100100 t second
80100000 T first
80100000 W alias
80100200 T in_module\t[calls]
00000000 A absolute
80100150 t $d
80100300 T _end
"""


def test_lookup():
    symbols = Symbols(TABLE)
    assert symbols.lookup(0x80100000) == ("first", 0)
    assert symbols.lookup(0x801000FF) == ("first", 0xFF)
    assert symbols.lookup(0x80100160) == ("second", 0x60)
    assert symbols.lookup(0x80100204) == ("in_module [calls]", 4)


def test_outside_the_table():
    symbols = Symbols(TABLE)
    assert symbols.lookup(0x800FFFFF) is None
    assert symbols.lookup(0x80100300) is None
    assert symbols.name(0x80100300) == "0x80100300"
    assert Symbols().name(16) == "0x10"


def test_mapping_symbols_are_none_and_other_names_with_a_dollar_are():
    symbols = Symbols("1000 t first\n1004 t $x\n1008 t $d.5\n100c t $xyz\n1010 T _end\n")
    assert symbols.lookup(0x1008) == ("first", 8)
    assert symbols.lookup(0x100C) == ("$xyz", 0)


def test_junk_is_skipped():
    assert len(Symbols(TABLE + "\nhello\nx y z\n80100400 T\n\0\0\n")) == 5


def test_names_are_escaped_and_bounded():
    symbols = Symbols(f"1000 T \x1b[2Jevil\n2000 T {'long' * 1000}\n3000 T _end\n")
    assert symbols.name(0x1000) == "\\x1b[2Jevil"
    assert len(symbols.name(0x2000)) < 300


def test_the_cache_is_bounded(monkeypatch):
    monkeypatch.setattr(module, "_CACHE_LIMIT", 10)
    symbols = Symbols(TABLE)
    for address in range(0x80100000, 0x80100040):
        assert symbols.name(address) == "first"
    assert len(symbols._shown) <= 10


@given(st.text(max_size=200))
def test_any_text_is_a_table(text):
    Symbols(text).name(0x1000)


@given(st.lists(st.integers(0, 1000), unique=True, min_size=1), st.integers(0, 1100))
def test_the_nearest_symbol_below_wins(starts, address):
    symbols = Symbols("".join(f"{start:x} T f{start}\n" for start in starts))
    below = [start for start in starts if start <= address]
    expected = None
    if below and max(below) != max(starts):
        expected = (f"f{max(below)}", address - max(below))
    assert symbols.lookup(address) == expected


def test_a_function_of_a_module_goes_by_its_name_alone():
    symbols = Symbols("1000 T leaf\n2000 T leaf\t[net]\n3000 T send\t[net]\n4000 T end\n")
    assert symbols.name(0x3004) == "send [net]"
    assert symbols.address("send") == symbols.address("send [net]") == 0x3000
    assert symbols.address("leaf") == 0x1000
    assert symbols.address("leaf [net]") == 0x2000
    assert symbols.address("sen") is None
