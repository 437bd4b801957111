// Sorts and filters tables. A page is whole without it: everything that it moves or hides is in the page already.
"use strict";
(() => {
  const announcement = document.getElementById("announcement");
  const say = (text) => { announcement.textContent = text; };

  // A cell's number, or its text where it has none. What has no number comes last either way.
  const keyOf = (cell) => {
    const key = cell.dataset.key;
    if (key === undefined) return cell.textContent.trim();
    return key === "" ? null : Number(key);
  };

  const compare = (one, two) => {
    if (typeof one === "number" && typeof two === "number") return one - two;
    return String(one).localeCompare(String(two), "en", { numeric: true });
  };

  const sort = (table, column, heading) => {
    const isDescending = heading.getAttribute("aria-sort") === "ascending"
      || (!heading.hasAttribute("aria-sort") && heading.classList.contains("number"));
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", isDescending ? "descending" : "ascending");
    const body = table.tBodies[0];
    const rows = Array.from(body.rows, (row) => [keyOf(row.cells[column]), row]);
    rows.sort(([one], [two]) => {
      if (one === null || two === null) return (one === null) - (two === null);
      return isDescending ? compare(two, one) : compare(one, two);
    });
    body.append(...rows.map(([, row]) => row));
    say(`sorted by ${heading.textContent.trim()}, ${isDescending ? "largest" : "smallest"} first`);
  };

  for (const table of document.querySelectorAll("table.sortable")) {
    Array.from(table.tHead.rows[0].cells).forEach((heading, column) => {
      if (heading.classList.contains("picture")) return;
      const button = document.createElement("button");
      button.type = "button";
      button.append(...heading.childNodes);
      heading.append(button);
      button.addEventListener("click", () => sort(table, column, heading));
    });
  }

  for (const input of document.querySelectorAll("input[data-filters]")) {
    const rows = Array.from(document.getElementById(input.dataset.filters).tBodies[0].rows);
    const texts = rows.map((row) => row.textContent.toLowerCase());
    const count = input.closest(".filter").querySelector(".count");
    const filter = () => {
      const words = input.value.toLowerCase().split(/\s+/).filter((word) => word !== "");
      let shown = 0;
      rows.forEach((row, at) => {
        row.hidden = !words.every((word) => texts[at].includes(word));
        shown += row.hidden ? 0 : 1;
      });
      count.textContent = `${shown} of ${rows.length} rows`;
    };
    filter();
    input.addEventListener("input", () => { filter(); say(count.textContent); });
    input.closest(".filter").hidden = false;
  }

  // What a link leads to may be folded up.
  const unfold = () => {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    if (target) for (const inner of target.children) if (inner.tagName === "DETAILS") inner.open = true;
    if (target) target.scrollIntoView();
  };
  addEventListener("hashchange", unfold);
  unfold();

  // On paper nothing unfolds.
  addEventListener("beforeprint", () => {
    for (const details of document.querySelectorAll("figure details, details.attempt, details.folded, #reading details")) details.open = true;
  });

  // That a table or figure goes on beside the window is seen by a shade at its edge, and said.
  const hint = () => {
    for (const frame of document.querySelectorAll(".hint + .scroll"))
      frame.previousElementSibling.hidden = frame.scrollWidth <= frame.clientWidth + 1;
  };
  addEventListener("resize", hint);
  addEventListener("toggle", hint, true);
  hint();
})();
