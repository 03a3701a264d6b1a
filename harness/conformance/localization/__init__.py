# SPDX-License-Identifier: MIT
"""Where in the port's sources a failure comes from, by its steps and by experiment."""
