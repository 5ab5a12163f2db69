"""Archives that attack whoever unpacks them: each is refused, and nothing lands outside the folder."""

from __future__ import annotations

import gzip
import io
import stat
import struct
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sealbench.errors import CheckFailed, SealError
from sealbench.fetching.archives import unpack
from sealbench.fetching.new_folder import Limits, NewFolder, safe_parts

SMALL = Limits(file=1 << 20, total=2 << 20, files=50)


def tar(*members: tuple[tarfile.TarInfo, bytes], form: int = tarfile.PAX_FORMAT) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=form) as archive:
        for member, data in members:
            archive.addfile(member, io.BytesIO(data))
    return stream.getvalue()


def plain(name: str, data: bytes = b"x", **fields: object) -> tuple[tarfile.TarInfo, bytes]:
    member = tarfile.TarInfo(name)
    member.size = len(data)
    for field, value in fields.items():
        setattr(member, field, value)
    return member, data


def special(name: str, kind: bytes, target: str = "") -> tuple[tarfile.TarInfo, bytes]:
    return plain(name, b"", type=kind, linkname=target)


def zipped(*members: tuple[str | zipfile.ZipInfo, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for member, data in members:
            archive.writestr(member, data)
    return stream.getvalue()


def linked(name: str, kind: int = stat.S_IFLNK) -> zipfile.ZipInfo:
    member = zipfile.ZipInfo(name)
    member.external_attr = (kind | 0o777) << 16
    return member


GOOD = [("runs/r/log.jsonl", b"one\n"), ("commitments/a.json", b"{}"), ("empty", b"")]


@pytest.mark.parametrize(
    "data",
    [
        tar(*(plain(name, text) for name, text in GOOD)),
        tar(*(plain(f"./{name}", text) for name, text in GOOD), form=tarfile.GNU_FORMAT),
        tar(
            special("runs", tarfile.DIRTYPE),
            *(plain(name, text) for name, text in GOOD),
            form=tarfile.USTAR_FORMAT,
        ),
        gzip.compress(tar(*(plain(name, text) for name, text in GOOD))),
        zipped(*GOOD),
        zipped(("runs/", b""), *GOOD, method=zipfile.ZIP_STORED),
    ],
    ids=["pax", "gnu", "ustar", "gzip", "zip", "zip-stored"],
)
def test_plain_archives(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "archive").write_bytes(data)
    folder = tmp_path / "files"
    folder.mkdir()
    unpack(tmp_path / "archive", folder, SMALL)
    found = {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }
    assert found == dict(GOOD)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["archive", "files"]


def test_long_names_and_packers_comments(tmp_path: Path) -> None:
    long = "/".join(["runs", *["n" * 60] * 4, "log.jsonl"])
    member, data = plain(long, b"long")
    member.pax_headers = {"comment": "0" * 40}
    for number, form in enumerate((tarfile.PAX_FORMAT, tarfile.GNU_FORMAT)):
        folder = tmp_path / f"files-{number}"
        folder.mkdir()
        (tmp_path / "archive").write_bytes(tar((member, data), form=form))
        unpack(tmp_path / "archive", folder, SMALL)
        assert (folder / long).read_bytes() == b"long"


def pax_bomb() -> bytes:
    """An extended header that says it is eight gigabytes long."""
    member = tarfile.TarInfo("header")
    member.type, member.size = tarfile.XHDTYPE, 8 << 30
    return member.tobuf(tarfile.GNU_FORMAT) + bytes(2048)


def pax_chain() -> bytes:
    """Extended headers about extended headers, far deeper than any stack."""
    member = tarfile.TarInfo("header")
    member.type, member.size = tarfile.XHDTYPE, 0
    return member.tobuf() * 20_000 + bytes(1024)


def negative_size() -> bytes:
    data = bytearray(tar(plain("file", b"x")))
    data[124:136] = b"\xff" * 12
    data[148:156] = b" " * 8
    checksum = sum(data[:512])
    data[148:156] = f"{checksum:06o}\0 ".encode()
    return bytes(data)


def lying_zip() -> bytes:
    """A member that unpacks to more than it says: both of its headers say one byte."""
    data = zipped(("file", b"a" * 500_000))
    return data.replace(struct.pack("<I", 500_000), struct.pack("<I", 1))


def early_zip() -> bytes:
    """A member whose local header would stand before the file's first byte."""
    data = bytearray(zipped(("file", b"x"), ("other", b"y")))
    second = data.rindex(b"PK\x01\x02")
    data[second + 42 : second + 46] = struct.pack("<I", 0)
    end = data.rindex(b"PK\x05\x06")
    start = struct.unpack_from("<I", data, end + 16)[0]
    data[end + 16 : end + 20] = struct.pack("<I", start + 60)
    return bytes(data)


def nul_in_name() -> bytes:
    data = zipped(("harmlessXevil", b"x"))
    return data.replace(b"harmlessXevil", b"harmless\0evil")


def encrypted() -> bytes:
    data = bytearray(zipped(("file", b"x")))
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    return bytes(data)


ATTACKS: dict[str, tuple[Callable[[], bytes], str]] = {
    "tar climbs": (lambda: tar(plain("../evil")), "leads out of its folder"),
    "tar climbs late": (lambda: tar(plain("runs/../../evil")), "leads out of its folder"),
    "tar absolute": (lambda: tar(plain("/tmp/evil")), "leads out of its folder"),
    "tar drive": (lambda: tar(plain("C:evil")), "leads out of its folder"),
    "tar backslash": (lambda: tar(plain("..\\evil")), "not a name on every system"),
    "tar control": (lambda: tar(plain("a\x1b[2Jb")), "control characters"),
    "tar long part": (lambda: tar(plain("n" * 300)), "not a name on every system"),
    "tar deep": (lambda: tar(plain("/".join("d" * 40))), "longer than any path"),
    "tar symlink": (lambda: tar(special("runs", tarfile.SYMTYPE, "/etc")), "is a link, a device"),
    "tar link then through it": (
        lambda: tar(special("runs", tarfile.SYMTYPE, "/tmp"), plain("runs/evil")),
        "is a link, a device",
    ),
    "tar hard link": (lambda: tar(special("passwd", tarfile.LNKTYPE, "/etc/passwd")), "is a link, a device"),
    "tar device": (lambda: tar(special("zero", tarfile.CHRTYPE)), "is a link, a device"),
    "tar pipe": (lambda: tar(special("pipe", tarfile.FIFOTYPE)), "is a link, a device"),
    "tar sparse": (lambda: tar(special("hole", tarfile.GNUTYPE_SPARSE)), ""),
    "tar twice": (lambda: tar(plain("runs/a"), plain("runs/a", b"other")), "stands there twice"),
    "tar twice spelled otherwise": (lambda: tar(plain("./runs/a"), plain("runs/a")), "stands there twice"),
    "tar twice by case": (lambda: tar(plain("Runs/a"), plain("runs/a")), "stands there twice"),
    "tar twice by accent": (lambda: tar(plain("caf\u00e9"), plain("cafe\u0301")), "stands there twice"),
    "tar file as folder": (lambda: tar(plain("runs"), plain("runs/a")), "stands there twice"),
    "tar folder as file": (lambda: tar(plain("runs/a"), plain("runs")), "stands there twice"),
    "tar large": (lambda: tar(plain("a", bytes((1 << 20) + 1))), "more data than is taken"),
    "tar large together": (
        lambda: tar(*(plain(str(number), bytes(1 << 20)) for number in range(3))),
        "more data than is taken",
    ),
    "tar many": (lambda: tar(*(plain(str(number)) for number in range(51))), "more than 50 files"),
    "tar many folders": (
        lambda: tar(*(special(f"d{number}", tarfile.DIRTYPE) for number in range(51))),
        "more than 50 files",
    ),
    "tar cut": (lambda: tar(plain("a", bytes(4000)))[:2000], ""),
    "tar says more than it has": (lambda: tar(plain("a", bytes(900_000)))[:9000], ""),
    "tar negative": (negative_size, ""),
    "tar header bomb": (pax_bomb, "a header of"),
    "tar header chain": (pax_chain, ""),
    "gzip bomb": (lambda: gzip.compress(tar(plain("a", bytes(50 << 20)))), "unpacks to more than"),
    "gzip cut": (lambda: gzip.compress(tar(plain("a")))[:-9], "damaged"),
    "gzip damaged": (lambda: b"\x1f\x8b" + bytes(600), "damaged"),
    "gzip of something": (lambda: gzip.compress(b"text" * 200), "no tar archive"),
    "gzip in gzip": (lambda: gzip.compress(gzip.compress(tar(plain("a")))), "no tar archive"),
    "zip climbs": (lambda: zipped(("../evil", b"x")), "leads out of its folder"),
    "zip absolute": (lambda: zipped(("/tmp/evil", b"x")), "leads out of its folder"),
    "zip symlink": (lambda: zipped((linked("runs"), b"/etc")), "is a link, a device"),
    "zip device": (lambda: zipped((linked("zero", stat.S_IFCHR), b"")), "is a link, a device"),
    "zip twice by case": (lambda: zipped(("A", b"x"), ("a", b"x")), "stands there twice"),
    "zip bomb": (lambda: zipped(("a", bytes(50 << 20))), "more data than is taken"),
    "zip lies about sizes": (lying_zip, ""),
    "zip name with a zero": (nul_in_name, ""),
    "zip encrypted": (encrypted, "encrypted"),
    "zip packed by lzma": (lambda: zipped(("a", b"x"), method=zipfile.ZIP_LZMA), "in an unusual way"),
    "zip many": (lambda: zipped(*((str(number), b"") for number in range(51))), "more than 50 files"),
    "zip that begins before its beginning": (early_zip, "malformed"),
    "zip cut": (lambda: zipped(*GOOD)[:-10], "damaged"),
    "nothing": (lambda: b"", "neither a tar"),
    "text": (lambda: b"text" * 300, "neither a tar"),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_attacks_are_refused(tmp_path: Path, name: str) -> None:
    make, words = ATTACKS[name]
    place = tmp_path / "place"
    (place / "files").mkdir(parents=True)
    (place / "archive").write_bytes(make())
    with pytest.raises(CheckFailed) as caught:
        unpack(place / "archive", place / "files", SMALL)
    assert words in caught.value.message and caught.value.message.isprintable()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["place"]
    assert sorted(path.name for path in place.iterdir()) == ["archive", "files"]
    assert not any(path.is_symlink() for path in place.rglob("*"))
    assert sum(path.stat().st_size for path in (place / "files").rglob("*") if path.is_file()) <= SMALL.total


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_damaged_archives_give_errors_of_this_package(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    good = data.draw(st.sampled_from([tar(*(plain(*one) for one in GOOD)), zipped(*GOOD)]))
    damaged = bytearray(good)
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, min(len(good) - 1, 1600)))
        damaged[at] ^= data.draw(st.integers(1, 255))
    place = tmp_path_factory.mktemp("damaged")
    (place / "files").mkdir()
    (place / "archive").write_bytes(bytes(damaged))
    try:
        unpack(place / "archive", place / "files", SMALL)
    except SealError as error:
        assert error.exit_code == 1


@given(st.text(max_size=60))
def test_no_name_leads_out(name: str) -> None:
    try:
        parts = safe_parts(name)
    except CheckFailed:
        return
    assert (
        parts and not {"", ".", ".."} & set(parts) and not any("/" in part or "\\" in part for part in parts)
    )


def test_a_size_that_is_not_reached(tmp_path: Path) -> None:
    with pytest.raises(CheckFailed, match="ends 3 bytes before its announced size"):
        NewFolder(tmp_path, SMALL).add_file("a", 5, io.BytesIO(b"xy").read)
