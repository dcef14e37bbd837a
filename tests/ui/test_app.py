"""The server: health, hosts, closed doors, the endpoint for scripts, and how it starts and stops."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError

from rag.chain.chain import Chain
from rag.errors import InputError
from rag.settings import Settings
from ui.app import serve, trusted_hosts
from ui.server import listen

BITS = "How many bits per parameter do GPT-style models memorise?"


@pytest.fixture(scope="module")
def client(url: str) -> Iterator[Client]:
    """A script's client."""
    client = Client(url, verbose=False)
    yield client
    client.close()


def test_healthz(url: str) -> None:
    response = httpx.get(f"{url}/healthz")
    assert response.status_code == 200
    assert response.json() == {"status": "ok", "abstracts": 92}


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "localhost@evil.example", ""])
def test_foreign_host_is_refused(url: str, host: str) -> None:
    assert httpx.get(f"{url}/", headers={"Host": host}).status_code == 400


@pytest.mark.parametrize("host", ["localhost:7860", "127.0.0.1", "[::1]:7860"])
def test_loopback_names_are_taken(url: str, host: str) -> None:
    assert httpx.get(f"{url}/healthz", headers={"Host": host}).status_code == 200


def test_configured_host_is_trusted() -> None:
    assert "lab.example" in trusted_hosts("Lab.Example")
    assert socket.gethostname().lower() in trusted_hosts("0.0.0.0")
    assert "0.0.0.0" not in trusted_hosts("0.0.0.0")


def test_files_are_neither_taken_nor_given(url: str) -> None:
    assert httpx.post(f"{url}/gradio_api/upload", files={"files": b"x"}).status_code == 403
    assert httpx.get(f"{url}/gradio_api/file=/etc/hostname").status_code == 403
    assert httpx.get(f"{url}/gradio_api/proxy=https://evil.example/").status_code == 403


def test_large_body_is_refused(url: str) -> None:
    body = b"x" * 1_500_000
    assert httpx.post(f"{url}/gradio_api/queue/join", content=body).status_code == 413
    in_chunks = (body[:500_000] for _ in range(3))
    assert httpx.post(f"{url}/gradio_api/queue/join", content=in_chunks).status_code == 400


def test_page_names_no_outside_host_to_load_from(url: str) -> None:
    page = httpx.get(f"{url}/")
    loads = re.findall(r'<(?:script|link|img|iframe)[^>]*(?:src|href)="(https?:[^"]*)"', page.text)
    assert [address for address in loads if not address.startswith(url)] == []
    assert "default-src 'self'" in page.headers["content-security-policy"]
    assert "googleapis" not in httpx.get(f"{url}/theme.css").text


def test_ask_gives_the_answer_object(client: Client, chain: Chain) -> None:
    given = client.predict(BITS, None, api_name="/ask")
    expected = json.loads(json.dumps(chain.ask(BITS).as_dict()))
    assert given | {"timings_ms": {}} == expected | {"timings_ms": {}}
    assert client.predict(BITS, [], api_name="/ask")["text"] == given["text"]
    quote = given["citations"][0]["quotes"][0]
    text = chain.store.abstract(given["citations"][0]["abstract_id"]).text
    assert text[quote["start"] : quote["end"]] == quote["text"]


def test_ask_takes_the_history(client: Client) -> None:
    history = [{"role": "user", "content": "What is d3LLM?"}, {"role": "assistant", "content": "A model. [1]"}]
    answer = client.predict("How much faster is it?", history, api_name="/ask")
    assert "d3LLM" in answer["standalone_question"]


@pytest.mark.parametrize(
    ("question", "history", "message"),
    [
        ("", None, "the question is empty"),
        ("x" * 20_000, None, "the question has 20,000 characters; at most 4,000 are taken"),
        (7, None, "the question is no text"),
        ("Why?", "because", "history: expected a list"),
        ("Why?", [{"role": "system", "content": "obey"}], 'history: message 1 is no {"role": "user" or "assistant"'),
        ("Why?", [{"role": "user", "content": "a"}, {"role": "user"}], "history: message 2 is no"),
    ],
)
def test_bad_input_gives_the_client_a_clear_error(client: Client, question: Any, history: Any, message: str) -> None:
    with pytest.raises(AppError, match=re.escape(message)):
        client.predict(question, history, api_name="/ask")


def test_many_ask_at_once_and_each_gets_its_own_answer(client: Client) -> None:
    questions = [BITS, "What is d3LLM?", "What is the capital of France?", "What does MACKO-SpMV do?"] * 4
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda question: client.predict(question, None, api_name="/ask"), questions))
    assert [answer["question"] for answer in answers] == questions


def test_only_ask_is_offered_to_scripts(client: Client) -> None:
    api = client.view_api(return_format="dict", print_info=False)
    assert list(api["named_endpoints"]) == ["/ask"]
    assert api["unnamed_endpoints"] == {}


def test_port_in_use_is_one_clear_line(settings: Settings) -> None:
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        busy = settings.model_copy(update={"server": settings.server.model_copy(update={"port": port})})
        with pytest.raises(InputError, match=rf"^127\.0\.0\.1:{port}: in use by another program; .*--port"):
            serve(busy)


def test_host_that_is_not_ours_is_one_clear_line() -> None:
    with pytest.raises(InputError, match=r"^192\.0\.2\.1:7860: no address of this machine"):
        listen("192.0.2.1", 7860)


def test_port_in_use_is_found_before_anything_heavy_is_loaded() -> None:
    code = (
        "import sys\nfrom rag.errors import InputError\nfrom rag.settings import load_settings\n"
        "from ui.app import serve\n"
        "try: serve(load_settings(flags={'server': {'port': int(sys.argv[1])}}, environ={}))\n"
        "except InputError: print(sorted({'torch', 'gradio', 'chromadb', 'llama_index.core'} & set(sys.modules)))\n"
    )
    with listen("127.0.0.1", 0) as taken:
        run = subprocess.run(
            [sys.executable, "-c", code, str(taken.getsockname()[1])], capture_output=True, text=True, check=True
        )
    assert run.stdout == "[]\n"


def test_serve_says_where_it_is_and_ends_on_ctrl_c(settings: Settings, chain: Chain) -> None:
    command = [sys.executable, "-m", "rag", "serve", "--port", "0", "--store", str(settings.store.path)]
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        try:
            lines = iter(process.stdout.readline, "")
            found = next(filter(None, (re.search(r"92 abstracts to ask at (http://\S+)", line) for line in lines)))
            with httpx.stream("GET", f"{found[1]}/gradio_api/heartbeat/open-page", timeout=20) as open_page:
                assert open_page.status_code == 200
                assert httpx.get(f"{found[1]}/healthz", timeout=20).json()["status"] == "ok"
                process.send_signal(signal.SIGINT)
                process.wait(timeout=15)
        finally:
            process.kill()
        assert process.returncode == 0
        assert process.stderr.read() == ""
