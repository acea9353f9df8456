"""Requests made from the OpenAPI document, good and bad: the server answers all of them and stays sound."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode

from cobras import Session
from tests.web.serving import Client, flowers, serving

N_REQUESTS = 10_000 if os.environ.get("COBRAS_SOAK") else 1_000
STREAMS = {"/api/events"}  # never ends


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    folder = tmp_path_factory.mktemp("fuzz")
    dataset = flowers(folder, 40)
    with serving(dataset, folder / "fuzz.cobras") as found:
        found.answer(dataset.labels, 5)
        yield found
    # Whatever came, the file is sound.
    with Session.open(folder / "fuzz.cobras", dataset.X, method="cobras") as session:
        session.ask()


def operations(client: Client) -> list[Any]:
    schema = schemathesis.openapi.from_dict(client.get("/api/openapi.json").json())
    return [found.ok() for found in schema.get_all_operations() if found.ok().path not in STREAMS]


def test_every_end_point_is_in_the_document_and_nothing_else(client: Client) -> None:
    posts = ["tell", "sort", "undo", "redo", "revise", "constraint", "revisit", "mark", "name"]
    posts += ["move", "merge", "split", "data", "close"]
    gets = ["question", "board", "settings", "labels", "clusters", "history", "progress", "map", "items"]
    gets += ["item/{i}", "profile/{id}", "unsure", "why"]
    gets += ["data", "export", "image/{i}"]
    found = {(o.method.upper(), o.path) for o in operations(client)}
    assert found == {("POST", f"/api/{p}") for p in posts} | {("GET", f"/api/{g}") for g in gets}


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_no_request_breaks_the_server(
    client: Client, mode: GenerationMode, report_tried: Callable[..., None]
) -> None:
    # The others have no variants.
    every = [o for o in operations(client) if o.body or o.query or o.path_parameters]
    made = accepted = 0
    for operation in every:

        @settings(
            max_examples=N_REQUESTS // (2 * len(every)) + 1,
            phases=[Phase.generate],
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        @given(operation.as_strategy(generation_mode=mode))
        def one(case: schemathesis.Case) -> None:
            nonlocal made, accepted
            made += 1
            reply = case.call(
                base_url=str(client.base_url).rstrip("/"), headers=dict(client.headers), timeout=300
            )
            accepted += reply.status_code < 400
            assert reply.status_code < 500, (case.method, case.path, case.body, reply.text)
            case.validate_response(reply, checks=[schemathesis.checks.response_schema_conformance])

        one()
    assert made >= 0.4 * N_REQUESTS  # some have fewer variants than asked for
    assert client.look("question", wait=60)["state"] in ("asking", "done")
    report_tried("a request, good or bad", made, accepted=accepted, refused=made - accepted)
