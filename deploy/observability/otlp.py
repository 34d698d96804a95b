"""Parses exports of OTLP over HTTP with the official definitions (PyPI: opentelemetry-proto), and checks what these cannot say."""

import base64
import json
import sys
from pathlib import Path

from google.protobuf import json_format
from google.protobuf.unknown_fields import UnknownFieldSet
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.metrics.v1.metrics_pb2 import AGGREGATION_TEMPORALITY_CUMULATIVE

REQUESTS = {"traces": ExportTraceServiceRequest, "metrics": ExportMetricsServiceRequest}
IDS = {"traceId", "spanId", "parentSpanId"}


def with_base64_ids(value):
    """The JSON of OTLP has ids in hexadecimal, which that of protobuf has in base64."""
    if isinstance(value, list):
        return [with_base64_ids(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: base64.b64encode(bytes.fromhex(item)).decode() if key in IDS else with_base64_ids(item)
        for key, item in value.items()
    }


def refuse_unknown_fields(message):
    assert len(UnknownFieldSet(message)) == 0, f"unknown field in {message.DESCRIPTOR.full_name}"
    for field, value in message.ListFields():
        if field.type == field.TYPE_MESSAGE:
            for item in [value] if hasattr(value, "ListFields") else value:
                refuse_unknown_fields(item)


def check_attributes(attributes):
    keys = [attribute.key for attribute in attributes]
    assert len(keys) == len(set(keys)) and all(keys), keys
    for attribute in attributes:
        assert attribute.value.WhichOneof("value") is not None, attribute.key


def check_resource(resource):
    check_attributes(resource.attributes)
    keys = {attribute.key for attribute in resource.attributes}
    assert {"service.name", "service.version"} <= keys, keys


def check_span(span):
    assert len(span.trace_id) == 16 and any(span.trace_id)
    assert len(span.span_id) == 8 and any(span.span_id)
    assert len(span.parent_span_id) in (0, 8)
    assert span.name and span.kind != 0
    assert 0 < span.start_time_unix_nano <= span.end_time_unix_nano
    check_attributes(span.attributes)
    for link in span.links:
        assert len(link.trace_id) == 16 and len(link.span_id) == 8


def check_metric(metric):
    kind = metric.WhichOneof("data")
    assert metric.name and kind in ("sum", "gauge", "histogram"), metric.name
    data = getattr(metric, kind)
    if kind != "gauge":
        assert data.aggregation_temporality == AGGREGATION_TEMPORALITY_CUMULATIVE, metric.name
    if kind == "sum":
        assert data.is_monotonic, metric.name
    series = set()
    for point in data.data_points:
        check_attributes(point.attributes)
        assert 0 < point.start_time_unix_nano <= point.time_unix_nano, metric.name
        series.add(tuple(sorted(str(attribute) for attribute in point.attributes)))
        if kind != "histogram":
            assert point.WhichOneof("value") is not None, metric.name
            continue
        assert len(point.bucket_counts) == len(point.explicit_bounds) + 1, metric.name
        assert sum(point.bucket_counts) == point.count, metric.name
        assert list(point.explicit_bounds) == sorted(set(point.explicit_bounds)), metric.name
    assert len(series) == len(data.data_points), f"{metric.name} has a series twice"


def check_file(path):
    signal, encoding = path.name.split(".")[1:]
    body = path.read_bytes()
    if encoding == "json":
        request = json_format.ParseDict(with_base64_ids(json.loads(body)), REQUESTS[signal]())
    else:
        request = REQUESTS[signal].FromString(body)
        refuse_unknown_fields(request)
    number = 0
    for resource in request.resource_spans if signal == "traces" else request.resource_metrics:
        check_resource(resource.resource)
        for scope in resource.scope_spans if signal == "traces" else resource.scope_metrics:
            assert scope.scope.name
            for item in scope.spans if signal == "traces" else scope.metrics:
                (check_span if signal == "traces" else check_metric)(item)
                number += 1
    return f"{encoding} {signal}", number


counts = {}
for file in sorted(Path(sys.argv[1]).iterdir()):
    what, number = check_file(file)
    requests, items = counts.get(what, (0, 0))
    counts[what] = (requests + 1, items + number)
for what, (requests, items) in sorted(counts.items()):
    assert items > 0, what
    print(f"{what}: {items} in {requests} requests")
assert len(counts) == 4, counts
