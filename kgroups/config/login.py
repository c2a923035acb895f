"""How we log in, of settings in Java's words or librdkafka's."""

from __future__ import annotations

from pathlib import Path

from .jaas_line import AWS, JAAS, MECHANISM, JaasLine, aws_of, needs
from .safe_text import told
from .security import Credentials, Kerberos, Mechanism, Password, Sasl
from .settings_reader import Setting, SettingsReader, path_of_url
from .tls import FileNote, Remark

_OTHERS = ("CRAM-MD5", "DIGEST-MD5", "NTLM")
"""Mechanisms of SASL that Kafka does not have."""


def sasl_of(given: SettingsReader, remark: Remark, note: FileNote) -> Sasl:
    """
    :param note: is told of keytabs and files of tokens.
    :raises ConfigError: for a mechanism, a JAAS line or credentials that cannot be right.
    """
    line = JaasLine.of(given)
    wanted = given.take(*MECHANISM, means="SASL mechanism and credentials")
    mechanism = _mechanism(wanted)
    line.check(mechanism)
    credentials = _credentials(mechanism, given, line, remark, note)
    given.understood += line.given.understood
    given.take_all("sasl.login.", means="login of the JVM; no effect here")
    if unknown := line.given.left():
        what = "an option" if len(unknown) == 1 else f"{len(unknown)} options"
        remark(f"{unknown[0].origin}: {JAAS}: {what} unknown and ignored")
    return Sasl(Mechanism.OAUTHBEARER.value if mechanism == AWS else mechanism, credentials)


def _mechanism(wanted: Setting | None) -> str:
    if wanted is None:
        return Mechanism.GSSAPI.value  # Java's default, and librdkafka's
    word = wanted.value.strip().upper()
    if word != AWS and word not in set(Mechanism):
        known = (*Mechanism, AWS)
        raise wanted.wrong(f"{told(wanted.value, (*known, *_OTHERS))}: there are {', '.join(known)}")
    return word


def _credentials(mechanism: str, given: SettingsReader, line: JaasLine, remark: Remark, note: FileNote) -> Credentials:
    match mechanism:
        case Mechanism.OAUTHBEARER:
            from .oauth import oauth_of

            return oauth_of(given, line, remark, note)
        case Mechanism.GSSAPI:
            return _kerberos(given, line, note)
        case "AWS_MSK_IAM":
            return aws_of(given, line)
    return _password(mechanism, given, line)


def _password(mechanism: str, given: SettingsReader, line: JaasLine) -> Password:
    """librdkafka's two keys go before a JAAS line's options: that is how one of them is overridden by ``-X``."""
    name = given.take("sasl.username", means="principal name") or line.given.take("username", means="principal name")
    word = given.take("sasl.password", means="password", secret=True)
    word = word or line.given.take("password", means="password", secret=True)
    line.given.drop("username", "password")
    token = line.given.flag("tokenauth", otherwise=False, means="a delegation token (KIP-48)")
    missing = [what for what, found in (("user name", name), ("password", word)) if found is None or not found.value]
    if missing or name is None or word is None:
        raise needs(given, line, mechanism, f"a {' and a '.join(missing)}", "sasl.username and sasl.password")
    return Password(name.value, word.secret, token)


def _kerberos(given: SettingsReader, line: JaasLine, note: FileNote) -> Kerberos:
    means = "service name in the brokers' principals"
    service = given.text("sasl.kerberos.service.name", means=means)
    own = line.given.text("serviceName", means=means)
    if service and own and service != own:
        assert line.setting
        raise line.setting.wrong("has a serviceName that differs from sasl.kerberos.service.name")
    if not (service or own):
        raise needs(given, line, "GSSAPI", "the brokers' service name", "sasl.kerberos.service.name")
    options = line.given
    use = options.flag("useKeyTab", otherwise="keyTab" in options, means="authenticate with a keytab")
    keytab = options.take("keyTab", means="the keytab") if use else options.take("keyTab", means="unused")
    theirs = given.take("sasl.kerberos.keytab", means="the keytab")
    found = theirs or (keytab if use else None)
    principal = given.text("sasl.kerberos.principal", means="principal name") or options.text(
        "principal", means="principal name"
    )
    options.flag("useTicketCache", otherwise=True, means="authenticate with the ticket cache")
    cache = options.text("ticketCache", means="location of the ticket cache")
    for name in ("storeKey", "renewTGT", "doNotPrompt", "debug", "refreshKrb5Config", "isInitiator", "useDefaultCcache",
                 "useCcache", "credsType", "clearPass", "tryFirstPass", "useFirstPass", "storePass"):  # fmt: skip
        options.take(name, means="login of the JVM; no effect here")
    given.take_all("sasl.kerberos.", means="login of the JVM; no effect here")
    path = _file(found) if found else None
    if found and path:
        if not Path(path).is_file():
            raise found.wrong(f"names a file that does not exist: {path}")
        note(Path(path), found.place)
    return Kerberos((service or own or ""), principal, path, cache and cache.removeprefix("FILE:"))


def _file(setting: Setting) -> str:
    """A file's path, which JAAS also takes as a URL."""
    text = setting.value.strip()
    return path_of_url(setting) if text.startswith("file:") else text.removeprefix("FILE:")
