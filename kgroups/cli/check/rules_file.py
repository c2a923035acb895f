"""Read the file of ``check --rules`` and ``--lint``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from kgroups.config.fleet import select_profiles
from kgroups.errors import ConfigError, UsageError
from kgroups.model.health.rules import Rule, parse_rules


def read_rules(path: Path | None) -> tuple[Rule, ...]:
    if path is None:
        return ()

    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ConfigError(f"--rules: {path} is not UTF-8 text") from None
    except OSError as error:
        raise ConfigError(f"--rules: cannot read {path}: {error.strerror}") from None
    return parse_rules(text, str(path))


def with_known_clusters(
    rules: tuple[Rule, ...], path: Path | None, clusters: tuple[str, ...], environ: Mapping[str, str]
) -> tuple[Rule, ...]:
    """Return the rules with the profiles that their globs, sets, and tags select.

    :param clusters: the names of the clusters to check; ``""``: one without a profile.
    :raises UsageError: if a rule has clusters, but the cluster has no name; or if one selects no profile.
    """
    if all(rule.clusters is None for rule in rules):
        return rules
    if clusters == ("",):
        raise UsageError(f"--rules: {path} has rules for clusters, which are profiles: give --profile")

    return tuple(
        rule
        if rule.clusters is None
        else rule._replace(clusters=select_profiles(rule.clusters, environ, f"{path}: clusters"))
        for rule in rules
    )
