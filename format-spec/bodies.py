"""The bodies of events as plain JSON [FORMAT.md, 14.1]: ids as text, other bytes as hex."""

from __future__ import annotations

import math
import re
import uuid
from typing import Any

import msgpack  # type: ignore[import-untyped]

DEPTH_MAX = 96
EXT_NUMBER, EXT_ZSTD = 1, 2
CONTENT_MAX, EXPANSION_MAX, VALUES_MIN = 268435456, 128, 4096
NUMBER = re.compile(rb"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")


class Odd(Exception):
    """MessagePack that no body may hold."""


class Pairs(list[Any]):
    """A map before it is looked at: names may be doubled or of a wrong type."""


def decode_body(raw: bytes) -> dict[str, Any]:
    """The map that the bytes hold as `body`; null and `body_fault` if they hold none."""
    try:
        value = unpack(raw)
        if isinstance(value, msgpack.ExtType) and value.code == EXT_ZSTD:
            frame = value.data
            value = unpack(expanded(frame))
            if count(value) > VALUES_MIN + len(frame):
                raise Odd("a compressed body of too many values")
        if not isinstance(value, Pairs):
            raise Odd("no map")
        return {"body": plain(value, 0)}
    except Exception as fault:  # whatever the bytes hold, the document goes on
        return {"body": None, "body_fault": f"{type(fault).__name__}: {fault}"}


def unpack(raw: bytes) -> Any:
    return msgpack.unpackb(raw, object_pairs_hook=Pairs, strict_map_key=False)


def count(value: Any) -> int:
    """How many values it is, fields' names not counted."""
    if isinstance(value, Pairs):
        return 1 + sum(count(item) for _, item in value)
    return 1 + sum(map(count, value)) if isinstance(value, list) else 1


def expanded(frame: bytes) -> bytes:
    """What a compressed body gives [14.11]."""
    import zstandard  # type: ignore[import-untyped]  # only such bodies need it

    try:
        length = zstandard.frame_content_size(frame)
    except zstandard.ZstdError:
        raise Odd("no zstd frame") from None
    if not 0 <= length <= min(CONTENT_MAX, EXPANSION_MAX * len(frame)):
        raise Odd("a compressed body of a length that is not named or too large")
    decoder = zstandard.ZstdDecompressor().decompressobj()
    try:
        content = decoder.decompress(frame)
    except zstandard.ZstdError:
        raise Odd("no zstd frame") from None
    if not decoder.eof or decoder.unused_data or len(content) != length:
        raise Odd("not exactly one zstd frame")
    return bytes(content)


def plain(value: Any, depth: int) -> Any:
    if isinstance(value, (Pairs, list)) and depth >= DEPTH_MAX:
        raise Odd("nested too deep")
    if isinstance(value, Pairs):
        if any(not isinstance(name, str) for name, _ in value):
            raise Odd("a name that is no text")
        return {name: plain(item, depth + 1) for name, item in value}  # of a name given twice the last value counts
    if isinstance(value, list):
        return [plain(item, depth + 1) for item in value]
    if isinstance(value, bytes):
        return str(uuid.UUID(bytes=value)) if len(value) == 16 else value.hex()
    if isinstance(value, float) and not math.isfinite(value):
        raise Odd("a float that is not finite")
    if isinstance(value, msgpack.ExtType) and value.code == EXT_NUMBER and NUMBER.fullmatch(value.data):
        return {"number": value.data.decode("ascii")}
    if isinstance(value, (msgpack.ExtType, msgpack.Timestamp)):
        raise Odd("an ext type that is not known")
    return value
