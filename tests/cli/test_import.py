"""A person's own items: sealed, run as a pilot, retired, and verified as what they are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sealbench.crypto import merkle
from sealbench.formats.battery import Battery, BatteryKey, Commitment
from sealbench.publishing.sealing import leaf_hashes, open_battery
from sealbench.store import Workspace
from sealbench.verification.imported import check_imported_order
from sealbench.verification.memo import Memo
from sealbench.verification.policy import Policy
from sealbench.verification.tree import PublicTree
from sealbench.verification.verifier import Verifier
from tests.conftest import Seal

CSV = 'id,prompt,answer,class_label\na,Is 7 prime?,Yes,prime\nb,"Is 8, say, prime?",No,composite\n'
JSONL = "".join(
    json.dumps({"prompt": f"What is {n} + {n}?", "answer": str(2 * n), "class_label": "sum"}) + "\n"
    for n in range(1, 6)
)
YAPBENCH = "prompt,baseline,category\nSay hello.,Hello.,A\nName a colour.,Red.,B\nCount to two.,1 2,B\n"
FILES = {"items.csv": (CSV, 2), "items.jsonl": (JSONL, 5), "yap.csv": (YAPBENCH, 3)}


@pytest.mark.parametrize("name", FILES)
def test_import_run_retire_verify(seal: Seal, tmp_path: Path, name: str) -> None:
    text, count = FILES[name]
    assert seal("init", str(tmp_path), "--network", "regtest").code == 0
    (tmp_path / name).write_text(text)
    made = seal("create", "--import", name, "--name", "own", "--no-stamp", cwd=tmp_path)
    assert made.code == 0, made.err
    assert f"{count} items" in made.out
    workspace = Workspace(tmp_path)
    assert all(
        item.prompt not in workspace.sealed("own").read_text()
        for item in open_battery(workspace, "own").items
    )
    ran = seal("run", "own", "--exploratory", "--cap", "50", "--endpoint", "reference/constant", "--no-stamp")
    assert ran.code == 0, ran.err
    assert seal("retire", "own", "--confirm", "own", "--no-stamp").code == 0
    result = Verifier(Policy(network="regtest", accept_unanchored=True)).verify(
        PublicTree.from_folder(tmp_path)
    )
    assert result.verdict == "ok_except_time", result.failures
    assert "items come from the ciphertext" in result.step(6)[0].detail
    assert "asserted, not computed" in result.step(7)[0].detail


def test_rows_placed_by_hand_are_found(seal: Seal, tmp_path: Path) -> None:
    seal("init", str(tmp_path), "--network", "regtest")
    (tmp_path / "items.jsonl").write_text(JSONL)
    seal("create", "--import", "items.jsonl", "--name", "own", "--no-stamp", cwd=tmp_path)
    workspace = Workspace(tmp_path)
    opened = open_battery(workspace, "own")
    commitment, secret = opened.commitment, opened.secret
    first, second, *rest = opened.items
    honest = Battery(name="own", items=opened.items).to_bytes()
    check_imported_order(Memo(), commitment, secret, honest)
    from sealbench.errors import CertificateFailed

    for items in (
        (first.model_copy(update={"instance": second.instance}), second, *rest),
        (first.model_copy(update={"id": second.id}), second, *rest),
        (second, first, *rest),
        (second, *rest),
    ):
        changed = Battery(name="own", items=items).to_bytes()
        # Even with a root and an envelope that fit, K gives another order.
        assert merkle.root(leaf_hashes(secret, [item.to_bytes() for item in items])).hex() != commitment.root
        with pytest.raises(CertificateFailed):
            check_imported_order(Memo(), commitment, secret, changed)
    assert isinstance(commitment, Commitment)
    assert BatteryKey.from_bytes(workspace.battery_key("own").read_bytes()).secret_bytes() == secret
