"""Read the JAAS login module of ``sasl.jaas.config`` and its options."""

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
"""Class name of the login module, without its package because Kafka is often shaded -> supported mechanisms.

The modules of PLAIN and SCRAM are interchangeable: both hold a user name and a password.
"""


class JaasLine:
    """The options of a JAAS entry, and its origin."""

    def __init__(self, setting: Setting | None, module: LoginModule | None) -> None:
        self.setting = setting
        self.module = module
        origin = setting.origin if setting else ""
        options = module.options if module else {}
        self.options = SettingsReader(
            (Setting(key, value, origin) for key, value in options.items()), scope=f"{JAAS}: "
        )

    @classmethod
    def of(cls, settings: SettingsReader) -> JaasLine:
        """Take the JAAS entry from the settings; without one, the result has no module and no options.

        :raises ConfigError: if it is malformed; the message contains file and line, but no values.
        """
        setting = settings.take(JAAS, means="SASL mechanism and credentials", secret=True)
        if setting is None:
            return cls(None, None)
        try:
            return cls(setting, parse_jaas(setting.value))
        except ValueError as error:
            raise setting.error(str(error)) from None

    def check(self, mechanism: str) -> None:
        """Check that the login module supports the mechanism.

        :raises ConfigError: if the module is unknown, or does not support it.
        """
        if self.module is None or self.setting is None:
            return
        supported = _MODULES.get(self.module.short)
        if supported is None:
            known = ", ".join(_MODULES)
            raise self.setting.error(f"names an unsupported login module; supported: {known}")
        if mechanism not in supported:
            raise self.setting.error(f"names {self.module.short}, which does not support {mechanism}")


def aws_of(settings: SettingsReader, line: JaasLine) -> AwsIam:
    """Read the AWS credentials of Amazon's login module, or of the OAuth module with Amazon's callback handler."""
    options = line.options
    for name in ("awsDebugCreds", "awsMaxRetries", "awsMaxBackOffTimeMs", "awsRoleExternalId"):
        options.take(name, means="no effect here")
    return AwsIam(
        region=options.text("awsStsRegion", "awsRegion", means="AWS's region"),
        profile=options.text("awsProfileName", means="AWS's profile"),
        role=options.text("awsRoleArn", means="the role to assume"),
        session=options.text("awsRoleSessionName", means="the session's name"),
    )


def missing_setting(settings: SettingsReader, line: JaasLine, mechanism: str, what: str, keys: str) -> ConfigError:
    """Return the error for a missing setting, located at the JAAS entry if there is one, else at the mechanism."""
    nearest = line.setting or settings.peek(*MECHANISM, "security.protocol")
    place = nearest.place if nearest else "sasl"
    return ConfigError(f"{place}: {mechanism} requires {what}: set {JAAS}, or {keys}")
