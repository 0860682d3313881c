"""The pieces of a Seslog file: header copies, frames, and the state that frames add up to [FORMAT.md, 2, 3 and 5]."""

from __future__ import annotations

import struct
import uuid
from dataclasses import dataclass
from typing import Any
from zlib import crc32

PAGE, COPY_LEN, COPY_MAX = 4096, 116, 1024
LOG_MAGIC, FRAME_MAGIC = b"\x89SLOG\r\n\x1a", b"\xc1SLF"
RECORD_FLOOR, RECORD_CAP = 4096, 268435456
INCOMPAT_KNOWN = 1
HEAD, TRAIL = 64, 8
EVENT, BOUNDARY, CHANGE, HEADMOVE, OPEN, MARK, INDEX = 1, 2, 3, 4, 16, 17, 18
OWN = (OPEN, MARK, INDEX)
BATCH, LEAF, SKIPPABLE = 1, 4, 128
FLAGS_KNOWN = BATCH | LEAF | SKIPPABLE
TARGETS, RESULT, META = 1, 2, 3
STATE_LEN, OPEN_LEN = 40, 56
Json = dict[str, Any]

COPY = struct.Struct("<8xHH4xQQQ16s16s16sIIB7sq")
FRAME = struct.Struct("<4sIIBBBBIIII16sQQ")
STATE = struct.Struct("<Q16sQQ")


def u32(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 4], "little")


def u64(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 8], "little")


def text(raw: bytes) -> str:
    return str(uuid.UUID(bytes=raw))


@dataclass(frozen=True)
class Header:
    """One copy of the file's header, good or newer [2.1]."""

    major: int
    minor: int
    compat: int
    ro_compat: int
    incompat: int
    log_id: bytes
    parent_log: bytes
    parent_event: bytes
    max_record: int
    file_tag: int
    checksum: int
    reserved: bytes
    created: int
    crc: int

    @property
    def unknown(self) -> int:
        """The bits of `incompat` that this version does not know."""
        return self.incompat & ~INCOMPAT_KNOWN

    @property
    def newer(self) -> bool:
        return self.major != 1 or self.unknown != 0

    @property
    def good(self) -> bool:
        bounded = RECORD_FLOOR <= self.max_record <= RECORD_CAP
        return not self.newer and bounded and self.file_tag != 0 and self.checksum == 1 and not any(self.reserved)

    def document(self) -> Json:
        numbers = ("major", "minor", "compat", "ro_compat", "incompat", "max_record", "file_tag", "created")
        forked = any(self.parent_log)
        return {
            **{name: getattr(self, name) for name in numbers},
            "log_id": text(self.log_id),
            "parent_log": text(self.parent_log) if forked else None,
            "parent_event": text(self.parent_event) if forked else None,
        }


def read_copy(data: bytes, at: int) -> Header | None:
    """The copy at `at`, if it is good or newer."""
    length = u32(data, at + 12)
    raw = data[at : at + length]
    if not COPY_LEN <= length <= COPY_MAX or len(raw) < length or raw[:8] != LOG_MAGIC:
        return None
    if crc32(raw[:-4]) != u32(raw, length - 4):
        return None
    fields: tuple[Any, ...] = (*COPY.unpack_from(raw), u32(raw, length - 4))
    copy = Header(*fields)
    return copy if copy.newer or copy.good else None


@dataclass(frozen=True)
class Frame:
    """The header of a frame. It stands at `at`, which differs from `off`, the place it was written for, where it is displaced."""

    off: int
    at: int
    magic: bytes
    hcrc: int
    payload_len: int
    type: int
    flags: int
    words: int
    hint: int
    file_tag: int
    unsynced: int
    chain: int
    pcrc: int
    id: bytes
    parent_off: int
    boundary_off: int

    @staticmethod
    def read(data: bytes, at: int, off: int) -> Frame | None:
        """What stands at `at`, if it is a header as far as its length; nothing is checked yet."""
        if len(data) < at + HEAD or data[at : at + 4] != FRAME_MAGIC:
            return None
        frame = Frame(off, at, *FRAME.unpack_from(data, at))
        return frame if frame.words * 8 >= HEAD and frame.body <= len(data) else None

    def fits(self, data: bytes) -> bool:
        """Whether the header's checksum fits the place `off`."""
        return crc32(self.off.to_bytes(8, "little") + data[self.at + 8 : self.body]) == self.hcrc

    @property
    def durable(self) -> int:
        return self.off - 8 * self.unsynced

    @property
    def own(self) -> bool:
        return self.type in OWN

    @property
    def goes_on(self) -> bool:
        return bool(self.flags & BATCH)

    @property
    def body(self) -> int:
        return self.at + 8 * self.words

    @property
    def total(self) -> int:
        return 8 * self.words + (self.payload_len + 7) // 8 * 8 + TRAIL

    @property
    def end(self) -> int:
        return self.at + self.total


@dataclass
class State:
    """What holds once everything before a place is in [5]."""

    leaf: int = 0
    boundary: int = 0
    meta: int = 0
    last_id: bytes = bytes(16)
    last_index: int = 0
    records: int = 0

    @staticmethod
    def of(data: bytes, frame: Frame) -> State:
        """The state that an OPEN, MARK or INDEX carries."""
        meta, last_id, last_index, records = STATE.unpack_from(data, frame.body)
        return State(frame.parent_off, frame.boundary_off, meta, last_id, last_index, records)

    def add(self, frame: Frame) -> None:
        if frame.own:
            self.last_index = frame.off if frame.type == INDEX else self.last_index
            return
        self.records = min(self.records + 1, 2**64 - 1)
        self.boundary = frame.off if frame.type == BOUNDARY else frame.boundary_off
        if frame.flags & LEAF:
            self.leaf = frame.off
        elif frame.type == HEADMOVE:
            self.leaf = frame.parent_off
        if frame.hint == META:
            self.meta = frame.off
        if frame.id[6] >> 4 == 7:
            self.last_id = max(self.last_id, frame.id)

    def document(self) -> Json:
        numbers = {"leaf": self.leaf, "boundary": self.boundary, "meta": self.meta, "records": self.records}
        return {**numbers, "last_id": text(self.last_id)}
