"""How we log in, of settings in Java's words or librdkafka's."""

from __future__ import annotations

from pathlib import Path

from kgroups.errors import ConfigError

from .given import Given, Setting, path_of_url
from .jaas import LoginModule, parse_jaas
from .security import AwsIam, Credentials, Kerberos, Mechanism, Password, Sasl
from .seemly import told
from .tls import FileNote, Remark

JAAS = "sasl.jaas.config"
_MECHANISM = ("sasl.mechanism", "sasl.mechanisms")
_AWS = "AWS_MSK_IAM"
_OTHERS = ("CRAM-MD5", "DIGEST-MD5", "NTLM")
"""Mechanisms of SASL that Kafka does not have."""
_MODULES = {
    "PlainLoginModule": (Mechanism.PLAIN, Mechanism.SCRAM_SHA_256, Mechanism.SCRAM_SHA_512),
    "ScramLoginModule": (Mechanism.PLAIN, Mechanism.SCRAM_SHA_256, Mechanism.SCRAM_SHA_512),
    "OAuthBearerLoginModule": (Mechanism.OAUTHBEARER,),
    "Krb5LoginModule": (Mechanism.GSSAPI,),
    "IAMLoginModule": (_AWS,),
}
"""Login modules by the last part of their names, for Kafka is shaded a lot; and the mechanisms that they serve. Those
of PLAIN and SCRAM do the same: they keep a name and a password."""


class Line:
    """The options of a JAAS line, and where it stands."""

    def __init__(self, setting: Setting | None, module: LoginModule | None) -> None:
        self.setting = setting
        self.module = module
        origin = setting.origin if setting else ""
        options = module.options if module else {}
        self.given = Given((Setting(key, value, origin) for key, value in options.items()), scope=f"{JAAS}: ")

    @classmethod
    def of(cls, given: Given) -> Line:
        """:raises ConfigError: for a line that is none, with file and line, without its values."""
        setting = given.take(JAAS, means="how we log in", secret=True)
        if setting is None:
            return cls(None, None)
        try:
            return cls(setting, parse_jaas(setting.value))
        except ValueError as error:
            raise setting.wrong(str(error)) from None

    def check(self, mechanism: str) -> None:
        """:raises ConfigError: when the module is not known, or does not serve the mechanism."""
        if self.module is None or self.setting is None:
            return
        serves = _MODULES.get(self.module.short)
        if serves is None:
            known = ", ".join(_MODULES)
            raise self.setting.wrong(f"names a login module that is none of {known}")
        if mechanism not in serves:
            raise self.setting.wrong(f"names {self.module.short}, which does not serve {mechanism}")


def sasl_of(given: Given, remark: Remark, note: FileNote) -> Sasl:
    """
    :param note: is told of keytabs and files of tokens.
    :raises ConfigError: for a mechanism, a JAAS line or credentials that cannot be right.
    """
    line = Line.of(given)
    wanted = given.take(*_MECHANISM, means="how we log in")
    mechanism = _mechanism(wanted)
    line.check(mechanism)
    credentials = _credentials(mechanism, given, line, remark, note)
    given.understood += line.given.understood
    given.take_all("sasl.login.", means="of the JVM's login, without effect here")
    if unknown := line.given.left():
        what = "an option" if len(unknown) == 1 else f"{len(unknown)} options"
        remark(f"{unknown[0].origin}: {JAAS}: {what} not understood, and ignored")
    return Sasl(Mechanism.OAUTHBEARER.value if mechanism == _AWS else mechanism, credentials)


def _mechanism(wanted: Setting | None) -> str:
    if wanted is None:
        return Mechanism.GSSAPI.value  # Java's default, and librdkafka's
    word = wanted.value.strip().upper()
    if word != _AWS and word not in set(Mechanism):
        known = (*Mechanism, _AWS)
        raise wanted.wrong(f"{told(wanted.value, (*known, *_OTHERS))}: there are {', '.join(known)}")
    return word


def _credentials(mechanism: str, given: Given, line: Line, remark: Remark, note: FileNote) -> Credentials:
    match mechanism:
        case Mechanism.OAUTHBEARER:
            from .oauth import oauth_of

            return oauth_of(given, line, remark, note)
        case Mechanism.GSSAPI:
            return _kerberos(given, line, note)
        case "AWS_MSK_IAM":
            return aws_of(given, line)
    return _password(mechanism, given, line)


def _password(mechanism: str, given: Given, line: Line) -> Password:
    """librdkafka's two keys go before a JAAS line's options: that is how one of them is overridden by ``-X``."""
    name = given.take("sasl.username", means="who we are") or line.given.take("username", means="who we are")
    word = given.take("sasl.password", means="our password", secret=True)
    word = word or line.given.take("password", means="our password", secret=True)
    line.given.drop("username", "password")
    token = line.given.flag("tokenauth", otherwise=False, means="a delegation token (KIP-48)")
    missing = [what for what, found in (("user name", name), ("password", word)) if found is None or not found.value]
    if missing or name is None or word is None:
        raise needs(given, line, mechanism, f"a {' and a '.join(missing)}", "sasl.username and sasl.password")
    return Password(name.value, word.secret, token)


def _kerberos(given: Given, line: Line, note: FileNote) -> Kerberos:
    means = "the first part of the brokers' principals"
    service = given.text("sasl.kerberos.service.name", means=means)
    own = line.given.text("serviceName", means=means)
    if service and own and service != own:
        assert line.setting
        raise line.setting.wrong("has another serviceName than sasl.kerberos.service.name is")
    if not (service or own):
        raise needs(given, line, "GSSAPI", "the brokers' service name", "sasl.kerberos.service.name")
    options = line.given
    use = options.flag("useKeyTab", otherwise="keyTab" in options, means="log in by a keytab")
    keytab = options.take("keyTab", means="the keytab") if use else options.take("keyTab", means="unused")
    theirs = given.take("sasl.kerberos.keytab", means="the keytab")
    found = theirs or (keytab if use else None)
    principal = given.text("sasl.kerberos.principal", means="who we are") or options.text(
        "principal", means="who we are"
    )
    options.flag("useTicketCache", otherwise=True, means="log in by the tickets that are there")
    cache = options.text("ticketCache", means="where the tickets are")
    for name in ("storeKey", "renewTGT", "doNotPrompt", "debug", "refreshKrb5Config", "isInitiator", "useDefaultCcache",
                 "useCcache", "credsType", "clearPass", "tryFirstPass", "useFirstPass", "storePass"):  # fmt: skip
        options.take(name, means="of the JVM's login, without effect here")
    given.take_all("sasl.kerberos.", means="of the JVM's login, without effect here")
    path = _file(found) if found else None
    if found and path:
        if not Path(path).is_file():
            raise found.wrong(f"is {path}: there is no such file")
        note(Path(path), found.place)
    return Kerberos((service or own or ""), principal, path, cache and cache.removeprefix("FILE:"))


def aws_of(given: Given, line: Line) -> AwsIam:
    """Of Amazon's own login module, or of OAuth's with Amazon's handler."""
    options = line.given
    for name in ("awsDebugCreds", "awsMaxRetries", "awsMaxBackOffTimeMs", "awsRoleExternalId"):
        options.take(name, means="without effect here")
    given.take_all("sasl.client.callback.handler.", means="of the JVM's login: AWS's, which kgroups has its own for")
    return AwsIam(
        region=options.text("awsStsRegion", "awsRegion", means="AWS's region"),
        profile=options.text("awsProfileName", means="AWS's profile"),
        role=options.text("awsRoleArn", means="the role to assume"),
        session=options.text("awsRoleSessionName", means="the session's name"),
    )


def needs(given: Given, line: Line, mechanism: str, what: str, keys: str) -> ConfigError:
    """The error for something that is missing: at the JAAS line where there is one, else at the mechanism."""
    at = line.setting or given.peek(*_MECHANISM, "security.protocol")
    before = at.place if at else "sasl"
    return ConfigError(f"{before}: {mechanism} needs {what}: give {JAAS}, or {keys}")


def _file(setting: Setting) -> str:
    """A file's path, which JAAS also takes as a URL."""
    text = setting.value.strip()
    return path_of_url(setting) if text.startswith("file:") else text.removeprefix("FILE:")
