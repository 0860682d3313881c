#!/usr/bin/env python3
"""A second reader of Seslog files, written from FORMAT.md alone.

    reader.py FILE          one JSON document, indented
    reader.py FILE... --json    one JSON document a line, in the order of the files
    reader.py --stdin       the same; file names come from standard input, one a line

Exit status: 0 every log is clean or recovered, 1 one is damaged or no log, 2 wrong use, 3 a file cannot be read.
Numbers in brackets name the section of FORMAT.md that a piece follows.
"""

from __future__ import annotations

import hashlib
import json
import math
import struct
import sys
import uuid
from dataclasses import dataclass
from typing import Any, Iterator
from zlib import crc32

import msgpack

PAGE, COPY_A, COPY_B, COPY_MIN, COPY_MAX = 4096, 0, 2048, 116, 1024
SLOT, SLOT_LEN = 1024, 24
LOG_MAGIC, FRAME_MAGIC = b"\x89SLOG\r\n\x1a", b"\xc1SLF"
RECORD_FLOOR, RECORD_CAP = 4096, 268435456
HEAD, TRAIL = 64, 8
EVENT, BOUNDARY, CHANGE, HEADMOVE, OPEN, MARK, INDEX = 1, 2, 3, 4, 16, 17, 18
OWN = (OPEN, MARK, INDEX)
BATCH, LEAF, SKIPPABLE = 1, 4, 128
FLAGS_KNOWN = BATCH | LEAF | SKIPPABLE
PLAIN, TARGETS, RESULT, META = 0, 1, 2, 3
STATE_LEN, OPEN_LEN, INDEX_HEAD, ROW, PAGE_ROWS, BLOCK = 40, 56, 140, 25, 163, 64
DISPLACED_MAX = 1 << 20
NIL = bytes(16)
DEPTH_MAX = 128


def u32(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 4], "little")


def u64(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 8], "little")


def text(raw: bytes) -> str | None:
    """A UUID as text; nil and what is too short as None."""
    return None if raw == NIL or len(raw) != 16 else str(uuid.UUID(bytes=raw))


@dataclass(frozen=True)
class Header:
    """One copy of the file's header [2.1]."""

    raw: bytes
    fault: str | None

    def __getattr__(self, name: str) -> int:
        at, size = {
            "major": (8, 2), "minor": (10, 2), "compat": (16, 8), "ro_compat": (24, 8), "incompat": (32, 8),
            "max_record": (88, 4), "file_tag": (92, 4), "checksum": (96, 1), "crc": (len(self.raw) - 4, 4),
        }[name]  # fmt: skip
        return int.from_bytes(self.raw[at : at + size], "little")

    def document(self) -> dict[str, Any]:
        names = ("major", "minor", "compat", "ro_compat", "incompat", "max_record", "file_tag", "crc")
        ids = {"log_id": 40, "parent_log": 56, "parent_event": 72}
        return {
            **{name: getattr(self, name) for name in names},
            **{name: text(self.raw[at : at + 16]) for name, at in ids.items()},
            "header_len": len(self.raw),
            "created": struct.unpack_from("<q", self.raw, 104)[0],
        }


def read_copy(data: bytes, at: int) -> Header | None:
    """The copy at `at` if its checksum fits; `fault` says why it must not be used all the same."""
    length = u32(data, at + 12) if len(data) >= at + COPY_MIN else 0
    raw = data[at : at + length]
    if not COPY_MIN <= length <= COPY_MAX or len(raw) < length or raw[:8] != LOG_MAGIC:
        return None
    if crc32(raw[:-4]) != u32(raw, length - 4):
        return None
    copy = Header(raw, None)
    if copy.major != 1:
        return Header(raw, f"major {copy.major}")
    if copy.incompat:
        return Header(raw, f"incompat {copy.incompat:#x}")
    sound = RECORD_FLOOR <= copy.max_record <= RECORD_CAP and copy.file_tag and copy.checksum == 1
    return copy if sound and not any(raw[97:104]) else None


@dataclass(frozen=True)
class Frame:
    """A frame whose header has been found right [3.1, rules 1 to 3]."""

    off: int
    raw: bytes  # the first 64 bytes
    hlen: int

    hcrc = property(lambda self: u32(self.raw, 4))
    payload_len = property(lambda self: u32(self.raw, 8))
    type = property(lambda self: self.raw[12])
    flags = property(lambda self: self.raw[13])
    hint = property(lambda self: self.raw[15])
    durable = property(lambda self: self.off - 8 * u32(self.raw, 20))
    chain = property(lambda self: u32(self.raw, 24))
    pcrc = property(lambda self: u32(self.raw, 28))
    id = property(lambda self: self.raw[32:48])
    parent_off = property(lambda self: u64(self.raw, 48))
    boundary_off = property(lambda self: u64(self.raw, 56))
    body = property(lambda self: self.off + self.hlen)
    total = property(lambda self: self.hlen + (self.payload_len + 7) // 8 * 8 + TRAIL)
    end = property(lambda self: self.off + self.total)


@dataclass
class State:
    """What holds once everything before a place is in [5]."""

    leaf: int = 0
    boundary: int = 0
    meta: int = 0
    last_id: bytes = NIL
    last_index: int = 0
    records: int = 0

    def add(self, frame: Frame) -> None:
        if frame.type in OWN:
            if frame.type == INDEX:
                self.last_index = frame.off
            return
        self.records += 1
        self.boundary = frame.off if frame.type == BOUNDARY else frame.boundary_off
        if frame.flags & LEAF:
            self.leaf = frame.off
        elif frame.type == HEADMOVE:
            self.leaf = frame.parent_off
        if frame.hint == META:
            self.meta = frame.off
        if frame.id[6] >> 4 == 7 and frame.id[8] >> 6 == 2:
            self.last_id = max(self.last_id, frame.id)

    def block(self) -> bytes:
        return struct.pack("<Q16sQQ", self.meta, self.last_id, self.last_index, self.records)

    def document(self) -> dict[str, Any]:
        return {**vars(self), "last_id": text(self.last_id)}


class Log:
    """The bytes of one file and everything FORMAT.md says about them."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.found: dict[int, Frame | None] = {}
        self.a, self.b = read_copy(data, COPY_A), read_copy(data, COPY_B)
        self.header = self.a or self.b
        self.page_damage = self.look_at_page()
        self.max_record = self.header.max_record if self.header else RECORD_CAP
        self.tag: int | None = self.header.file_tag if self.header else None
        self.watermark = self.read_watermark()
        used = len(data.rstrip(b"\0"))
        self.limit = max(PAGE, (used + 7) // 8 * 8)  # E of [7]
        self.start_chain = self.header.crc if self.header else None
        if self.header is None and (first := next(self.frames(PAGE), None)):
            self.tag, self.start_chain = u32(first.raw, 16), first.chain  # [11.5]
            self.found.clear()

    def look_at_page(self) -> list[str]:
        notes = [f"copy {name}" for name, copy in (("A", self.a), ("B", self.b)) if copy is None]
        if self.a and self.b and self.a.raw != self.b.raw:
            notes.append("copies differ")
        if len(self.data) < PAGE:
            notes.append("short")
        if self.header and self.header.minor == 0 and self.header.compat == 0:
            page = bytearray(self.data[:PAGE])
            for at, size in ((COPY_A, COPY_MIN), (SLOT, SLOT_LEN), (COPY_B, COPY_MIN)):
                page[at : at + size] = bytes(len(page[at : at + size]))
            if any(page):
                notes.append("bytes between the copies")
        return notes

    def read_watermark(self) -> tuple[int, int] | None:
        slot = self.data[SLOT : SLOT + SLOT_LEN]
        if len(slot) < SLOT_LEN or crc32(slot[:20]) != u32(slot, 20) or u32(slot, 16) != self.tag:
            return None
        return u64(slot, 0), u64(slot, 8)

    # ---- frames [3.1]

    def head(self, at: int) -> Frame | None:
        """The frame at `at` as far as rules 1 to 3 go."""
        raw = self.data[at : at + HEAD]
        if at % 8 or at < PAGE or len(raw) < HEAD or raw[:4] != FRAME_MAGIC:
            return None
        hlen = raw[14] * 8
        whole = self.data[at : at + hlen]
        if hlen < HEAD or len(whole) < hlen or crc32(at.to_bytes(8, "little") + whole[8:]) != u32(raw, 4):
            return None
        frame = Frame(at, raw, hlen)
        known = frame.type not in (0, 255) and frame.hint <= META and not frame.flags & ~FLAGS_KNOWN
        ours = self.tag is None or u32(raw, 16) == self.tag
        fits = frame.payload_len <= self.max_record and frame.durable >= PAGE
        return frame if known and ours and fits else None

    def trailer_fits(self, frame: Frame) -> bool:
        there = frame.end <= len(self.data)
        return there and u32(self.data, frame.end - 8) == frame.total and u32(self.data, frame.end - 4) == frame.hcrc

    def payload_fits(self, frame: Frame) -> bool:
        stored = self.data[frame.body : frame.end - TRAIL]
        if crc32(stored) != frame.pcrc or any(stored[frame.payload_len :]):
            return False
        return frame.hint not in (TARGETS, RESULT) or self.list_end(frame) is not None

    def list_end(self, frame: Frame) -> int | None:
        """Bytes of the hint's list at the start of the payload; None if it does not lie within it [3.3]."""
        if frame.hint not in (TARGETS, RESULT):
            return 0
        if frame.payload_len < 4:
            return None
        length = 4 + 16 * u32(self.data, frame.body)
        return length if length <= frame.payload_len else None

    def whole(self, at: int) -> Frame | None:
        if at not in self.found:
            frame = self.head(at)
            sound = frame and self.trailer_fits(frame) and self.payload_fits(frame)
            self.found[at] = frame if sound else None
        return self.found[at]

    def frames(self, start: int, end: int | None = None, step_in: bool = False) -> Iterator[Frame]:
        """All whole frames from `start` on; the next is looked for behind one, or 8 bytes on (`step_in`)."""
        at = start
        while (at := self.data.find(FRAME_MAGIC, at)) >= 0 and at < (self.limit if end is None else end):
            frame = self.whole(at)
            if frame:
                yield frame
            at = frame.end if frame and not step_in else at + 1

    def ending_at(self, end: int) -> Frame | None:
        """The whole frame whose trailer ends at `end`."""
        start = end - u32(self.data, end - 8) if end >= PAGE + HEAD + TRAIL else -1
        if start < PAGE or u32(self.data, start + 4) != u32(self.data, end - 4):
            return None
        frame = self.whole(start)
        return frame if frame and frame.end == end else None

    # ---- batches and openings [3.4, 7]

    def skip_from(self, frame: Frame) -> int | None:
        return u64(self.data, frame.body + 40) if frame.type == OPEN and frame.payload_len >= OPEN_LEN else None

    def batch(self, at: int, chain: int | None) -> list[Frame]:
        """The batch that starts at `at` behind `chain`, empty if it does not count (step 6a)."""
        frames: list[Frame] = []
        room = self.max_record
        while True:
            frame = self.whole(at)
            if frame is None or frame.chain != chain:
                return []
            room -= frame.payload_len
            if frame.type in OWN and (frames or frame.flags & BATCH):
                return []
            if room < 0 or (frame.type == OPEN and self.skip_from(frame) != at):
                return []
            frames.append(frame)
            if not frame.flags & BATCH:
                return frames
            at, chain = frame.end, frame.hcrc

    def stepping_open(self, at: int, chain: int | None) -> Frame | None:
        """The OPEN that steps over what starts at `at` (step 6b)."""
        for frame in self.frames(at + 8, step_in=True):
            if self.skip_from(frame) == at and frame.chain == chain and not frame.flags & BATCH:
                return frame
        return None

    def claimed_above(self, at: int) -> bool:
        """Does a whole frame behind `at`, or the watermark, say that more than `at` had been durable?"""
        if self.watermark and self.watermark[0] > at:
            return True
        return any(frame.durable > at for frame in self.frames(at))

    def open(self) -> tuple[str, int, int]:
        """Steps 2 to 7: what stands behind the end, the end B, the largest durable end of F and the accepted frames."""
        places = range(self.limit, PAGE, -8)
        last = next((frame for end in places if (frame := self.ending_at(end))), None)
        at, chain = last.durable if last else PAGE, self.start_chain
        durable, lost = at, False
        if at != PAGE:
            base = self.ending_at(at)
            lost = base is None
            at, chain = (PAGE, self.start_chain) if base is None else (at, base.hcrc)
        while True:
            batch = self.batch(at, chain)
            if not batch and (step := self.stepping_open(at, chain)):
                batch = [step]
            if not batch:
                break
            durable = max(durable, *(frame.durable for frame in batch))
            at, chain = batch[-1].end, batch[-1].hcrc
        if self.watermark and self.watermark[0] > self.limit:
            return "missing", at, durable
        if lost or self.page_damage or self.claimed_above(at):
            return "damage", at, durable
        return self.tail_kind(at, chain), at, durable

    def tail_kind(self, at: int, chain: int | None) -> str:
        if at == self.limit:
            return "whole"
        if next(self.frames(at), None) is None:
            return "torn_tail"
        first = self.whole(at)
        return "half_batch" if first and first.chain == chain and first.type not in OWN else "hole"

    # ---- the whole file [11]

    def survey(self) -> dict[str, Any]:
        """Walks from the first frame over all damage to E."""
        out: dict[str, Any] = {"frames": [], "other": [], "set_aside": [], "damage": [], "tail": None}
        at, chain, status = PAGE, self.start_chain, "accepted"
        while True:
            batch = self.batch(at, chain)
            if not batch and (step := self.stepping_open(at, chain)):
                cause = self.data[step.body + 48]
                out["set_aside"].append(self.stretch(at, step.off, cause if cause <= 3 else 1))
                batch = [step]
            if batch:
                out["frames" if status != "orphaned" else "other"] += [(frame, status) for frame in batch]
                at, chain = batch[-1].end, batch[-1].hcrc
                continue
            if at >= self.limit:
                return out
            if not self.claimed_above(at):
                causes = {"torn_tail": 1, "hole": 2, "half_batch": 3}
                out["tail"] = self.stretch(at, self.limit, causes[self.tail_kind(at, chain)])
                return out
            index = self.head(at)
            if index and index.type == INDEX and index.chain == chain and self.trailer_fits(index):
                out["damage"].append({"kind": "index", "from": at, "to": index.end})  # no record is lost [7]
                at, chain = index.end, index.hcrc
                continue
            held, place, link = self.held_batch(at, chain)
            out["other"] += [(frame, "batch_lost") for frame in held]
            following = next(self.frames(place), None)
            if following is None:
                out["damage"].append({"kind": "to_the_end", "from": place, "to": self.limit})
                out["displaced"] = list(self.displaced(place))
                return out
            one = following.off > place and following.chain in (u32(self.data, place + 4), u32(self.data, following.off - 4))
            kind = "one_frame" if one else "unknown"
            out["damage"].append({"kind": kind, "from": place, "to": following.off})
            lost = self.head(place)
            within = bool(lost.flags & BATCH) if lost else bool(held)
            status = "after_damage" if one and status != "orphaned" else "orphaned"
            at, chain = following.off, following.chain
            while one and within and (frame := self.whole(at)) and frame.chain == chain and frame.type not in OWN:
                out["other"].append((frame, "batch_lost"))
                at, chain, within = frame.end, frame.hcrc, bool(frame.flags & BATCH)
            first = self.whole(at)
            if first and first.chain == chain and not self.batch(at, chain):  # whole, but fits nowhere: step over it
                out["other"].append((first, "orphaned"))
                at, chain = first.end, first.hcrc

    def held_batch(self, at: int, chain: int | None) -> tuple[list[Frame], int, int | None]:
        """The whole frames of the batch at `at` in front of the place that breaks it, and that place."""
        held: list[Frame] = []
        while (frame := self.whole(at)) and frame.chain == chain and frame.type not in OWN:
            if held and not held[-1].flags & BATCH:
                break
            held.append(frame)
            at, chain = frame.end, frame.hcrc
        return held, at, chain

    def stretch(self, start: int, end: int, cause: int) -> dict[str, Any]:
        ids = [text(frame.id) for frame in self.frames(start, end) if frame.type not in OWN]
        return {"from": start, "to": end, "cause": cause, "ids": ids}

    def displaced(self, start: int) -> Iterator[dict[str, Any]]:
        """Frames that are right except for their place [11.4]."""
        at, shift = start, None
        while (at := self.data.find(FRAME_MAGIC, at)) >= 0:
            raw = self.data[at : at + HEAD]
            frame = Frame(at, raw, raw[14] * 8) if len(raw) == HEAD and u32(raw, 16) == self.tag else None
            at += 1
            if frame is None or frame.hlen < HEAD or frame.payload_len > self.max_record:
                continue
            if not self.trailer_fits(frame) or not self.payload_fits(frame):
                continue
            origin = self.origin_of(frame, shift)
            if origin is not None:
                shift = frame.off - origin
                yield {"offset": frame.off, "origin": origin, "type": frame.type, "id": text(frame.id)}
                at = frame.end

    def origin_of(self, frame: Frame, shift: int | None) -> int | None:
        rest = self.data[frame.off + 8 : frame.off + frame.hlen]
        near = (frame.off + 7) // 8 * 8
        ways = (near + sign * step for step in range(0, DISPLACED_MAX + 1, 8) for sign in (1, -1))
        for place in [frame.off - shift] if shift is not None else ways:
            if place >= PAGE and crc32(place.to_bytes(8, "little") + rest) == frame.hcrc:
                return place
        return None

    # ---- INDEX [6]

    def index_fault(self, frame: Frame, known: dict[int, Frame]) -> str | None:
        """What is wrong with an INDEX: checksums, order, rows that name no such record, ids that the filter denies."""
        at, end = frame.body, frame.body + frame.payload_len
        if frame.payload_len < INDEX_HEAD or not self.piece_fits(at, INDEX_HEAD):
            return "head"
        counts = [u32(self.data, at + offset) for offset in (92, 96)]
        blocks = u32(self.data, at + 100)
        if self.data[at + 40] > 2 or blocks != max(1, -(-10 * sum(counts) // 480)):
            return "head"
        filter_at = at + INDEX_HEAD
        at = filter_at + blocks * BLOCK
        if at > end or not all(self.piece_fits(block, BLOCK) for block in range(filter_at, at, BLOCK)):
            return "filter"
        first_ids: list[bytes] = []
        for table, count in enumerate(counts):
            rows: list[tuple[bytes, int]] = []
            while count > 0:
                size = min(count, PAGE_ROWS) * ROW
                if at + size + 4 > end or not self.piece_fits(at, size + 4):
                    return "page"
                for row in range(at, at + size, ROW):
                    key, place, kind = self.data[row : row + 16], u64(self.data, row + 16), self.data[row + 24]
                    record = known.get(place)
                    right = record and ((record.id, record.type) == (key, kind) if table == 0 else
                                        record.hint == kind and key in self.targets(record))  # fmt: skip
                    if not right or not self.filter_has(filter_at, blocks, key):
                        return "row"
                    rows.append((key, place))
                count, at = count - size // ROW, at + size + 4
            if rows != sorted(rows):
                return "order"
            first_ids = [key for key, _ in rows] if table == 0 else first_ids
        ends = self.data[frame.body + 104 : frame.body + 136]
        return None if ends == (first_ids[0] + first_ids[-1] if first_ids else NIL + NIL) else "head"

    def piece_fits(self, at: int, size: int) -> bool:
        piece = self.data[at : at + size]
        return len(piece) == size and crc32(at.to_bytes(8, "little") + piece[:-4]) == u32(piece, size - 4)

    def filter_has(self, at: int, blocks: int, key: bytes) -> bool:
        a = mix(int.from_bytes(key[:8], "big") ^ mix(int.from_bytes(key[8:], "big")))
        b = mix(a)
        block = at + a % blocks * BLOCK
        bits = (((b >> 9 * i) & 511) % 480 for i in range(7))
        return all(self.data[block + bit // 8] >> bit % 8 & 1 for bit in bits)

    def targets(self, frame: Frame) -> list[bytes]:
        length = self.list_end(frame) or 0
        return [self.data[at : at + 16] for at in range(frame.body + 4, frame.body + length, 16)]

    # ---- the document

    def frame_document(self, frame: Frame, status: str) -> dict[str, Any]:
        stored = self.data[frame.body : frame.body + frame.payload_len]
        doc: dict[str, Any] = {
            "offset": frame.off, "total_len": frame.total, "type": frame.type, "flags": frame.flags,
            "id": text(frame.id), "parent_off": frame.parent_off, "boundary_off": frame.boundary_off,
            "hint": frame.hint, "targets": [text(key) or str(uuid.UUID(int=0)) for key in self.targets(frame)],
            "durable_end": frame.durable, "status": status,
            "payload_len": frame.payload_len, "sha256": hashlib.sha256(stored).hexdigest(),
        }  # fmt: skip
        if frame.type in (EVENT, BOUNDARY, CHANGE, HEADMOVE):
            doc["body"] = decode_body(stored[self.list_end(frame) :])
        return doc

    def document(self) -> dict[str, Any]:
        refused = self.header.fault if self.header else None
        doc: dict[str, Any] = {
            "file_len": len(self.data),
            "header": self.header.document() if self.header else None,
            "page_damage": self.page_damage,
            "watermark": self.watermark and {"durable_end": self.watermark[0], "last_index": self.watermark[1]},
            "writable": bool(self.header and not self.header.ro_compat and not refused),
        }
        if refused or self.tag is None:
            return {**doc, "verdict": "refused" if refused else "not_a_log", "reason": refused}
        reason, end, durable = self.open()
        survey = self.survey()
        known: dict[int, Frame] = {}
        state, mismatches, bad_hints, bad_indexes = State(), [], [], []
        for frame, _ in survey["frames"]:
            if frame.type in OWN and frame.payload_len >= STATE_LEN:
                block = self.data[frame.body : frame.body + STATE_LEN]
                if (block, frame.parent_off, frame.boundary_off) != (state.block(), state.leaf, state.boundary):
                    mismatches.append(frame.off)
            bad_hints += [frame.off for off in (frame.parent_off, frame.boundary_off) if off and off not in known]
            if frame.type == INDEX and (fault := self.index_fault(frame, known)):
                bad_indexes.append({"offset": frame.off, "fault": fault})
            state.add(frame)
            known[frame.off] = frame
        damaged = bool(reason in ("missing", "damage") or survey["damage"])
        unknown = [f for f, _ in survey["frames"] if f.type not in (1, 2, 3, 4, *OWN) and not f.flags & SKIPPABLE]
        return {
            **doc,
            "verdict": "damaged" if damaged else "clean" if reason == "whole" else "recovered",
            "reason": reason,
            "end": end,
            "durable_end": durable,
            "zero_bytes": max(0, len(self.data) - self.limit),
            "set_aside": survey["set_aside"],
            "tail": survey["tail"],
            "damage": survey["damage"],
            "displaced": survey.get("displaced", []),
            "state": state.document(),
            "state_mismatches": mismatches,
            "bad_hints": sorted(set(bad_hints)),
            "bad_indexes": bad_indexes,
            "unsupported": [{"offset": frame.off, "type": frame.type} for frame in unknown],
            "frames": [self.frame_document(frame, status) for frame, status in survey["frames"]],
            "other": [{"offset": f.off, "type": f.type, "id": text(f.id), "status": s} for f, s in survey["other"]],
        }


def mix(word: int) -> int:
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        word = (word ^ word >> shift) * factor & 0xFFFFFFFFFFFFFFFF
    return word ^ word >> 31


class Odd(Exception):
    """A body that is MessagePack, but not what plain JSON can show."""


def plain(value: Any, depth: int = 0) -> Any:
    if depth > DEPTH_MAX:
        raise Odd("nested too deep")
    if isinstance(value, bytes):
        return text(value) or value.hex() if len(value) == 16 else value.hex()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, Pairs):
        if any(not isinstance(key, str) for key, _ in value) or len({key for key, _ in value}) < len(value):
            raise Odd("keys that are no text or not single")
        return {key: plain(item, depth + 1) for key, item in value}
    if isinstance(value, list):
        return [plain(item, depth + 1) for item in value]
    if isinstance(value, (msgpack.ExtType, msgpack.Timestamp)):
        raise Odd("extension type")
    return value


class Pairs(list[Any]):
    """A map with its keys in the order of the bytes, doubled ones too."""


def decode_body(raw: bytes) -> Any:
    """The MessagePack map of a record as plain JSON [14]."""
    try:
        return plain(msgpack.unpackb(raw, object_pairs_hook=Pairs, strict_map_key=False))
    except Exception as fault:  # whatever the bytes hold, the document goes on
        return {"undecodable": f"{type(fault).__name__}: {fault}"}


def main(arguments: list[str]) -> int:
    options = {argument for argument in arguments if argument.startswith("--")}
    names = [argument for argument in arguments if not argument.startswith("--")]
    if "--stdin" in options:
        names += sys.stdin.read().splitlines()
    if options - {"--json", "--stdin"} or not names or (len(names) > 1 and not options):
        print("use: reader.py FILE | reader.py FILE... --json | reader.py --stdin", file=sys.stderr)
        return 2
    status = 0
    for name in names:
        try:
            with open(name, "rb") as file:
                doc = Log(file.read()).document()
            status = max(status, 0 if doc["verdict"] in ("clean", "recovered") else 1)
        except OSError as fault:
            doc, status = {"error": str(fault)}, 3
        print(json.dumps(doc, indent=None if options else 1))
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
