"""Claims of a JWT, and unsecured tokens."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from kgroups.config.formats.jwt import claims_of, expired_at, expiry_of
from kgroups.config.security import UnsecuredToken
from kgroups.config.unsecured import unsecured_jws

NOW = 1_700_000_000.000_9


def part(token: str, at: int) -> dict[str, Any]:
    text = token.split(".")[at]
    found: dict[str, Any] = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    return found


def made(**rest: Any) -> str:
    return unsecured_jws(UnsecuredToken("bob", **rest), NOW).reveal()


def test_unsecured_token_has_claims_and_no_signature() -> None:
    token = made(principal_claim="name", lifetime=60.0, claims={"scope": ["a"], "n": 7.0})
    assert (token.count("."), token[-1], part(token, 0)) == (2, ".", {"alg": "none"})
    assert part(token, 1) == {"scope": ["a"], "n": 7.0, "name": "bob", "iat": int(NOW), "exp": NOW + 60.0}


def test_unsecured_token_is_not_issued_in_the_future() -> None:
    """The broker's clock has milliseconds, and is read less than one later."""
    output = part(made(), 1)
    assert output["iat"] <= 1_700_000_000.000 < output["exp"]


def test_unsecured_token_claims_do_not_override_subject_and_expiry() -> None:
    """In librdkafka's words a scope may have any name; in Java's, such claims are refused where they are read."""
    output = part(made(claims={"sub": "eve", "exp": 9e14, "iat": 0.0}), 1)
    assert (output["sub"], output["iat"], output["exp"]) == ("bob", int(NOW), NOW + 3600.0)


def test_unsecured_token_may_live_less_than_a_second() -> None:
    assert expiry_of(made(lifetime=0.4)) == NOW + 0.4


def test_expired_at_is_the_expiry_time() -> None:
    token = made(lifetime=60.0)
    assert expired_at(token, NOW + 59) is None
    assert expired_at(token, NOW + 60) == "2023-11-14 22:14:20 UTC"
    assert expired_at("opaque", NOW) is None


@pytest.mark.parametrize("token", ["", "opaque", "a.b", "a.b.c", "a.W10.c", f"a.{'[' * 100_000}.c", "a.e30.c.d"])
def test_other_text_than_jwt_has_no_claims(token: str) -> None:
    assert (claims_of(token), expiry_of(token)) == ({}, None)
