"""Every error this package raises on purpose, and the exit code each one means.

    SealError
     ├─ UsageError           2   the call is wrong: a flag, a name, a value
     │   └─ ConfigurationError  2   sealbench.toml, a plan or the user's configuration is wrong
     ├─ CheckFailed          1   it was checked, and it is false
     │   ├─ FormatError         1   a file does not parse, or is not its own re-encoding
     │   ├─ SignatureFailed     1   a signature does not verify
     │   ├─ ProofFailed         1   a timestamp proof or a block header is wrong
     │   └─ CertificateFailed   1   a certificate does not show what it claims
     ├─ NotYet               3   true later perhaps: not anchored, not finished
     ├─ CouldNotCheck        4   something needed for the check is not here
     │   ├─ NetworkError        4   a calendar, an explorer or an endpoint does not answer
     │   └─ MissingKey          4   a secret that this machine does not hold
     └─ InternalError       70   a bug in this package

Each carries `hint`, the exact next command or change to try. A file that is missing or does not
parse is exit code 1 (see the table in `seal --help`).
"""

from __future__ import annotations


class SealError(Exception):
    """Base of all errors of this package.

    Parameters
    ----------
    message : what is wrong, one sentence, with the name of the thing it is about.
    hint : the next command or change to try; shown on a line of its own.
    """

    exit_code: int = 70

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(SealError):
    """The call itself is wrong."""

    exit_code = 2


class ConfigurationError(UsageError):
    """A configuration file or a plan is wrong."""


class CheckFailed(SealError):
    """It was checked, and it is false."""

    exit_code = 1


class FormatError(CheckFailed):
    """A file does not parse, has unknown fields, or is not its own re-encoding."""


class SignatureFailed(CheckFailed):
    """A signature does not verify, or is by a key that is not in force."""


class ProofFailed(CheckFailed):
    """A timestamp proof, a block header or an inclusion proof is wrong."""


class CertificateFailed(CheckFailed):
    """A ground-truth certificate does not show what it claims."""


class NotYet(SealError):
    """Not false, but not there yet: a pending attestation, an unfinished run."""

    exit_code = 3


class CouldNotCheck(SealError):
    """Something needed for the check is not here."""

    exit_code = 4


class NetworkError(CouldNotCheck):
    """A calendar, an explorer or an endpoint does not answer as it should."""


class MissingKey(CouldNotCheck):
    """A secret that this machine does not hold."""


class InternalError(SealError):
    """A bug in this package; the message says where to report it."""

    exit_code = 70
