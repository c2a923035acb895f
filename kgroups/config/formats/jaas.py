"""Parse the login module of a ``sasl.jaas.config`` entry.

Follows the syntax of Kafka's JaasConfig; in addition, numbers and paths need no quotes. Comments are ``//`` to the end
of the line and ``/* ... */``, both only at the start of a word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

FLAGS = ("required", "requisite", "sufficient", "optional")

OPTIONS = frozenset({
    "username", "password", "tokenauth", "serviceName", "principal", "keyTab", "ticketCache", "useKeyTab",
    "useTicketCache", "storeKey", "renewTGT", "doNotPrompt", "debug", "refreshKrb5Config", "isInitiator",
    "useDefaultCcache", "useCcache", "credsType", "clearPass", "tryFirstPass", "useFirstPass", "storePass",
    "clientId", "clientSecret", "scope", "awsStsRegion", "awsRegion", "awsProfileName", "awsRoleArn",
    "awsRoleSessionName", "awsDebugCreds", "awsMaxRetries", "awsMaxBackOffTimeMs", "awsRoleExternalId",
    "oauth.access.token", "oauth.token.endpoint.uri", "oauth.client.id", "oauth.client.secret", "oauth.scope",
})  # fmt: skip
"""Options of the known login modules. Errors show no other words of an entry: they may be part of a password."""

_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\r\n]*|/\*.*?\*/)
      | (?P<quoted>"(?:\\[^\r\n]|[^"\\\r\n])*"|'(?:\\[^\r\n]|[^'\\\r\n])*')
      | (?P<mark>[=;])
      | (?P<word>[^\s=;"']+)""",
    re.VERBOSE | re.DOTALL,
)


class LoginModule(NamedTuple):
    """The class name of a login module, and its options."""

    name: str
    options: Mapping[str, str]

    @property
    def short(self) -> str:
        """Return the class name without its package, which differs if Kafka is shaded: ``ScramLoginModule``."""
        return self.name.rpartition(".")[2]

    def __repr__(self) -> str:
        return "LoginModule()"  # options contain passwords, and a malformed entry may start with one


class _Token(NamedTuple):
    text: str
    mark: bool = False


def parse_jaas(line: str) -> LoginModule:
    """Return the login module of an entry, which must contain exactly one.

    :raises ValueError: if it is malformed; the message continues a sentence that starts with the key, and contains no
        values.
    """
    tokens = list(_tokens(line))
    if not tokens:
        raise ValueError('is empty: it must be MODULE required NAME="VALUE" ...;')
    name = _expect_word(tokens, 0, "must begin with the name of a login module")
    flag = _expect_word(tokens, 1, f"needs one of {', '.join(FLAGS)} after the login module's name")
    if flag.lower() not in FLAGS:
        raise ValueError(f"needs one of {', '.join(FLAGS)} after the login module's name")
    options: dict[str, str] = {}
    at = 2
    while at < len(tokens) and tokens[at] != _Token(";", True):
        key = _expect_word(tokens, at, f"has no option name after {_last(options)}")
        if at + 1 >= len(tokens) or tokens[at + 1] != _Token("=", True):
            raise ValueError(f"has no value for {_shown(key)}" + _truncated(tokens, at + 1))
        options[key] = _expect_word(tokens, at + 2, f"has no value for {_shown(key)}")
        at += 3
    if at >= len(tokens):
        raise ValueError("does not end with a semicolon (truncated?)")
    if at + 1 < len(tokens):
        raise ValueError("contains more than one login module")
    return LoginModule(name, options)


_FILE_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\r\n]*|/\*.*?\*/|\#[^\r\n]*)
      | (?P<quoted>"(?:\\[^\r\n]|[^"\\\r\n])*"|'(?:\\[^\r\n]|[^'\\\r\n])*')
      | (?P<mark>[={};])
      | (?P<word>[^\s=;"'{}]+)""",
    re.VERBOSE | re.DOTALL,
)


def section_of(text: str, name: str) -> str | None:
    """Return the login modules of a section in a JAAS file, ``NAME { MODULE ...; };``; ``None`` if it is missing.

    :raises ValueError: if the file is malformed; the message continues a sentence that starts with the file.
    """
    at, start, last, inside = 0, 0, "", False
    while at < len(text):
        found = _FILE_TOKEN.match(text, at)
        if found is None:
            raise ValueError("has an unclosed quote")
        at = found.end()
        if found["mark"] == "{" and not inside:
            inside, start = True, at
        elif found["mark"] == "}" and inside:
            if last == name:
                return text[start : found.start()]
            inside, last = False, ""
        elif not inside and found["word"]:
            last = found["word"]
    if inside:
        raise ValueError("has a section without its closing brace")
    return None


def _tokens(line: str) -> Iterator[_Token]:
    at = 0
    while at < len(line):
        found = _TOKEN.match(line, at)
        if found is None:  # only a quote without its end does not match
            raise ValueError("has an unclosed quote (truncated?)")
        at = found.end()
        if found["quoted"] is not None:
            yield _Token(_unescaped(found["quoted"][1:-1]))
        elif found["space"] is None:
            yield _Token(found[0], found["mark"] is not None)


def _unescaped(text: str) -> str:
    def replacement(found: re.Match[str]) -> str:
        octal, char = found.groups()
        return chr(int(octal, 8)) if octal else _ESCAPES.get(char, char)

    return re.sub(r"\\(?:([0-3][0-7]{0,2}|[4-7][0-7]?)|(.))", replacement, text, flags=re.DOTALL)


def _expect_word(tokens: list[_Token], at: int, message: str) -> str:
    if at >= len(tokens) or tokens[at].mark:
        raise ValueError(message + _truncated(tokens, at))
    return tokens[at].text


def _truncated(tokens: list[_Token], at: int) -> str:
    return " (truncated?)" if at >= len(tokens) else ""


def _last(options: Mapping[str, str]) -> str:
    return _shown(list(options)[-1]) if options else "the flag"


def _shown(key: str) -> str:
    return key if key in OPTIONS else "an option"
