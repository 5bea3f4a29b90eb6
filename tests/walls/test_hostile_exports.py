"""What people take away and what the log says, with hostile words in all of it."""

import io
import json
import logging
from typing import Any
from urllib.parse import quote

from memories.transfer.lists import LISTS
from senselab import logs
from senselab.accounts import services as accounts
from tests.api.conftest import Caller
from tests.walls.hostile import ALIKE, NAMED, misleading, spoilt

# No entry of that test ever moved.
PLAIN = ("tiers",)


def text_of(answer: Any) -> str:
    assert answer.status_code == 200, answer
    return str(b"".join(answer.streaming_content).decode() if answer.streaming else answer.content.decode())


def test_what_people_take_away_misleads_nobody_and_says_the_same(client_of, ada, account):
    w = spoilt(account)
    client = client_of(ada)
    caller = Caller(accounts.create_key(account, name="reads"), "agent/reads")
    lists = [f"/settings/data/{name}.csv" for name in LISTS]
    lists.append("/settings/audit/?format=csv")
    told = {one: text_of(client.get(one)) for one in lists}
    told["briefing"] = text_of(caller.get("briefing", format="markdown", entity_path=w.path))
    told["retrieved"] = text_of(caller.post("retrieve", {"query": "retries", "format": "markdown", "max_tokens": 2000}))
    told["promoted"] = text_of(caller.get("promoted", least=0))
    assert [name for name, text in told.items() if misleading(text, ALIKE, NAMED)] == []
    shown = [name for name, text in told.items() if "\\u202e" not in text]
    assert shown == [f"/settings/data/{name}.csv" for name in PLAIN], "a list without hostile words shows nothing"
    history = text_of(client.get("/settings/data/export/"))
    assert not misleading(history, ALIKE, ())
    said = [json.loads(line) for line in history.splitlines()]
    assert any(one.get("entity_path") == w.path for one in said), "escapes say what was stored"


def test_no_word_of_a_caller_misleads_in_the_log(client_of, ada, account):
    w = spoilt(account)
    written = io.StringIO()
    handlers = [logging.StreamHandler(written), logging.StreamHandler(written)]
    for handler, formatter in zip(handlers, (logs.Line(), logs.Json()), strict=True):
        handler.setFormatter(formatter)
        logging.getLogger().addHandler(handler)
    try:
        logging.getLogger("senselab").warning("of %s by %s", w.path, w.agent)
        client_of(ada).get(f"/agents/{quote(w.agent)}-nobody/")
        client_of(ada).get(f"/nowhere/{quote(w.path)}")
    finally:
        for handler in handlers:
            logging.getLogger().removeHandler(handler)
    assert "\\u202e" in written.getvalue()
    assert not misleading(written.getvalue(), ALIKE, NAMED)
