//! The rules, as they are published.

use crate::lint::rule_table;

rule_table! { "bedrock"
    MESSAGE_SHAPE "message-shape"
        "`messages` is a list of at least one; each has a role, user or assistant, and a list of content blocks."
        "";
    SYSTEM_SHAPE "system-shape"
        "`system` is a list of blocks of text, guarded content and cache points, not a string."
        "";
    USER_FIRST "user-first"
        "The first message is a user message."
        "A conversation must start with a user message. Try again with a conversation that starts with a user message.";
    TURNS_ALTERNATE "turns-alternate"
        "User and assistant take turns: two messages of one role in a row must be one message."
        "A conversation must alternate between user and assistant roles. Make sure the conversation alternates between user and assistant roles and try again.";
    PREFILL "prefill"
        "On Claude 4.6 and later the last message is not the assistant's."
        "The model returned the following errors: This model does not support assistant message prefill. The conversation must end with a user message.";
    CONTENT_EMPTY "content-empty"
        "Every message has at least one content block."
        "The content field in the Message object at messages.X is empty. Add a ContentBlock object to the content field and try again.";
    TEXT_BLANK "text-blank"
        "No text block is empty or only white space, in messages, results or the system list."
        "The text field in the ContentBlock object at messages.0.content.0 is blank. Add text to the text field, and try again.";
    ONE_KIND "one-kind"
        "A content block has exactly one key that says what it is."
        "";
    BLOCK_PLACE "block-place"
        "Images, documents, videos, audio and results are in user messages, calls and thinking in assistant messages; a result holds no calls, audio or cache points."
        "";
    CALLS_ANSWERED "calls-answered"
        "The message after calls is a user message and holds a result for each of them."
        "Expected toolResult blocks at messages.2.content for the following Ids: tooluse_…";
    RESULTS_CALLED "results-called"
        "Every result answers a call of the message before it."
        "The number of toolResult blocks at messages.N.content exceeds the number of toolUse blocks of previous turn.";
    RESULT_ONCE "result-once"
        "A call has one result."
        "The toolResult blocks at messages.2.content contain duplicate Ids: tooluse_1";
    CALL_ID_UNIQUE "call-id-unique"
        "No two calls of a request have the same id."
        "The toolUse blocks at messages.2.content contain duplicate Ids: tooluse_1";
    CALL_ID_FORM "call-id-form"
        "A `toolUseId` has 1 to 64 letters, digits, `_`, `.`, `:` and `-`."
        "";
    CALL_INPUT "call-input"
        "The `input` of a call is an object."
        "";
    RESULTS_ALONE "results-alone"
        "On Llama and Mistral models nothing else is beside results."
        "Conversation blocks and tool result blocks cannot be provided in the same turn.";
    RESULT_ERROR_EMPTY "result-error-empty"
        "A result with status `error` has content."
        "The content field at messages.2.content.0.toolResult cannot be empty when status value is error.";
    RESULT_SHAPE "result-shape"
        "A result has a list of content, and its status, if there is one, is `success` or `error`."
        "";
    RESULT_JSON "result-json"
        "A `json` block of a result is an object; lists and plain values travel as text."
        "The format of the value at messages.2.content.0.toolResult.content.0.json is invalid. Provide a json object for the field and try again.";
    TOOL_CONFIG "tool-config"
        "`toolConfig` is present whenever the history has calls or results."
        "The toolConfig field must be defined when using toolUse and toolResult content blocks.";
    TOOLS_EMPTY "tools-empty"
        "`toolConfig.tools` is a list of at least one tool."
        "";
    TOOL_KIND "tool-kind"
        "An element of `tools` has exactly one key: `toolSpec`, `systemTool` or `cachePoint`."
        "";
    TOOL_NAME "tool-name"
        "The name of a tool, in `tools` and in calls, has 1 to 64 letters, digits, `_` and `-`."
        "";
    TOOL_NAME_UNIQUE "tool-name-unique"
        "No two tools have the same name."
        "";
    TOOL_DESCRIPTION "tool-description"
        "The description of a tool is left out or not blank."
        "";
    TOOL_SCHEMA "tool-schema"
        "`inputSchema.json` is a schema whose type is object."
        "The value at toolConfig.tools.0.toolSpec.inputSchema.json.type must be one of the following: object.";
    TOOL_CHOICE "tool-choice"
        "`toolChoice` is one of `auto`, `any` and `tool`; there is no `none`, and the tool is one of `tools`."
        "";
    REASONING_SHAPE "reasoning-shape"
        "Thinking is either `reasoningText` with a text, and no empty signature, or `redactedContent`."
        "";
    MEDIA_FORMAT "media-format"
        "The format of an image, document, video or audio is one that the API knows."
        "";
    MEDIA_SOURCE "media-source"
        "A medium has exactly one source: its bytes in base64, or an S3 location; a document may also have text or content."
        "";
    DOCUMENT_NAME "document-name"
        "The name of a document has 1 to 200 letters, digits, single spaces, hyphens, parentheses and brackets."
        "";
    DOCUMENT_NAME_UNIQUE "document-name-unique"
        "No two documents of a request have the same name."
        "Messages can't contain duplicate document names. Rename the document and retry your request.";
    DOCUMENT_COUNT "document-count"
        "A request has at most 5 documents."
        "You can't include more than 5 documents in a request.";
    DOCUMENT_TEXT "document-text"
        "A message with a document has a text block too."
        "";
    CACHE_POINT_COUNT "cache-point-count"
        "A request has at most 4 cache points, over tools, system and messages."
        "";
    CACHE_POINT_PLACE "cache-point-place"
        "A cache point follows content, but not another cache point, a document, a video or thinking."
        "Cache point cannot be inserted after reasoning block. Please remove the invalid cache point and try again.";
    CACHE_POINT_SHAPE "cache-point-shape"
        "A cache point is of type `default`, and its time to live, if given, is `5m` or `1h`."
        "";
    CACHE_POINT_ORDER "cache-point-order"
        "Cache points that live an hour come before those that live five minutes, in the order of tools, system, messages."
        "The model returned the following errors: messages.3.content.0.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: `tools`, `system`, `messages`.";
    SETTING_TYPE "setting-type"
        "A setting is of its type: a switch is true or false, a limit a whole number, a list of stop sequences a list of strings."
        "";
    INFERENCE_CONFIG "inference-config"
        "`maxTokens` is at least 1, `temperature` and `topP` lie between 0 and 1, and there are at most 2500 stop sequences, none empty."
        "";
    ONE_SAMPLING "one-sampling"
        "Claude 4.1 and later take a temperature or a nucleus (top-p), not both."
        "The model returned the following errors: `temperature` and `top_p` cannot both be specified for this model. Please use only one.";
    THINKING "thinking"
        "Thinking is asked only of a model that thinks, and as that model does: with a budget of at least 1024 tokens and less than `maxTokens`, or adaptive."
        "";
    SAMPLING "sampling"
        "While a Claude model thinks, `temperature` is 1 and `topP` is at least 0.95; the newest models take neither."
        "The model returned the following errors: `temperature` is deprecated for this model.";
    SIGNED "signed-thinking"
        "Thinking that a Claude model gets back is signed."
        "The model returned the following errors: messages.1.content.0.thinking.signature: Field required";
    OUTPUT_FORMAT "output-format"
        "`outputConfig.textFormat` is of type json_schema, and its schema is a string that holds a JSON object."
        "";
    OTHER_FORM "foreign-form"
        "Parts, items, tools and the fields of messages are in this API's form, not in another's."
        "";
}
