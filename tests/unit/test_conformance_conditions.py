# SPDX-License-Identifier: MIT
"""The conditions of a port's C files, as they are tried with the compiler."""

from harness.conformance.localization.conditions import choices_of, code_of, conditions_of, loops_of

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
	if (MCOUNT_INSN_SIZE == 8)
		return 0;
	if (0)
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


def test_each_condition_has_its_function_and_its_text():
    found = list(conditions_of("ftrace.c", code_of(SOURCE)))
    assert [(one.function.name, SOURCE[one.text.start : one.text.stop]) for one in found] == [
        ("modify", "(*insn != old)"),
        ("modify", "(0)"),
        ("encode", '(offset < 0 ||\n\t\t\tstrchr("(", offset))'),
        ("encode", "(!offset)"),
        ("encode", "(offset >> 32)"),
    ]
    assert all(SOURCE[: one.function.body.stop].endswith("\treturn 0;\n}") for one in found)


def test_what_is_no_code_is_blank():
    code = code_of(SOURCE)
    assert len(code) == len(SOURCE)
    assert code.count("\n") == SOURCE.count("\n")
    assert not any(text in code for text in ("(not", "define", '"', "ifdef"))


def test_a_function_that_does_not_end_has_no_condition():
    source = SOURCE[SOURCE.index("static inline") : SOURCE.index("offset))")]
    assert not list(conditions_of("ftrace.c", code_of(source)))


def test_a_conditional_expression_has_its_condition():
    source = """\
static int length(const u32 *code, int i)
{
	bool first = i == 0;
	bool big = IS(code[i], (i + 1)) ? true : false;
	int more = i ?
		1 : 0;

	more = call(i ? 1 : 0);
	return code[i] == JUMP && !big ? i + 2 : i;
}
"""
    found = choices_of("ftrace.c", code_of(source))
    assert [source[one.text.start : one.text.stop] for one in found] == [
        "IS(code[i], (i + 1))",
        "i",
        "code[i] == JUMP && !big",
    ]


def test_a_loop_has_the_condition_in_front_of_it():
    source = """\
static void write(u32 *insn, int words)
{
	int i;

	for (i = 0; i < (words + 1); i++)
		while (is_busy(insn))
			relax(insn);
	for (;;) {
		do {
			relax(insn);
		} while (is_busy(insn));
		while (is_busy(insn))
			;
		for_each(insn, words)
			break;
		for (EVERY_WORD)
			relax(insn);
	}
}
"""
    found = loops_of("ftrace.c", code_of(source))
    assert [source[one.text.start : one.text.stop].strip() for one in found] == [
        "i < (words + 1)",
        "is_busy(insn)",
    ]
