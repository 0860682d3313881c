"""Checks an INDEX frame against the records that it speaks of [FORMAT.md, 6]."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol
from zlib import crc32

HEAD_LEN, ROW_LEN, PAGE_ROWS, BLOCK_LEN, LEVELS = 140, 25, 163, 64, 3
BLOCK_BITS, BITS_PER_KEY, PROBES = 480, 10, 7
NIL = bytes(16)


class Record(Protocol):
    """What this file must know of a record's frame."""

    @property
    def id(self) -> bytes: ...
    @property
    def type(self) -> int: ...
    @property
    def hint(self) -> int: ...


def fault_of(data: bytes, at: int, end: int, known: Mapping[int, Record], targets: Mapping[int, Iterable[bytes]]) -> str | None:
    """What is wrong with the INDEX payload from `at` to `end`: checksums, order, rows that name no such record, ids that the
    filter denies. `known` are the records before it by their offset, `targets` the ids of their hints."""
    head = data[at : at + HEAD_LEN]
    if not head_fits(data, at, end) or head[40] >= LEVELS:
        return "head"
    rows = [int.from_bytes(head[offset : offset + 4], "little") for offset in (92, 96)]
    blocks = int.from_bytes(head[100:104], "little")
    if blocks != max(1, -(-BITS_PER_KEY * sum(rows) // BLOCK_BITS)):
        return "head"
    filter_at, at = at + HEAD_LEN, at + HEAD_LEN + blocks * BLOCK_LEN
    if at > end or not all(piece_fits(data, block, BLOCK_LEN) for block in range(filter_at, at, BLOCK_LEN)):
        return "filter"
    ends = NIL + NIL
    for table, left in enumerate(rows):
        seen: list[tuple[bytes, int]] = []
        while left > 0:
            size = min(left, PAGE_ROWS) * ROW_LEN
            if at + size + 4 > end or not piece_fits(data, at, size + 4):
                return "page"
            for row in range(at, at + size, ROW_LEN):
                key, place, kind = data[row : row + 16], int.from_bytes(data[row + 16 : row + 24], "little"), data[row + 24]
                record = known.get(place)
                if record is None or not filter_has(data, filter_at, blocks, key):
                    return "row"
                named = record.id == key and record.type == kind
                if not (named if table == 0 else record.hint == kind and key in targets[place]):
                    return "row"
                seen.append((key, place))
            left, at = left - size // ROW_LEN, at + size + 4
        if seen != sorted(seen):
            return "order"
        if table == 0 and seen:
            ends = seen[0][0] + seen[-1][0]
    return None if head[104:136] == ends else "head"


def head_fits(data: bytes, at: int, end: int) -> bool:
    return at + HEAD_LEN <= end and piece_fits(data, at, HEAD_LEN)


def piece_fits(data: bytes, at: int, size: int) -> bool:
    piece = data[at : at + size]
    return crc32(at.to_bytes(8, "little") + piece[:-4]) == int.from_bytes(piece[-4:], "little")


def filter_has(data: bytes, at: int, blocks: int, key: bytes) -> bool:
    a = mix(int.from_bytes(key[:8], "big") ^ mix(int.from_bytes(key[8:], "big")))
    b = mix(a)
    block = at + a % blocks * BLOCK_LEN
    bits = (((b >> 9 * probe) & 511) % BLOCK_BITS for probe in range(PROBES))
    return all(data[block + bit // 8] >> bit % 8 & 1 for bit in bits)


def mix(word: int) -> int:
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        word = (word ^ word >> shift) * factor & 0xFFFFFFFFFFFFFFFF
    return word ^ word >> 31
