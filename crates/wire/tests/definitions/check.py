"""Validates request bodies against definitions that their vendors publish.

Reads lines `{"api": ..., "name": ..., "body": ...}` on stdin. Writes a line
`{"api", "name", "faults"}` for each body that a definition refuses, and last a
line with how many bodies of each API were checked. Exits with 77 if a package is
missing.

| API              | definition                                                    |
|------------------|---------------------------------------------------------------|
| openai-chat      | openai: `CompletionCreateParams`                              |
| openai-responses | openai: `ResponseCreateParams`                                |
| anthropic        | anthropic: `MessageCreateParams`, else the one of the beta    |
| gemini           | google-genai: the model of each field of the body             |
| bedrock          | botocore: the input of `Converse`, with enums, patterns, ends |

Types are strict, and a field that a definition does not have is refused. Where a
definition is narrower than its API, `WIDER` says so and why.
"""

import base64
import binascii
import collections
import json
import re
import sys
import warnings

SKIP = 77

try:
    import anthropic.types.beta.message_create_params as anthropic_beta
    import anthropic.types.message_create_params as anthropic_messages
    import openai.types.chat.completion_create_params as openai_chat
    import openai.types.responses.response_create_params as openai_responses
    from botocore.loaders import Loader
    from botocore.model import ServiceModel
    from botocore.validate import ParamValidator
    from google.genai import types as gemini
    from pydantic import TypeAdapter, ValidationError
    from pydantic_core import SchemaValidator
except ImportError as missing:
    print(f"{sys.executable}: {missing}", file=sys.stderr)
    sys.exit(SKIP)


def chat_body(body):
    """A result may have the `name` of its tool: recorded requests of many clients do,
    and were answered.
    """
    for message in body["messages"]:
        if message.get("role") == "tool":
            message.pop("name", None)
    return body


def responses_body(body):
    """A function's `strict` may be left out: the guide to function calling says what
    then happens. The type of an answer is that of one which the API keeps; it also
    takes one without `id` and `status`, which is how an answer is sent without the
    reasoning that led to it, and without `type`, as of every message.
    """
    for tool in body.get("tools", []):
        if tool.get("type") == "function":
            tool.setdefault("strict", None)
    items = body.get("input")
    for item in items if isinstance(items, list) else []:
        if item.get("role") == "assistant" and isinstance(item.get("content"), list):
            kept = {"type": "message", "id": "msg_1", "status": "completed"}
            item.update({**kept, **item})
    return body


def anthropic_body(body):
    """The types are those of version 2026-10-21 of the API, which has no sampling
    settings any more; 2023-06-01 has them, and older models take them.
    """
    return {name: value for name, value in body.items() if name not in SAMPLING}


SAMPLING = ["temperature", "top_p", "top_k"]

# What a body is taken for, where its definition is narrower than the API.
WIDER = {
    "openai-chat": chat_body,
    "openai-responses": responses_body,
    "anthropic": anthropic_body,
}

# As many faults of a body are told.
MOST_FAULTS = 4


def eager(schema):
    """pydantic checks an `Iterable` when it is walked, which is never: a list is meant."""
    if isinstance(schema, dict):
        if schema.get("type") == "generator":
            schema = {**schema, "type": "list"}
        return {key: eager(value) for key, value in schema.items()}
    if isinstance(schema, (list, tuple)):
        return type(schema)(eager(value) for value in schema)
    return schema


class Typed:
    """A type that pydantic can check."""

    def __init__(self, *alternatives):
        self.validators = []
        for alternative in alternatives:
            adapter = TypeAdapter(alternative)
            # The models of google-genai are built when they are first used.
            adapter.rebuild(force=True)
            self.validators.append(SchemaValidator(eager(adapter.core_schema)))

    def faults(self, body):
        found = []
        for validator in self.validators:
            try:
                validator.validate_json(json.dumps(body), strict=True, extra="forbid")
                return []
            except ValidationError as refused:
                found = found or list(self.told(refused))
            except (UserWarning, AttributeError) as refused:
                # What google-genai does with a word that it does not know.
                found = found or [str(refused)]
        return found

    @staticmethod
    def told(refused):
        errors = refused.errors(include_url=False, include_context=False)
        # Of a union, all arms have their say; those of another type or role have none.
        kinds = [e["loc"] for e in errors if e["type"] == "literal_error"]
        others = [place[:-1] for place in kinds if place[-1] in ("type", "role")]
        is_other = lambda place: any(place[: len(other)] == other for other in others)
        errors = [error for error in errors if not is_other(error["loc"])] or errors
        for error in sorted(errors, key=lambda error: -len(error["loc"])):
            place = "/".join(str(step) for step in error["loc"] if "[" not in str(step))
            yield f"{place}: {error['msg']} ({error['input']!r:.80})"


class Gemini:
    """The package has no type of the whole body, but one of each field."""

    FIELDS = {
        "model": str,
        "contents": list[gemini.Content],
        "systemInstruction": gemini.Content,
        "tools": list[gemini.Tool],
        "toolConfig": gemini.ToolConfig,
        "generationConfig": gemini.GenerationConfig,
        "safetySettings": list[gemini.SafetySetting],
        "cachedContent": str,
        "labels": dict[str, str],
    }

    def __init__(self):
        self.types = {name: Typed(field) for name, field in self.FIELDS.items()}

    def faults(self, body):
        for name, value in body.items():
            if name not in self.types:
                yield f"{name}: Extra inputs are not permitted"
            else:
                yield from (f"{name}/{fault}" for fault in self.types[name].faults(value))


class Bedrock:
    """The service model, by the SDK's validator and by what that passes over."""

    def __init__(self):
        model = ServiceModel(Loader().load_service_model("bedrock-runtime", "service-2"))
        self.shape = model.operation_model("Converse").input_shape

    def faults(self, body):
        # The model is part of the address.
        body = {"modelId": "a-model", **body}
        yield from self.ends(body, self.shape, "")
        report = ParamValidator().validate(self.bytes_of(body, self.shape), self.shape)
        if report.has_errors():
            yield from report.generate_report().splitlines()

    def bytes_of(self, value, shape):
        """The value with bytes where it has them in base64."""
        if shape.type_name == "structure" and isinstance(value, dict) and shape.members:
            inner = shape.members
            return {k: self.bytes_of(v, inner[k]) if k in inner else v for k, v in value.items()}
        if shape.type_name == "list" and isinstance(value, list):
            return [self.bytes_of(element, shape.member) for element in value]
        # What is in it `ends` looks at.
        return b"" if shape.type_name == "blob" else value

    def ends(self, value, shape, place):
        """Enums, patterns, and the most that there may be."""
        if shape.type_name == "structure" and isinstance(value, dict):
            for name, member in shape.members.items():
                if name in value:
                    yield from self.ends(value[name], member, f"{place}/{name}")
        elif shape.type_name == "list" and isinstance(value, list):
            for at, element in enumerate(value):
                yield from self.ends(element, shape.member, f"{place}/{at}")
        elif shape.type_name == "blob" and isinstance(value, str):
            try:
                base64.b64decode(value, validate=True)
            except binascii.Error as refused:
                yield f"{place}: {refused}"
        limits, size = shape.metadata, value
        if isinstance(value, (str, list, dict)):
            size = len(value)
        if isinstance(size, (int, float)) and size > limits.get("max", size):
            yield f"{place}: at most {limits['max']}, not {size}"
        if isinstance(value, str):
            if limits.get("enum") and value not in limits["enum"]:
                yield f"{place}: {value!r} is none of {limits['enum']}"
            if "pattern" in limits and not re.fullmatch(limits["pattern"], value, re.DOTALL):
                yield f"{place}: {value!r} does not match {limits['pattern']}"


def main():
    warnings.simplefilter("error", UserWarning)
    definitions = {
        "openai-chat": Typed(openai_chat.CompletionCreateParams),
        "openai-responses": Typed(openai_responses.ResponseCreateParams),
        "anthropic": Typed(
            anthropic_messages.MessageCreateParams, anthropic_beta.MessageCreateParams
        ),
        "gemini": Gemini(),
        "bedrock": Bedrock(),
    }
    checked = collections.Counter()
    for line in sys.stdin:
        case = json.loads(line)
        checked[case["api"]] += 1
        body = WIDER.get(case["api"], dict)(case["body"])
        faults = list(definitions[case["api"]].faults(body))
        if faults:
            told = {"api": case["api"], "name": case["name"], "faults": faults[:MOST_FAULTS]}
            print(json.dumps(told))
    print(json.dumps({"checked": checked}))


main()
