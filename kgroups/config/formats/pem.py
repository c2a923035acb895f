"""PEM texts: certificates and keys between their BEGIN and END lines. Checked by hand where nothing is to be opened."""

from __future__ import annotations

import base64
import binascii
import re
from typing import NamedTuple

_BEGIN = re.compile(r"-----BEGIN ([A-Z0-9 ]{1,40})-----")
CERTIFICATES = ("CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE")


class Block(NamedTuple):
    """One of a text's blocks; ``text`` with its own BEGIN and END lines, each line ended."""

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
    """All blocks; what stands between them is passed over, as OpenSSL does.

    :raises ValueError: for one that is truncated or corrupt, with its line and nothing of its contents.
    """
    found, at = [], 0
    while begin := _BEGIN.search(text, at):
        label, line = begin[1], text.count("\n", 0, begin.start()) + 1
        closing = f"-----END {label}-----"
        end = text.find(closing, begin.end())
        following = _BEGIN.search(text, begin.end())
        if end < 0 or (following and following.start() < end):
            raise ValueError(f"the {label} that begins in line {line} has no END line (truncated?)")
        block = Block(label, _lines(label, text[begin.end() : end], closing), line)
        _check(block)
        found.append(block)
        at = end + len(closing)
    return found


def _lines(label: str, body: str, closing: str) -> str:
    """In one line, as it comes in a properties value, Java takes a PEM too; OpenSSL does not."""
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
    """How long a DER sequence says it is, its head included; ``None`` when it is no sequence."""
    if len(data) < 2 or data[0] != 0x30:
        return None
    first = data[1]
    if first < 0x80:
        return 2 + first
    size = first & 0x7F
    if not 1 <= size <= 4 or len(data) < 2 + size:
        return None
    return 2 + size + int.from_bytes(data[2 : 2 + size], "big")


def of_certificate(der: bytes) -> str:
    """A certificate as PEM."""
    packed = base64.b64encode(der).decode()
    lines = [packed[at : at + 64] for at in range(0, len(packed), 64)]
    return "\n".join(("-----BEGIN CERTIFICATE-----", *lines, "-----END CERTIFICATE-----", ""))
