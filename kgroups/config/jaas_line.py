"""The login module that ``sasl.jaas.config`` names, and its options."""

from __future__ import annotations

from kgroups.errors import ConfigError

from .formats.jaas import LoginModule, parse_jaas
from .security import AwsIam, Mechanism
from .settings_reader import Setting, SettingsReader

JAAS = "sasl.jaas.config"
MECHANISM = ("sasl.mechanism", "sasl.mechanisms")
AWS = "AWS_MSK_IAM"
_MODULES = {
    "PlainLoginModule": (Mechanism.PLAIN, Mechanism.SCRAM_SHA_256, Mechanism.SCRAM_SHA_512),
    "ScramLoginModule": (Mechanism.PLAIN, Mechanism.SCRAM_SHA_256, Mechanism.SCRAM_SHA_512),
    "OAuthBearerLoginModule": (Mechanism.OAUTHBEARER,),
    "Krb5LoginModule": (Mechanism.GSSAPI,),
    "IAMLoginModule": (AWS,),
}
"""Login modules by the last part of their names, for Kafka is shaded a lot; and the mechanisms that they serve. Those
of PLAIN and SCRAM do the same: they keep a name and a password."""


class JaasLine:
    """The options of a JAAS line, and where it stands."""

    def __init__(self, setting: Setting | None, module: LoginModule | None) -> None:
        self.setting = setting
        self.module = module
        origin = setting.origin if setting else ""
        options = module.options if module else {}
        self.given = SettingsReader((Setting(key, value, origin) for key, value in options.items()), scope=f"{JAAS}: ")

    @classmethod
    def of(cls, given: SettingsReader) -> JaasLine:
        """:raises ConfigError: for a line that is none, with file and line, without its values."""
        setting = given.take(JAAS, means="SASL mechanism and credentials", secret=True)
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
            raise self.setting.wrong(f"names an unsupported login module; supported: {known}")
        if mechanism not in serves:
            raise self.setting.wrong(f"names {self.module.short}, which does not support {mechanism}")


def aws_of(given: SettingsReader, line: JaasLine) -> AwsIam:
    """Of Amazon's own login module, or of OAuth's with Amazon's handler."""
    options = line.given
    for name in ("awsDebugCreds", "awsMaxRetries", "awsMaxBackOffTimeMs", "awsRoleExternalId"):
        options.take(name, means="no effect here")
    given.take_all("sasl.client.callback.handler.", means="AWS login of the JVM; kgroups has its own")
    return AwsIam(
        region=options.text("awsStsRegion", "awsRegion", means="AWS's region"),
        profile=options.text("awsProfileName", means="AWS's profile"),
        role=options.text("awsRoleArn", means="the role to assume"),
        session=options.text("awsRoleSessionName", means="the session's name"),
    )


def needs(given: SettingsReader, line: JaasLine, mechanism: str, what: str, keys: str) -> ConfigError:
    """The error for something that is missing: at the JAAS line where there is one, else at the mechanism."""
    at = line.setting or given.peek(*MECHANISM, "security.protocol")
    before = at.place if at else "sasl"
    return ConfigError(f"{before}: {mechanism} requires {what}: set {JAAS}, or {keys}")
