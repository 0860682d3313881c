#!/usr/bin/env python3
"""Makes the seed corpora in fuzz/corpus out of what is in the tree: golden logs, golden events, transcripts."""

import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = 4096
NO_PAGE = 4  # the target puts a header page in front
CORPUS = ROOT / "fuzz" / "corpus"

# One of each neutral line, with repairs: an unknown parent, an id twice, a late result, a torn line.
STORY = """{"type":"session","id":"s"}
{"type":"meta","title":"A title","tags":["a"],"branch":"main"}
{"type":"message","id":"u1","parentId":null,"role":"user","kind":"user_input","content":"hi","at":5}
{"type":"message","id":"a1","role":"assistant","kind":"tool_call","content":[{"type":"tool_call","id":"c","name":"n","input":{"x":1.10}}],"stopReason":null}
{"type":"tool_started","callId":"c"}
{"type":"message","id":"r1","parentId":"a1","role":"tool","kind":"tool_result","content":[{"type":"tool_result","callId":"c","output":"ok"}],"metadata":{"sourceToolAssistantId":"a1"}}
{"type":"message","id":"u2","parentId":"ghost","role":"user","kind":"user_input","content":"go on"}
{"type":"amend","target":"a1","patch":{"stopReason":"tool_use","usage":{"input":1,"output":2,"cacheRead":3}}}
{"type":"compaction","id":"b1","summary":{"id":"s1","text":"so far"},"keep":["u2","nobody"],"tokensBefore":9,"trigger":"auto"}
{"type":"message","id":"u3","parentId":"b1","role":"user","kind":"user_input","content":"more"}
{"type":"message","id":"u1","parentId":"u3","role":"user","kind":"user_input","content":"the id again"}
{"type":"message","id":"p1","role":"assistant","kind":"progress","toolUseId":"c","data":{"a":[1,null,true]}}
{"type":"tombstone","targets":["u2"],"reason":"r"}
{"type":"prune","targets":["r1"]}
{"type":"head","leaf":"u1"}
{"type":"extension","name":"x","payload":[1.5,"\\u00e9"]}
{"type":"message","id":"torn","role":"user{"type":"message","role":"user","kind":"user_input","content":"behind a tear"}
"""


def put(target: str, name: str, content: bytes) -> None:
    directory = CORPUS / target
    directory.mkdir(parents=True, exist_ok=True)
    (directory / name).write_bytes(content)


def put_log(name: str, log: bytes) -> None:
    """A golden log for each target that reads logs: as it is, and its frames alone, sealed in each way."""
    if len(log) > 12000:
        return
    frames = log[PAGE:]
    # Larger ones hold an INDEX, and cost the reference reader too much.
    targets = ("open_log", "two_readers", "salvage") if len(log) < 8192 else ("open_log", "salvage")
    for target in targets:
        put(target, f"{name}-0", bytes([0]) + log)
        for seal in (1, 2, 3):
            if frames:
                put(target, f"{name}-{seal}", bytes([seal | NO_PAGE]) + frames)
    at = PAGE
    while at + 64 <= len(log) and log[at : at + 4] == b"\xc1SLF":
        size = log[at + 14] * 8 + (int.from_bytes(log[at + 8 : at + 12], "little") + 7) // 8 * 8 + 8
        put("frame", f"{name}-{at}", bytes([1]) + at.to_bytes(8, "little") + log[at : at + size])
        at += size


# MessagePack that claims more than there is, or goes deeper than anybody needs.
BOMBS = [
    *(head + b"\xff\xff\xff\xff" for head in (b"\xdf", b"\xdd", b"\xdb", b"\xc6", b"\xc9")),
    *(bytes([head]) * depth + b"\xc0" for head in (0x91, 0x81) for depth in (10, 94, 95, 96, 97, 5000)),
    b"\xdd\x00\x00\x40\x00" + b"\xc0" * 16384,
    b"\xdc\xff\xff" * 90,
]


def main() -> None:
    for path in sorted((ROOT / "format-spec" / "vectors").glob("*.seslog")):
        put_log(path.stem, path.read_bytes())
    for path in sorted((ROOT / "tests" / "data" / "events").glob("*.hex")):
        lines = (line.split("#")[0] for line in path.read_text().splitlines())
        put("event_decode", path.stem, bytes.fromhex("".join(lines)))
    for number, bomb in enumerate(BOMBS):
        put("event_decode", f"bomb-{number}", bomb)
    for path in sorted((ROOT / "tests" / "data" / "events").glob("*.json*")):
        put("neutral_lines", path.stem, path.read_bytes())
    put("neutral_lines", "story", STORY.encode())
    for number, line in enumerate(STORY.splitlines()):
        put("neutral_lines", f"line-{number}", line.encode())
    for path in sorted((ROOT / "tests" / "data" / "claude-code").glob("*.jsonl")):
        for options in range(4):
            put("claude_lines", f"{path.stem}-{options}", bytes([options]) + path.read_bytes())
    for path in sorted((ROOT / "tests" / "data" / "codex").glob("*.jsonl")):
        for options in range(2):
            put("codex_lines", f"{path.stem}-{options}", bytes([options]) + path.read_bytes())
    for path in sorted((ROOT / "tests" / "data" / "pi").glob("*.jsonl")):
        for options in range(4):
            put("pi_lines", f"{path.stem}-{options}", bytes([options]) + path.read_bytes())
    for step in range(16):
        # A few messages, the step, and one of each other step behind it.
        steps = bytes(b for n in (0, 0, 0, step, *range(16)) for b in (n % 3, n, 0, 3, 1, 2, n, 1))
        put("operations", f"step-{step}", steps)
        # The same as a session that is damaged and salvaged.
        for seed in range(4):
            put("salvage", f"story-{step}-{seed}", bytes([8 | seed, 7, 0, 0, step, seed]) + steps)


if __name__ == "__main__":
    main()
