"""Schemas that tests of several files share."""

from __future__ import annotations

from typing import Any

import pytest

from tests.serializers.shop import COMMON, SHOP


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Options that name the schema, whose import stands beside it."""
    folder = tmp_path_factory.mktemp("shop")
    (folder / "shop.proto").write_text(SHOP)
    (folder / "common.proto").write_text(COMMON)
    return {"schema": str(folder / "shop.proto"), "message": "shop.Order"}
