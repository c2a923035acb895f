"""Merge properties file, profile, environment and flags, and read the result.

In this order, later layers override earlier ones. But servers of a file or profile that a flag names override the
servers of the environment: the flag is what the user says now.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from kgroups.errors import ConfigError, UsageError

from .flags import BOOTSTRAP_ENV, BROKER_TIMEOUT, COMMAND_CONFIG_ENV, PROFILE_ENV, TIMEOUT, Flags, Loaded
from .jaas_file import ignored_options, jaas_file, setting_of_jaas_file
from .placeholders import placeholder_warnings
from .precedence import SERVERS, effective, settings_of_overrides
from .properties import read_properties
from .providers import PROGRAM, resolve_placeholders
from .safe_text import describe_value, known_unused_keys, shown_key
from .security import Security
from .settings import ClientSettings, Transport, parse_bootstrap
from .settings_reader import Setting, SettingsReader, is_secret
from .warnings import permission_warning, warnings_on_unused

if TYPE_CHECKING:
    from .profiles import Profile

_TRANSPORT = "--transport"
_RATE = "--max-requests-per-second"
_CREDENTIALS = ("sasl.jaas.config", "sasl.username", "sasl.oauthbearer.token")
_PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")


def load_layers(flags: Flags, environ: Mapping[str, str], *, own: bool) -> Loaded:
    """Load the settings from all layers.

    Parameters and exceptions: see :func:`kgroups.config.load.load_settings`.
    """
    warnings: list[str] = []
    variables = environ if own else {}
    profile = _profile(flags, variables) if own else None
    file = _file(flags, variables, profile)
    of_file, of_profile = tuple(_of_file(file)) if file else (), profile.settings if profile else ()
    named = (*(of_file if flags.command_config else ()), *(of_profile if flags.profile else ()))
    if flags.profile and profile and file == profile.command_config:
        named += of_file
    warnings += _repeated(of_file)
    overrides = tuple(settings_of_overrides(flags.overrides, warnings))
    layers = (
        _of_jaas_file(environ, warnings, (*of_file, *overrides)) if profile is None else (),
        of_file,
        of_profile,
        () if any(setting.key in SERVERS for setting in named) else _of_environment(variables),
        overrides,
        [Setting(key, value, PROGRAM) for key, value in flags.properties],
        _of_flags(flags),
    )
    reader = SettingsReader(
        resolve_placeholders(
            SettingsReader(effective(layers)), environ, _permission_check(warnings, "secrets"), flags.config_providers
        )
    )
    warnings += _overridden(layers, reader)
    if profile:
        warnings += profile.warnings
    warnings += placeholder_warnings(reader)
    try:
        settings = _settings(reader, warnings)
    except ConfigError as error:
        if profile and (variable := jaas_file(environ)):
            error.hint = error.hint or f"{variable[0]} names a JAAS file, which is not read with a profile"
        raise
    if settings.security and settings.security.sasl:
        from .secret_targets import check_token_url, cleartext_warnings

        check_token_url(settings.security.sasl, reader, environ, flags.config_providers)
        warnings += cleartext_warnings(settings.security, settings.bootstrap, settings.transport)
    secrets = [setting for setting in reader if is_secret(setting.key) and setting.value]
    if file and any(setting.origin.startswith(f"{file}, ") for setting in secrets):
        warnings += filter(None, [permission_warning(file, "secrets")])
    if profile and any(setting.origin.startswith(f"profile {profile.name} ") for setting in secrets):
        warnings += filter(None, [permission_warning(profile.file, "secrets")])
    return Loaded(settings, tuple(dict.fromkeys(warnings)), tuple(reader.understood))


def _repeated(settings: Iterable[Setting]) -> Iterator[str]:
    """Yield a warning for each setting that a later line of the same file replaces by another value."""
    last = {setting.key: setting for setting in settings}
    for setting in settings:
        again = last[setting.key]
        if setting.value != again.value:
            yield f"{shown_key(setting.key)} ({setting.origin}): ignored because it is set again ({again.origin})"


def _of_jaas_file(environ: Mapping[str, str], warnings: list[str], settings: Iterable[Setting]) -> Iterable[Setting]:
    """Return the login module of the file that the JVM's options name, as Java's clients use it without an entry."""
    settings = tuple(settings)
    protocols = [setting.value.strip().upper() for setting in settings if setting.key == "security.protocol"]
    if not protocols or protocols[-1] == "PLAINTEXT":
        return ()
    warnings += ignored_options(environ)
    if "SASL" not in protocols[-1] or any(setting.key in _CREDENTIALS for setting in settings):
        return ()
    found = setting_of_jaas_file(environ)
    return (found,) if found else ()


def _overridden(layers: Iterable[Iterable[Setting]], reader: SettingsReader) -> Iterator[str]:
    """Yield a warning for each list of servers that the environment variable overrides.

    The user may have forgotten the exported variable, and a file's password is meant for that file's brokers.
    """
    found = reader.peek(*SERVERS)
    if found and found.origin == BOOTSTRAP_ENV:
        for other in [other for layer in layers for other in layer if other.key in SERVERS]:
            if other.value.strip() != found.value:
                yield f"{BOOTSTRAP_ENV} overrides {other.place}; to use those servers, unset it or set -b"


def _settings(reader: SettingsReader, warnings: list[str]) -> ClientSettings:
    servers = reader.take(*SERVERS, means="bootstrap servers")
    timeout = reader.seconds("default.api.timeout.ms", means="time limit for the whole command") or TIMEOUT
    broker = (
        reader.seconds("request.timeout.ms", "socket.timeout.ms", means="time limit for a broker") or BROKER_TIMEOUT
    )
    transport = reader.text(_TRANSPORT, means="protocol client")
    client = _client_id(reader)
    security = _security(reader, warnings)
    settings = ClientSettings(
        bootstrap=_servers(servers),
        timeout=timeout,
        broker_timeout=min(broker, timeout),
        transport=Transport(transport or Transport.WIRE),
        client_id=client or ClientSettings._field_defaults["client_id"],
        max_requests_per_second=_rate(reader),
        security=security,
    )
    warnings += (
        f"{other.name} ({other.origin}): ignored because {used.name} ({used.origin}) is set"
        for other, used in reader.shadowed
    )
    mechanism = security.sasl.mechanism if security and security.sasl else None
    warnings += warnings_on_unused(reader.unused(), security.protocol if security else "PLAINTEXT", mechanism)
    reader.record_unused(known_unused_keys(), "no effect on an admin client")
    return settings


def _rate(reader: SettingsReader) -> float | None:
    found = reader.take(_RATE, means="maximum rate of requests")
    if found is None:
        return None
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", found.value.strip()) or not float(found.value):
        raise found.error("must be a positive number of requests per second")
    return float(found.value)


def _client_id(reader: SettingsReader) -> str | None:
    found = reader.take("client.id", means="client ID in the brokers' logs and quotas")
    if found is None:
        return None
    try:
        size = len(found.value.encode())
    except UnicodeEncodeError:
        raise found.error("is not valid UTF-8") from None
    if size > 0x7FFF:
        raise found.error(f"has {size:,} bytes; the maximum is 32,767")
    return found.value.strip() or None


def _servers(setting: Setting | None) -> tuple[tuple[str, int], ...]:
    if setting is None:
        return parse_bootstrap("")
    try:
        return parse_bootstrap(setting.value, setting.place)
    except UsageError as error:
        if setting.written == "" or setting.origin in (BOOTSTRAP_ENV, "-X", PROGRAM):
            raise
        raise ConfigError(str(error)) from None


def _security(reader: SettingsReader, warnings: list[str]) -> Security | None:
    found = reader.take("security.protocol", means="TLS, SASL, both, or neither")
    protocol = (found.value.strip().upper() if found else "") or "PLAINTEXT"
    if found and protocol not in _PROTOCOLS:
        word = describe_value(found.value, (*_PROTOCOLS, "TLS", "SASL_TLS"))
        raise found.error(f"{word}; use one of {', '.join(_PROTOCOLS)}")
    if protocol == "PLAINTEXT":
        return None
    tls = sasl = None
    if "SASL" in protocol:
        from .login import sasl_of

        sasl = sasl_of(reader, warnings.append, _permission_check(warnings, "a secret"))
    if protocol.endswith("SSL"):
        from .tls import tls_of

        tls = tls_of(reader, warnings.append, _permission_check(warnings, "a key that is not encrypted"))
    return Security(tls, sasl)


def _permission_check(warnings: list[str], what: str) -> Callable[[Path, str], None]:
    """Return a function that appends a warning for a file that other users can read.

    :param what: the contents of such a file.
    """

    def check(path: Path, place: str) -> None:
        warnings.extend(filter(None, [permission_warning(path, what)]))

    return check


def _profile(flags: Flags, variables: Mapping[str, str]) -> Profile | None:
    """Return the selected profile, or the default one if neither a flag nor the environment selects a cluster."""
    if not (flags.profile or variables.get(PROFILE_ENV)) and (
        flags.bootstrap or flags.command_config or variables.get(BOOTSTRAP_ENV) or variables.get(COMMAND_CONFIG_ENV)
    ):
        return None
    from .profiles import chosen_profile

    return chosen_profile(flags, variables)


def _file(flags: Flags, variables: Mapping[str, str], profile: Profile | None) -> Path | None:
    if flags.profile and profile and profile.command_config and not flags.command_config:
        return profile.command_config  # what a flag names overrides the environment
    path = flags.command_config or variables.get(COMMAND_CONFIG_ENV)
    if path:
        return Path(path)
    return profile.command_config if profile else None


def _of_file(path: Path) -> Iterable[Setting]:
    for found in read_properties(path):
        if found.key or found.value:  # a lone backslash has neither
            yield Setting(found.key, found.value, f"{path}, line {found.line}")


def _of_environment(variables: Mapping[str, str]) -> Iterable[Setting]:
    servers = variables.get(BOOTSTRAP_ENV)
    return [Setting("bootstrap.servers", servers, BOOTSTRAP_ENV, written="")] if servers else []


def _of_flags(flags: Flags) -> Iterable[Setting]:
    if flags.bootstrap:
        yield Setting("bootstrap.servers", flags.bootstrap, "--bootstrap-server", written="")
    for key, seconds, name in (
        ("default.api.timeout.ms", flags.timeout, "--timeout"),
        ("request.timeout.ms", flags.broker_timeout, "--broker-timeout"),
    ):
        if seconds:
            yield Setting(key, str(max(1, round(seconds * 1000))), name, written="")
    if flags.transport:
        yield Setting(_TRANSPORT, flags.transport, _TRANSPORT, written="")
    if flags.max_requests_per_second:
        yield Setting(_RATE, f"{flags.max_requests_per_second:.15g}", _RATE, written="")
