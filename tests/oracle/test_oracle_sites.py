# SPDX-License-Identifier: MIT
"""The sites that a disassembly finds are those of the guest's own table."""

import pytest

from harness.oracle import find_sites


@pytest.mark.clause("C7a", "C7b", "C7c")
@pytest.mark.parametrize("workload", ["calls", "flow", "interpreter"])
def test_disassembly_and_table_agree(image_of, workload):
    image = image_of(workload)
    assert find_sites(image) == [site.address for site in image.sites]
