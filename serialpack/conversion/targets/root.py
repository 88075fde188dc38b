"""Puts records into one root, for formats of which a file is one document with a root.

XML has one root element (``in_one_root``), TOML one map (``in_one_map``). What is that already
stays; anything else becomes ``root`` or ``root.item``, which is told.
"""

from __future__ import annotations

from typing import Any

from serialpack.conversion.losses.losses import Losses
from serialpack.conversion.losses.rules import ROOT, TABLES
from serialpack.conversion.plan import ConversionPlan
from serialpack.formats.xml.content import TEXT
from serialpack.values.kinds import Loss
from serialpack.values.structure import Structure

#: The element that is put around what has no one root, and those of a list that has no name: in
#: TOML the key of such a list.
ROOT_NAME, ITEM_NAME = "root", "item"


def in_one_root(
    records: list[Any], structure: Structure, plan: ConversionPlan, losses: Losses
) -> tuple[dict[str, Any], str]:
    """The document that ``records`` are, with one root element; and the path of what they are in
    it, empty where nothing was put around them, or ``--at`` takes none. ValueRefusedError where
    that is not allowed."""
    one = len(records) == 1 and not _are_rows(plan)
    if one and type(records[0]) is dict and len(records[0]) == 1:
        ((key, inner),) = records[0].items()
        if key == TEXT:
            records = [inner]
        elif type(inner) is not list and key[:1] != "@":
            return records[0], ""
    several = structure == Structure.SEQUENCE or len(records) != 1
    document: Any = records if several else records[0]
    is_list = type(document) is list
    path = f"{ROOT_NAME}.{ITEM_NAME}" if is_list else ROOT_NAME
    _tell(f"<{path}>", plan, losses, is_list=is_list)
    is_taken = is_list or (type(document) is dict and bool(document))
    if is_list:
        document = {ITEM_NAME: document} if document else None
    return {ROOT_NAME: document}, path if is_taken else ""


def in_one_map(
    records: list[Any], plan: ConversionPlan, losses: Losses
) -> tuple[dict[str, Any], str]:
    """As ``in_one_root``, with a map that has one key."""
    one = len(records) == 1 and not _are_rows(plan)
    document: Any = records[0] if one else records
    if type(document) is dict:
        return document, ""
    is_list = type(document) is list
    _tell(f"of the key {ITEM_NAME}", plan, losses, is_list=is_list)
    return {ITEM_NAME: document}, ITEM_NAME if is_list else ""


def _are_rows(plan: ConversionPlan) -> bool:
    return plan.is_text_table or plan.source in TABLES


def _tell(became: str, plan: ConversionPlan, losses: Losses, *, is_list: bool) -> None:
    losses.merge([Loss(ROOT, 1, 0, "$", "a list" if is_list else "the document", became)])
    losses.check_carried(plan.target)
