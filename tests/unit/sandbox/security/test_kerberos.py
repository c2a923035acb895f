from __future__ import annotations

import pytest

from kgroups.errors import SandboxError
from kgroups.sandbox.security import kerberos

WHICH = "kgroups.sandbox.security.kerberos.shutil.which"


def test_missing_kerberos_programs_are_named_with_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    there = {"kinit": "/usr/bin/kinit"}
    monkeypatch.setattr(WHICH, lambda name, path: there.get(name))
    with pytest.raises(SandboxError, match=r"requires krb5kdc, kadmin.local, kdb5_util, which are not") as error:
        kerberos.need_kerberos()
    assert "apt-get install krb5-kdc krb5-admin-server krb5-user" in str(error.value)


def test_kerberos_daemons_are_found_in_sbin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "kgroups.sandbox.security.kerberos.shutil.which",
        lambda name, path: f"/x/{name}" if "/usr/sbin" in path else None,
    )
    assert kerberos.need_kerberos()["krb5kdc"] == "/x/krb5kdc"
