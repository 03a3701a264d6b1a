# SPDX-License-Identifier: MIT
"""The results of all runs, in one SQLite file.

Each attempt is stored once, however often it is added.  The file has a version: older files are
upgraded in one transaction, newer ones are refused.
"""

import hashlib
import os
import re
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.config.resources import state_directory
from harness.conformance.catalogue import order_of
from harness.errors import HostError, UsageError
from harness.matrix.result import Result, all_verdicts, checked
from harness.matrix.rundir import Run

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
    """
    CREATE TABLE failure (
        attempt TEXT NOT NULL REFERENCES attempt (id),
        name TEXT NOT NULL,
        number INTEGER NOT NULL,
        message TEXT NOT NULL,
        PRIMARY KEY (attempt, name, number)
    ) STRICT, WITHOUT ROWID;
    """,
)
"""Each upgrades a file from the version of its index to the next; they are never changed."""

TIMEOUT = 30.0
"""Seconds to wait for another writer."""


def default_file(port: Path | None = None) -> Path:
    """The default file, in the XDG state directory.

    Each port outside of the harness has its own, as cells of different ports have the same names.
    """
    own = ""
    if port is not None:
        real = Path(os.path.realpath(port))
        digest = hashlib.sha256(os.fsencode(real)).hexdigest()[:12]
        own = f"-{re.sub('[^A-Za-z0-9._-]', '_', real.name)[:60]}-{digest}"
    return state_directory() / f"matrix{own}.sqlite"


def _in_order(result: Result) -> Result:
    """With clauses in the order of the catalogue: the tables keep no order."""
    verdicts = sorted(result.verdicts, key=lambda one: order_of(one.name))
    return replace(result, verdicts=tuple(verdicts))


class History:
    """An open history; close it, or use ``with``."""

    def __init__(self, file: Path) -> None:
        """Open or create it.

        Raises:
            UsageError: it is another kind of file, damaged, or of a newer version.
            HostError: it cannot be read or written.
        """
        self.file = file
        with _errors(file):
            file.parent.mkdir(parents=True, exist_ok=True)
            self._base = sqlite3.connect(file, timeout=TIMEOUT, isolation_level=None)
            self._base.text_factory = lambda text: text.decode("utf-8", "backslashreplace")
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
        """Close the file."""
        self._base.close()

    def add(self, results: Iterable[Result]) -> int:
        """Add attempts, all or none; returns the number of new ones.  HostError if the disk is
        full.
        """
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
                    "INSERT INTO failure VALUES (?, ?, ?, ?)",
                    [
                        (one.id, v.name, number, message)
                        for v in one.verdicts
                        for number, message in enumerate(v.failures)
                    ],
                )
                self._base.executemany(
                    "INSERT INTO version VALUES (?, ?, ?)",
                    [(one.id, program, text) for program, text in one.versions.items()],
                )
        return new

    def runs(self) -> list[Run]:
        """All runs by the clocks of their machines, oldest first; FormatError for invalid data."""
        with _errors(self.file):
            rows = self._base.execute(
                "SELECT run AS id, revision, min(started) AS started FROM attempt"
                " GROUP BY run, revision ORDER BY min(started), run"
            )
            return [
                checked(Run, one, f"{self.file} has a run that is none") for one in _dicts(rows)
            ]

    def attempts(self, *, revision: str | None = None, run: str | None = None) -> list[Result]:
        """The attempts of a revision, a run, or all, oldest first; FormatError for invalid data."""
        with _errors(self.file):
            rows = _dicts(
                self._base.execute(
                    "SELECT id, cell, run, revision, outcome, message, started, seconds, peak,"
                    " command, instructions FROM attempt WHERE (?1 IS NULL OR revision = ?1)"
                    " AND (?2 IS NULL OR run = ?2) ORDER BY started, id",
                    (revision, run),
                )
            )
            # Another process may add attempts between the queries.
            found = {one["id"]: one | {"versions": {}, "verdicts": []} for one in rows}
            failures: dict[tuple[str, str], list[str]] = {}
            for attempt, name, verdict, message in self._base.execute(
                "SELECT v.attempt, v.name, v.verdict, v.message FROM verdict v"
                " JOIN attempt a ON a.id = v.attempt WHERE v.name <> ''"
                " AND (?1 IS NULL OR a.revision = ?1) AND (?2 IS NULL OR a.run = ?2)"
                " ORDER BY v.attempt",
                (revision, run),
            ):
                failures[attempt, name] = []
                said = {"name": name, "verdict": verdict, "message": message}
                if attempt in found:
                    told = said | {"failures": failures[attempt, name]}
                    found[attempt]["verdicts"].append(told)
            for attempt, name, message in self._base.execute(
                "SELECT f.attempt, f.name, f.message FROM failure f"
                " JOIN attempt a ON a.id = f.attempt WHERE (?1 IS NULL OR a.revision = ?1)"
                " AND (?2 IS NULL OR a.run = ?2) ORDER BY f.attempt, f.name, f.number",
                (revision, run),
            ):
                failures.get((attempt, name), []).append(message)
            for attempt, program, text in self._base.execute(
                "SELECT attempt, program, version FROM version JOIN attempt a ON a.id = attempt"
                " WHERE (?1 IS NULL OR a.revision = ?1) AND (?2 IS NULL OR a.run = ?2)",
                (revision, run),
            ):
                if attempt in found:
                    found[attempt]["versions"][program] = text
        where = f"{self.file} has an attempt that is none"
        return [_in_order(checked(Result, one, where)) for one in found.values()]

    def _migrate(self) -> None:
        """Upgrade the file to this version; concurrent upgrades wait for each other."""
        with self._transaction():
            version = self._number("user_version")
            application = self._number("application_id")
            schema = _schema(self._base)
            if application != APPLICATION and (application or version or schema):
                raise UsageError(
                    f"{self.file} is a database of something else", "Choose another file."
                )
            if version > len(MIGRATIONS):
                raise UsageError(
                    f"{self.file} is of version {version}, this harness knows {len(MIGRATIONS)}",
                    "Use the newer harness that wrote it, or another file.",
                )
            if version < 0 or schema != _schema_of(version):
                raise UsageError(
                    f"{self.file} is no history: its tables are not those of version {version}",
                    "Name another --history.",
                )
            for script in MIGRATIONS[version:]:
                _execute(self._base, script)
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
            # SQLite rolls back by itself if the disk is full.
            if self._base.in_transaction:
                self._base.execute("ROLLBACK")
            raise


def _dicts(rows: sqlite3.Cursor) -> list[dict[str, Any]]:
    names = [column[0] for column in rows.description]
    return [dict(zip(names, row, strict=True)) for row in rows]


def _execute(base: sqlite3.Connection, script: str) -> None:
    for statement in script.split(";"):
        base.execute(statement)


def _schema(base: sqlite3.Connection) -> set[tuple[str, ...]]:
    """All tables, indexes, views and triggers, without SQLite's own."""
    return set(
        base.execute(
            "SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
        )
    )


def _schema_of(version: int) -> set[tuple[str, ...]]:
    """The schema of a version."""
    with closing(sqlite3.connect(":memory:")) as base:
        for script in MIGRATIONS[:version]:
            _execute(base, script)
        return _schema(base)


@contextmanager
def _errors(file: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.OperationalError as error:
        raise HostError(
            f"the history {file} cannot be used: {error}",
            "Make room or give permission there, or name another file with --history.",
        ) from error
    except (sqlite3.DatabaseError, UnicodeError) as error:
        raise UsageError(f"{file} is no history: {error}", "Name another --history.") from error
    except OSError as error:
        raise HostError(
            f"the history {file} cannot be used: {error.strerror}", "Name another --history."
        ) from error
