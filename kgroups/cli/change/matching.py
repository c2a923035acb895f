"""The options that say how offsets of two clusters are matched."""

from __future__ import annotations

from kgroups.admin.query.select_groups import Selection
from kgroups.admin.translation.find_offset import Limits
from kgroups.admin.translation.translate import Request
from kgroups.errors import UsageError
from kgroups.model.translation.method import Method
from kgroups.model.translation.mirror_names import MirrorNames
from kgroups.model.translation.topics import TopicMap, parse_topic_map


class Matching:
    """The accepted methods, the names of copied topics, and limits."""

    def __init__(
        self,
        topic_map: tuple[str, ...],
        allow: str,
        methods: tuple[str, ...],
        header: str | None,
        max_mib: int,
        max_seconds: float,
        mm2: bool,
        including_streams: bool,
        **mirror: str | None,
    ) -> None:
        """Check and keep the options.

        :raises UsageError: if one is invalid.
        """
        self.topic_map: TopicMap = parse_topic_map(topic_map)
        weakest = Method(allow)
        self._methods = frozenset(map(Method, methods)) or frozenset(
            each for each in Method if each.rank <= weakest.rank
        )
        self._header = header
        if header is not None and Method.HEADER not in self._methods:
            raise UsageError("--header requires that the method header is accepted (--allow, --method)")
        self._limits = Limits(max_mib * 2**20, max_seconds)
        self._streams = including_streams
        self._mirror = _mirror_names(**mirror) if mm2 or any(mirror.values()) else None
        if Method.HEADER in map(Method, methods) and header is None:
            raise UsageError("--method header requires --header")
        if Method.SYNC in map(Method, methods) and self._mirror is None:
            raise UsageError("--method sync requires --mm2")

    def request(self, selection: Selection) -> Request:
        return Request(
            selection, self._methods, self.topic_map, self._header, self._mirror, self._limits, self._streams
        )


def _mirror_names(
    mm2_source: str | None,
    mm2_target: str | None,
    mm2_separator: str | None,
    mm2_policy: str | None,
    mm2_syncs: str | None,
) -> MirrorNames:
    return MirrorNames(
        mm2_source,
        mm2_target,
        mm2_separator or MirrorNames().separator,
        renames=None if mm2_policy is None else mm2_policy == "default",
        on_target=None if mm2_syncs is None else mm2_syncs == "target",
    )
