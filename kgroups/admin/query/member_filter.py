"""Keep the groups that have a member on some hosts, or with some client IDs."""

from __future__ import annotations

from typing import NamedTuple

from kgroups.errors import Reason
from kgroups.model.groups import Group
from kgroups.model.outcome import NOT_FOUND, Failure, Outcome, Scope

from .pattern import Glob


class MemberFilter(NamedTuple):
    """The members to look for: on one of ``hosts``, and with one of ``client_ids``; empty for any."""

    hosts: tuple[Glob, ...] = ()
    client_ids: tuple[Glob, ...] = ()

    def matches(self, host: str, client_id: str) -> bool:
        """Return whether a member has both: brokers report a host as ``/10.0.4.17``, or ``NAME/10.0.4.17``."""
        hosts = (host, *host.split("/"))
        on_host = not self.hosts or any(glob.fullmatch(each) for glob in self.hosts for each in hosts if each)
        return on_host and (not self.client_ids or any(glob.fullmatch(client_id) for glob in self.client_ids))

    def kept(self, described: Outcome[Group]) -> Outcome[Group]:
        """Return the groups with such a member; a failure for each group whose members are unknown."""
        found = tuple(
            group
            for group in described.items
            if any(self.matches(member.host, member.client_id) for member in group.members or ())
        )
        unknown = [failure for failure in described.failures if failure.error != NOT_FOUND]
        unknown += [
            Failure(
                Scope.GROUP,
                group.group,
                f"{group.type} groups are not described by this version",
                reason=Reason.VERSION_UNSUPPORTED,
            )
            for group in described.items
            if group.members is None
        ]
        failures = tuple(failure._replace(message=f"{failure.message}; {_UNKNOWN}") for failure in unknown)
        return described._replace(items=found, failures=failures)


_UNKNOWN = "whether it has a member of the selected hosts or client IDs is unknown"
