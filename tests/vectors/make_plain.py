"""The plain data of the vectors: canonical JSON cases, published trees, stream calls, a sample battery.

The RFC 6962 leaves, roots and paths are those of the certificate-transparency tests, today in
transparency-dev/merkle (testonly, Apache-2.0); as numbers they are facts. The strings example is that
of RFC 8785 section 3.2.2, without its numbers, which this profile does not have.
"""

from __future__ import annotations

from typing import Any

CANONICAL_ACCEPTED: dict[str, bytes] = {
    "empty_object": b"{}",
    "empty_array": b"[]",
    "null": b"null",
    "sorted_keys": b'{"0":1,"a":2,"a_b":3,"aa":4}',
    "largest_integer": b"[9007199254740991,-9007199254740991,0]",
    # RFC 8785 section 3.2.2.2: the string and the literals of its example.
    "rfc8785_string": b'{"literals":[null,true,false],"string":"'
    + "€$".encode()
    + b'\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    "control_characters": b'["\\u0000\\u0001\\b\\t\\n\\u000b\\f\\r\\u001f\x7f"]',
    "outside_the_basic_plane": '["\U0001f602 é \u2028 \ufb33"]'.encode(),
    "not_normalised": '["é","e\u0301"]'.encode(),
    "depth_64": b"[" * 64 + b"0" + b"]" * 64,
}

CANONICAL_REJECTED: dict[str, tuple[bytes, str]] = {
    "empty_file": (b"", "nothing is not a value"),
    "line_feed_at_end": (b"{}\n", "a file has no byte after its value"),
    "white_space": (b'{"a": 1}', "white space between tokens"),
    "unsorted_keys": (b'{"b":1,"a":2}', "keys in another order"),
    "duplicate_key": (b'{"a":1,"a":1}', "a key twice in one object"),
    "capital_key": (b'{"A":1}', "a key outside [a-z0-9_]"),
    "empty_key": (b'{"":1}', "an empty key"),
    "key_with_hyphen": (b'{"a-b":1}', "a key outside [a-z0-9_]"),
    "float": (b"[0.5]", "a fraction"),
    "float_that_is_whole": (b"[1.0]", "a fraction, though whole"),
    "exponent": (b"[1e2]", "an exponent"),
    "nan": (b"[NaN]", "not JSON"),
    "infinity": (b"[-Infinity]", "not JSON"),
    "too_large": (b"[9007199254740992]", "beyond 2^53 - 1"),
    "too_small": (b"[-9007199254740992]", "below -(2^53 - 1)"),
    "huge": (b"[" + b"9" * 5000 + b"]", "thousands of digits"),
    "leading_zero": (b"[01]", "a leading zero"),
    "minus_zero": (b"[-0]", "0 has one spelling"),
    "plus_sign": (b"[+1]", "a plus sign"),
    "byte_order_mark": (b"\xef\xbb\xbf{}", "a byte order mark"),
    "not_utf8": (b'["\xff"]', "not UTF-8"),
    "overlong_utf8": (b'["\xc0\xaf"]', "not UTF-8"),
    "surrogate_in_utf8": (b'["\xed\xa0\x80"]', "not UTF-8"),
    "lone_surrogate": (b'["\\ud800"]', "half of a surrogate pair"),
    "escaped_pair": (b'["\\ud83d\\ude02"]', "a character that is written as itself was escaped"),
    "needless_escape": (b'["\\u0041"]', "a character that is written as itself was escaped"),
    "escaped_solidus": (b'["\\/"]', "a solidus is not escaped"),
    "long_escape": (b'["\\u000a"]', "a line feed is written \\n"),
    "capital_hex": (b'["\\u000F"]', "hex digits of escapes are lower case"),
    "raw_control": (b'["\x01"]', "a control character as itself"),
    "two_values": (b"{}{}", "two values"),
    "trailing_comma": (b"[1,]", "not JSON"),
    "comment": (b"[1]//", "not JSON"),
    "single_quotes": (b"['a']", "not JSON"),
    "depth_65": (b"[" * 65 + b"0" + b"]" * 65, "deeper than 64 levels"),
    "depth_100000": (b"[" * 100_000, "deeper than 64 levels"),
}

CT_LEAVES = [
    "",
    "00",
    "10",
    "2021",
    "3031",
    "40414243",
    "5051525354555657",
    "606162636465666768696a6b6c6d6e6f",
]
CT_ROOTS = [
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]
# Index, tree size, path.
CT_PATHS: list[tuple[int, int, list[str]]] = [
    (0, 1, []),
    (
        0,
        8,
        [
            "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
            "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
            "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
        ],
    ),
    (
        5,
        8,
        [
            "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
            "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
            "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        ],
    ),
    (2, 3, ["fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"]),
    (
        1,
        5,
        [
            "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
            "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
            "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
        ],
    ),
]

# Name: label, parts, calls in order.
STREAMS: dict[str, tuple[str, tuple[bytes | str | int, ...], list[list[Any]]]] = {
    "bytes": ("sealbench/v1/item", (bytes(32), "primality", 0), [["read", 32], ["read", 1], ["read", 2000]]),
    "below": (
        "sealbench/v1/item",
        (bytes(32), "primality", 1),
        [["below", bound] for bound in (1, 2, 3, 10, 255, 256, 257, 2**16, 10**6, 10**18, 2**127 - 1)],
    ),
    "rejections": ("sealbench/v1/test", ("rejections",), [["below", 129] for _ in range(24)]),
    "between": (
        "sealbench/v1/test",
        ("between", 7),
        [["between", 100_000, 999_999]] * 6 + [["between", 5, 5]],
    ),
    "shuffle": ("sealbench/v1/shuffle", (bytes(range(32)),), [["shuffle", size] for size in (0, 1, 2, 16)]),
    "sample": ("sealbench/v1/test", ("sample",), [["sample", 1, 9, 9], ["sample", 10, 99, 5]]),
    "text_and_number_parts": ("sealbench/v1/test", ("é", 2**64 - 1, b""), [["read", 16]]),
}

SAMPLE_PARAMETERS: dict[str, Any] = {
    "families": [
        {
            "family": "primality",
            "version": 1,
            "source_sha256": "11" * 32,
            "per_class": 1,
            "parameters": {"digits": 2},
        }
    ],
    "wordings": ["plain"],
}


def _item(instance: str, number: int, answer: str) -> dict[str, Any]:
    prime = answer == "Yes"
    return {
        "instance": instance,
        "family": "primality",
        "class_label": "prime" if prime else "composite",
        "kind": "small_factor",
        "stratum": "digits_2",
        "search": "exhaustive" if prime else "witness",
        "wording": "plain",
        "category": "primality",
        "prompt": f"Is {number} prime? Answer “Yes” or “No”.",
        "answer": answer,
        "answer_type": "yes_no",
        "minimal_answer": answer,
        "params": {"number": str(number)},
        "certificate": {} if prime else {"factor": "7"},
    }


SAMPLE_ITEMS = [
    _item("0000000000000001", 97, "Yes"),
    _item("0000000000000002", 91, "No"),
    _item("0000000000000003", 49, "No"),
]
