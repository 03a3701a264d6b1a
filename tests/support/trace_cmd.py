# SPDX-License-Identifier: MIT
"""What ``trace-cmd report`` prints between the task and the event."""

PLACE_AND_TIME = r"\[(?P<cpu>\d+)\](?: \S+)? +(?P<time>[\d.]+): "
"""trace-cmd 3.3 has the flags of the latency format behind the CPU, 3.1 has not."""
