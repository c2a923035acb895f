"""Instance IDs that two clients use, from the members of groups during repeated sampling."""

from __future__ import annotations

from kgroups.model.groups import Group, GroupId, Member
from kgroups.model.stays import RECENT, REPEATED, Presence, SharedInstance, StayRecorder, is_static, shared_instances


class StaticMembers:
    """Record the static members of each group from sample to sample; some may have come and gone in between."""

    def __init__(self) -> None:
        self._recorders: dict[GroupId, StayRecorder] = {}
        self._last: dict[GroupId, tuple[Member, ...]] = {}

    def add(self, at: int, group: Group) -> None:
        name, members = group.group_id, group.members
        if members is None or self._last.get(name) is members or not (name in self._last or is_static(group)):
            return
        self._last[name] = members
        present = {
            each.member_id: Presence.of(each.instance_id, each.client_id, each.host)
            for each in members
            if each.instance_id
        }
        self._recorders.setdefault(name, StayRecorder()).snapshot(at, present)

    def shared(self, name: GroupId, now: int) -> tuple[SharedInstance, ...]:
        """Return the IDs that two clients used in turn recently."""
        recorder = self._recorders.get(name)
        if recorder is None or recorder.ended < REPEATED:
            return ()
        recorder.forget(now - RECENT)
        return tuple(shared_instances(recorder.stays))

    def drop(self, name: GroupId) -> None:
        """Drop a deleted group."""
        self._recorders.pop(name, None)
        self._last.pop(name, None)
