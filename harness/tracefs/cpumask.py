# SPDX-License-Identifier: MIT
"""``tracing_cpumask``: a set of CPUs in the kernel's format.

Hexadecimal digits, most significant first, with a comma between groups of 32 bits
(``bitmap_parse()`` and ``%*pb`` of Linux).
"""

import string

from harness.errors import UsageError

GROUP = 32
_DIGITS = GROUP // 4


def cpumask_text(cpus: frozenset[int], count: int) -> str:
    """``f`` for four CPUs; ``count`` is the number of CPUs, which determines the digits."""
    mask = sum(1 << cpu for cpu in cpus)
    groups = []
    for first in range(0, count, GROUP):
        width = -(-min(GROUP, count - first) // 4)
        groups.append(f"{mask >> first & (1 << GROUP) - 1:0{width}x}")
    return ",".join(reversed(groups))


def parse_cpumask(text: str, count: int) -> frozenset[int]:
    """The CPUs of a mask.

    Raises:
        UsageError: a group is empty, has other characters or more than 32 bits, or there is no
            such CPU.
    """
    mask = 0
    for group in text.strip().split(","):
        if not group or not set(group) <= set(string.hexdigits) or len(group) > _DIGITS:
            raise UsageError(
                f"{text.strip()!r} is not a mask of CPUs",
                "Write hexadecimal digits, at most 8 between commas: 3 is CPU 0 and 1.",
            )
        mask = mask << GROUP | int(group, 16)
    if mask >> count:
        raise UsageError(
            f"there is no CPU {mask.bit_length() - 1}", f"The mask of all CPUs: {all_cpus(count)}."
        )
    return frozenset(cpu for cpu in range(count) if mask >> cpu & 1)


def all_cpus(count: int) -> str:
    """The mask of all CPUs."""
    return cpumask_text(frozenset(range(count)), count)
