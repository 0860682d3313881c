#!/usr/bin/env python3
"""A second reader of Seslog files, written from FORMAT.md and sharing no line with the library.

    reader.py FILE              one JSON document, indented
    reader.py FILE... --json    one JSON document a line, in the order of the files
    reader.py --stdin           the same; file names come from standard input, one a line

Exit status: 0 every log is clean or recovered, 1 one is damaged or no log, 2 wrong use, 3 a file cannot be read.
Numbers in brackets name the section of FORMAT.md that a piece follows.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Generator, Iterator
from zlib import crc32

import indexes
from bodies import decode_body
from frames import (
    COPY_LEN, EVENT, FRAME_MAGIC, FLAGS_KNOWN, HEAD, HEADMOVE, INDEX, MARK, META, OPEN, OPEN_LEN, PAGE, RECORD_CAP,
    RESULT, SKIPPABLE, STATE_LEN, TARGETS, TRAIL, Frame, Json, State, read_copy, text, u32, u64,
)  # fmt: skip

COPY_A, COPY_B = 0, 2048
SLOT, SLOT_LEN = 1024, 16
SHIFT_MAX = 1 << 20
CAUSES = {0: "none", 2: "hole", 3: "half_batch"}


def damage(offset: int, length: int, kind: str) -> Json:
    return {"offset": offset, "len": length, "kind": kind}


def is_in(frame: Frame, ranges: list[range]) -> bool:
    return any(frame.off in within for within in ranges)


def completed(front: list[Frame], moved: list[tuple[Frame, str]]) -> bool:
    """Whether the frames of a batch in front of bytes that were put in have the rest of it behind them, displaced [11.3]."""
    last = front[-1] if front else None
    for frame, _ in moved if last else []:
        if frame.off != last.end or frame.chain != last.hcrc:
            return False
        if not frame.goes_on:
            return True
        last = frame
    return False


class Log:
    """The bytes of one file and everything FORMAT.md says about them."""

    def __init__(self, data: bytes) -> None:
        self.size = len(data)
        self.limit = max(PAGE, (len(data.rstrip(b"\0")) + 7) // 8 * 8)  # E of [7]
        self.data = data = data[: self.limit].ljust(self.limit if self.size > PAGE else 0, b"\0")
        self.found: dict[int, Frame | None] = {}
        self.a, self.b = read_copy(data, COPY_A), read_copy(data, COPY_B)
        self.header = self.a or self.b
        self.page_damage = self.look_at_page()
        self.max_record = self.header.max_record if self.header else RECORD_CAP
        self.tag = self.header.file_tag if self.header else 0
        self.start_chain = self.header.crc if self.header else None
        slot = data[SLOT : SLOT + SLOT_LEN]
        fits = len(slot) == SLOT_LEN and crc32(slot[:12]) == u32(slot, 12) and u32(slot, 8) == self.tag != 0
        self.watermark = u64(slot, 0) if fits else 0
        if self.header is None:  # [11.5]
            first = next(self.frames(PAGE), None) or next((frame for frame, _ in self.displaced(0)[0]), None)
            self.tag = first.file_tag if first else 0
            self.found.clear()

    def look_at_page(self) -> list[Json]:
        if self.header is None:
            return [damage(0, PAGE, "header")]
        notes = [damage(at, COPY_LEN, "header") for at, copy in ((COPY_A, self.a), (COPY_B, self.b)) if copy is None]
        if self.a and self.b and self.a != self.b:
            notes.append(damage(COPY_B, COPY_LEN, "header"))
        if self.size < PAGE:
            notes.append(damage(self.size, PAGE - self.size, "header"))
        if self.header.minor == 0 and self.header.compat == 0:
            page = bytearray(self.data[:PAGE])
            for at, size in ((COPY_A, COPY_LEN), (SLOT, SLOT_LEN), (COPY_B, COPY_LEN)):
                page[at : at + size] = bytes(len(page[at : at + size]))
            notes += [damage(at, 1, "header") for at, byte in enumerate(page) if byte][:1]
        return notes

    # Frames [3.1]. `tag` is 0 only while the tag of a file without a header is looked for.

    def head(self, at: int, off: int | None = None) -> Frame | None:
        """The frame at `at` as far as rules 1 to 3 go; `off` is the place that it was written for."""
        frame = Frame.read(self.data, at, at if off is None else off)
        if frame is None or frame.off % 8 or frame.off < PAGE or not frame.fits(self.data):
            return None
        known = frame.type not in (0, 255) and frame.hint <= META and not frame.flags & ~FLAGS_KNOWN
        ours = frame.file_tag == self.tag if self.tag else frame.file_tag != 0
        return frame if known and ours and frame.payload_len <= self.max_record and frame.durable >= PAGE else None

    def whole(self, at: int) -> Frame | None:
        if at not in self.found:
            frame = self.head(at)
            self.found[at] = frame if frame and self.rest_fits(frame) else None
        return self.found[at]

    def rest_fits(self, frame: Frame) -> bool:
        """Rules 4 and 5."""
        if frame.end > len(self.data) or self.trailer(frame.end) != (frame.total, frame.hcrc):
            return False
        stored = self.data[frame.body : frame.end - TRAIL]
        if crc32(stored) != frame.pcrc or any(stored[frame.payload_len :]):
            return False
        listed = frame.hint in (TARGETS, RESULT)
        return not listed or (frame.payload_len >= 4 and self.list_len(frame) <= frame.payload_len)

    def trailer(self, end: int) -> tuple[int, int]:
        return u32(self.data, end - 8), u32(self.data, end - 4)

    def list_len(self, frame: Frame) -> int:
        """Bytes of the hint's list at the start of the payload [3.3]."""
        return 4 + 16 * u32(self.data, frame.body) if frame.hint in (TARGETS, RESULT) else 0

    def places(self, start: int, end: int) -> Generator[int, int | None, None]:
        """8-aligned places from `start` on with a frame's magic; a number sent back is where to go on."""
        at = start
        while 0 <= (at := self.data.find(FRAME_MAGIC, at)) < end:
            further = (yield at) if at % 8 == 0 else None
            at = further or at + 1

    def frames(self, start: int, end: int | None = None) -> Iterator[Frame]:
        """All whole frames that start in a range, whatever their chain; none inside another."""
        places = self.places(start, self.limit if end is None else end)
        at = next(places, None)
        while at is not None:
            frame = self.whole(at)
            if frame:
                yield frame
            try:
                at = places.send(frame.end if frame else None)
            except StopIteration:
                return

    def ids(self, start: int, end: int) -> list[str]:
        """Ids of the records in a range of which the header is right; none inside a whole frame."""
        ids, free = [], start
        for at in self.places(start, end):
            frame = self.head(at) if at >= free else None
            if frame:
                ids += [] if frame.own else [text(frame.id)]
                free = frame.end if self.whole(at) else free
        return ids

    def ending_at(self, end: int) -> Frame | None:
        """The whole frame whose trailer ends at `end`."""
        start = end - u32(self.data, end - 8) if end >= PAGE + HEAD + TRAIL else -1
        if start < PAGE or u32(self.data, start + 4) != u32(self.data, end - 4):
            return None
        frame = self.whole(start)
        return frame if frame and frame.end == end else None

    # Batches and openings [3.4, 7]

    def skip_from(self, frame: Frame) -> int | None:
        return u64(self.data, frame.body + 40) if frame.type == OPEN and frame.payload_len >= OPEN_LEN else None

    def cause(self, frame: Frame) -> str:
        return CAUSES.get(self.data[frame.body + 48], "torn_tail")

    def batch(self, at: int, chain: int | None) -> list[Frame]:
        """The batch that starts at `at` behind `chain`, empty if it does not count (step 6a)."""
        frames: list[Frame] = []
        room = self.max_record
        while True:
            frame = self.whole(at)
            if frame is None or chain not in (None, frame.chain) or (frame.own and (frames or frame.goes_on)):
                return []
            room -= frame.payload_len
            if room < 0 or (frame.type == OPEN and self.skip_from(frame) != at):
                return []
            frames.append(frame)
            if not frame.goes_on:
                return frames
            at, chain = frame.end, frame.hcrc

    def step(self, at: int, chain: int | None) -> tuple[list[Frame], Json | None]:
        """Steps 6a and 6b: the frames that come next, and what an OPEN among them sets aside."""
        batch = self.batch(at, chain)
        if batch:
            return batch, None
        for place in self.places(at + 8, self.limit):
            frame = self.whole(place)
            if frame and self.skip_from(frame) == at and chain in (None, frame.chain) and not frame.goes_on:
                return [frame], self.aside(at, frame.off, self.cause(frame))
        return [], None

    def aside(self, start: int, end: int, cause: str) -> Json:
        return {"offset": start, "len": end - start, "cause": cause, "ids": self.ids(start, end)}

    def tail_cause(self, at: int, chain: int | None) -> str:
        first = self.whole(at)
        if first and first.goes_on and chain in (None, first.chain):
            return "half_batch"
        return "torn_tail" if next(self.frames(at), None) is None else "hole"

    def misfit_kind(self, at: int, chain: int | None) -> str:
        """What to call it that the log does not go on at `at`."""
        first = self.whole(at)
        if first is None:
            return "frame"
        return "batch" if first.goes_on and chain in (None, first.chain) else "chain"

    def open(self) -> Json:
        """Steps 2 to 7."""
        last = next((frame for end in range(self.limit, PAGE, -8) if (frame := self.ending_at(end))), None)
        at, chain, tip = last.durable if last else PAGE, self.start_chain, None
        bad, asides = list(self.page_damage), []
        if at != PAGE:
            tip = self.ending_at(at)
            bad += [] if tip else [damage(at, 0, "frame")]
            at, chain = (at, tip.hcrc) if tip else (PAGE, chain)
        durable = at
        while True:
            batch, aside = self.step(at, chain)
            if not batch:
                break
            asides += [aside] if aside else []
            durable = max(durable, *(frame.durable for frame in batch))
            tip, at, chain = batch[-1], batch[-1].end, batch[-1].hcrc
        witness = max([min(self.watermark, self.limit), *(frame.durable for frame in self.frames(at))])
        tail = "whole" if at == self.limit else self.tail_cause(at, chain)
        if witness > at:
            bad = [known for known in bad if known["kind"] != "frame" or known["offset"] <= at]
            bad.append(self.hit(at, chain)[2])
        elif at < self.limit:
            asides.append(self.aside(at, self.limit, tail))
        if self.watermark > self.limit:
            bad.append(damage(self.limit, self.watermark - self.limit, "missing"))
        closed = tail == "whole" and not bad and (tip is None or (tip.type == MARK and tip.durable == tip.off))
        verdict = "damaged" if bad else "clean" if tail == "whole" else "recovered"
        found = {"verdict": verdict, "clean_close": closed, "end": at, "durable_end": min(durable, at)}
        return {**found, "set_aside": asides, "damage": bad}

    def state_at(self, end: int) -> State | None:
        """The state behind the frame that ends at `end`, by way of the nearest frame that carries one [5]."""
        heads: list[Frame] = []
        state, last_index = State(), 0
        while end > PAGE:
            start = end - u32(self.data, end - 8)
            head = self.head(start) if start >= PAGE else None
            if head is None or head.end != end or self.trailer(end)[1] != head.hcrc:
                return None
            if head.type == INDEX:
                last_index = last_index or head.off
                if indexes.head_fits(self.data, head.body, head.end):
                    state = State.of(self.data, head)
                    break
            elif head.own:
                if self.whole(start) is None:
                    return None
                if head.payload_len >= STATE_LEN:
                    state = State.of(self.data, head)
                    break
            else:
                heads.append(head)
            end = start
        state.last_index = last_index or state.last_index
        for head in reversed(heads):
            state.add(head)
        return state

    # The whole file [11]

    def survey(self) -> Json:
        frames: list[tuple[Frame, str]] = []
        asides: list[Json] = []
        bad = list(self.page_damage)

        def put_aside(aside: Json) -> None:
            asides.append(aside)
            status = "incomplete" if aside["cause"] == "half_batch" else "set_aside"
            found = self.frames(aside["offset"], aside["offset"] + aside["len"])
            frames.extend((frame, status) for frame in found)

        if self.limit == PAGE and bad:
            frames += self.displaced(0)[0]
        at, chain, linked = PAGE, self.start_chain, True
        while at < self.limit:
            batch, aside = self.step(at, chain)
            if aside:
                put_aside(aside)
            if batch:
                frames += [(frame, "accepted" if linked else "orphan") for frame in batch]
                at, chain = batch[-1].end, batch[-1].hcrc
                continue
            front, after, found = self.hit(at, chain)
            later = list(self.frames(found["offset"]))
            start = found["offset"] if found["offset"] > PAGE else 0
            moved, given_up = ([], []) if later else self.displaced(start)
            frames = [(f, "set_aside" if s == "orphan" and is_in(f, given_up) else s) for f, s in frames]
            if not moved and max([self.watermark, *(frame.durable for frame in later)]) <= at:
                put_aside(self.aside(at, self.limit, self.tail_cause(at, chain)))
                break
            in_front = "accepted" if linked else "orphan"
            frames += [(frame, in_front if completed(front, moved) else "incomplete") for frame in front]
            bad.append(found)
            at, to = found["offset"], found["offset"] + found["len"]
            if after is None:
                frames += moved
                break
            if to < after.off:
                put_aside(self.aside(to, after.off, self.cause(after)))
            lost = self.head(at) if at < to else None
            by_header = lost is not None and (lost.end, lost.hcrc) == (to, after.chain)
            linked = linked and (by_header or self.trailer(to) == (to - at, after.chain))
            last = front[-1] if front and not front[-1].own else None
            status, of_batch = self.goes_on(last, lost, after, at, to), lost or last
            at, chain = after.off, after.chain
            while status and after and not after.own and of_batch and after.durable == of_batch.durable:
                frames.append((after, status))
                at, chain, status = after.end, after.hcrc, status if after.goes_on else None
                after = self.whole(at)
            if after and after.type == OPEN and self.skip_from(after) != after.off:
                frames.append((after, "accepted" if linked else "orphan"))
                at, chain = after.end, after.hcrc
        if self.watermark > self.limit:
            bad.append(damage(self.limit, self.watermark - self.limit, "missing"))
        verdict = "damaged" if bad else "recovered" if asides else "clean"
        return {"verdict": verdict, "set_aside": asides, "damage": bad, "frames": frames}

    def hit(self, at: int, chain: int | None) -> tuple[list[Frame], Frame | None, Json]:
        """What is hit where the chain ends: the frames of its batch in front, the next frame that counts, the damage [11.2]."""
        kind, front = self.misfit_kind(at, chain), list[Frame]()
        while kind == "batch" and (held := self.whole(at)) and held.goes_on:
            front.append(held)
            at = held.end
        after = next(self.frames(at), None)
        to = after.off if after else self.limit
        opens = [(self.skip_from(frame), frame.off) for frame in self.frames(at) if not frame.goes_on]
        around = min(((start, off) for start, off in opens if start and at < start <= to <= off and start < off), default=None)
        if around:
            to, after = around[0], self.whole(around[1])
        return front, after, damage(at, to - at, "frame" if to > at else kind)

    @staticmethod
    def goes_on(front: Frame | None, lost: Frame | None, after: Frame, bad: int, to: int) -> str | None:
        """What the frame behind damage is of the hit batch, if the batch may go on there [11.3]."""
        if bad == to:
            return "incomplete" if front and front.hcrc == after.chain else None
        if lost is None:
            return "doubtful" if front else None
        return None if not lost.goes_on else "incomplete" if lost.end == to else "doubtful"

    def displaced(self, start: int) -> tuple[list[tuple[Frame, str]], list[range]]:
        """Frames that are right except for their place, and what OPENs among them have stepped over [11.4]."""
        at, shift = start, 0
        found, given_up = dict[int, Frame](), list[range]()
        while (at := self.data.find(FRAME_MAGIC, at)) >= 0:
            seen = Frame.read(self.data, at, at)
            tagged = seen and (seen.file_tag == self.tag if self.tag else seen.file_tag != 0)
            ours = tagged and seen.payload_len <= self.max_record and self.rest_fits(seen)
            frame = self.at_home(seen, shift) if seen and ours else None
            if frame:
                shift = frame.off - at
                home = self.whole(frame.off) if frame.off >= PAGE and frame.off % 8 == 0 else None
                if (not home or home.hcrc != frame.hcrc) and frame.off not in found:
                    found[frame.off] = frame
                    if frame.type == OPEN and (skip_from := self.skip_from(frame)) is not None:
                        given_up.append(range(skip_from, frame.off))
            at = frame.end if frame else at + 1
        moved = [(frame, "set_aside" if is_in(frame, given_up) else "displaced") for frame in found.values()]
        return moved, given_up

    def at_home(self, seen: Frame, shift: int) -> Frame | None:
        rest = self.data[seen.at + 8 : seen.body]
        near = max(PAGE, (seen.at - SHIFT_MAX + 7) // 8 * 8)
        for off in (seen.at + shift, *range(near, seen.at + SHIFT_MAX, 8)):
            if crc32(off.to_bytes(8, "little") + rest) == seen.hcrc:
                return self.head(seen.at, off)
        return None

    # The document

    def frame_document(self, frame: Frame, status: str) -> Json:
        stored = self.data[frame.body : frame.body + frame.payload_len]
        rest = stored[self.list_len(frame) :]
        doc: Json = {
            "offset": frame.off, "at": frame.at, "status": status, "total_len": frame.total, "type": frame.type,
            "flags": frame.flags, "id": text(frame.id), "parent_off": frame.parent_off,
            "boundary_off": frame.boundary_off, "durable_end": frame.durable, "hint": frame.hint,
            "targets": [text(key) for key in self.targets(frame)], "payload_len": len(rest), "crc32": crc32(rest),
        }  # fmt: skip
        return {**doc, **decode_body(rest)} if EVENT <= frame.type <= HEADMOVE else doc

    def targets(self, frame: Frame) -> list[bytes]:
        return [self.data[at : at + 16] for at in range(frame.body + 4, frame.body + self.list_len(frame), 16)]

    def cross_check(self, accepted: list[Frame]) -> Json:
        """What the accepted frames say of one another: the state at the end, and where a frame says something else."""
        state, known, targets = State(), dict[int, Frame](), dict[int, list[bytes]]()
        states, hints, faults = [], [], []
        for frame in accepted:
            if frame.own and frame.payload_len >= STATE_LEN and State.of(self.data, frame) != state:
                states.append(frame.off)
            if any(off and off not in known for off in (frame.parent_off, frame.boundary_off)):
                hints.append(frame.off)
            if frame.type == INDEX:
                fault = indexes.fault_of(self.data, frame.body, frame.body + frame.payload_len, known, targets)
                faults += [{"offset": frame.off, "fault": fault}] if fault else []
            state.add(frame)
            known[frame.off] = frame
            targets[frame.off] = self.targets(frame)
        return {"wrong_states": states, "wrong_hints": hints, "wrong_indexes": faults}

    def document(self) -> Json:
        doc: Json = {"file_len": self.size, "header": self.header.document() if self.header else None}
        if self.header and self.header.newer:
            return {**doc, "verdict": "refused", "major": self.header.major, "incompat": self.header.unknown}
        if not self.tag:
            return {**doc, "verdict": "not_a_log"}
        opened = self.open() if self.header else None
        survey = self.survey()
        frames = survey.pop("frames")
        accepted = [frame for frame, status in frames if status == "accepted"]
        unknown = [f for f in accepted if not (f.own or f.type <= HEADMOVE or f.flags & SKIPPABLE)]
        verdicts = {survey["verdict"], opened["verdict"] if opened else "damaged"}
        state = self.state_at(opened["end"]) if opened else None
        sound = opened and opened["verdict"] != "damaged" and (opened["clean_close"] or state)
        writable = bool(sound and self.header and not self.header.ro_compat)
        return {
            **doc,
            "writable": writable,
            "watermark": self.watermark,
            "zero_bytes": max(0, self.size - self.limit),
            "verdict": next(word for word in ("damaged", "recovered", "clean") if word in verdicts),
            "open": opened,
            "survey": survey,
            "state": state.document() if state else None,
            **self.cross_check(accepted),
            "unsupported": [{"offset": frame.off, "type": frame.type} for frame in unknown[:1]],
            "frames": [self.frame_document(frame, status) for frame, status in frames],
        }


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
