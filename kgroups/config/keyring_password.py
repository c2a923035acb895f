"""Read a password from the keyring of the system. Requires ``kgroups[keyring]``."""

from __future__ import annotations

from kgroups.errors import MissingPackage, install_command

from .settings_reader import Setting


def keyring_password(setting: Setting, entry: str) -> str:
    """Return the password of an entry ``SERVICE/USER``.

    :raises ConfigError: if the entry is invalid or missing, or the keyring cannot be read.
    :raises MissingPackage: if the package ``keyring`` is not installed.
    """
    service, _, user = entry.rpartition("/")
    if not service or not user:
        raise setting.error("has ${keyring:...} without a service or a user; use ${keyring:SERVICE/USER}")
    try:
        import keyring
        from keyring.errors import KeyringError
    except ImportError:
        raise MissingPackage(
            f"{setting.place} uses ${{keyring:...}}, which needs keyring: {install_command('keyring')}"
        ) from None
    try:
        password: str | None = keyring.get_password(service, user)
    except KeyringError as error:
        raise setting.error(f"reads {entry} from the keyring, which failed: {error}") from None
    if password is None:
        raise setting.error(
            f"reads {entry} from the keyring, which has no such entry; run: keyring set {service} {user}"
        )
    return password
