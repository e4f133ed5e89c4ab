"""Drives a double with the vendors' own SDKs.

The double answers with its obliging brain. Prints one line for each thing that held; any that
does not hold ends the script. Exits with 77 if a package is missing.
"""

import base64
import json
import os
import sys

try:
    import anthropic
    import boto3
    import botocore.config
    import botocore.exceptions
    import openai
    from google import genai
    from google.genai import errors as genai_errors
    from google.genai import types
except ImportError as error:
    print(f"missing: {error.name}")
    sys.exit(77)

BASE = sys.argv[1]
PICTURE = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(64)).decode()
SCHEMA = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "depth": {"type": "integer", "minimum": 1}},
    "required": ["path", "depth"],
    "additionalProperties": False,
}
held = 0


def holds(what, condition):
    global held
    if not condition:
        sys.exit(f"does not hold: {what}")
    held += 1
    print(what)


def fits(arguments):
    return set(arguments) == {"path", "depth"} and arguments["depth"] >= 1


def refused(kind, call):
    try:
        call()
    except kind as error:
        return error
    return None


def chat():
    client = openai.OpenAI(base_url=f"{BASE}/v1", api_key="k", max_retries=0)
    ask = [{"role": "user", "content": "My number is 4711."}]
    answer = client.chat.completions.create(model="gpt-4o", messages=ask)
    holds("chat: plain", "4711" in answer.choices[0].message.content)
    holds("chat: usage", answer.usage.prompt_tokens > 0 and answer.usage.completion_tokens > 0)

    def tool(name):
        return {"type": "function", "function": {"name": name, "parameters": SCHEMA}}

    tools = [tool("ls"), tool("stat")]
    messages = list(ask)
    for _ in range(3):
        answer = client.chat.completions.create(model="gpt-4o", messages=messages, tools=tools)
        message = answer.choices[0].message
        messages.append(message.model_dump(exclude_none=True))
        for call in message.tool_calls or []:
            assert fits(json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": "found 12 files"})
    n_calls = [len(m.get("tool_calls", [])) for m in messages if m["role"] == "assistant"]
    holds("chat: parallel tools, then an answer", n_calls == [2, 2, 0])
    holds("chat: the answer has the results", "found 12 files" in message.content)
    one = client.chat.completions.create(
        model="gpt-4o", messages=ask, tools=tools, parallel_tool_calls=False
    )
    holds("chat: one call at a time", len(one.choices[0].message.tool_calls) == 1)
    image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PICTURE}"}}
    seen = [{"role": "user", "content": [{"type": "text", "text": "What is it?"}, image]}]
    answer = client.chat.completions.create(model="gpt-4o", messages=seen)
    holds("chat: image", answer.usage.prompt_tokens > 1000)
    with client.chat.completions.stream(
        model="gpt-4o", messages=ask, tools=tools, stream_options={"include_usage": True}
    ) as stream:
        kinds = [event.type for event in stream]
        final = stream.get_final_completion()
    calls = final.choices[0].message.tool_calls
    holds("chat: streamed tools", [call.function.name for call in calls] == ["ls", "stat"])
    holds("chat: streamed arguments", all(fits(json.loads(c.function.arguments)) for c in calls))
    holds("chat: streamed usage", final.usage.total_tokens > 0 and "chunk" in kinds)
    chunks = list(client.chat.completions.create(model="gpt-4o", messages=ask, stream=True))
    holds("chat: no usage unasked", all(chunk.usage is None for chunk in chunks))
    holds("chat: models", client.models.list().data[0].id == "gpt-4o")
    error = refused(
        openai.BadRequestError,
        lambda: client.chat.completions.create(
            model="gpt-4o", messages=[{"role": "tool", "tool_call_id": "x", "content": "y"}]
        ),
    )
    holds("chat: 400", error and "preceeding" in error.message)
    for fault, kind in [
        ("429:retry-after=1", openai.RateLimitError),
        ("500", openai.InternalServerError),
        ("overflow", openai.BadRequestError),
    ]:
        error = refused(
            kind,
            lambda: client.chat.completions.create(
                model="gpt-4o", messages=ask, extra_headers={"x-double-fault": fault}
            ),
        )
        holds(f"chat: {fault}", error is not None)
        if fault == "overflow":
            holds("chat: overflow code", error.code == "context_length_exceeded")
    error = refused(
        openai.AuthenticationError,
        lambda: client.chat.completions.create(
            model="gpt-4o", messages=ask, extra_headers={"authorization": "Bearer"}
        ),
    )
    holds("chat: 401", error is not None)


def responses():
    client = openai.OpenAI(base_url=f"{BASE}/v1", api_key="k", max_retries=0)
    tools = [
        {"type": "function", "name": name, "parameters": SCHEMA, "strict": True}
        for name in ["ls", "stat"]
    ]
    think = {"effort": "low", "summary": "auto"}
    answer = client.responses.create(model="gpt-4o", input="My number is 4711.")
    holds("responses: plain", "4711" in answer.output_text)
    items = [{"role": "user", "content": "Look."}]
    for _ in range(3):
        answer = client.responses.create(
            model="gpt-5.1", input=items, tools=tools, store=False, reasoning=think
        )
        items += [item.model_dump(exclude_none=True) for item in answer.output]
        for item in answer.output:
            if item.type == "function_call":
                output = {"type": "function_call_output", "call_id": item.call_id, "output": "7 files"}
                items.append(output)
    kinds = [item.get("type", "question") for item in items]
    holds("responses: thinking replayed", kinds.count("reasoning") == 3)
    holds("responses: parallel tools", kinds.count("function_call") == 4)
    holds("responses: the answer has the results", "7 files" in answer.output_text)
    first = client.responses.create(model="gpt-5.1", input="Look.", tools=tools)
    outputs = [
        {"type": "function_call_output", "call_id": item.call_id, "output": "8 files"}
        for item in first.output
        if item.type == "function_call"
    ]
    second = client.responses.create(
        model="gpt-5.1",
        previous_response_id=first.id,
        input=outputs,
        tools=tools,
        tool_choice="none",
    )
    holds("responses: continued", "8 files" in second.output_text)
    holds("responses: stored", client.responses.retrieve(second.id).id == second.id)
    error = refused(
        openai.BadRequestError,
        lambda: client.responses.create(
            model="gpt-5.1", previous_response_id="resp_none", input="Hm?"
        ),
    )
    holds("responses: nothing to go on from", error and error.code == "previous_response_not_found")
    holds("responses: names the field", error and error.param == "previous_response_id")
    image = {"type": "input_image", "image_url": f"data:image/png;base64,{PICTURE}", "detail": "auto"}
    answer = client.responses.create(
        model="gpt-4o",
        input=[{"role": "user", "content": [{"type": "input_text", "text": "What?"}, image]}],
    )
    holds("responses: image", answer.usage.input_tokens > 1000)
    with client.responses.stream(
        model="gpt-5.1", input="Look.", tools=tools, reasoning=think
    ) as stream:
        kinds = [event.type for event in stream]
        final = stream.get_final_response()
    holds("responses: stream begins and ends", kinds[0] == "response.created" and kinds[-1] == "response.completed")
    names = [item.name for item in final.output if item.type == "function_call"]
    holds("responses: streamed tools", names == ["ls", "stat"])
    holds("responses: streamed summary", "response.reasoning_summary_text.delta" in kinds)
    counted = client.responses.input_tokens.count(model="gpt-4o", input="My number is 4711.")
    again = client.responses.create(model="gpt-4o", input="My number is 4711.")
    holds("responses: count", counted.input_tokens == again.usage.input_tokens)
    error = refused(
        openai.BadRequestError,
        lambda: client.responses.create(
            model="gpt-4o",
            input=[{"type": "function_call_output", "call_id": "c", "output": "o"}],
        ),
    )
    holds("responses: 400", error and "No tool call found" in error.message)


def messages():
    client = anthropic.Anthropic(base_url=BASE, api_key="k", max_retries=0)
    model, think = "claude-sonnet-4-5", {"type": "enabled", "budget_tokens": 1024}
    tools = [{"name": name, "input_schema": SCHEMA} for name in ["ls", "stat"]]
    ask = [{"role": "user", "content": "My number is 4711."}]
    answer = client.messages.create(model=model, max_tokens=1000, messages=ask)
    holds("anthropic: plain", "4711" in answer.content[0].text)
    told = list(ask)
    for _ in range(3):
        answer = client.messages.create(
            model=model, max_tokens=4000, messages=told, tools=tools, thinking=think
        )
        told.append({"role": "assistant", "content": [b.model_dump(exclude_none=True) for b in answer.content]})
        results = [
            {"type": "tool_result", "tool_use_id": block.id, "content": "9 files"}
            for block in answer.content
            if block.type == "tool_use" and fits(block.input)
        ]
        if results:
            told.append({"role": "user", "content": results})
    holds("anthropic: thinking and parallel tools", len(told) == 6 and len(told[2]["content"]) == 2)
    holds("anthropic: the answer has the results", "9 files" in answer.content[-1].text)
    forged = json.loads(json.dumps(told[:3]))
    forged[1]["content"][0]["thinking"] = "Something else."
    error = refused(
        anthropic.BadRequestError,
        lambda: client.messages.create(
            model=model, max_tokens=4000, messages=forged, tools=tools, thinking=think
        ),
    )
    holds("anthropic: forged thought", error and "signature" in error.message)
    source = {"type": "base64", "media_type": "image/png", "data": PICTURE}
    answer = client.messages.create(
        model=model,
        max_tokens=1000,
        messages=[{"role": "user", "content": [{"type": "image", "source": source}, {"type": "text", "text": "What?"}]}],
    )
    holds("anthropic: image", answer.usage.input_tokens > 1000)
    with client.messages.stream(
        model=model, max_tokens=4000, messages=ask, tools=tools, thinking=think
    ) as stream:
        kinds = [event.type for event in stream]
        final = stream.get_final_message()
    whole = client.messages.create(
        model=model, max_tokens=4000, messages=ask, tools=tools, thinking=think
    )
    holds("anthropic: streamed blocks", [b.type for b in final.content] == [b.type for b in whole.content])
    holds("anthropic: streamed usage", final.usage.output_tokens == whole.usage.output_tokens)
    holds("anthropic: stream ends", "message_stop" in kinds)
    counted = client.messages.count_tokens(model=model, messages=ask, tools=tools)
    holds("anthropic: count", counted.input_tokens == whole.usage.input_tokens)
    holds("anthropic: models", client.models.list().data[0].id == model)
    long = [{"type": "text", "text": "A lighthouse. " * 800, "cache_control": {"type": "ephemeral"}}]
    used = [
        client.messages.create(model=model, max_tokens=100, system=long, messages=ask).usage
        for _ in range(2)
    ]
    holds("anthropic: cache", used[0].cache_creation_input_tokens == used[1].cache_read_input_tokens > 1024)
    error = refused(
        anthropic.BadRequestError,
        lambda: client.messages.create(model=model, max_tokens=10, messages=[{"role": "assistant", "content": "x"}]),
    )
    holds("anthropic: 400", error and error.body["error"]["type"] == "invalid_request_error")
    for fault, status in [("429", 429), ("529", 529), ("500", 500)]:
        error = refused(
            anthropic.APIStatusError,
            lambda: client.messages.create(
                model=model, max_tokens=10, messages=ask, extra_headers={"x-double-fault": fault}
            ),
        )
        holds(f"anthropic: {fault}", error.status_code == status)


def gemini():
    client = genai.Client(api_key="k", http_options=types.HttpOptions(base_url=BASE))
    model = "gemini-3-pro-preview"
    declared = [
        types.FunctionDeclaration(name=name, parameters_json_schema=SCHEMA) for name in ["ls", "stat"]
    ]
    config = types.GenerateContentConfig(
        system_instruction="You are careful.",
        tools=[types.Tool(function_declarations=declared)],
        thinking_config=types.ThinkingConfig(include_thoughts=True),
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
    )
    answer = client.models.generate_content(model=model, contents="My number is 4711.")
    holds("gemini: plain", "4711" in answer.text)
    contents = [types.Content(role="user", parts=[types.Part(text="Look.")])]
    n_calls = []
    for _ in range(3):
        answer = client.models.generate_content(model=model, contents=contents, config=config)
        contents.append(answer.candidates[0].content)
        calls = answer.function_calls or []
        n_calls.append(len(calls))
        if calls:
            parts = [
                types.Part(function_response=types.FunctionResponse(id=c.id, name=c.name, response={"output": "5 files"}))
                for c in calls
                if fits(c.args)
            ]
            contents.append(types.Content(role="user", parts=parts))
    holds("gemini: parallel tools and signatures", n_calls == [2, 2, 0])
    holds("gemini: the answer has the results", "5 files" in answer.text)
    picture = types.Part.from_bytes(data=base64.b64decode(PICTURE), mime_type="image/png")
    answer = client.models.generate_content(model=model, contents=[picture, "What?"])
    holds("gemini: image", answer.usage_metadata.prompt_token_count > 1000)
    chunks = list(client.models.generate_content_stream(model=model, contents="Look.", config=config))
    streamed = [c.name for chunk in chunks for c in chunk.function_calls or []]
    holds("gemini: streamed tools", streamed == ["ls", "stat"])
    thoughts = [p for chunk in chunks for p in chunk.candidates[0].content.parts if p.thought]
    holds("gemini: streamed thoughts", len(thoughts) > 0)
    holds("gemini: streamed usage", chunks[-1].usage_metadata.candidates_token_count > 0)
    counted = client.models.count_tokens(model=model, contents="My number is 4711.")
    holds("gemini: count", counted.total_tokens > 0)
    holds("gemini: models", next(iter(client.models.list())).name.startswith("models/"))
    unsigned = [contents[0], contents[1].model_copy(deep=True), contents[2]]
    for part in unsigned[1].parts:
        part.thought_signature = None
    error = refused(
        genai_errors.ClientError,
        lambda: client.models.generate_content(model=model, contents=unsigned, config=config),
    )
    holds("gemini: 400", error and error.code == 400 and "thought_signature" in error.message)
    options = types.HttpOptions(base_url=BASE, headers={"x-double-fault": "500"})
    faulty = genai.Client(api_key="k", http_options=options)
    error = refused(
        genai_errors.ServerError,
        lambda: faulty.models.generate_content(model=model, contents="Look."),
    )
    holds("gemini: 500", error is not None)


def bedrock():
    client = boto3.client(
        "bedrock-runtime",
        endpoint_url=BASE,
        region_name="us-east-1",
        aws_access_key_id="k",
        aws_secret_access_key="s",
        config=botocore.config.Config(retries={"total_max_attempts": 1}),
    )
    model = "anthropic.claude-sonnet-4-5-20250929-v1:0"
    think = {"thinking": {"type": "enabled", "budget_tokens": 1024}}
    tools = {
        "tools": [{"toolSpec": {"name": n, "inputSchema": {"json": SCHEMA}}} for n in ["ls", "stat"]]
    }
    ask = [{"role": "user", "content": [{"text": "My number is 4711."}]}]
    answer = client.converse(modelId=model, messages=ask)
    holds("bedrock: plain", "4711" in answer["output"]["message"]["content"][0]["text"])
    told = list(ask)
    for _ in range(3):
        answer = client.converse(
            modelId=model, messages=told, toolConfig=tools, additionalModelRequestFields=think
        )
        message = answer["output"]["message"]
        told.append(message)
        results = [
            {"toolResult": {"toolUseId": b["toolUse"]["toolUseId"], "content": [{"text": "6 files"}]}}
            for b in message["content"]
            if "toolUse" in b and fits(b["toolUse"]["input"])
        ]
        if results:
            told.append({"role": "user", "content": results})
    holds("bedrock: thinking and parallel tools", len(told) == 6 and len(told[2]["content"]) == 2)
    holds("bedrock: the answer has the results", "6 files" in message["content"][-1]["text"])
    image = {"image": {"format": "png", "source": {"bytes": base64.b64decode(PICTURE)}}}
    answer = client.converse(modelId=model, messages=[{"role": "user", "content": [image, {"text": "What?"}]}])
    holds("bedrock: image", answer["usage"]["inputTokens"] > 1000)
    events = list(
        client.converse_stream(
            modelId=model, messages=ask, toolConfig=tools, additionalModelRequestFields=think
        )["stream"]
    )
    starts = [e["contentBlockStart"]["start"]["toolUse"]["name"] for e in events if "contentBlockStart" in e]
    holds("bedrock: streamed tools", starts == ["ls", "stat"])
    holds("bedrock: stream ends", "metadata" in events[-1] and "messageStop" in events[-2])
    counted = client.count_tokens(modelId=model, input={"converse": {"messages": ask}})
    plain = client.converse(modelId=model, messages=ask)
    holds("bedrock: count", counted["inputTokens"] == plain["usage"]["inputTokens"])
    error = refused(
        client.exceptions.ValidationException,
        lambda: client.converse(modelId=model, messages=told[2:], toolConfig=tools),
    )
    holds("bedrock: 400", error and "exceeds the number of toolUse" in str(error))

    def fault(request, **_):
        request.headers["x-double-fault"] = "429"

    client.meta.events.register("before-send.bedrock-runtime.Converse", fault)
    error = refused(
        client.exceptions.ThrottlingException,
        lambda: client.converse(modelId=model, messages=ask),
    )
    holds("bedrock: 429", error is not None)


os.environ["AWS_EC2_METADATA_DISABLED"] = "true"
for drive in [chat, responses, messages, gemini, bedrock]:
    drive()
print(f"{held} things hold")
