"""Split and check PEM texts, without decrypting them: certificates and keys between BEGIN and END lines."""

from __future__ import annotations

import base64
import binascii
import re
from typing import NamedTuple

_BEGIN = re.compile(r"-----BEGIN ([A-Z0-9 ]{1,40})-----")
CERTIFICATES = ("CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE")


class Block(NamedTuple):
    """One block of a PEM text; ``text`` includes the BEGIN and END lines, and ends with a newline."""

    label: str
    text: str
    line: int

    @property
    def is_certificate(self) -> bool:
        return self.label in CERTIFICATES

    @property
    def is_key(self) -> bool:
        return self.label.endswith("PRIVATE KEY")

    @property
    def encrypted(self) -> bool:
        return self.label.startswith("ENCRYPTED") or "Proc-Type: 4,ENCRYPTED" in self.text


def blocks(text: str) -> list[Block]:
    """Return all blocks; like OpenSSL, ignore the text between them.

    :raises ValueError: if a block is truncated or corrupt; the message contains its line but not its contents.
    """
    found, at = [], 0
    while begin := _BEGIN.search(text, at):
        label, line = begin[1], text.count("\n", 0, begin.start()) + 1
        closing = f"-----END {label}-----"
        end = text.find(closing, begin.end())
        following = _BEGIN.search(text, begin.end())
        if end < 0 or (following and following.start() < end):
            raise ValueError(f"the {label} that begins in line {line} has no END line (truncated?)")
        block = Block(label, _normalized(label, text[begin.end() : end], closing), line)
        _check(block)
        found.append(block)
        at = end + len(closing)
    return found


def _normalized(label: str, body: str, closing: str) -> str:
    """Return the block with lines of 64 characters: a PEM in one line, as in a properties value, works only in Java."""
    if "Proc-Type" in body:
        return f"-----BEGIN {label}-----\n{body.strip()}\n{closing}\n"
    packed = "".join(body.split())
    lines = [packed[at : at + 64] for at in range(0, len(packed), 64)]
    return "\n".join((f"-----BEGIN {label}-----", *lines, closing, ""))


def _check(block: Block) -> None:
    body = "".join(line for line in block.text.splitlines()[1:-1] if ":" not in line)
    try:
        data = base64.b64decode(body, validate=True)
    except (binascii.Error, ValueError):
        raise ValueError(f"the {block.label} that begins in line {block.line} is corrupt (not base64)") from None
    whole = block.encrypted or block.label.startswith("TRUSTED") or der_length(data) == len(data)
    if not data or not whole:
        raise ValueError(f"the {block.label} that begins in line {block.line} is corrupt (truncated?)")


def der_length(data: bytes) -> int | None:
    """Return the announced length of a DER sequence including its header; ``None`` if it is not a sequence."""
    if len(data) < 2 or data[0] != 0x30:
        return None
    first = data[1]
    if first < 0x80:
        return 2 + first
    size = first & 0x7F
    if not 1 <= size <= 4 or len(data) < 2 + size:
        return None
    return 2 + size + int.from_bytes(data[2 : 2 + size], "big")


def certificate_pem(der: bytes) -> str:
    """Encode a DER certificate as PEM."""
    packed = base64.b64encode(der).decode()
    lines = [packed[at : at + 64] for at in range(0, len(packed), 64)]
    return "\n".join(("-----BEGIN CERTIFICATE-----", *lines, "-----END CERTIFICATE-----", ""))
