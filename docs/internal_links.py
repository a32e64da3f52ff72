"""Check that links within the built pages lead somewhere, and that scripts come with the pages.

``python docs/internal_links.py docs/_build`` lists the links that do not, and fails if any. A
script from elsewhere is one of them: formulas, search and menus must work without a network.
Sphinx checks references; links in raw HTML, in templates and in generated pages it does not.
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The links of a page, and the places in it that links can lead to."""

    def __init__(self, path):
        super().__init__()
        self.links, self.scripts, self.anchors = set(), set(), {"", "top"}
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        """Remember what a tag links to, and its id."""
        attributes = dict(attributes)
        self.anchors |= {attributes[name] for name in ("id", "name") if attributes.get(name)}
        self.links |= {attributes[name] for name in ("href", "src") if attributes.get(name)}
        if tag == "script" and attributes.get("src"):
            self.scripts.add(attributes["src"])


def broken_links(folder):
    """List (page, link) for each link within the folder that leads nowhere."""
    folder = folder.resolve()
    # The theme keeps templates among its static files, which are no pages.
    paths = [
        path for path in sorted(folder.rglob("*.html")) if folder / "_static" not in path.parents
    ]
    pages = {path: Page(path) for path in paths}
    return [
        (path.relative_to(folder).as_posix(), link)
        for path, page in pages.items()
        for link in sorted(page.links)
        if not leads_somewhere(link, path, pages) or is_foreign(link, page)
    ]


def is_foreign(link, page):
    """Check whether a link is a script that is not part of the built pages."""
    return link in page.scripts and bool(urlsplit(link).netloc)


def leads_somewhere(link, path, pages):
    """Check whether a link of a page leads to a file, and to a place in it."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return True
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if target.is_dir():
        target /= "index.html"
    if target not in pages:
        return target.exists()
    return unquote(parts.fragment) in pages[target].anchors


if __name__ == "__main__":
    broken = broken_links(Path(sys.argv[1]))
    for page, link in broken:
        print(f"{page}: {link}")
    sys.exit(f"{len(broken)} links lead nowhere" if broken else 0)
