"""Load the settings of a command from flags, environment, profile and properties file."""

from __future__ import annotations

from collections.abc import Mapping

from kgroups.errors import UsageError

from .flags import BOOTSTRAP_ENV, BROKER_TIMEOUT, COMMAND_CONFIG_ENV, PROFILE_ENV, TIMEOUT, Flags, Loaded
from .settings import ClientSettings, Transport, parse_bootstrap


def load_profile(flags: Flags, environ: Mapping[str, str]) -> Loaded:
    """Load only the settings of the profile that a flag names.

    The variables that select one cluster may have its credentials, which must not reach another one.

    :raises UsageError: if a flag or a variable is invalid, there is no such profile, or it has no bootstrap servers.
    :raises ConfigError: if a file or the profile is invalid.
    """
    chosen = (BOOTSTRAP_ENV, COMMAND_CONFIG_ENV, PROFILE_ENV)
    return load_settings(flags, {name: value for name, value in environ.items() if name not in chosen})


def load_settings(flags: Flags, environ: Mapping[str, str], *, own: bool = True, explain: bool = False) -> Loaded:
    """Load the settings. Order of precedence: flags, environment, profile, properties file.

    Servers of a profile or file that a flag names override the servers of the environment.

    The default profile is used only if neither a flag nor the environment selects a cluster: its password is meant for
    its own brokers.

    :param own: whether to use profiles and kgroups' environment variables; false for the drop-in commands.
    :param explain: return the effective settings even if there are only plain flags.
    :raises UsageError: if a flag or a variable is invalid, or there are no bootstrap servers.
    :raises ConfigError: if a file or a profile is invalid.
    """
    for name, value in (
        ("--bootstrap-server", flags.bootstrap),
        ("--command-config", flags.command_config),
        ("--profile", flags.profile),
    ):
        if value is not None and not value.strip():  # without this check, the command would use a different cluster
            raise UsageError(f"{name} is empty; check that the variables of your script are set")
    variables = environ if own else {}
    servers = flags.bootstrap or variables.get(BOOTSTRAP_ENV)
    other_layers = flags.command_config or flags.overrides or flags.properties or flags.profile
    other_layers = other_layers or variables.get(PROFILE_ENV) or variables.get(COMMAND_CONFIG_ENV)
    if other_layers or explain or (own and not servers):
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
