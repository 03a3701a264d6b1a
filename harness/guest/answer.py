# SPDX-License-Identifier: MIT
"""The failed check of a workload, from its return value."""

from harness.errors import GuestError
from harness.image import Image

CHECKS = "checks"
"""The table of a workload's checks: pointers to functions, static in its C file."""


def wrong_answer(image: Image, status: int) -> str:
    """The check that failed, from a workload's return value other than 0.

    It is the number of the first check that failed, counted from 1 in the order of the table
    ``checks`` (guests/workloads/returns.c).
    """
    size = image.isa.word_size
    try:
        table = image.read(image.address_of(CHECKS), image.size_of(CHECKS))
    except GuestError:
        return f"the workload returned {status}"
    if not 0 < status <= len(table) // size:
        return f"the workload returned {status}, which is the number of none of its checks"
    address = int.from_bytes(table[(status - 1) * size : status * size], image.byteorder)
    return f"{image.symbolize(address)} of the workload failed"
