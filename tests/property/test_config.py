"""Readers of configuration files: valid input is read correctly, other input is rejected with a message."""

from __future__ import annotations

import hashlib
import struct
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kgroups.config.formats import pem, stores
from kgroups.config.formats.jaas import FLAGS, parse_jaas
from kgroups.config.formats.jks import read_jks
from kgroups.config.secret import Secret
from kgroups.errors import ConfigError

NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_.$-]{0,20}", fullmatch=True)
VALUES = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


def quoted(value: str, quote: str) -> str:
    named = {"\n": "\\n", "\r": "\\r", "\\": "\\\\", quote: f"\\{quote}"}
    return quote + "".join(named.get(char, char) for char in value) + quote


@given(NAMES, st.sampled_from(FLAGS), st.dictionaries(NAMES, VALUES, max_size=5), st.sampled_from("\"'"), st.data())
def test_jaas_line_round_trips(name: str, flag: str, options: dict[str, str], quote: str, data: st.DataObject) -> None:
    gaps = st.sampled_from([" ", "\t", "\n  ", " // remark\n", " /* a */ "])
    line = f"{name} {flag}"
    for key, value in options.items():
        line += f"{data.draw(gaps)}{key}={quoted(value, quote)}"
    assert parse_jaas(line + ";") == (name, options)
    with pytest.raises(ValueError, match="semicolon"):
        parse_jaas(line)


@given(st.text(st.sampled_from("ab=;\"'\\/* \n"), max_size=40))
def test_jaas_line_of_any_text_is_read_or_rejected(line: str) -> None:
    try:
        parse_jaas(line)
    except ValueError as error:
        assert len(str(error)) < 200


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.binary(max_size=300), st.booleans(), st.sampled_from(["JKS", "PKCS12", "PEM"]))
def test_store_of_any_bytes_is_read_or_rejected(tmp_path: Path, data: bytes, like_jks: bool, kind: str) -> None:
    file = tmp_path / "store"
    file.write_bytes(b"\xfe\xed\xfe\xed\0\0\0\2" + data if like_jks else data)
    for read in (
        lambda: stores.read_authorities(file, kind, Secret("pw"), "p"),
        lambda: stores.read_authorities(file, kind, None, "p"),
        lambda: stores.read_client_certificate(file, kind, Secret("pw"), None, "p"),
    ):
        with pytest.raises(ConfigError, match=r"^p: "):
            read()


SMALL = b"\x30\x03\x02\x01\x05"
"""A sequence of DER; no certificate, but the store does not look into it."""


def _sealed(body: bytes, password: str) -> bytes:
    seal = hashlib.sha1(password.encode("utf-16-be") + b"Mighty Aphrodite" + body).digest()
    return body + seal


def _store(entries: int) -> bytes:
    text = b"".join(struct.pack(">IH1sQH5sI", 2, 1, b"a", 0, 5, b"X.509", len(SMALL)) + SMALL for _ in range(entries))
    return b"\xfe\xed\xfe\xed" + struct.pack(">II", 2, entries) + text


@given(st.integers(0, 5), VALUES)
def test_jks_store_with_valid_digest_is_read(entries: int, password: str) -> None:
    data = _sealed(_store(entries), password)
    assert [entry.chain for entry in read_jks(data, password)] == [(SMALL,)] * entries
    assert read_jks(data, None) == read_jks(data, password)
    with pytest.raises(ValueError, match="does not open"):
        read_jks(data, password + "x")


@given(st.data())
def test_jks_store_that_is_damaged_is_rejected(data: st.DataObject) -> None:
    whole = _sealed(_store(3), "pw")
    at = data.draw(st.integers(0, len(whole) - 1))
    changed = whole[:at] + bytes([whole[at] ^ data.draw(st.integers(1, 255))]) + whole[at + 1 :]
    for broken in (changed, whole[:at], whole + b"x"):
        with pytest.raises(ValueError):
            read_jks(broken, "pw")


@given(st.binary(min_size=1, max_size=200), st.sampled_from(["\n", "\r\n", " "]))
def test_certificate_round_trips_as_pem(body: bytes, end: str) -> None:
    der = b"\x30\x82" + len(body).to_bytes(2, "big") + body
    text = pem.certificate_pem(der)
    (block,) = pem.blocks("before" + text.replace("\n", end) + "behind")
    assert (block.text, block.is_certificate, block.encrypted) == (text, True, False)
    for cut in (text[:-10], text[: len(text) // 2]):
        with pytest.raises(ValueError, match="line 1"):
            pem.blocks(cut)


@given(st.text(st.sampled_from("-BEGINCRTFAD \n"), max_size=80))
def test_pem_of_any_text_is_read_or_rejected(text: str) -> None:
    try:
        pem.blocks(text.replace("B", "-----BEGIN CERTIFICATE-----"))
    except ValueError as error:
        assert "line" in str(error)
