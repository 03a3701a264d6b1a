# SPDX-License-Identifier: MIT
"""The conditions of a port's C files, as they are tried with the compiler."""

from harness.conformance.conditions import conditions_of

SOURCE = """\
/* if (not) code */
#define CHECK(x) do { if (x) return; } while (0)

static int modify(u32 *insn, u32 old,
	u32 new)
{
	if (*insn != old) /* ) */
		return -EINVAL;
	if (IS_ENABLED(CONFIG_MODULES) && new)
		return 0;
	return 0;
}

static inline __attribute__((always_inline)) int encode(long offset)
{
	for (;;) {
		if (offset < 0 ||
			strchr("(", offset))
			return -ERANGE;
		else if (!offset)
			break;
	}
#ifdef CONFIG_64BIT
	if (offset >> 32)
		return -ERANGE;
#endif
	return 0;
}

int prototype(int if_not);
"""


def test_each_condition_has_its_function_its_lines_and_its_text():
    found = list(conditions_of(SOURCE))
    assert [(one.function, one.lines, SOURCE[one.text]) for one in found] == [
        ("modify", range(7, 8), "(*insn != old)"),
        ("encode", range(17, 19), '(offset < 0 ||\n\t\t\tstrchr("(", offset))'),
        ("encode", range(20, 21), "(!offset)"),
        ("encode", range(24, 25), "(offset >> 32)"),
    ]
    assert [one.body for one in found] == [range(6, 13)] + [range(15, 29)] * 3


def test_a_function_that_does_not_end_has_no_condition():
    source = SOURCE[SOURCE.index("static inline") : SOURCE.index("offset))")]
    assert not list(conditions_of(source))
