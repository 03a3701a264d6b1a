# SPDX-License-Identifier: MIT
"""What all runs found, in one SQLite file.

Each attempt at a cell is there once, however often it is added.  The file knows its version: an
older one is brought up to date in one transaction, a newer one is refused.
"""

import hashlib
import os
import re
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness.errors import HostError, UsageError
from harness.matrix.result import Outcome, Result, Verdict, all_verdicts

APPLICATION = 0x66746D78  # "ftmx"

MIGRATIONS = (
    """
    CREATE TABLE attempt (
        id TEXT PRIMARY KEY,
        cell TEXT NOT NULL,
        run TEXT NOT NULL,
        revision TEXT NOT NULL,
        outcome TEXT NOT NULL,
        message TEXT NOT NULL,
        command TEXT NOT NULL,
        started REAL NOT NULL,
        seconds REAL NOT NULL,
        peak INTEGER NOT NULL,
        instructions INTEGER
    ) STRICT;
    CREATE INDEX attempt_revision ON attempt (revision, cell);
    CREATE INDEX attempt_run ON attempt (run, cell);
    CREATE TABLE verdict (
        attempt TEXT NOT NULL REFERENCES attempt (id),
        name TEXT NOT NULL,
        verdict TEXT NOT NULL,
        message TEXT NOT NULL,
        PRIMARY KEY (attempt, name)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE version (
        attempt TEXT NOT NULL REFERENCES attempt (id),
        program TEXT NOT NULL,
        version TEXT NOT NULL,
        PRIMARY KEY (attempt, program)
    ) STRICT, WITHOUT ROWID;
    """,
)
"""Each brings a file from the version of its index to the next; what stands here never changes."""

PATIENCE = 30.0
"""Seconds to wait for another process that writes."""


@dataclass(frozen=True, slots=True)
class Session:
    """A run: when its first attempt began (seconds since 1970), and of which revision it is."""

    id: str
    revision: str
    started: float


def default_file(port: Path | None = None) -> Path:
    """Where history is kept unless another file is named: in the XDG state directory.

    A port of one's own has a history of its own: its cells are called like those of others.
    """
    base = os.environ.get("XDG_STATE_HOME", "")
    root = Path(base) if Path(base).is_absolute() else Path("~/.local/state").expanduser()
    own = ""
    if port is not None:
        digest = hashlib.sha256(os.fsencode(port.resolve())).hexdigest()[:12]
        own = f"-{re.sub('[^A-Za-z0-9._-]', '_', port.resolve().name)[:60]}-{digest}"
    return root / "ftrace-harness" / f"matrix{own}.sqlite"


class History:
    """An open history; close it, or use ``with``."""

    def __init__(self, file: Path) -> None:
        """Open or make it.

        Raises:
            UsageError: it is something else, or of a newer version.
            HostError: it cannot be read or written.
        """
        self.file = file
        with _errors(file):
            file.parent.mkdir(parents=True, exist_ok=True)
            self._base = sqlite3.connect(file, timeout=PATIENCE, isolation_level=None)
        try:
            with _errors(file):
                self._migrate()
        except BaseException:
            self._base.close()
            raise

    def __enter__(self) -> "History":
        return self

    def __exit__(self, *details: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the file back."""
        self._base.close()

    def add(self, results: Iterable[Result]) -> int:
        """Add attempts, all or none; gives how many were new.  HostError when the disk is full."""
        new = 0
        with _errors(self.file), self._transaction():
            for one in results:
                row = (one.id, one.cell, one.run, one.revision, str(one.outcome), one.message)
                row_ = (one.command, one.started, one.seconds, one.peak, one.instructions)
                done = self._base.execute(
                    "INSERT OR IGNORE INTO attempt (id, cell, run, revision, outcome, message,"
                    " command, started, seconds, peak, instructions)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    (*row, *row_),
                )
                if done.rowcount != 1:
                    continue
                new += 1
                self._base.executemany(
                    "INSERT INTO verdict VALUES (?, ?, ?, ?)",
                    [(one.id, v.name, v.verdict, v.message) for v in all_verdicts(one)],
                )
                self._base.executemany(
                    "INSERT INTO version VALUES (?, ?, ?)",
                    [(one.id, program, text) for program, text in one.versions.items()],
                )
        return new

    def sessions(self) -> list[Session]:
        """All runs, oldest first."""
        with _errors(self.file):
            return [
                Session(*row)
                for row in self._base.execute(
                    "SELECT run, revision, min(started) AS began FROM attempt"
                    " GROUP BY run, revision ORDER BY began, run"
                )
            ]

    def attempts(self, *, revision: str | None = None, run: str | None = None) -> list[Result]:
        """The attempts of a revision, a run, or all, oldest first."""
        with _errors(self.file):
            rows = self._base.execute(
                "SELECT id, cell, run, revision, outcome, message, started, seconds, peak, command,"
                " instructions FROM attempt WHERE (?1 IS NULL OR revision = ?1)"
                " AND (?2 IS NULL OR run = ?2) ORDER BY started, id",
                (revision, run),
            ).fetchall()
            verdicts: dict[str, list[Verdict]] = {}
            for attempt, name, verdict, message in self._base.execute(
                "SELECT v.attempt, v.name, v.verdict, v.message FROM verdict v"
                " JOIN attempt a ON a.id = v.attempt WHERE v.name <> ''"
                " AND (?1 IS NULL OR a.revision = ?1) AND (?2 IS NULL OR a.run = ?2)"
                " ORDER BY v.attempt, v.name",
                (revision, run),
            ):
                verdicts.setdefault(attempt, []).append(Verdict(name, verdict, message))
            versions: dict[str, dict[str, str]] = {}
            for attempt, program, text in self._base.execute(
                "SELECT attempt, program, version FROM version JOIN attempt a ON a.id = attempt"
                " WHERE (?1 IS NULL OR a.revision = ?1) AND (?2 IS NULL OR a.run = ?2)",
                (revision, run),
            ):
                versions.setdefault(attempt, {})[program] = text
        return [
            Result(
                id=row[0],
                cell=row[1],
                run=row[2],
                revision=row[3],
                outcome=Outcome(row[4]),
                message=row[5],
                started=row[6],
                seconds=row[7],
                peak=row[8],
                command=row[9],
                versions=versions.get(row[0], {}),
                verdicts=tuple(verdicts.get(row[0], ())),
                instructions=row[10],
            )
            for row in rows
        ]

    def _migrate(self) -> None:
        """Bring the file to this version.  Two who do it at once wait for each other."""
        with self._transaction():
            version = self._number("user_version")
            application = self._number("application_id")
            tables = self._base.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            if application != APPLICATION and (application or version or tables):
                raise UsageError(
                    f"{self.file} is a database of something else", "Choose another file."
                )
            if version > len(MIGRATIONS):
                raise UsageError(
                    f"{self.file} is of version {version}, this harness knows {len(MIGRATIONS)}",
                    "Use the newer harness that wrote it, or another file.",
                )
            for script in MIGRATIONS[version:]:
                for statement in script.split(";"):
                    self._base.execute(statement)
            if version < len(MIGRATIONS):
                self._base.execute(f"PRAGMA application_id = {APPLICATION}")
                self._base.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")

    def _number(self, pragma: str) -> int:
        return int(self._base.execute(f"PRAGMA {pragma}").fetchone()[0])

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._base.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._base.execute("COMMIT")
        except BaseException:
            # A full disk has SQLite roll back by itself.
            if self._base.in_transaction:
                self._base.execute("ROLLBACK")
            raise


@contextmanager
def _errors(file: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.OperationalError as error:
        raise HostError(
            f"the history {file} cannot be used: {error}",
            "Make room or give permission there, or name another file with --history.",
        ) from error
    except sqlite3.DatabaseError as error:
        raise UsageError(f"{file} is no history: {error}", "Name another --history.") from error
    except OSError as error:
        raise HostError(
            f"the history {file} cannot be used: {error.strerror}", "Name another --history."
        ) from error
