"""What requests are turned into before schemathesis sends them, and which are not sent."""

from urllib.parse import unquote

import schemathesis

LONGEST_NAME = 256


def whole(value):
    """JSON Schema takes 8.0 for an integer; this API takes integers only."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [whole(item) for item in value]
    if isinstance(value, dict):
        return {key: whole(item) for key, item in value.items()}
    return value


@schemathesis.hook
def map_body(context, body):
    return whole(body)


def fits(value):
    """JSON Schema counts letters; this API counts the bytes of a name. A name between the two is good by the one and bad by the other."""
    if isinstance(value, str):
        name = unquote(value)
        return len(name) > LONGEST_NAME or len(name.encode(errors="replace")) <= LONGEST_NAME
    if isinstance(value, dict):
        return all(fits(item) for item in value.values())
    return True


@schemathesis.hook
def filter_path_parameters(context, path_parameters):
    return fits(path_parameters)


@schemathesis.hook
def filter_query(context, query):
    return fits(query)


@schemathesis.hook
def filter_body(context, body):
    return fits(body)


@schemathesis.serializer("application/x-ndjson")
def lines(context, value):
    """A text is sent as it is: whether it is a snapshot is the server's to say."""
    return {"data": value if isinstance(value, bytes) else str(value).encode()}
