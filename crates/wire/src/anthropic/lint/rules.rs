//! The rules, in the order in which a body is read.

use crate::lint::rule_table;

rule_table! { "anthropic"
    BODY "body-form"
        "The body is an object with a list of messages; its tools, if there are any, are a list."
        "messages: Field required";
    MODEL "model"
        "The body names its model, unless it is for a cloud whose address names it."
        "";
    KNOWN_FIELDS "known-fields"
        "At its top the body has only fields that the API knows, those of its betas included."
        "response_format: Extra inputs are not permitted";
    SETTING_TYPE "setting-type"
        "A setting is of its type: a switch is true or false, a limit a whole number, a list of stop sequences a list of strings."
        "";
    MAX_TOKENS "max-tokens"
        "The maximum number of tokens in the answer is always given, as a whole number."
        "max_tokens: Field required";
    MOST_TOKENS "max-tokens-limit"
        "The maximum number of tokens in the answer is not more than the model writes."
        "max_tokens: 66096 > 64000, which is the maximum allowed number of output tokens for claude-opus-4-5-20251101";
    SAMPLING "sampling"
        "Sampling settings are in range, not changed while the model thinks, and not sent to Claude 4.7 and later."
        "`temperature` is deprecated for this model.";
    ONE_SAMPLING "one-sampling"
        "Claude 4.1 and later take a temperature or a nucleus (top-p), not both."
        "`temperature` and `top_p` cannot both be specified for this model. Please use only one.";
    STOP "stop-not-blank"
        "A stop sequence has a character that is not white space."
        "";
    MODE "thinking-mode"
        "The thinking setting is one that the model has."
        "\"thinking.type.enabled\" is not supported for this model. Use \"thinking.type.adaptive\" and \"output_config.effort\" to control thinking behavior.";
    BUDGET "thinking-budget"
        "A thinking budget is at least 1024 tokens and less than max_tokens."
        "";
    EFFORT "effort"
        "The effort is one that the model knows: none before Claude 4.6 but on Opus 4.5, `max` from 4.6 on, `xhigh` from 4.7 on."
        "This model does not support the effort parameter.";
    FORMAT "format-form"
        "An output format is a JSON schema within the subset that can be compiled."
        "";
    FORMAT_ALONE "format-alone"
        "An output format cannot be combined with citations or with a final assistant message."
        "";
    CHOICE "tool-choice-form"
        "The tool choice is auto, any, none, or a tool by name; parallel calls are turned off only where calls are possible."
        "";
    CHOICE_TOOLS "tool-choice-tools"
        "A tool choice needs tools, and the tool that it names is one of them."
        "";
    FORCED "forced-tool"
        "No tool is forced while a model thinks on a budget, or on a model that cannot be forced."
        "tool_choice: type \"tool\" and \"any\" are not supported for this model.";
    TOOL_NAME "tool-name"
        "A tool's name has 1 to 64 letters, digits, `_` or `-`."
        "";
    TOOLS_UNIQUE "tool-names-unique"
        "No two tools share a name."
        "";
    SCHEMA_OBJECT "schema-object"
        "A tool's input_schema is an object type."
        "";
    SCHEMA_TOP "schema-top-level"
        "A tool's input_schema has no oneOf, allOf or anyOf at its top level."
        "tools.0.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level";
    DEFERRED "deferred-tools"
        "At least one tool is not deferred."
        "At least one tool must have defer_loading=false. All tools cannot be deferred.";
    STRICT "strict-schema"
        "The schema of a strict tool is within the subset that can be compiled."
        "";
    STRICT_LIMITS "strict-limits"
        "There are at most 20 strict tools, with at most 24 optional and 16 union parameters."
        "Too many strict tools (21). The maximum number of strict tools supported is 20";
    SYSTEM "system-form"
        "The system prompt is a string or a list of text blocks."
        "";
    COUNT "messages-not-empty"
        "There is at least one message, and there are at most 100,000."
        "messages: at least one message is required";
    ROLE "role"
        "A message's role is user, assistant or system."
        "";
    FIRST "first-user"
        "The first message is a user message."
        "";
    SYSTEM_MESSAGE "system-message"
        "A system message among the others follows a user turn, is last or comes before an assistant message, and is sent only to models that take one."
        "";
    CONTENT "content-form"
        "Content is a string or a list of objects with a type."
        "";
    EMPTY "message-not-empty"
        "Every message has content, except perhaps a final assistant message."
        "messages.0: all messages must have non-empty content except for the optional final assistant message";
    TEXT "text-not-blank"
        "A text has a character that is not white space."
        "messages: text content blocks must contain non-whitespace text";
    PLACE "block-place"
        "Calls and thinking are in assistant messages; results, images, documents and search results are in user messages."
        "";
    FIELDS "block-fields"
        "A block has the fields of its type, and they are of the right type."
        "";
    SOURCE "media-source"
        "An image is a JPEG, PNG, GIF or WebP, a document in base64 is a PDF, and there are at most 600 images."
        "";
    RESULT_CONTENT "result-content"
        "A result holds text, images, documents, search results and tool references only."
        "";
    FAILED "failed-result-text"
        "A failed result says something."
        "";
    CALL_ID "call-id"
        "A call's id has only letters, digits, `_` and `-`."
        "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'";
    SERVER_ID "server-call-id"
        "The id of a tool that the API runs itself begins with `srvtoolu_`."
        "messages.1.content.0.server_tool_use.id: String should match pattern '^srvtoolu_[a-zA-Z0-9_]+$'";
    UNIQUE "call-ids-unique"
        "No two calls share an id."
        "messages.1.content.1: `tool_use` ids must be unique";
    ANSWERED "calls-answered"
        "Every call has its result in the very next message, which is a user message."
        "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1. Each `tool_use` block must have a corresponding `tool_result` block in the next message.";
    RESULTS_FIRST "results-first"
        "Results come before everything else in their message."
        "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1. Each `tool_use` block must have a corresponding `tool_result` block in the next message.";
    ORPHAN "result-has-call"
        "A result answers a call of the message before."
        "messages.2.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_1. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.";
    ONE_RESULT "one-result"
        "A call has one result."
        "each tool_use must have a single result. Found multiple `tool_result` blocks with id: toolu_1";
    SERVED "server-tool-pairs"
        "A tool that the API runs itself is sent back followed by its result."
        "`web_search` tool use with id `srvtoolu_1` was found without a corresponding `web_search_tool_result` block";
    WAITING "waiting-server-tool"
        "While a tool that the API runs itself waits, the user sends nothing but results."
        "";
    PREFILL "no-prefill"
        "Claude 4.6 and later do not continue a final assistant message."
        "This model does not support assistant message prefill. The conversation must end with a user message.";
    TRAILING "prefill-trailing-space"
        "A final assistant message does not end with white space."
        "messages: final assistant content cannot end with trailing whitespace";
    SIGNED "thinking-signed"
        "Thinking has its signature, redacted thinking its data."
        "messages.1.content.0.thinking.signature: Field required";
    FOREIGN "thinking-foreign"
        "The signature of thinking is one that Anthropic made: base64."
        "messages.1.content.0: Invalid `signature` in `thinking` block";
    UNCHANGED "thinking-unchanged"
        "No message repeats a thought."
        "";
    THOUGHT_LAST "thinking-not-last"
        "No message ends with thinking."
        "messages.1: The final block in an assistant message cannot be `thinking`.";
    LOOP "thinking-first"
        "With a thinking budget, the tool loop that is running began with thinking."
        "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks).";
    OFF "thinking-off"
        "With thinking off, a final assistant message holds no thinking."
        "When thinking is disabled, an `assistant` message in the final position cannot contain `thinking`.";
    MARK_COUNT "cache-mark-count"
        "There are at most four cache marks, the automatic one included."
        "A maximum of 4 blocks with cache_control may be provided. Found 5.";
    MARK_PLACE "cache-mark-place"
        "No cache mark is on thinking, on an empty text, on a deferred tool or on a system message that is cleared after its turn."
        "cache_control cannot be set for empty text blocks";
    MARK_FORM "cache-mark-form"
        "A cache mark is ephemeral and lives for 5m or 1h."
        "";
    MARK_ORDER "cache-mark-order"
        "A cache mark that lives for 1h does not follow one that lives for 5m."
        "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block.";
    OTHER_FORM "foreign-form"
        "Parts, items, tools and the fields of messages are in this API's form, not in another's."
        "";
}
