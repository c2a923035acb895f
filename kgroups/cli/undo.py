"""``kgroups undo``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from kgroups.errors import UsageError
from kgroups.model.operations.plan_file import parse_plan
from kgroups.model.operations.plan_row import PlanFile
from kgroups.model.operations.undo_file import SCHEMA, SETTINGS_SCHEMA, begins_undo
from kgroups.model.settings.undo import parse_undo
from kgroups.model.shell import shell

from .change.confirmation import Confirmation
from .change.plan_source import name_of, read_text
from .change.reset_request import target_of
from .change.safety import Safety
from .change.undo_file import as_argument
from .frame.lazy_command import resolve
from .frame.options import ConnectionOptions
from .frame.output import Shape
from .frame.selected_groups import changed
from .reset_offsets import reset_offsets

_LONGEST_HEADER = 1024
"""Bytes of a first line, which begins with its schema."""


def undo(
    connection: Callable[[], ConnectionOptions],
    shape: Shape,
    confirmation: Confirmation,
    safety: Safety,
    undo_file: Path | None,
    accepted: tuple[str, ...],
    partial: bool,
    file: Path | None,
) -> int:
    """Run ``kgroups undo``; return the exit code. The file is read before the connection options are checked."""
    if file is None:
        raise _without_file()
    everything = changed((), groups=(), regex=None, all_groups=False)
    name = name_of(file)
    text = read_text(file, name)
    if begins_undo(text, SETTINGS_SCHEMA):
        _check_unused(safety, partial)
        restored = parse_undo(text, name)
        restore_settings = resolve("kgroups.cli.settings:restore_settings")
        kept = tuple(each for each in accepted if each in ("cluster", "setting"))
        code: int = restore_settings(connection(), shape, confirmation, undo_file, kept, everything, restored)
        return code
    plan = _parse(text, name, file)
    return reset_offsets(
        connection(),
        shape,
        confirmation,
        undo_file,
        tuple(each for each in accepted if each != "setting"),
        partial=partial,
        export=False,
        isolation=None,
        create_group=False,
        safety=safety,
        chosen=everything,
        target=target_of((), False, from_file=plan),
        internal=(),
        all_internal=False,
    )


def _parse(text: str, name: str, file: Path) -> PlanFile:
    """Return the offsets of an undo file.

    :raises UsageError: if it is another file, or damaged.
    """
    try:
        plan = parse_plan(text, name)
    except UsageError:
        if text.lstrip().startswith("{"):
            raise
        if not text:
            raise UsageError(f"{name} is empty: kgroups changes nothing before an undo file is complete") from None
        raise UsageError(f"{name} is not an undo file") from None
    if not plan.exact:
        raise UsageError(
            f"{name} is a plan, not an undo file",
            hint=f"to apply it: kgroups reset-offsets --from-file {shell(str(file))}",
        )
    return plan


def _check_unused(safety: Safety, partial: bool) -> None:
    """Check that no option for offsets is given with an undo file of settings.

    :raises UsageError: if one is.
    """
    given = {
        "--force": safety.force,
        "--when-empty": safety.when_empty is not None,
        "--partial": partial,
        "--commit-window": safety.window != Safety().window,
    }
    for option in (each for each, is_given in given.items() if is_given):
        raise UsageError(
            f"{option} cannot be combined with an undo file of settings: they are restored while members are connected "
            "and clients commit"
        )


def _without_file() -> UsageError:
    """Return the error of a command line without a file: it names the newest one in the current directory.

    Undo files are found by their content: --undo-file gives them any name.
    """
    files = sorted(filter(_is_undo_file, Path().iterdir()), key=lambda path: (path.stat().st_mtime, path.name))
    if not files:
        return UsageError(
            "name an undo file: each change that is executed reports its own, kgroups-undo-*.json by default"
        )
    return UsageError(
        "name an undo file", hint=f"the newest in this directory: kgroups undo {shell(as_argument(files[-1]))}"
    )


def _is_undo_file(path: Path) -> bool:
    try:
        if not path.is_file():  # also not a pipe, which would be waited for
            return False
        with path.open("rb") as file:
            first = file.readline(_LONGEST_HEADER).decode(errors="replace")
    except OSError:
        return False
    return f'"schema": "{SCHEMA}"' in first or f'"schema": "{SETTINGS_SCHEMA}"' in first
