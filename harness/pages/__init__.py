# SPDX-License-Identifier: MIT
"""The common parts of all report pages: style, escaping and directory.

Pages need no server, no network and no script.
"""

from harness.pages.directory import Write, pages_directory
from harness.pages.environment import environment, page_name

__all__ = ["Write", "environment", "page_name", "pages_directory"]
