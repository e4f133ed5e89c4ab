"""Streams as their bytes, through the code with which the vendors' SDKs read them.

`faults(api, stream, whole)` says where what an SDK makes of a stream's bytes differs from
the same answer, written whole. The bytes go through the SDK's own transport, event parser
and accumulator; no socket is opened. What an API's SDK does not put together (Gemini,
Bedrock) is put together here as the API documents it.
"""

import io
import json

import anthropic
import httpx2 as httpx
import openai
import openai.types.chat as chat
import openai.types.responses as responses
from botocore.eventstream import EventStream
from botocore.loaders import Loader
from botocore.model import ServiceModel
from botocore.parsers import create_parser
from google import genai
from google.genai import types as gemini
from openai.lib.streaming.chat import ChatCompletionStreamState

SENT = {}


def answer(_):
    headers = {"content-type": "text/event-stream"}
    return httpx.Response(200, headers=headers, stream=httpx.ByteStream(SENT["bytes"]))


HTTP = httpx.Client(transport=httpx.MockTransport(answer))
ANTHROPIC = anthropic.Anthropic(api_key="k", http_client=HTTP)
OPENAI = openai.OpenAI(api_key="k", http_client=HTTP)
GEMINI = genai.Client(api_key="k", http_options=gemini.HttpOptions(httpx_client=HTTP))
SERVICE = ServiceModel(Loader().load_service_model("bedrock-runtime", "service-2"))


def of_anthropic(whole):
    """The message that the SDK's accumulator ends with."""
    with ANTHROPIC.beta.messages.stream(model="m", max_tokens=1, messages=[]) as stream:
        message = stream.get_final_message()
    return told(message), bare(whole)


def of_chat(whole):
    """The completion that the SDK's accumulator holds at the end."""
    state = ChatCompletionStreamState()
    for chunk in OPENAI.chat.completions.create(model="m", messages=[], stream=True):
        state.handle_chunk(chunk)
    got = told(state.current_completion_snapshot)
    for choice in got["choices"]:
        message = choice["message"]
        # A stream numbers its calls, and begins with an empty text.
        for call in message.get("tool_calls", []):
            call.pop("index", None)
        if not message.get("content"):
            message.pop("content", None)
    return got, told(chat.ChatCompletion.model_validate(whole))


def of_responses(whole):
    """The response of the last event, and what the accumulator has made of the others."""
    with OPENAI.responses.stream(model="m", input=[]) as stream:
        for event in stream:
            last = event
    wanted = responses.Response.model_validate(whole)
    return told(last.response), told(wanted)


def of_gemini(whole):
    """The chunks as the SDK parses them, their parts joined."""
    chunks = list(GEMINI.models.generate_content_stream(model="m", contents="go"))
    parts, ended = [], {}
    for chunk in chunks:
        chunk = told(chunk)
        chunk.pop("sdk_http_response", None)
        candidates = chunk.pop("candidates", None) or [{}]
        parts += (candidates[0].pop("content", None) or {}).get("parts") or []
        ended.update({**chunk, **candidates[0]})
    wanted = told(gemini.GenerateContentResponse.model_validate(whole))
    candidates = wanted.pop("candidates", None) or [{}]
    content = candidates[0].pop("content", None) or {}
    wanted.update(candidates[0])
    got = {"parts": joined(parts), **ended}
    return got, {"parts": joined(content.get("parts") or []), **wanted}


def joined(parts):
    """Neighbouring texts of one kind are one; an empty one says nothing."""
    whole = []
    for part in parts:
        last = whole[-1] if whole else {}
        is_text = set(part) <= {"text", "thought"} and "text" in part
        if is_text and set(last) == set(part) and last.get("thought") == part.get("thought"):
            last["text"] += part["text"]
        elif part.get("text") == "" and "text" in last and last.get("thought") == part.get("thought"):
            # A signature may come after the text that it signs.
            last.update({**part, "text": last.get("text", "")})
        elif not is_text or part["text"]:
            whole.append(dict(part))
    return whole


class Raw(io.BytesIO):
    """A body as the SDK's HTTP layer hands it on."""

    def stream(self):
        yield self.getvalue()


def of_bedrock(whole):
    """The events as the SDK's parser gives them, put together block by block."""
    operation = SERVICE.operation_model("ConverseStream")
    shape = operation.output_shape.members["stream"]
    parser = create_parser("rest-json")
    blocks, end = {}, {}
    for event in EventStream(Raw(SENT["bytes"]), shape, parser._event_stream_parser, operation.name):
        ((name, data),) = event.items()
        index = data.get("contentBlockIndex")
        if name == "contentBlockStart":
            blocks.setdefault(index, {}).update(data["start"])
        elif name == "contentBlockDelta":
            grow(blocks.setdefault(index, {}), data["delta"])
        elif name in ("messageStop", "metadata"):
            end.update(data)
    parsed = parser.parse(
        {"body": json.dumps(whole).encode(), "headers": {}, "status_code": 200},
        SERVICE.operation_model("Converse").output_shape,
    )
    got = {"content": [closed(block) for _, block in sorted(blocks.items())], **end}
    wanted = {"content": parsed["output"]["message"]["content"], **parsed}
    for side in (got, wanted):
        for name in ("output", "metrics", "ResponseMetadata"):
            side.pop(name, None)
    return got, wanted


def grow(block, delta):
    for name, value in delta.items():
        if name == "citation":
            block.setdefault("citations", []).append(value)
        elif isinstance(value, (str, bytes)):
            block[name] = block.get(name, type(value)()) + value
        elif isinstance(value, list):
            block.setdefault(name, {}).setdefault("content", []).extend(value)
        else:
            grow(block.setdefault(name, {}), value)


def closed(block):
    """A block as an answer has it, from one as its pieces left it."""
    if "toolUse" in block:
        text = block["toolUse"].get("input") or "{}"
        try:
            block["toolUse"]["input"] = json.loads(text)
        except json.JSONDecodeError:
            # A whole answer holds an object, and what is none inside of one.
            block["toolUse"]["input"] = {"raw_arguments": text}
    if "citations" in block:
        text = block.pop("text", "")
        return {"citationsContent": {"content": [{"text": text}], **block}}
    reasoning = block.get("reasoningContent")
    if reasoning and "redactedContent" not in reasoning:
        return {"reasoningContent": {"reasoningText": {"text": "", **reasoning}}}
    return block


def bare(value):
    """The value without fields that are null."""
    if isinstance(value, dict):
        return {name: bare(inner) for name, inner in value.items() if inner is not None}
    return [bare(inner) for inner in value] if isinstance(value, list) else value


def told(model):
    return json.loads(model.model_dump_json(exclude_none=True))


READERS = {
    "anthropic": of_anthropic,
    "openai-chat": of_chat,
    "openai-responses": of_responses,
    "gemini": of_gemini,
    "bedrock": of_bedrock,
}


def faults(api, stream, whole):
    SENT["bytes"] = bytes.fromhex(stream)
    try:
        got, wanted = READERS[api](whole)
    except Exception as refused:  # Whatever an SDK raises, it refuses.
        return [f"read: {refused!r:.300}"]
    return list(differences(got, wanted, ""))


def differences(got, wanted, place):
    if isinstance(got, dict) and isinstance(wanted, dict):
        for name in {**wanted, **got}:
            if name not in got or name not in wanted:
                side = "stream" if name in got else "answer"
                value = got.get(name, wanted.get(name))
                yield f"{place}/{name}: only the {side} has it ({value!r:.80})"
            else:
                yield from differences(got[name], wanted[name], f"{place}/{name}")
    elif isinstance(got, list) and isinstance(wanted, list) and len(got) == len(wanted):
        for at, (one, other) in enumerate(zip(got, wanted)):
            yield from differences(one, other, f"{place}/{at}")
    elif got != wanted:
        yield f"{place}: {got!r:.120}, not {wanted!r:.120}"
