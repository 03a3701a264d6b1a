# SPDX-License-Identifier: MIT
"""Which numbers a run of disassembled instructions puts into registers."""


class Loads:
    """The numbers that registers hold, and where the load of each begins."""

    def __init__(self) -> None:
        self.values: dict[str, int] = {}
        self.begin: dict[str, int] = {}

    def follow(self, address: int, mnemonic: str, operands: list[str]) -> None:
        """Take in one instruction; registers whose number is not known any more are dropped."""
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
