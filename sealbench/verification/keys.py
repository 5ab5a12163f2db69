"""Which key is in force at which registry line: the first key, rotations, revocations.

The first line names the author's key. A later `key` event with a `public_key` puts that key in force
from the next line on; with `revoked`, the named key is in force no longer. The line of a rotation is
itself the old key's act: the checkpoint of exactly that size must carry the old key's signature.
"""

from __future__ import annotations

from dataclasses import dataclass

from sealbench.crypto.signature import PublicKey
from sealbench.errors import FormatError
from sealbench.formats.registry import Registry


@dataclass(frozen=True)
class KeyPeriod:
    """One key, the line that brought it in, and the line that revoked it (None while it was not)."""

    key: PublicKey
    first: int
    revoked: int | None = None


class KeyRing:
    """All keys of one registry, oldest first."""

    def __init__(self, periods: tuple[KeyPeriod, ...]) -> None:
        self.periods = periods

    @classmethod
    def of(cls, registry: Registry) -> KeyRing:
        """Read the key events; FormatError names a line that holds no key."""
        periods: list[KeyPeriod] = []
        for line in registry.events("key"):
            name = f"commitments/registry.jsonl line {line.seq + 1}"
            revoked = line.detail.get("revoked")
            if revoked is not None:
                periods = [
                    KeyPeriod(one.key, one.first, line.seq) if one.key.fingerprint == revoked else one
                    for one in periods
                ]
            if "public_key" not in line.detail and revoked is None:
                raise FormatError(f"{name}: a key event without a key")
            if "public_key" in line.detail:
                key = PublicKey.from_openssh(str(line.detail["public_key"]), name)
                if line.subject != key.fingerprint:
                    raise FormatError(f"{name}: its subject is not the fingerprint of its key")
                periods.append(KeyPeriod(key, line.seq))
        return cls(tuple(periods))

    def in_force(self, seq: int) -> PublicKey | None:
        """The key whose signature counts at line `seq` (from 0); None if it is revoked."""
        found = [period for period in self.periods if period.first < max(seq, 1)]
        if not found or (found[-1].revoked is not None and found[-1].revoked < seq):
            return None
        return found[-1].key

    @property
    def rotations(self) -> tuple[KeyPeriod, ...]:
        """Every key but the first."""
        return self.periods[1:]

    @property
    def allowed_signers(self) -> bytes:
        """The file `commitments/allowed_signers` of these keys."""
        return "".join(period.key.allowed_signer + "\n" for period in self.periods).encode()
