"""Write the SHA-256 of the stand-alone verifier into the README: `make docs`. A test compares."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
VERIFIER = ROOT / "sealbench" / "standalone" / "verify.py"
_LINE = re.compile(r"^    [0-9a-f]{64}  sealbench/standalone/verify\.py$", re.MULTILINE)


def readme() -> str:
    """The README with the hash that `sha256sum` prints today."""
    digest = hashlib.sha256(VERIFIER.read_bytes()).hexdigest()
    text, found = _LINE.subn(
        f"    {digest}  sealbench/standalone/verify.py", README.read_text(encoding="utf-8")
    )
    if found != 1:
        raise LookupError(f"README.md names the verifier's hash {found} times, not once")
    return text


if __name__ == "__main__":
    README.write_text(readme(), encoding="utf-8")
