# SPDX-License-Identifier: MIT
"""What the pages of all reports have in common: their look, their escaping, their directory.

Pages need no server, no network and no script.
"""

from harness.pages.directory import Write, pages_directory
from harness.pages.environment import environment, page_name

__all__ = ["Write", "environment", "page_name", "pages_directory"]
