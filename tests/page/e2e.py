#!/usr/bin/env python3
"""The page in a real browser: start a crawl, watch it, steer it, search it, open an archived copy, stop it.

    LARM_CHROMIUM=/usr/bin/chromium e2e.py 'http://127.0.0.1:7878/?token=T' http://127.0.0.1:8080/ SHOTS [WORD]

Takes the link that `larm serve` prints, a site to crawl that keeps a crawler busy for a minute, a directory for
screenshots, and a word that some page of the site has. Things are found as people find them: by role, label and text.
It fails on a message in the console, on an answer that nobody expected, and on any request to another host.
"""

import os
import re
import sys
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import Page, expect, sync_playwright

VIEWS = {
    "Now": "Now",
    "Hosts": "Hosts",
    "URLs": "URLs",
    "Broken": "Broken links",
    "Redirects": "Redirects",
    "Skipped": "Skipped",
    "Search": "Search",
    "Graph": "Graph",
    "Archive": "Archive",
    "Runs": "Runs",
    "Settings": "Settings",
}
LOOKS = {
    "light": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 375, "height": 812}, "color_scheme": "light", "has_touch": True},
}
# Answers that the script provokes: a wrong value in a preview, a graph that is not made yet.
EXPECTED = [(422, "/api/v1/crawls/preview"), (404, "/graph"), (422, "/rules/preview")]
PATIENCE_MS = 60_000
expect.set_options(timeout=30_000)


class Watch:
    """Collects whatever a good page does not do."""

    def __init__(self, origin: str):
        self.origin = origin
        self.wrong: list[str] = []
        self.asked: dict[int, str] = {}

    def over(self, page: Page) -> Page:
        page.on("console", self.heard)
        page.on("pageerror", lambda error: self.wrong.append(f"error in {page.url}: {error}"))
        page.on("request", self.sent)
        page.on("requestfailed", self.blocked)
        page.on("response", self.answered)
        return page

    def heard(self, message):
        where = (message.location or {}).get("url", "")
        is_archived = "/replay/" in where or "/replay/" in message.text
        is_status = message.text.startswith("Failed to load resource")  # judged in `answered`
        if message.type in ("error", "warning") and not is_archived and not is_status:
            self.wrong.append(f"console: {message.text} ({where})")

    def sent(self, request):
        if not request.url.startswith((self.origin + "/", "data:", "about:", "blob:")):
            self.asked[id(request)] = request.url

    def blocked(self, request):
        if request.failure == "csp":  # an archived page wanted it, and did not get it
            self.asked.pop(id(request), None)

    def answered(self, response):
        path = urlsplit(response.url).path
        is_expected = any(response.status == status and path.endswith(end) for status, end in EXPECTED)
        if response.status >= 400 and "/replay/" not in path and not is_expected:
            self.wrong.append(f"{response.status} from {response.url}")

    def verdict(self) -> list[str]:
        return self.wrong + [f"asked another host: {url}" for url in self.asked.values()]


def start_a_crawl(page: Page, site: str):
    """Types a URL, is told what will happen and what is wrong, and presses Start."""
    page.get_by_role("link", name="New crawl").click()
    expect(page.get_by_role("heading", name="New crawl")).to_be_visible()
    page.get_by_label("Start URLs").fill(site)
    start = page.get_by_role("button", name="Start", exact=True)
    expect(start).to_be_enabled()
    expect(page.get_by_role("complementary", name="What will happen")).to_contain_text(urlsplit(site).netloc)

    delay = page.get_by_label("Pause per host")
    delay.fill("soon")
    expect(delay).to_have_attribute("aria-invalid", "true")
    expect(start).to_be_disabled()
    delay.fill("300ms")
    expect(start).to_be_enabled()
    start.click()
    expect(page.get_by_role("heading", name="Now", exact=True)).to_be_visible(timeout=PATIENCE_MS)


def pages_so_far(page: Page) -> int:
    words = page.get_by_text(re.compile(r"pages? so far")).first.inner_text(timeout=PATIENCE_MS)
    return int(re.search(r"([\d,]+) pages? so far", words).group(1).replace(",", ""))


def watch_it(page: Page):
    """The numbers change by themselves, and fetches come in."""
    before = pages_so_far(page)
    for _ in range(60):
        page.wait_for_timeout(500)
        if pages_so_far(page) > before:
            break
    else:
        raise AssertionError(f"still {before} pages after 30 seconds")
    expect(page.get_by_role("list", name="Last fetches").get_by_role("listitem").first).to_be_visible()
    expect(page.get_by_role("img", name=re.compile("Pages a second"))).to_be_visible()


def leave_out(page: Page, pattern: str):
    """A rule is shown before it is made."""
    page.get_by_role("button", name="Leave out a pattern …").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Pattern").fill("(")
    expect(dialog.get_by_label("Pattern")).to_have_attribute("aria-invalid", "true")
    dialog.get_by_label("Pattern").fill(pattern)
    expect(dialog.get_by_text(re.compile("It would leave out|It matches none"))).to_be_visible()
    dialog.get_by_role("button", name="Apply the rule").click()
    expect(page.get_by_text(re.compile("The rule is in force")).first).to_be_visible()


def search(page: Page, word: str):
    """A page is found some seconds after it was fetched."""
    go_to(page, "Search")
    box = page.get_by_role("searchbox", name="Search the pages")
    found = page.get_by_text(re.compile(r"^[\d,]+ pages?, in"))
    for _ in range(15):
        box.fill("")
        box.press_sequentially(word)
        page.wait_for_timeout(2000)
        if found.count():
            break
    expect(found).to_be_visible()
    expect(page.get_by_role("article").first).to_be_visible()


def open_a_copy(page: Page):
    page.get_by_role("link", name="Archived copy").first.click()
    expect(page.get_by_text("This is an archived copy")).to_be_visible()
    frame = page.get_by_title(re.compile("^Archived copy of")).content_frame
    expect(frame.get_by_text(re.compile(r"\w+")).first).to_be_visible()


def look_at_one_url(page: Page):
    """The grid is walked by keys alone."""
    go_to(page, "URLs")
    expect(page.get_by_role("row").nth(1)).to_be_visible()
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    detail = page.get_by_role("complementary", name="One URL in full")
    expect(detail.get_by_text("Outcome", exact=True)).to_be_visible()
    page.keyboard.press("Escape")
    expect(detail).to_be_hidden()


def make_the_graph(page: Page):
    go_to(page, "Graph")
    page.get_by_role("button", name="Make the graph").click()
    expect(page.get_by_role("heading", name="By PageRank")).to_be_visible(timeout=PATIENCE_MS)
    expect(page.get_by_role("table", name="Pages by PageRank").get_by_role("row").nth(1)).to_be_visible()


def pause_and_resume(page: Page):
    page.get_by_role("button", name=re.compile("^Pause ")).first.click()
    expect(page.get_by_text("Paused", exact=True).first).to_be_visible()
    page.get_by_role("button", name=re.compile("^Resume ")).first.click()
    expect(page.get_by_text("Running", exact=True).first).to_be_visible()


def lift_a_limit(page: Page):
    """A limit is set, is shown as in force, and is lifted again by emptying its field."""
    go_to(page, "Settings")
    pages = page.get_by_label("Pages at most")
    row = page.get_by_role("table", name="Settings").get_by_role("row").filter(has_text="max-pages")
    pages.fill("50000")
    page.get_by_role("button", name="Apply").click()
    expect(row).to_contain_text("50,000")
    pages.fill("")
    page.get_by_role("button", name="Apply").click()
    expect(row).to_have_count(0)
    expect(page.get_by_role("heading", name="Changed since, on top of larm.toml")).to_be_visible()
    expect(page.get_by_role("table", name="Changes")).to_contain_text("Follow no URL that matches this pattern")


def type_while_it_loads(page: Page):
    """What is typed before the settings have come is not overwritten by them."""
    go_to(page, "Now")
    held, settings = [], "**/api/v1/crawls/*/settings"
    page.route(settings, lambda route: held.append(route))
    with page.expect_request(settings):
        go_to(page, "Settings")
    pages = page.get_by_label("Pages at most")
    pages.fill("70000")
    for route in held:
        route.continue_()
    page.unroute(settings)
    expect(page.get_by_role("table", name="Settings")).to_be_visible()
    expect(pages).to_have_value("70000")
    expect(page.get_by_label("Pause per host")).not_to_have_value("")


def see_a_killed_run(page: Page):
    """How long a run took that was killed is known to nobody; what was changed under way is shown."""
    run = {"started": 1, "state": "killed", "pages": 1, "bytes": 1, "failed": 0, "settings": {}}
    run["changes"] = [{"at": 1, "key": "delay", "value": "3s"}]
    page.route("**/api/v1/crawls/*/runs", lambda route: route.fulfill(json={"runs": [run]}))
    go_to(page, "Runs")
    cells = page.get_by_role("table", name="Runs").get_by_role("row").nth(1).get_by_role("cell")
    expect(cells.nth(1)).to_have_text("–")
    expect(cells.last).to_contain_text("delay = 3s")
    page.unroute("**/api/v1/crawls/*/runs")


def stop(page: Page):
    page.get_by_role("button", name=re.compile("^Stop ")).click()
    page.get_by_role("dialog").get_by_role("button", name="Stop", exact=True).click()
    expect(page.get_by_text("Stopped", exact=True).first).to_be_visible(timeout=PATIENCE_MS)


def go_to(page: Page, view: str):
    page.get_by_role("navigation", name="Views of this crawl").get_by_role("link", name=re.compile(f"^{view}")).click()
    expect(page.get_by_role("heading", name=VIEWS[view], exact=True)).to_be_focused()


def check(page: Page, name: str, shots: Path):
    """One view as it is now: it has one title, nothing went wrong, it fits the width."""
    page.wait_for_timeout(700)
    page.screenshot(path=shots / f"{name}.png", full_page=True)
    assert page.get_by_role("heading", level=1).count() == 1, f"{name}: not one title"
    assert page.get_by_role("main").count() == 1, f"{name}: no main part"
    wrong = page.get_by_role("alert").filter(has_text=re.compile(r"\S"))
    assert wrong.count() == 0, f"{name}: {wrong.first.inner_text()}"
    beyond = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert beyond <= 0, f"{name}: {beyond} pixels too wide"


def tour(browser, watch: Watch, link: str, crawl: str, shots: Path):
    """Every view, light, dark and on a phone."""
    for look, options in LOOKS.items():
        context = browser.new_context(**options)
        page = watch.over(context.new_page())
        page.goto(link)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        check(page, f"crawls-{look}", shots)
        page.get_by_role("link", name="New crawl").click()
        check(page, f"new-{look}", shots)
        page.get_by_role("link", name="Compare").first.click()
        check(page, f"compare-{look}", shots)
        page.goto(crawl)
        for view in VIEWS:
            go_to(page, view)
            check(page, f"{view.lower()}-{look}", shots)
        context.close()


def theme_is_kept(page: Page):
    toggle = page.get_by_role("button", name="Dark colours")
    before = toggle.get_attribute("aria-pressed")
    toggle.click()
    page.reload()
    assert toggle.get_attribute("aria-pressed") != before, "the choice of colours was forgotten"
    toggle.click()


def outsider(browser, link: str):
    """Without the cookie one is told how to get in."""
    page = browser.new_context().new_page()
    parts = urlsplit(link)
    page.goto(f"{parts.scheme}://{parts.netloc}/")
    expect(page.get_by_role("heading", name="This browser is not let in yet")).to_be_visible()
    page.context.close()


def run(link: str, site: str, shots: Path, word: str) -> list[str]:
    parts = urlsplit(link)
    watch = Watch(f"{parts.scheme}://{parts.netloc}")
    shots.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=os.environ["LARM_CHROMIUM"], args=["--no-sandbox"])
        page = watch.over(browser.new_context(**LOOKS["light"]).new_page())
        page.goto(link)
        assert "token" not in page.url, "the token stays in the address"
        start_a_crawl(page, site)
        crawl = page.url
        watch_it(page)
        leave_out(page, "/no-such-part/")
        pause_and_resume(page)
        lift_a_limit(page)
        type_while_it_loads(page)
        see_a_killed_run(page)
        look_at_one_url(page)
        search(page, word)
        check(page, "found", shots)
        open_a_copy(page)
        check(page, "copy", shots)
        make_the_graph(page)
        theme_is_kept(page)
        tour(browser, watch, link, crawl, shots)
        page.goto(crawl)
        stop(page)
        check(page, "stopped", shots)
        outsider(browser, link)
        browser.close()
    return watch.verdict()


def main() -> int:
    if len(sys.argv) not in (4, 5):
        print(__doc__, file=sys.stderr)
        return 2
    link, site, shots = sys.argv[1:4]
    wrong = run(link, site, Path(shots), sys.argv[4] if len(sys.argv) == 5 else "page")
    for line in wrong:
        print(line, file=sys.stderr)
    print(f"{len(wrong)} complaints" if wrong else "the page is fine")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
