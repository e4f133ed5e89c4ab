//! The rules, with the words in which the APIs refuse.

use crate::lint::rule_table;

rule_table! { "openai-chat"
    BODY "body"
        "A body is a JSON object."
        "";
    MODEL "model"
        "A body names its model, where the address does not and the server has more than one."
        "you must provide a model parameter";
    MESSAGES "messages"
        "There is at least one message."
        "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.";
    ROLE "role"
        "A message is an object whose role is system, developer, user, assistant, tool or function."
        "";
    CONTENT "content"
        "Content is a string or a list of parts; it may be null or missing only beside calls."
        "Invalid value for 'content': expected a string, got null.";
    CONTENT_EMPTY "content-empty"
        "A list of parts is not empty."
        "";
    PART "part"
        "A part has a type, and what its type needs."
        "";
    MEDIA "media-in-user"
        "Images, audio and files are only in user messages."
        "Invalid 'messages[0]'. Image URLs are only allowed for messages with role 'user', but this message with role 'tool' contains an image URL.";
    IMAGE "image-address"
        "An image is at a web address or in a data URL."
        "";
    REFUSAL "refusal-alone"
        "A refusal is the only part of its content."
        "";
    CALLS_EMPTY "calls-empty"
        "A list of calls is not empty; without calls there is no list."
        "Invalid 'messages[1].tool_calls': empty array. Expected an array with minimum length 1, but got an empty array instead.";
    CALL "call"
        "A call has an id, a type, a name, and arguments as a string."
        "";
    CALL_ID "call-id"
        "A call id has at most 40 characters, and those that the vendor takes."
        "Invalid 'messages[36].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a string with length 51 instead.";
    EXACT_CALL_ID "exact-call-id"
        "A call id has exactly 9 letters and digits."
        "Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9.";
    CALL_ID_TWICE "call-id-twice"
        "No two calls of a message share an id."
        "Duplicate tool call id in assistant message";
    NAME "tool-name"
        "The name of a tool has 1 to 64 letters, digits, `_` or `-`."
        "Invalid 'messages[69].tool_calls[0].function.name': empty string. Expected a string with minimum length 1, but got an empty string instead.";
    ARGUMENTS "arguments"
        "Arguments are the text of a JSON object where a chat template reads them."
        "";
    UNANSWERED "unanswered-call"
        "After calls come their results, one for each, before anything else."
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: call_…";
    ORPHAN "orphan-result"
        "A result answers a call of the assistant message before it."
        "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.";
    RESULT_TWICE "result-twice"
        "A call has one result."
        "Invalid parameter: Duplicate value for 'tool_call_id' of 'call_1', in messages[7] and messages[8].";
    RESULT_ID "result-id"
        "A result names its call in `tool_call_id`."
        "";
    TOOLS_EMPTY "tools-empty"
        "A list of tools is not empty; without tools there is no list."
        "";
    TOOL "tool"
        "A tool has a type, and what its type needs."
        "";
    PARAMETERS "tool-parameters"
        "The parameters of a function are a schema of type object."
        "";
    ITEMS "array-items"
        "An array in the parameters of a function says what its `items` are."
        "Invalid schema for function 'f': In context=('properties', 'paths'), array schema missing items.";
    STRICT "strict-schema"
        "A strict schema stays within the subset: an object at its root, no unsupported keyword, within the limits."
        "";
    STRICT_CLOSED "strict-closed"
        "Every object of a strict schema has `additionalProperties: false`."
        "Invalid schema for function 'f': In context=(), 'additionalProperties' is required to be supplied and to be false.";
    STRICT_REQUIRED "strict-required"
        "Every property of a strict schema is in `required`."
        "Invalid schema for function 'f': In context=(), 'required' is required to be supplied and to be an array including every key in properties. Missing 'id'.";
    FUNCTIONS "functions-limit"
        "There are at most 128 tools, or `functions` in their old form."
        "Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 150 instead.";
    TOOL_CHOICE "tool-choice"
        "The tool choice is none, auto, required, or one of the tools."
        "";
    FORCED "forced-tool"
        "No tool is forced where the vendor cannot do that."
        "";
    PARALLEL "parallel-without-tools"
        "`parallel_tool_calls` is given only with tools."
        "";
    FORMAT "response-format"
        "The format of the answer is text, json_object, or json_schema with a name of 1 to 64 letters, digits, `_` or `-` and a schema."
        "";
    JSON_WORD "json-word"
        "With the format json_object, the word JSON occurs in the messages."
        "";
    SETTING_TYPE "setting-type"
        "A setting is of its type: a switch is true or false, a limit a whole number, a list of stop sequences a list of strings."
        "";
    STOP "stop"
        "There are at most 4 stop sequences, and none for a model that takes none."
        "Invalid 'stop': array too long. Expected an array with maximum length 4, but got an array with length 9 instead.";
    CHOICES "choices"
        "`n` is 1 to 128."
        "";
    MAX_TOKENS "max-tokens"
        "A reasoning model takes `max_completion_tokens`, not `max_tokens`, no model takes both, and neither is 0."
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
    SAMPLING "sampling"
        "While a model thinks, it takes only the default sampling settings."
        "Unsupported value: 'temperature' does not support 0.5 with this model. Only the default (1) value is supported.";
    EFFORT "effort"
        "The effort is none, minimal, low, medium, high, xhigh or max, and the model has it."
        "";
    EFFORT_TOOLS "effort-with-tools"
        "Function tools: from GPT-5.4 on only without an effort, from GPT-5.6 on only with the effort none, from GPT-6 on not at all."
        "Function tools with reasoning_effort are not supported for gpt-5.6-luna in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.";
    STREAM "stream-options"
        "Stream options are given only with a stream."
        "The 'stream_options' parameter is only allowed when 'stream' is enabled.";
    CACHE "cache-mark"
        "A cache breakpoint lives 30m and is in no assistant message; cache options are implicit or explicit."
        "";
    ONE_SYSTEM "one-system"
        "There is one system message, at the head."
        "System message must be at the beginning.";
    DEVELOPER "developer-role"
        "Only OpenAI has the developer role."
        "";
    ALTERNATION "alternation"
        "User and assistant take turns, except for calls and their results."
        "After the optional system message, conversation roles must alternate user and assistant roles except for tool calls and results.";
    NULL_CONTENT "null-content"
        "Content is never null where the server does not take it."
        "Invalid 'content': 'content' field must be a string or an array of objects.";
    PLAIN "plain-content"
        "Content without media is a string where a chat template prints it."
        "Failed to deserialize the JSON body into the target type: messages[1]: invalid type: sequence, expected a string at line 17 column 3";
    AFTER_RESULT "user-after-result"
        "No user message follows a result directly: an answer comes between."
        "Unexpected role 'user' after role 'tool'";
    SYSTEM_LATE "late-system"
        "No system message follows an answer or a result."
        "Unexpected role 'system' after role 'assistant'";
    FIRST "first-message"
        "The first message is a user or system message."
        "Conversation must start with a user message or system message";
    LAST "last-message"
        "The last message is a user message or a result; an answer at the end, and only there, is marked as a prefix."
        "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant";
    SILENT "silent-assistant"
        "An assistant message says something or has calls."
        "Assistant message must have either content or tool_calls, but not none.";
    REASONING_LOST "reasoning-lost"
        "Calls come with the reasoning that led to them, even if it is empty."
        "The `reasoning_content` in the thinking mode must be passed back to the API.";
    REASONING_NAME "reasoning-name"
        "Reasoning is sent under the name that the server reads."
        "";
    INLINE_IMAGE "inline-image"
        "An image is inline where the server fetches none."
        "";
    DEFINITIONS "inline-definitions"
        "The definitions of a tool's schema are written out where they are used."
        "";
    RANGE "sampling-range"
        "`temperature` is a number from 0 to 2, `top_p` one from 0 to 1."
        "";
    KNOWN_FIELDS "known-fields"
        "Messages, parts and calls have no field that the vendor does not know."
        "";
    OTHER_FORM "foreign-form"
        "Parts, items, tools and the fields of messages are in this API's form, not in another's."
        "Invalid value: 'image'. Supported values are: 'text' and 'image_url'.";
}
