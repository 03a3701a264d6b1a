# SPDX-License-Identifier: MIT
"""The control file shared with the plugin: the structures of control.h.

It is in the host's byte order and alignment, as only processes of the host use it.
"""

import ctypes
import struct

MAGIC = 0x656C6361726F7466
VERSION = 9
REQUEST_KEEP, REQUEST_GO_BACK = 1, 2
MAX_CPUS = 64
MAX_THREADS = 4096
MAX_THREAD_ENTRIES = 2

PATTERN = struct.Struct("=IIII")  # mask, value, kind, reserved
RECORD = struct.Struct("=QQQBBBBI")  # site, parent, instructions, cpu, kind, level, 0, thread


class Control(ctypes.Structure):
    """``struct control`` at the beginning of the file."""

    _fields_ = (
        ("magic", ctypes.c_uint64),
        ("version", ctypes.c_uint32),
        ("size", ctypes.c_uint32),
        ("attached", ctypes.c_uint32),
        ("window", ctypes.c_uint32),
        ("request", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
        ("address_mask", ctypes.c_uint64),
        ("code_big_endian", ctypes.c_uint32),
        ("delay_slot", ctypes.c_uint32),
        ("nr_patterns", ctypes.c_uint64),
        ("nr_accesses", ctypes.c_uint64),
        ("nr_vectors", ctypes.c_uint64),
        ("nr_sites", ctypes.c_uint64),
        ("nr_marks", ctypes.c_uint64),
        ("patterns", ctypes.c_uint64),
        ("accesses", ctypes.c_uint64),
        ("vectors", ctypes.c_uint64),
        ("sites", ctypes.c_uint64),
        ("marks", ctypes.c_uint64),
        ("switch_begin", ctypes.c_uint64),
        ("switch_end", ctypes.c_uint64),
        ("thread_entries", ctypes.c_uint64 * MAX_THREAD_ENTRIES),
        ("thread_table", ctypes.c_uint64),
        ("thread_size", ctypes.c_uint64),
        ("nr_slots", ctypes.c_uint64),
        ("setjmp_begin", ctypes.c_uint64),
        ("setjmp_end", ctypes.c_uint64),
        ("longjmp_begin", ctypes.c_uint64),
        ("longjmp_end", ctypes.c_uint64),
        ("records", ctypes.c_uint64),
        ("capacity", ctypes.c_uint64),
        ("count", ctypes.c_uint64),
        ("lost_frames", ctypes.c_uint64),
        ("confused", ctypes.c_uint64),
        ("nr_threads", ctypes.c_uint64),
        ("threads", ctypes.c_uint64 * MAX_THREADS),
        ("instructions", ctypes.c_uint64 * MAX_CPUS),
    )
