"""Validates bodies against definitions that their vendors publish.

Reads lines `{"kind": ..., "api": ..., "name": ..., "body": ...}` on stdin; a kind is
`request`, `answer`, `stream`, whose body is the list of its events, or `sent`, a stream's
bytes and the same answer written whole (see `sent.py`). Writes a line
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

Answers are held against `ChatCompletion`, `Response`, `Message`,
`GenerateContentResponse` and the output of `Converse`; streams event by event against
the types of their events, and as a whole by what the SDKs of OpenAI's chat and of
Anthropic put them together with.

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
    import anthropic.types as anthropic_types
    import anthropic.types.beta as anthropic_beta_types
    import openai.types.chat as chat_types
    import openai.types.chat.completion_create_params as openai_chat
    import openai.types.responses as responses_types
    import openai.types.responses.response_create_params as openai_responses
    from anthropic.lib.streaming._messages import accumulate_event
    from openai import ContentFilterFinishReasonError, LengthFinishReasonError
    from openai.lib.streaming.chat import ChatCompletionStreamState
    from botocore.loaders import Loader
    from botocore.model import ServiceModel
    from botocore.validate import ParamValidator
    from google.genai import types as gemini
    from pydantic import TypeAdapter, ValidationError
    from pydantic_core import SchemaValidator

    import sent
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

    def __init__(self, operation, end, known=None):
        model = ServiceModel(Loader().load_service_model("bedrock-runtime", "service-2"))
        self.shape = getattr(model.operation_model(operation), end)
        self.known = known or {}

    def faults(self, body):
        body = {**self.known, **body}
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


class BedrockEvent:
    """One event of `ConverseStream`, below its name."""

    def __init__(self):
        self.output = Bedrock("ConverseStream", "output_shape")

    def faults(self, event):
        yield from self.output.faults({"stream": event})


class Stream:
    """The events of a stream, each against its type, then all of them together."""

    def __init__(self, event, accumulate=None):
        self.event = event
        self.accumulate = accumulate

    def faults(self, events):
        for at, event in enumerate(events):
            yield from (f"{at}/{fault}" for fault in self.event.faults(event))
        if self.accumulate:
            try:
                self.accumulate(events)
            except Exception as refused:  # Whatever an SDK raises, it refuses.
                yield f"put together: {refused!r:.300}"


def accumulate_chat(events):
    state = ChatCompletionStreamState()
    for event in events:
        state.handle_chunk(chat_types.ChatCompletionChunk.model_validate(event))
    try:
        state.get_final_completion()
    except (LengthFinishReasonError, ContentFilterFinishReasonError):
        # The SDK has read the answer, and tells its caller how it ended.
        pass


def accumulate_anthropic(events):
    snapshot, buffers = None, {}
    adapter = TypeAdapter(anthropic_types.RawMessageStreamEvent)
    for event in events:
        event = adapter.validate_python(event)
        snapshot = accumulate_event(event=event, current_snapshot=snapshot, json_bufs=buffers)


def answer_body(api, body):
    """What servers that imitate an API add to it, and what our recordings made up."""
    if api == "openai-chat":
        for choice in body.get("choices", []):
            message = choice.get("message") or choice.get("delta") or {}
            for name in ["reasoning_content", "images", "reasoning_details"]:
                message.pop(name, None)
            for call in message.get("tool_calls", []):
                call.pop("provider_specific_fields", None)
                # The types of chunks know no custom calls; recorded streams have them.
                if "delta" in choice and "custom" in call:
                    custom = call.pop("custom")
                    call["function"] = {"name": custom.get("name"), "arguments": custom["input"]}
                    call.pop("type", None)
    for value in inner_objects(body):
        if value.get("type") == "web_search_result_location":
            value.update({"encrypted_index": "", "title": "", **value})
        if value.get("type") == "web_search_result":
            value.setdefault("page_age", None)
        if value.get("type") == "custom_tool_call":
            value.pop("status", None)
    return body


def inner_objects(value):
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list):
        for inner in value:
            yield from inner_objects(inner)


def main():
    warnings.simplefilter("error", UserWarning)
    definitions = {
        "openai-chat": Typed(openai_chat.CompletionCreateParams),
        "openai-responses": Typed(openai_responses.ResponseCreateParams),
        "anthropic": Typed(
            anthropic_messages.MessageCreateParams, anthropic_beta.MessageCreateParams
        ),
        "gemini": Gemini(),
        # The model is part of the address.
        "bedrock": Bedrock("Converse", "input_shape", {"modelId": "a-model"}),
    }
    answers = {
        "openai-chat": Typed(chat_types.ChatCompletion),
        "openai-responses": Typed(responses_types.Response),
        "anthropic": Typed(anthropic_types.Message, anthropic_beta_types.BetaMessage),
        "gemini": Typed(gemini.GenerateContentResponse),
        "bedrock": Bedrock("Converse", "output_shape"),
    }
    streams = {
        "openai-chat": Stream(Typed(chat_types.ChatCompletionChunk), accumulate_chat),
        "openai-responses": Stream(Typed(responses_types.ResponseStreamEvent)),
        "anthropic": Stream(
            Typed(
                anthropic_types.RawMessageStreamEvent,
                anthropic_beta_types.BetaRawMessageStreamEvent,
            ),
            accumulate_anthropic,
        ),
        "gemini": Stream(Typed(gemini.GenerateContentResponse)),
        "bedrock": Stream(BedrockEvent()),
    }
    checked = collections.Counter()
    for line in sys.stdin:
        case = json.loads(line)
        checked[case["api"]] += 1
        api, body = case["api"], case["body"]
        if case["kind"] == "request":
            faults = list(definitions[api].faults(WIDER.get(api, dict)(body)))
        elif case["kind"] == "answer":
            faults = list(answers[api].faults(answer_body(api, body)))
        elif case["kind"] == "sent":
            faults = sent.faults(api, body["bytes"], body["whole"])
        else:
            events = [answer_body(api, event) for event in body]
            faults = list(streams[api].faults(events))
        if faults:
            told = {"api": case["api"], "name": case["name"], "faults": faults[:MOST_FAULTS]}
            print(json.dumps(told))
    print(json.dumps({"checked": checked}))


main()
