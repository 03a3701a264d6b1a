# SPDX-License-Identifier: MIT
"""The guest's ring buffer, decoded from bytes.  No I/O."""

from harness.ring.edit import mark_lost, rest_of_page, truncate_page
from harness.ring.header import FIXED_SIZE, RingCpu, RingHeader, header_length
from harness.ring.page import (
    LOST_UNKNOWN,
    Cursor,
    PageFormat,
    PageHeader,
    add_lost,
    count_events,
    decode_page,
    page_header,
    scan_page,
)

__all__ = [
    "FIXED_SIZE",
    "LOST_UNKNOWN",
    "Cursor",
    "PageFormat",
    "PageHeader",
    "RingCpu",
    "RingHeader",
    "add_lost",
    "count_events",
    "decode_page",
    "header_length",
    "mark_lost",
    "page_header",
    "rest_of_page",
    "scan_page",
    "truncate_page",
]
