"""Headers from a Bitcoin Core node (or a fork with the same interface) over JSON-RPC.

Login by cookie file or by user and password. The node is the user's own, so no proxy is used, and a
plain http address is allowed. Credentials never appear in an error.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

from sealbench.errors import ConfigurationError, NetworkError
from sealbench.http import new_client, printable
from sealbench.timestamps.asking import ask

TIME_LIMIT = 30.0  # seconds per request
_BATCH = 500  # calls in one request


class CoreNode:
    """A node's RPC at `url` (without credentials), for example http://127.0.0.1:8332.

    Give `cookie` (the node's `.cookie` file) or `user` and `password`. `client` is for tests; by
    default one without proxies is made. Close with `aclose`.
    """

    bulk = True

    def __init__(
        self,
        url: str,
        *,
        cookie: Path | None = None,
        user: str = "",
        password: str = "",
        client: httpx.AsyncClient | None = None,
        time_limit: float = TIME_LIMIT,
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.username is not None:
            raise ConfigurationError(
                "the node's address must be http://HOST:PORT, without user or password in it",
                hint="set core_cookie, or core_user and core_password_env (docs/configuration.md)",
            )
        self.name = f"node {url.rstrip('/')}"
        self._url = url
        self._cookie = cookie
        self._login = f"{user}:{password}" if user else ""
        # A transport of its own: httpx would otherwise take the proxy from the environment.
        self._client = client or new_client(transport=httpx.AsyncHTTPTransport())
        self._time_limit = time_limit

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def header(self, height: int) -> bytes:
        """The 80 bytes of the header at a height; NetworkError for anything else."""
        return (await self.headers(height, 1))[0]

    async def headers(self, first: int, count: int) -> list[bytes]:
        """`count` consecutive headers, two requests per 500."""
        result: list[bytes] = []
        for start in range(first, first + count, _BATCH):
            heights = range(start, min(start + _BATCH, first + count))
            hashes = await self._call([("getblockhash", [height]) for height in heights])
            texts = await self._call([("getblockheader", [block, False]) for block in hashes])
            result += [self._raw(text) for text in texts]
        return result

    async def tip(self) -> int:
        """The node's newest height."""
        (height,) = await self._call([("getblockcount", [])])
        if not isinstance(height, int) or height < 0:
            raise NetworkError(f"{self.name}: not a height")
        return height

    def _raw(self, text: Any) -> bytes:
        try:
            raw = bytes.fromhex(text)
        except (TypeError, ValueError) as error:
            raise NetworkError(f"{self.name}: sent something that is not a header") from error
        if len(raw) != 80:
            raise NetworkError(f"{self.name}: sent a header of {len(raw)} bytes, not 80")
        return raw

    def _authorization(self) -> str:
        login = self._login
        if self._cookie is not None:
            try:
                # Read each time: a node writes a new cookie whenever it starts.
                login = self._cookie.read_text("utf-8").strip()
            except (OSError, UnicodeDecodeError) as error:
                raise NetworkError(
                    f"the node's cookie file {self._cookie} cannot be read",
                    hint="is the node running, and may this user read its data directory?",
                ) from error
        return "Basic " + base64.b64encode(login.encode("utf-8")).decode("ascii")

    async def _call(self, calls: list[tuple[str, list[Any]]]) -> list[Any]:
        """The results of several calls in one request, in order; NetworkError if any fails."""
        body = [
            {"jsonrpc": "1.0", "id": index, "method": method, "params": params}
            for index, (method, params) in enumerate(calls)
        ]
        answer = await ask(
            self._client,
            "POST",
            self._url,
            limit=1000 + 500 * len(calls),
            timeout=self._time_limit,
            content=json.dumps(body).encode("ascii"),
            headers={"authorization": self._authorization(), "content-type": "application/json"},
        )
        if answer.status in {401, 403}:
            raise NetworkError(
                f"{self.name}: refused the login ({answer.status})",
                hint="check core_cookie, or core_user and the variable that core_password_env names",
            )
        return self._results(answer.body, len(calls))

    def _results(self, body: bytes, count: int) -> list[Any]:
        try:
            by_id = {entry["id"]: entry for entry in json.loads(body)}
            entries = [by_id[index] for index in range(count)]
            errors = [entry["error"] for entry in entries if entry.get("error")]
            results = [entry.get("result") for entry in entries]
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise NetworkError(f"{self.name}: not the answer of a node ({type(error).__name__})") from error
        if errors:
            message = errors[0].get("message", "") if isinstance(errors[0], dict) else ""
            raise NetworkError(f"{self.name}: {printable(str(message)) or 'refused the call'}")
        return results
