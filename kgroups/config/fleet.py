"""Select several profiles: by name, glob, set, or tag.

[sets]
prod = ["eu-*", "us-*", "!eu-canary"]    # profiles, globs, @tags, and other sets; ! removes

[profiles.eu-1]
bootstrap = "eu-1:9092"
tags = ["prod"]                          # --profile @prod selects the profiles with this tag
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

from kgroups.errors import ConfigError, UsageError

from .profiles import Profiles, missing_profile, read_profiles

ALL = "--all-profiles"


def fleet_profiles(
    names: Sequence[str], environ: Mapping[str, str], *, everything: bool = False, one: bool = False
) -> tuple[str, ...]:
    """Return the profiles that ``--profile`` and ``--all-profiles`` select, each once; none if they name just one.

    :param names: the values of ``--profile``.
    :param one: also return a profile that is named alone.
    :raises UsageError: if a value selects nothing, or a set selects nothing or contains itself.
    :raises ConfigError: if the file is invalid.
    """
    if not names and not everything:
        return ()
    profiles = read_profiles(environ)
    if everything:
        if not all(name.startswith("!") for name in names):
            raise UsageError(f"{ALL} can be combined only with profiles to leave out, such as --profile '!NAME'")
        if not profiles.tables:
            raise UsageError(f"{ALL}: there are no profiles in {profiles.file}")
        return _all_selected(profiles, ("*", *names), "--profile")
    if len(names) == 1 and not one and (names[0] in profiles.tables or not _is_plural(profiles, names[0])):
        return ()
    return _all_selected(profiles, names, "--profile")


def select_profiles(names: Sequence[str], environ: Mapping[str, str], source: str) -> tuple[str, ...]:
    """Return the profiles that names, globs, @tags, and sets select, each once.

    :param source: where the names are from, for messages.
    :raises UsageError: if one selects nothing, or a set selects nothing or contains itself.
    :raises ConfigError: if the file is invalid.
    """
    return _all_selected(read_profiles(environ), names, source)


def _all_selected(
    profiles: Profiles, words: Sequence[str], source: str, inside: tuple[str, ...] = ()
) -> tuple[str, ...]:
    """Return the profiles that words select, each once; a word with ``!`` removes those before it.

    :param inside: the sets that are being expanded.
    """
    chosen: dict[str, None] = {}
    for word in words:
        found = _selected(profiles, word.removeprefix("!"), source, inside)
        if word.startswith("!"):
            chosen = {each: None for each in chosen if each not in found}
        else:
            chosen.update(dict.fromkeys(found))
    if not chosen:
        raise UsageError(f"{source} selects no profile")
    return tuple(chosen)


def _is_plural(profiles: Profiles, name: str) -> bool:
    return name in profiles.sets or name.startswith("@") or _is_glob(name)


def _is_glob(name: str) -> bool:
    return any(char in name for char in "*?[")


def _selected(profiles: Profiles, name: str, source: str, inside: tuple[str, ...]) -> list[str]:
    """Return the profiles of one word.

    :param inside: the sets that are being expanded.
    """
    if name in profiles.tables:
        return [name]
    if name in profiles.sets:
        return _expanded(profiles, name, inside)
    if name.startswith("@"):
        found = [each for each, table in profiles.tables.items() if name[1:] in tags_of(profiles, each, table)]
    elif _is_glob(name):
        found = [each for each in profiles.tables if fnmatchcase(each, name)]
    else:
        raise missing_profile(profiles, name, source)
    if not found:
        known = ", ".join(profiles.tables) or "none"
        raise UsageError(f"{source}: no profile matches {name!r} in {profiles.file}; profiles: {known}")
    return found


def _expanded(profiles: Profiles, name: str, inside: tuple[str, ...]) -> list[str]:
    source = f"{profiles.file}, line {profiles.line('sets', name)}: set {name!r}"
    if name in inside:
        raise UsageError(f"{source} contains itself: {' -> '.join((*inside[inside.index(name) :], name))}")
    return list(_all_selected(profiles, profiles.sets[name], source, (*inside, name)))


def tags_of(profiles: Profiles, name: str, table: Mapping[str, object]) -> Sequence[str]:
    """Return the tags of a profile.

    :raises ConfigError: if they are not strings.
    """
    tags = table.get("tags", [])
    if not isinstance(tags, list) or not all(isinstance(each, str) for each in tags):
        place = f"profile {name} ({profiles.file}, line {profiles.line('profiles', name, 'tags')})"
        raise ConfigError(f'{place}: tags must be a list of words: tags = ["prod"]')
    return tags
