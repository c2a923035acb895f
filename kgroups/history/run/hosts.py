"""Options on the hosts of clients."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kgroups.cli.frame.command import Decorator, OptionGroup
from kgroups.errors import UsageError

if TYPE_CHECKING:
    from ..hosts import GivenHosts

SALT_ENV = "KGROUPS_SALT"


def _choice(default: str) -> Decorator:
    return click.option(
        "--client-hosts",
        type=click.Choice(["keep", "hash", "omit"]),
        help=f"Hosts of clients: keep, hash with a salt, or omit.  [default: {default}]",
    )


_SALT = click.option(
    "--salt-file",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help=f"File with the salt of --client-hosts hash: at least 16 random bytes.  [env: {SALT_ENV}, the salt itself]",
)


def _given(salt_file: Path | None, client_hosts: str | None = None) -> GivenHosts:
    from ..hosts import GivenHosts

    if salt_file is None:
        return GivenHosts(client_hosts, os.environ.get(SALT_ENV, "").encode())
    try:
        salt = salt_file.read_bytes().rstrip(b"\r\n")
    except OSError as error:
        raise UsageError(f"--salt-file {salt_file}: {error.strerror}") from None
    if not salt:
        raise UsageError(f"--salt-file {salt_file} is empty")
    return GivenHosts(client_hosts, salt)


def hosts_options(default: str) -> OptionGroup:
    """Return the options; ``hosts`` is a ``GivenHosts``.

    :param default: the default of the choice, for the help.
    """
    return OptionGroup("hosts", (_choice(default), _SALT), _given)


salt_options = OptionGroup("hosts", (_SALT,), _given)
"""Only the option for the salt, for commands on a store that exists; ``hosts`` is a ``GivenHosts``."""
