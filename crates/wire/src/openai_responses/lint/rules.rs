//! The rules, in the order in which they are listed everywhere.

use crate::lint::rule_table;

rule_table! { "openai-responses"
    BODY "body" "A body is a JSON object." "";
    MODEL "model"
        "A body names its model, unless a stored prompt does."
        "Missing required parameter: 'model'.";
    INPUT "input"
        "`input` is a text or a list that is not empty, unless an earlier answer or a stored prompt is continued."
        "";
    MOVED_FIELDS "moved-fields"
        "The fields of Chat Completions have other names here: `input`, `max_output_tokens`, `text.format`, `reasoning.effort`."
        "";
    CONTINUATION "continuation"
        "`previous_response_id` and `conversation` are not sent together."
        "";
    SETTING_TYPE "setting-type"
        "A setting is of its type: a switch is true or false, a limit a whole number, a list of stop sequences a list of strings."
        "";
    OUTPUT_TOKENS "output-tokens" "`max_output_tokens` is 16 or more." "";
    TEXT_FORMAT "text-format"
        "`text.format` is flat: a `json_schema` has its `name` (letters, digits, _ and -, at most 64) and `schema` beside `type`."
        "";
    JSON_WORD "json-word" "With the format `json_object` the word JSON occurs in the input." "";
    ITEM_TYPE "item-type" "Every item is an object with a `type`, or a message with a `role`." "";
    ROLE "role" "A message's role is user, assistant, system or developer." "";
    CONTENT "content" "A message's `content` is a text or a list of parts." "";
    PART_DIRECTION "part-direction"
        "Parts of the user, the system and tools are `input_*`; those of the assistant are `output_text` or `refusal`."
        "";
    PART_FORM "part-form" "Every part is an object with a `type`; a text part has its `text`." "";
    MEDIA_SOURCE "media-source"
        "An `input_image` has `image_url` or `file_id`; an `input_file` has `file_data`, `file_url` or `file_id`."
        "";
    MEDIA_URL "media-url"
        "The address of an image or a file is http, https, or a data URL in base64."
        "";
    CALL_FIELDS "call-fields"
        "A `function_call` has `call_id`, `name` and `arguments`, a `custom_tool_call` `call_id`, `name` and `input`."
        "";
    ARGUMENTS_TEXT "arguments-text" "`arguments` is a text that holds JSON, not the JSON itself." "";
    NAME "name" "Names of functions are 1 to 128 letters, digits, _ and -." "";
    OUTPUT_CALL_ID "output-call-id" "An output names its call in `call_id`." "";
    OUTPUT_FORM "output-form"
        "`output` is a text or a list of `input_text`, `input_image` and `input_file` parts that is not empty."
        "";
    CALL_ID_LENGTH "call-id-length"
        "A `call_id` has 1 to 64 characters."
        "Invalid 'input[95].call_id': string too long. Expected a string with maximum length 64, but got a string with length 116 instead.";
    CALL_ID_UNIQUE "call-id-unique" "A `call_id` is used by one call and answered by one output." "";
    CALL_ANSWERED "call-answered"
        "Every call has its output, unless it is asynchronous."
        "No tool output found for function call call_….";
    OUTPUT_HAS_CALL "output-has-call"
        "Every output has its call before it, unless an earlier answer is continued."
        "No tool call found for function call output with call_id call_….";
    OUTPUT_ID "output-id"
        "An output that continues an earlier answer carries no `id`."
        "";
    NAMESPACE "namespace"
        "A call of a function that lives in a namespace carries its `namespace`."
        "Missing namespace for function_call '…'. It does not exist in the default namespace. Round-trip the model's function_call item with its namespace field included.";
    ITEM_ID_PREFIX "item-id-prefix"
        "An item's `id` begins with the prefix of its type: msg, fc, rs, ctc."
        "Invalid 'input[177].id': 'item_…'. Expected an ID that begins with 'msg'.";
    ITEM_ID_LENGTH "item-id-length" "An item's `id` has at most 64 characters." "";
    ITEM_ID_UNIQUE "item-id-unique"
        "No two items have the same `id`."
        "Duplicate item found with id msg_4. Remove duplicate items from your input and try again.";
    STORED_ONLY "stored-only"
        "With `store: false` nothing is stored to refer to: no `item_reference`, no reasoning without `encrypted_content`."
        "Item with id 'rs_…' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input.";
    REASONING_SUMMARY "reasoning-summary"
        "A reasoning item has `summary`, a list, even if it is empty."
        "Missing required parameter: 'input[7].summary'.";
    REASONING_SEALED "reasoning-sealed"
        "`encrypted_content` is the whole base64 text that the API gave."
        "The encrypted content Work...out. could not be verified. Reason: Encrypted content could not be decrypted or parsed.";
    REASONING_FOLLOWED "reasoning-followed"
        "A reasoning item is followed by the item that it led to."
        "Item 'rs_…' of type 'reasoning' was provided without its required following item.";
    REASONING_KEPT "reasoning-kept"
        "What a model that always reasons said keeps its `id` only after its reasoning item."
        "Item 'fc_…' of type 'function_call' was provided without its required 'reasoning' item: 'rs_…'.";
    COMPACTION_LAST "compaction-last" "A `compaction_trigger` is the last item." "";
    CONFIGURATION_UPDATE "configuration-update"
        "No two `configuration_update` items are side by side, and there are none with automatic truncation."
        "";
    CACHE_BREAKPOINT "cache-breakpoint"
        "A `prompt_cache_breakpoint` is on an input part, with a `ttl` of 30m or 12h if it has one; cache options are implicit or explicit."
        "";
    TOOL_FORM "tool-form" "Every tool is an object with a `type`; a function is flat, with its `name` beside it." "";
    TOOL_SCHEMA "tool-schema" "A function's `parameters` are a schema of type object." "";
    ITEMS "array-items"
        "An array in a function's `parameters` says what its `items` are."
        "Invalid schema for function 'f': In context=('properties', 'paths'), array schema missing items.";
    STRICT_ROOT "strict-root" "A strict schema is of type object at its root, without `anyOf` there." "";
    STRICT_CLOSED "strict-closed"
        "Every object of a strict schema has `additionalProperties: false`."
        "";
    STRICT_REQUIRED "strict-required"
        "Every property of a strict schema is in `required`."
        "Invalid schema for function 'f': In context=(), 'required' is required to be supplied and to be an array including every key in properties. Missing 'id'.";
    STRICT_KEYWORDS "strict-keywords"
        "A strict schema has none of `allOf`, `oneOf`, `not`, `if`, `then`, `else`, `dependentRequired`, `dependentSchemas`."
        "";
    STRICT_SIZE "strict-size"
        "A strict schema has at most 5,000 properties, 10 levels, 1,000 enum values and 120,000 characters of names and values."
        "";
    TOOL_CHOICE "tool-choice"
        "`tool_choice` is none, auto, required or an object with a `type`; what it forces is among the tools."
        "";
    RANGE "sampling-range"
        "`temperature` is a number from 0 to 2, `top_p` one from 0 to 1."
        "";
    SAMPLING "sampling"
        "While a model thinks, it takes only the default `temperature` and `top_p`."
        "Unsupported parameter: 'temperature' is not supported with this model.";
    EFFORT "effort"
        "An effort is given only to a model that has it."
        "";
    OTHER_FORM "foreign-form"
        "Parts, items, tools and the fields of messages are in this API's form, not in another's."
        "";
}
