"""The page of bench in a real browser: asks for nothing, sorts, fits, is dark in the dark."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from serialpack.bench.reports.html import html
from serialpack.bench.reports.row_columns import by_size, is_known
from serialpack.bench.results import Results
from serialpack.cli.reporting.profile import write_profile
from tests.bench.found import (
    file_results,
    hostile_results,
    object_results,
    sweep_results,
)
from tests.cli.reporting.test_stage_times import CREW

webdriver = pytest.importorskip("selenium.webdriver")

BROWSER, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")

pytestmark = [
    pytest.mark.skipif(
        not (BROWSER and DRIVER),
        reason="no chromium and chromedriver: apt-get install chromium chromium-driver",
    ),
    # One browser serves them all.
    pytest.mark.xdist_group("browser"),
]

#: Without a screen, and without what a browser looks up by itself.
OPTIONS = (
    "--headless", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip

WIDTHS = [360, 1280]

#: Each kind of page.
PAGES: dict[str, Callable[[], Results]] = {
    "file": file_results,
    "object": object_results,
    "sweep": sweep_results,
    "hostile": hostile_results,
}


class Browser:
    """A page of ``PAGES`` in the browser: what was asked of it, and what it says."""

    def __init__(self, driver: Any, folder: Path) -> None:
        self.driver = driver
        self._folder = folder

    def open(self, name: str, *, width: int = 1280, dark: bool = False) -> None:
        path = self._folder / f"{name}.html"
        if not path.exists():
            path.write_text(html(PAGES[name]()), "utf-8")
        self._command(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=740,
            deviceScaleFactor=1,
            mobile=width < 500,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._command("Emulation.setEmulatedMedia", features=[scheme])
        self.driver.get(path.as_uri())

    def run(self, script: str, *args: Any) -> Any:
        return self.driver.execute_script(script, *args)

    def find(self, selector: str) -> list[Any]:
        found: list[Any] = self.driver.find_elements("css selector", selector)
        return found

    def column(self, number: int) -> list[str]:
        """What a column of the table says, row by row."""
        found: list[str] = self.run(
            "return [...document.querySelector('table.rows').tBodies[0].rows]"
            ".map(row => row.cells[arguments[0]].textContent)",
            number,
        )
        return found

    def _command(self, name: str, **options: Any) -> None:
        self.driver.execute_cdp_cmd(name, options)


@pytest.fixture(scope="session")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for option in OPTIONS:
        options.add_argument(option)
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        # Its sandbox does not work for root.
        options.add_argument("--no-sandbox")
    options.add_argument(f"--user-data-dir={tmp_path_factory.mktemp('profile')}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    found = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    yield found
    found.quit()


@pytest.fixture(scope="session")
def browser(driver: Any, tmp_path_factory: pytest.TempPathFactory) -> Browser:
    return Browser(driver, tmp_path_factory.mktemp("pages"))


@pytest.mark.parametrize("name", PAGES)
def test_page_asks_for_nothing_and_complains_of_nothing(browser: Browser, name: str) -> None:
    browser.open(name)
    assert browser.driver.get_log("browser") == []
    assert browser.run("return performance.getEntriesByType('resource').map(e => e.name)") == []
    text = html(PAGES[name]())
    policy = browser.find("meta[http-equiv=Content-Security-Policy]")[0]
    assert policy.get_attribute("content").startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy.get_attribute("content")
    assert "http://" not in text.replace(policy.get_attribute("content"), "")
    assert "https://" not in text


def test_policy_holds_off_what_is_put_in(browser: Browser) -> None:
    """That nothing was asked for proves little unless asking is stopped."""
    browser.open("file")
    browser.run(
        "window.owned = false; const s = document.createElement('script');"
        "s.textContent = 'window.owned = true'; document.body.append(s);"
    )
    assert browser.run("return window.owned") is False
    refused = browser.driver.execute_async_script(
        "fetch('http://127.0.0.1:9/').then(() => 0, () => 0);"
        "document.addEventListener('securitypolicyviolation',"
        " e => arguments[0](e.effectiveDirective))"
    )
    assert refused == "connect-src"
    browser.driver.get_log("browser")


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", PAGES)
def test_page_is_no_wider_than_the_screen(browser: Browser, name: str, width: int) -> None:
    browser.open(name, width=width)
    assert browser.run("return innerWidth") == width
    inside, needed = browser.run(
        "const e = document.documentElement; return [e.clientWidth, e.scrollWidth]"
    )
    assert needed <= inside <= width
    outside = browser.run(
        "return [...document.querySelectorAll('h1, p, pre, figure, .card, .scroll, svg text')]"
        ".filter(e => e.getBoundingClientRect().right > innerWidth + 1"
        " || e.getBoundingClientRect().left < -1)"
        ".map(e => e.textContent)"
    )
    assert outside == []


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("name", PAGES)
def test_page_is_dark_in_the_dark(browser: Browser, name: str, dark: bool) -> None:
    """All text has a contrast of 4.5 or more, as WCAG 2.2 asks for (1.4.3)."""
    browser.open(name, dark=dark)
    back = browser.run("return getComputedStyle(document.body).backgroundColor")
    assert (luminance(back) < 0.05) == dark
    pairs = browser.run(
        """
        const solid = (e) => {
          for (; e; e = e.parentElement) {
            const colour = getComputedStyle(e).backgroundColor;
            if (!colour.endsWith(", 0)")) return colour;
          }
        };
        return [...document.querySelectorAll("h1, h2, h3, p, code, th, td, li, button, small, text,"
          + " h3 span, .tag, figcaption")].map(e => {
            const style = getComputedStyle(e);
            return [e.tagName === "text" ? style.fill : style.color, solid(e)];
        });
        """
    )
    for front, behind in {tuple(pair) for pair in pairs}:
        low, high = sorted((luminance(front), luminance(behind)))
        assert (high + 0.05) / (low + 0.05) >= 4.5, (front, behind)


def luminance(colour: str) -> float:
    """Relative luminance of ``rgb(r, g, b)``, as WCAG defines it: 0 is black, 1 is white."""
    red, green, blue = (int(v) / 255 for v in colour.partition("(")[2].rstrip(")").split(",")[:3])
    linear = [
        v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in (red, green, blue)
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_headers_sort(browser: Browser) -> None:
    browser.open("file")
    found = by_size(file_results().rows)
    heads = browser.find("table.rows thead button")
    titles = [head.text.split("\n")[0] for head in heads]
    assert titles[:4] == ["chain", "size", "ratio", "pack"]

    def sorted_by() -> list[tuple[int, str]]:
        found = [
            (i, th.get_attribute("aria-sort")) for i, th in enumerate(browser.find("thead th"))
        ]
        return [(i, order) for i, order in found if order]

    assert chains(browser) == [row.chain for row in found]
    assert sorted_by() == [(1, "ascending")]
    heads[1].click()
    assert sorted_by() == [(1, "descending")]
    sizes = [int(text.strip("~").replace(",", "")) for text in browser.column(1)]
    assert sizes == sorted(sizes, reverse=True)
    # Speeds begin with the fastest.
    heads[titles.index("pack")].click()
    assert sorted_by() == [(3, "descending")]
    fastest = sorted(found, key=lambda row: -(row.pack_speed or 0))
    assert chains(browser)[0] == fastest[0].chain
    assert len(set(chains(browser))) == len(found)
    # With the keyboard too, and by name.
    heads[0].send_keys("\ue007")
    assert sorted_by() == [(0, "ascending")]
    assert chains(browser) == sorted(chains(browser))


def chains(browser: Browser) -> list[str]:
    """The chains of the table, row by row, without what stands beside them."""
    found: list[str] = browser.run(
        "return [...document.querySelectorAll('table.rows tbody:first-of-type th')]"
        ".map(th => th.dataset.value)"
    )
    return found


def test_unknown_values_are_last_both_ways(browser: Browser) -> None:
    browser.open("file")
    browser.run(
        "const row = document.querySelector('table.rows tbody tr');"
        "row.cells[9].dataset.value = ''; row.id = 'empty';"
    )
    for order in ("ascending", "descending"):
        browser.find("table.rows thead button")[9].click()
        assert browser.find("thead th")[9].get_attribute("aria-sort") == order
        rows = browser.find("table.rows tbody:first-of-type tr")
        assert rows[-1].get_attribute("id") == "empty"


@pytest.mark.parametrize("name", ["file", "object", "hostile"])
def test_picture_has_a_point_a_row(browser: Browser, name: str) -> None:
    browser.open(name)
    found = PAGES[name]()
    known = [row for row in found.rows if is_known(row)]
    assert len(browser.find("svg.chart circle.point")) == len(known)
    assert len(browser.find("svg.chart circle.front")) == sum(row.front for row in known)
    assert len(browser.find("svg.chart .staircase")) == 1
    labels = {e.get_attribute("aria-label").split("\n")[0] for e in browser.find("circle.point")}
    assert labels == {row.chain for row in known}


def test_picture_of_a_sweep_has_a_line_a_chain(browser: Browser) -> None:
    browser.open("sweep")
    assert len(browser.find("svg.chart")) == 7
    for chart in browser.find("svg.chart"):
        assert len(chart.find_elements("css selector", ".curve")) == 5
        assert len(chart.find_elements("css selector", "circle")) == 100


@pytest.mark.parametrize("width", WIDTHS)
def test_points_say_what_they_are(browser: Browser, width: int) -> None:
    """Under the pointer or the finger, and with the arrow keys."""
    browser.open("file", width=width)
    tip, point = "#tip:not([hidden])", browser.find("circle.front")[-1]
    assert browser.find(tip) == []
    browser.run("arguments[0].scrollIntoView({block: 'center'})", point)
    webdriver.ActionChains(browser.driver).move_to_element(point).perform()
    (shown,) = browser.find(tip)
    assert shown.text.startswith("raw+none\n25,432,110 bytes, ratio 1.00\npacks 2,826 MB/s")
    box = shown.rect
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
    (stop,) = browser.find("circle[tabindex='0']")
    browser.run("arguments[0].focus()", stop)
    first = browser.find(tip)[0].text
    browser.driver.switch_to.active_element.send_keys("\ue014")
    assert browser.find(tip)[0].text != first
    assert len(browser.find("circle[tabindex='0']")) == 1
    browser.driver.switch_to.active_element.send_keys("\ue00c")
    assert browser.find(tip) == []


def test_commands_are_copied_whole(browser: Browser) -> None:
    browser.open("file", width=360)
    button = browser.find("button.copy")[0]
    browser.run("document.addEventListener('copy', () => window.copied = String(getSelection()))")
    browser.run(
        "Object.defineProperty(navigator, 'clipboard',"
        " {value: {writeText: async text => { window.copied = text; }}})"
    )
    button.click()
    assert browser.run("return window.copied") == file_results().recommendations[0].command
    assert button.text == "Copied"
    # Where a page may not write to it, the command is selected instead.
    browser.run("Object.defineProperty(Navigator.prototype, 'clipboard', {value: undefined})")
    browser.find("button.copy")[1].click()
    assert browser.find("button.copy")[1].text in ("Copied", "Selected")


def test_page_holds_the_results(browser: Browser) -> None:
    """As JSON, to be saved and compared; whatever stands in them."""
    for name, kind in PAGES.items():
        browser.open(name)
        held = browser.run("return JSON.parse(document.getElementById('results').textContent)")
        assert held == kind().to_json()


def test_hostile_names_are_text(browser: Browser) -> None:
    browser.open("hostile")
    found = hostile_results()
    name = found.source.replace("\x1b", "\\x1b").replace("\u202e", "\\u202e")
    assert browser.driver.title == f"{name} - serialpack bench"
    assert browser.find("h1")[0].text == name
    assert found.notes[0] in [li.text for li in browser.find("ul.remarks li")]
    assert found.rows[0].chain in chains(browser)
    assert browser.find(
        "img, b:not(ul.remarks > li > b), iframe, a, script:not(:last-of-type)"
    ) == [browser.find("#results")[0]]


@pytest.mark.parametrize("name", PAGES)
def test_page_reads_without_scripts(browser: Browser, name: str) -> None:
    """Everything but sorting is in the page itself."""
    browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.open(name)
        assert browser.find("table.rows tbody tr")
        assert browser.find("svg.chart circle")
        assert not any(button.is_displayed() for button in browser.find("button.copy, #save"))
    finally:
        browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


@pytest.mark.parametrize("width", WIDTHS)
def test_profile_shows_blocks_over_workers(driver: Any, tmp_path: Path, width: int) -> None:
    """The page of ``--profile``: its timeline and its flame stand where the seconds are."""
    path = tmp_path / "profile.html"
    write_profile(str(path), [CREW], force=False, taken=set())
    page = Browser(driver, tmp_path)
    page.open("profile", width=width)
    assert driver.get_log("browser") == []
    assert page.run("return performance.getEntriesByType('resource').length") == 0
    assert [b.text for b in page.find(".lane b")] == ["reads", "works", "works", "writes"]
    pieces = page.run(
        "return [...document.querySelectorAll('.lane i')].map(e => [e.dataset.stage,"
        " e.offsetLeft / e.parentNode.offsetWidth, e.offsetWidth / e.parentNode.offsetWidth])"
    )
    wanted = [
        ("read", 0, 0.25), ("serialize", 0.25, 0.375), ("compress", 0.625, 0.125),
        ("serialize", 0.25, 0.25), ("write", 0.75, 0.25),
    ]  # fmt: skip
    assert [stage for stage, *_ in pieces] == [stage for stage, *_ in wanted]
    for (_, left, size), (_, wanted_left, wanted_size) in zip(pieces, wanted, strict=True):
        assert left == pytest.approx(wanted_left, abs=0.02)
        assert size == pytest.approx(wanted_size, abs=0.02)
    rows = [len(row.find_elements("css selector", "i")) for row in page.find(".flame > div")]
    assert rows == [1, 3, 2 + 3 + 2]
    widths = page.run("return [document.documentElement.scrollWidth, innerWidth]")
    assert widths[0] <= widths[1]
