"""Read the file of ``check --rules`` and ``--lint``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from kgroups.errors import ConfigError

if TYPE_CHECKING:
    from kgroups.model.health.rules import Rule


def read_rules(path: Path | None) -> tuple[Rule, ...]:
    if path is None:
        return ()
    from kgroups.model.health.rules import parse_rules

    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ConfigError(f"--rules: {path} is not UTF-8 text") from None
    except OSError as error:
        raise ConfigError(f"--rules: cannot read {path}: {error.strerror}") from None
    return parse_rules(text, str(path))
