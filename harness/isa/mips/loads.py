# SPDX-License-Identifier: MIT
"""Constants that a sequence of disassembled instructions loads into registers."""


class Loads:
    """Known register values, and the address at which each load begins."""

    def __init__(self) -> None:
        self.values: dict[str, int] = {}
        self.begin: dict[str, int] = {}

    def follow(self, address: int, mnemonic: str, operands: list[str]) -> None:
        """Interpret one instruction; registers whose values become unknown are dropped."""
        register = operands[0]
        value = self._value(mnemonic, operands[1:])
        if value is None:
            self.values.pop(register, None)
            return
        if mnemonic == "lui":
            self.begin[register] = address
        self.values[register] = value

    def _value(self, mnemonic: str, operands: list[str]) -> int | None:
        if mnemonic == "lui":
            upper = int(operands[0], 0) << 16
            return upper - (upper >> 31 << 32)
        known = self.values.get(operands[0]) if len(operands) == 2 else None
        if known is None:
            return None
        if mnemonic in ("addiu", "daddiu"):
            return known + int(operands[1], 0)
        if mnemonic in ("dsll", "dsll32"):
            return known << int(operands[1], 0) + (32 if mnemonic == "dsll32" else 0)
        other = self.values.get(operands[1])
        return known + other if mnemonic in ("addu", "daddu") and other is not None else None
