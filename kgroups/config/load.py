"""Flags, environment, profile and file -> one frozen ClientSettings: the one function that all commands call."""

from __future__ import annotations

from collections.abc import Mapping

from kgroups.errors import UsageError

from .flags import BOOTSTRAP_ENV, BROKER_TIMEOUT, COMMAND_CONFIG_ENV, PROFILE_ENV, TIMEOUT, Flags, Loaded
from .settings import ClientSettings, Transport, parse_bootstrap


def load_settings(flags: Flags, environ: Mapping[str, str], *, own: bool = True, explain: bool = False) -> Loaded:
    """Flags go before the environment, this before the profile, and this before the properties file.

    The default profile is looked at only where neither a flag nor the environment says which cluster: its password
    is for its own brokers.

    :param own: whether profiles and our own environment variables count; they do not for Kafka's commands.
    :param explain: tell of plain flags too what was understood.
    :raises UsageError: for a flag or a variable that cannot be right, or when nobody says where the cluster is.
    :raises ConfigError: for a file or a profile that cannot be right.
    """
    for name, value in (
        ("--bootstrap-server", flags.bootstrap),
        ("--command-config", flags.command_config),
        ("--profile", flags.profile),
    ):
        if value is not None and not value.strip():  # else another cluster would be asked than the one that was meant
            raise UsageError(f"{name} is empty; check that the variables of your script are set")
    ours = environ if own else {}
    servers = flags.bootstrap or ours.get(BOOTSTRAP_ENV)
    more = flags.command_config or flags.overrides or flags.properties or flags.profile
    more = more or ours.get(PROFILE_ENV) or ours.get(COMMAND_CONFIG_ENV)
    if more or explain or (own and not servers):
        from .layers import load_layers

        return load_layers(flags, environ, own=own)
    timeout = flags.timeout or TIMEOUT
    return Loaded(
        ClientSettings(
            parse_bootstrap(servers or "", "--bootstrap-server" if flags.bootstrap else BOOTSTRAP_ENV),
            timeout=timeout,
            broker_timeout=min(flags.broker_timeout or BROKER_TIMEOUT, timeout),
            transport=Transport(flags.transport or Transport.WIRE),
            max_requests_per_second=flags.max_requests_per_second,
        )
    )
