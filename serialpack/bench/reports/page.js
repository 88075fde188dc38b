"use strict";
(() => {
  // --- the table ---------------------------------------------------------------------------

  const table = document.querySelector("table.rows");

  // Rows without a value stay at the end, whichever the direction.
  const compare = (a, b, sign) => {
    if (a === "" || b === "") return (a === "") - (b === "");
    const [x, y] = [Number(a), Number(b)];
    const order = Number.isNaN(x) || Number.isNaN(y) ? a.localeCompare(b, "en") : x - y;
    return sign * order;
  };

  const sort = (head) => {
    const before = head.getAttribute("aria-sort");
    const down = before ? before === "ascending" : head.dataset.first === "descending";
    table.querySelectorAll("th[aria-sort]").forEach((th) => th.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const body = table.tBodies[0];
    const value = (row) => row.cells[head.cellIndex].dataset.value;
    const rows = [...body.rows];
    rows.sort((a, b) => compare(value(a), value(b), down ? -1 : 1));
    body.append(...rows);
  };

  if (table) {
    table.tHead.addEventListener("click", (event) => {
      const head = event.target.closest("th");
      if (head) sort(head);
    });
  }

  // --- the pictures ------------------------------------------------------------------------

  const NEAR = 28; // pixels from a point within which it is meant
  const tip = document.createElement("div");
  tip.id = "tip";
  tip.hidden = true;
  tip.setAttribute("role", "status");
  let told = null;

  const tell = (point) => {
    if (point === told) return;
    if (told) told.classList.remove("told");
    told = point;
    tip.hidden = !point;
    if (!point) return;
    point.classList.add("told");
    const figure = point.closest("figure");
    figure.append(tip);
    tip.textContent = point.getAttribute("aria-label");
    const [box, at] = [figure.getBoundingClientRect(), point.getBoundingClientRect()];
    const left = at.left - box.left + at.width / 2 - tip.offsetWidth / 2;
    const room = box.width - tip.offsetWidth;
    const above = at.top - box.top - tip.offsetHeight - 8;
    tip.style.left = `${Math.max(0, Math.min(left, room))}px`;
    tip.style.top = `${above >= 0 ? above : at.bottom - box.top + 8}px`;
  };

  const nearest = (points, event) => {
    let [found, least] = [null, NEAR];
    for (const point of points) {
      const box = point.getBoundingClientRect();
      const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
      const away = Math.hypot(event.clientX - x, event.clientY - y);
      if (away < least) [found, least] = [point, away];
    }
    return found;
  };

  for (const chart of document.querySelectorAll("svg.chart")) {
    const points = [...chart.querySelectorAll("[aria-label]")];
    chart.addEventListener("pointermove", (event) => tell(nearest(points, event)));
    chart.addEventListener("pointerdown", (event) => tell(nearest(points, event)));
    chart.addEventListener("pointerleave", (event) => {
      const focused = points.find((point) => point === document.activeElement);
      if (event.pointerType === "mouse") tell(focused || null);
    });
    chart.addEventListener("focusin", (event) => tell(event.target));
    chart.addEventListener("focusout", () => tell(null));
    // One stop of the Tab key a picture; the arrows go from point to point.
    const go = (from, to) => {
      from.setAttribute("tabindex", "-1");
      to.setAttribute("tabindex", "0");
      to.focus();
    };
    chart.addEventListener("keydown", (event) => {
      const at = points.indexOf(event.target);
      const steps = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 };
      const target = points[at + (steps[event.key] || 0)];
      if (event.key === "Escape") tell(null);
      if (at < 0 || !(event.key in steps)) return;
      event.preventDefault();
      if (target) go(points[at], target);
    });
  }

  // --- to take away ------------------------------------------------------------------------

  const select = (element) => {
    const range = document.createRange();
    range.selectNodeContents(element);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
  };

  for (const button of document.querySelectorAll("button.copy")) {
    button.hidden = false;
    const text = button.parentElement.querySelector("code");
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(text.textContent);
        button.textContent = "Copied";
      } catch {
        // A page from a file may not be allowed to: then it is marked, to be copied by hand.
        select(text);
        button.textContent = document.execCommand("copy") ? "Copied" : "Selected";
      }
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
  }

  const save = document.getElementById("save");
  save.hidden = false;
  save.addEventListener("click", () => {
    const text = document.getElementById("results").textContent;
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
    link.download = "bench.json";
    link.click();
    URL.revokeObjectURL(link.href);
  });
})();
