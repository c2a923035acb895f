"""Read the SASL settings, in Java's or librdkafka's spelling."""

from __future__ import annotations

from pathlib import Path

from .jaas_line import AWS, JAAS, MECHANISM, JaasLine, aws_of, missing_setting
from .oauth import oauth_of
from .safe_text import describe_value
from .security import Credentials, Kerberos, Mechanism, Password, Sasl
from .settings_reader import Setting, SettingsReader, path_of_url
from .tls import FileCheck, Warn

_UNSUPPORTED = ("CRAM-MD5", "DIGEST-MD5", "NTLM")
"""SASL mechanisms that Kafka does not support."""


def sasl_of(settings: SettingsReader, warn: Warn, check_file: FileCheck) -> Sasl:
    """Read mechanism and credentials.

    :param check_file: called with each keytab and token file.
    :raises ConfigError: if the mechanism, the JAAS entry, or the credentials are invalid.
    """
    line = JaasLine.of(settings)
    setting = settings.take(*MECHANISM, means="SASL mechanism and credentials")
    mechanism = _mechanism(setting)
    line.check(mechanism)
    credentials = _credentials(mechanism, settings, line, warn, check_file)
    settings.understood += line.options.understood
    if unknown := line.options.unused():
        what = "an option" if len(unknown) == 1 else f"{len(unknown)} options"
        warn(f"{unknown[0].origin}: {JAAS}: {what} unknown and ignored")
    return Sasl(Mechanism.OAUTHBEARER.value if mechanism == AWS else mechanism, credentials)


def _mechanism(setting: Setting | None) -> str:
    if setting is None:
        return Mechanism.GSSAPI.value  # the default of Java's clients and librdkafka
    word = setting.value.strip().upper()
    if word != AWS and word not in set(Mechanism):
        known = (*Mechanism, AWS)
        raise setting.error(f"{describe_value(setting.value, (*known, *_UNSUPPORTED))}; use one of {', '.join(known)}")
    return word


def _credentials(
    mechanism: str, settings: SettingsReader, line: JaasLine, warn: Warn, check_file: FileCheck
) -> Credentials:
    match mechanism:
        case Mechanism.OAUTHBEARER:
            return oauth_of(settings, line, warn, check_file)
        case Mechanism.GSSAPI:
            return _kerberos(settings, line, check_file)
        case "AWS_MSK_IAM":
            return aws_of(settings, line)
    return _password(mechanism, settings, line)


def _password(mechanism: str, settings: SettingsReader, line: JaasLine) -> Password:
    """Read user name and password. librdkafka's keys override the JAAS options, so that ``-X`` can override one."""
    name = settings.take("sasl.username", means="principal name") or line.options.take(
        "username", means="principal name"
    )
    password = settings.take("sasl.password", means="password", secret=True)
    password = password or line.options.take("password", means="password", secret=True)
    line.options.drop("username", "password")
    token = line.options.flag("tokenauth", default=False, means="a delegation token (KIP-48)")
    missing = [
        what for what, found in (("user name", name), ("password", password)) if found is None or not found.value
    ]
    if missing or name is None or password is None:
        raise missing_setting(
            settings, line, mechanism, f"a {' and a '.join(missing)}", "sasl.username and sasl.password"
        )
    return Password(name.value, password.secret, token)


def _kerberos(settings: SettingsReader, line: JaasLine, check_file: FileCheck) -> Kerberos:
    means = "service name in the brokers' principals"
    service = settings.text("sasl.kerberos.service.name", means=means)
    jaas_service = line.options.text("serviceName", means=means)
    if service and jaas_service and service != jaas_service:
        assert line.setting
        raise line.setting.error("has a serviceName that differs from sasl.kerberos.service.name")
    if not (service or jaas_service):
        raise missing_setting(settings, line, "GSSAPI", "the brokers' service name", "sasl.kerberos.service.name")
    options = line.options
    use_keytab = options.flag("useKeyTab", default="keyTab" in options, means="authenticate with a keytab")
    jaas_keytab = options.take("keyTab", means="the keytab") if use_keytab else options.take("keyTab", means="unused")
    keytab = settings.take("sasl.kerberos.keytab", means="the keytab")
    keytab = keytab or (jaas_keytab if use_keytab else None)
    principal = settings.text("sasl.kerberos.principal", means="principal name") or options.text(
        "principal", means="principal name"
    )
    options.flag("useTicketCache", default=True, means="authenticate with the ticket cache")
    cache = options.text("ticketCache", means="location of the ticket cache")
    for name in ("storeKey", "renewTGT", "doNotPrompt", "debug", "refreshKrb5Config", "isInitiator", "useDefaultCcache",
                 "useCcache", "credsType", "clearPass", "tryFirstPass", "useFirstPass", "storePass"):  # fmt: skip
        options.take(name, means="login of the JVM; no effect here")
    path = _file(keytab) if keytab else None
    if keytab and path:
        if not Path(path).is_file():
            raise keytab.error(f"names a file that does not exist: {path}")
        check_file(Path(path), keytab.place)
    return Kerberos((service or jaas_service or ""), principal, path, cache and cache.removeprefix("FILE:"))


def _file(setting: Setting) -> str:
    """Return the path of a file, which a JAAS entry may give as a URL."""
    text = setting.value.strip()
    return path_of_url(setting) if text.startswith("file:") else text.removeprefix("FILE:")
