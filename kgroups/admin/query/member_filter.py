"""Keep the groups that have a member on some hosts, or with some client IDs."""

from __future__ import annotations

from typing import NamedTuple, TypeVar

from kgroups.errors import Reason
from kgroups.model.groups import Group, GroupState, ListedGroup
from kgroups.model.outcome import NOT_FOUND, Failure, Outcome, Scope
from kgroups.net.cluster import Cluster

from .describe_groups import describe_listed
from .pattern import Glob

T = TypeVar("T", bound=ListedGroup)


class MemberFilter(NamedTuple):
    """The members to look for: on one of ``hosts``, and with one of ``client_ids``; empty for any."""

    hosts: tuple[Glob, ...] = ()
    client_ids: tuple[Glob, ...] = ()

    def matches(self, host: str, client_id: str) -> bool:
        """Return whether a member has both: brokers report a host as ``/10.0.4.17``, or ``NAME/10.0.4.17``."""
        hosts = (host, *host.split("/"))
        on_host = not self.hosts or any(glob.fullmatch(each) for glob in self.hosts for each in hosts if each)
        return on_host and (not self.client_ids or any(glob.fullmatch(client_id) for glob in self.client_ids))

    def kept(self, listed: Outcome[T], described: Outcome[Group]) -> Outcome[T]:
        """Return the groups with such a member; a failure for each group whose members are unknown.

        :param described: those of the listed groups that may have members.
        """
        found = {
            group.group
            for group in described.items
            if any(self.matches(member.host, member.client_id) for member in group.members or ())
        }
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
        failures = [failure._replace(message=f"{failure.message}; {_UNKNOWN}") for failure in unknown]
        return listed.with_items(group for group in listed.items if group.group in found).with_failures(failures)


_UNKNOWN = "whether it has a member of the selected hosts or client IDs is unknown"


async def keep_groups_of_members(
    cluster: Cluster, wanted: MemberFilter, listed: Outcome[ListedGroup]
) -> Outcome[ListedGroup]:
    """Describe the listed groups that may have members, and keep those with a member that is looked for."""
    described = await describe_listed(
        cluster, (group for group in listed.items if group.state not in GroupState.WITHOUT_MEMBERS)
    )
    return wanted.kept(listed, described)
