from __future__ import annotations

from pathlib import Path

from kgroups.sandbox.heartbeater import read_roster, write_roster
from kgroups.sandbox.member import Member, consumer


def test_roster_round_trips(tmp_path: Path) -> None:
    members = [
        consumer("g", {"t": 3})._replace(member_id="m", generation=4),
        Member("blanks, a\nline end, \u2028 and \x1b", "connect", "opaque", b"\x00\xff", b""),
    ]
    write_roster(tmp_path / "roster", members)
    assert read_roster(tmp_path / "roster") == members


def test_roster_may_be_empty(tmp_path: Path) -> None:
    write_roster(tmp_path / "roster", [])
    assert read_roster(tmp_path / "roster") == []
