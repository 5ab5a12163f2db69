"""Public keys that a verifier trusts, read from a `.pub` file or an OpenSSH allowed_signers file.

Source: ssh-keygen(1), "ALLOWED SIGNERS". A line counts only if its options allow a signature in this
package's namespace at the moment of checking; keys of other types than Ed25519 sign nothing here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from fnmatch import fnmatchcase

from sealbench.crypto.signature import KEY_TYPE, NAMESPACE, PublicKey
from sealbench.errors import FormatError

_OPTION = r'[A-Za-z-]+(?:="[^"]*")?'
_BARE = re.compile(r"(?P<type>[a-z0-9@.-]+)\s+(?P<blob>AAAA\S+)(?:\s+(?P<whose>.*))?")
_SIGNER = re.compile(
    rf"(?P<whose>\"[^\"]+\"|\S+)\s+(?:(?P<options>{_OPTION}(?:,{_OPTION})*)\s+)?"
    r"(?P<type>(?:ssh|ecdsa|sk)-[a-z0-9@.-]+)\s+(?P<blob>AAAA\S+)(?:\s+.*)?"
)
_ONE_OPTION = re.compile(r'([A-Za-z-]+)(?:="([^"]*)")?')
_TIMES = {8: "%Y%m%d", 12: "%Y%m%d%H%M", 14: "%Y%m%d%H%M%S"}


@dataclass(frozen=True)
class NamedKey:
    """A key, whose the file says it is (may be empty), and where that stands."""

    key: PublicKey
    whose: str
    source: str


def read_signers(data: bytes, name: str, at: datetime, *, principals: bool = False) -> list[NamedKey]:
    """The keys of a file that may sign here, at least one.

    Parameters
    ----------
    at : the moment of checking (aware), for `valid-after` and `valid-before`.
    principals : every line must name whose its key is, as allowed_signers files do.

    Raises
    ------
    FormatError : a line is no key, or none of the keys may sign here; says why.
    """
    try:
        lines = data.decode("utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise FormatError(f"{name}: not a file of public keys") from error
    keys, unused = [], []
    for number, line in enumerate((one.strip() for one in lines), start=1):
        if not line or line.startswith("#"):
            continue
        where = f"{name} line {number}"
        bare = None if principals else _BARE.fullmatch(line)
        found = bare or _SIGNER.fullmatch(line)
        if found is None:
            raise FormatError(f"{where}: neither a public key nor a line of an allowed_signers file")
        reason = _unusable(found["type"], None if bare else found["options"], at, where)
        if reason:
            unused.append(f"line {number} {reason}")
        else:
            key = PublicKey.from_openssh(f"{found['type']} {found['blob']}", where)
            keys.append(NamedKey(key, (found["whose"] or "").strip('"'), where))
    if not keys:
        reasons = "; ".join(unused) or "it is empty"
        raise FormatError(f"{name}: holds no ssh-ed25519 public key that may sign here: {reasons}")
    return keys


def _unusable(key_type: str, options: str | None, at: datetime, where: str) -> str:
    """Why a line's key may not sign here and now; empty if it may."""
    if key_type != KEY_TYPE.decode():
        return f"is of type {key_type}"
    for spelled, value in _ONE_OPTION.findall(options or ""):
        option = spelled.lower()
        if option == "namespaces":
            if not any(fnmatchcase(NAMESPACE, pattern) for pattern in value.split(",")):
                return f"is for the namespaces {value}, not for {NAMESPACE}"
        elif option == "valid-after":
            if at < _moment(value, where):
                return f"is valid only after {value}"
        elif option == "valid-before":
            if at >= _moment(value, where):
                return f"was valid only before {value}"
        else:
            return f"has the option {option}, which is not followed here"
    return ""


def _moment(text: str, where: str) -> datetime:
    """A time as ssh-keygen reads it: local unless it ends in Z."""
    digits, zulu = (text[:-1], True) if text.endswith("Z") else (text, False)
    try:
        naive = datetime.strptime(digits, _TIMES[len(digits)])  # noqa: DTZ007  # made aware below
    except (KeyError, ValueError) as error:
        raise FormatError(f"{where}: {text!r} is no time of the form YYYYMMDD[HHMM[SS]][Z]") from error
    return naive.replace(tzinfo=UTC) if zulu else naive.astimezone()
