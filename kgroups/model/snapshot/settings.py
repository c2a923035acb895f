"""The settings in a snapshot, which are wanted again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ..counts import count
from ..groups import GroupId
from ..operations.origin import Origin
from ..outcome import Failure, Outcome, Scope
from ..settings.setting import GroupSettings
from .snapshot import Configs


class SavedSettings(NamedTuple):
    """The values that were set for groups; ``exact``: these groups should have no others of their own."""

    origin: Origin
    configs: Mapping[GroupId, Configs]
    exact: bool = False

    def of(self, found: GroupSettings) -> Outcome[tuple[str, str | None]]:
        name = found.group_id
        saved = self.configs.get(name, {})
        wanted: dict[str, str | None] = {key: value for key, value in saved.items() if value is not None}
        unknown = [
            Failure(Scope.GROUP, name, f"{key} is not restored: {self.origin.name} does not contain its value")
            for key in sorted(saved.keys() - wanted.keys())
        ]
        others = found.overrides.keys() - saved.keys()
        if self.exact:
            wanted |= dict.fromkeys(others)
        kept = f"group '{name}': {count(len(others), 'setting')} not in {self.origin.name}: not changed; to remove "
        notices = (f"{kept}{'it' if len(others) == 1 else 'them'}, add --exact",) if others and not self.exact else ()
        return Outcome(tuple(wanted.items()), tuple(unknown), notices)
