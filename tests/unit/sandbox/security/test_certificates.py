"""Certificates made by openssl, read by another library."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from kgroups.errors import SandboxError
from kgroups.sandbox.security import certificates as subject
from kgroups.sandbox.security.certificates import Certificates, Pair, make_certificates
from kgroups.sandbox.security.secrets import Secrets


@pytest.fixture(scope="module")
def secrets() -> Secrets:
    return Secrets()


@pytest.fixture(scope="module")
def certificates(secrets: Secrets, tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return make_certificates(tmp_path_factory.mktemp("keys") / "made", "ann", secrets)


def first(pair: Pair) -> x509.Certificate:
    return x509.load_pem_x509_certificates(pair.certificate.read_bytes())[0]


def test_valid_certificates_are_issued_by_the_authority(certificates: Certificates) -> None:
    authority = x509.load_pem_x509_certificate(certificates.authority.read_bytes())
    for pair in (certificates.server, certificates.client, certificates.expired, certificates.wrong_name):
        first(pair).verify_directly_issued_by(authority)
    with pytest.raises(ValueError, match="does not match"):
        first(certificates.self_signed).verify_directly_issued_by(authority)


def test_invalid_certificates_each_have_one_defect(certificates: Certificates) -> None:
    now = datetime.now(UTC)
    assert first(certificates.expired).not_valid_after_utc < now < first(certificates.server).not_valid_after_utc
    names = first(certificates.wrong_name).extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == ["elsewhere.example"]
    assert first(certificates.self_signed).issuer == first(certificates.self_signed).subject
    assert first(certificates.client).subject.rfc4514_string() == "CN=ann"


def test_keys_are_private_and_encrypted_if_required(certificates: Certificates, secrets: Secrets) -> None:
    assert certificates.key_password in secrets
    plain = load_pem_private_key(certificates.client.key.read_bytes(), None)
    for file in (certificates.encrypted_key, certificates.modern_key):
        assert b"BEGIN ENCRYPTED PRIVATE KEY" in file.read_bytes()
        key = load_pem_private_key(file.read_bytes(), certificates.key_password.encode())
        assert key.public_key() == plain.public_key()
    assert {file.stat().st_mode & 0o077 for file in certificates.folder.glob("*.key")} == {0}


def test_make_certificates_without_openssl_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kgroups.sandbox.security.certificates.shutil.which", lambda name: None)
    with pytest.raises(SandboxError, match="install openssl"):
        make_certificates(tmp_path / "none", "ann", Secrets())


def test_openssl_errors_are_reported(tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match=r"openssl x509 failed: .*no-such-file"):
        subject.openssl(tmp_path, "x509", "-in", "no-such-file")
