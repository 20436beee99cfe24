"""The metrics endpoint.

See docs/contract/system.md#metrics.
"""

import re

import yaml

import http_client
from checks import UNKNOWN_ID, accepted, refused
from talker import MODEL, configuration

MEASURES = {
    "agw_requests_total": "counter", "agw_request_seconds": "histogram", "agw_connections": "gauge",
    "agw_database_commits_total": "counter", "agw_database_writes_total": "counter", "agw_database_queue": "gauge",
    "agw_runs_active": "gauge", "agw_runs_queue": "gauge", "agw_runs_total": "counter",
    "agw_model_calls_total": "counter", "agw_tokens_total": "counter", "agw_cost_usd_total": "counter",
    "process_start_time_seconds": "gauge", "process_cpu_seconds_total": "counter",
    "process_resident_memory_bytes": "gauge", "process_open_fds": "gauge",
}
LABELLED = {"agw_runs_total", "agw_model_calls_total", "agw_tokens_total", "agw_cost_usd_total"}
LINE = re.compile(r'([a-z_]+)(\{[a-z]+="[^"\n]*"(?:,[a-z]+="[^"\n]*")*\})? (\S+)')


def metrics(gateway):
    return http_client.get(gateway.url + "/metrics", headers=gateway.authorization)


def samples(gateway):
    """Returns the values by name and labels."""
    lines = [line for line in metrics(gateway).text.splitlines() if not line.startswith("#")]
    parsed = [LINE.fullmatch(line) for line in lines]
    assert all(parsed), lines
    return {found[1] + (found[2] or ""): float(found[3]) for found in parsed}


def requests(gateway, method, path, status):
    return samples(gateway).get(f'agw_requests_total{{method="{method}",path="{path}",status="{status}"}}', 0)


def test_metrics_are_prometheus_text_and_need_the_token(gateway):
    response = metrics(gateway)
    assert response.status_code == 200
    assert response.headers["content-type"] == "text/plain; version=0.0.4"
    assert response.headers["cache-control"] == "no-store" and response.headers["x-content-type-options"] == "nosniff"
    refused(gateway.anonymous.get("/metrics"), 401, "unauthorized")


def test_every_metric_has_help_and_type(gateway):
    text = metrics(gateway).text
    assert text.endswith("\n")
    assert dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.M)) == MEASURES
    assert re.findall(r"^# HELP (\S+) \S", text, re.M) == re.findall(r"^# TYPE (\S+) ", text, re.M)
    named = {re.sub("_(bucket|sum|count)$", "", name.split("{")[0]) for name in samples(gateway)}
    assert set(MEASURES) - LABELLED <= named <= set(MEASURES)


def test_requests_are_counted_by_route_and_status(gateway):
    found, missing = requests(gateway, "GET", "/health", 200), requests(gateway, "GET", "/threads/:id", 404)
    unknown = samples(gateway).get('agw_requests_total{method="",path="",status="404"}', 0)
    for _ in range(3):
        gateway.anonymous.get("/health")
    gateway.http.get(f"/threads/{UNKNOWN_ID}")
    gateway.http.get("/no/such/route")
    assert requests(gateway, "GET", "/health", 200) == found + 3
    assert requests(gateway, "GET", "/threads/:id", 404) == missing + 1
    assert samples(gateway)['agw_requests_total{method="",path="",status="404"}'] == unknown + 1


def test_request_durations_have_buckets(gateway):
    gateway.anonymous.get("/health")
    labels = 'method="GET",path="/health"'
    buckets = [value for name, value in samples(gateway).items() if name.startswith(f"agw_request_seconds_bucket{{{labels}")]
    found = samples(gateway)
    assert len(buckets) == 10 and buckets == sorted(buckets) and buckets[-1] >= 1
    assert found[f'agw_request_seconds_bucket{{{labels},le="+Inf"}}'] == found[f"agw_request_seconds_count{{{labels}}}"]
    assert found[f"agw_request_seconds_sum{{{labels}}}"] > 0


def test_runs_tokens_and_costs_are_counted(make_gateway, stub):
    gateway = make_gateway(config=configuration(stub))
    # The stub reports 10 input and 5 output tokens, so an answer costs 1.25 USD.
    price = {"input": 100_000, "output": 50_000, "cache_read": 0, "cache_write": 0}
    (gateway.data / "prices.yaml").write_text(yaml.safe_dump({MODEL: price}))
    gateway.start()
    with gateway.events() as events:
        turn = accepted(gateway.http.post("/chat", json={"content": "hello"}), 201)
        events.run(turn["id"])
    found = samples(gateway)
    assert found['agw_runs_total{reason="stop"}'] == 1
    assert found[f'agw_tokens_total{{model="{MODEL}",kind="input"}}'] >= 10
    assert found[f'agw_tokens_total{{model="{MODEL}",kind="output"}}'] >= 5
    assert found[f'agw_cost_usd_total{{model="{MODEL}"}}'] >= 1.25
    assert found[f'agw_model_calls_total{{model="{MODEL}"}}'] >= 1
    assert found["agw_runs_queue"] == 0


def test_each_series_is_unique_for_any_model_name(talker):
    for model in ("stub/a\nb", "stub/a b"):
        with talker.gateway.events() as events:
            turn = accepted(talker.gateway.http.post("/chat", json={"content": "hello", "model": model}), 201)
            events.run(turn["id"])
    lines = [line for line in metrics(talker.gateway).text.splitlines() if line.startswith("agw_model_calls_total{")]
    assert 'agw_model_calls_total{model="stub/a\\nb"} 1' in lines and 'agw_model_calls_total{model="stub/a b"} 1' in lines
    assert len({line.rsplit(" ", 1)[0] for line in lines}) == len(lines)


def test_metrics_hold_no_path_or_query(gateway):
    gateway.http.get("/threads/private-name?token=private-value")
    text = metrics(gateway).text
    assert "private-name" not in text and "private-value" not in text and gateway.token not in text


def test_writes_and_process_are_measured(gateway):
    before = samples(gateway)
    gateway.http.post("/threads")
    after = samples(gateway)
    assert after["agw_database_writes_total"] > before["agw_database_writes_total"]
    assert after["agw_database_commits_total"] > before["agw_database_commits_total"]
    assert after["process_cpu_seconds_total"] >= before["process_cpu_seconds_total"] > 0
    assert after["process_start_time_seconds"] == before["process_start_time_seconds"] > 1.6e9
    assert after["process_resident_memory_bytes"] > 1e6 and after["process_open_fds"] > 3
    assert after["agw_connections"] >= 1


def test_metrics_is_not_a_tool_of_the_manual(gateway):
    assert "get_metrics" not in {tool["name"] for tool in gateway.http.get("/utcp").json()["tools"]}
