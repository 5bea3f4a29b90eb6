"""Pages as people get them."""

import html
import re
from urllib.parse import urlencode

import pytest

from tests.ui import story


class Page:
    """An answer, its text without tags, and its parts."""

    def __init__(self, response):
        self.response = response
        self.status = response.status_code
        self.html = response.content.decode()

    @property
    def text(self):
        return plain(self.html)

    def section(self, heading):
        """Return the markup of the card under a heading."""
        return next(
            found for found in re.findall(r"<section class=\"card\".*?</section>", self.html, re.S) if heading in found
        )

    def said(self, heading):
        return plain(self.section(heading))

    def rows(self, heading):
        """Return the words of each row of a card's tables, head and foot included."""
        return [plain(row) for row in re.findall(r"<tr.*?</tr>", self.section(heading), re.S)]

    def links(self):
        return [html.unescape(address) for address in re.findall(r'<a [^>]*href="([^"]*)"', self.html)]


def plain(markup):
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", markup)).split())


@pytest.fixture
def spoiled(account):
    """The story of retry: v5 rewrote what v4 had validated, and v7 is discredited. The entry's id."""
    return story.tell(account)


@pytest.fixture
def look(client_of, vera, rex):
    """Return `look(page, by=..., **query)`: what a person sees at /entry/<page>; the entry is retry unless named."""

    clients = {}

    def looked(page="", *, by=vera, htmx=False, **query):
        if by.pk not in clients:
            clients[by.pk] = client_of(by)
        address = f"/entry/{page}?{urlencode(story.NAME | query)}"
        headers = {"HX-Request": "true"} if htmx else {}
        return Page(clients[by.pk].get(address, headers=headers))

    return looked
