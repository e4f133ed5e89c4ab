//! The rules.

use crate::lint::rule_table;

rule_table! { "gemini"
    CONTENTS "contents"
        "`contents` is a list of at least one content."
        "* GenerateContentRequest.contents: contents is not specified";
    KNOWN_FIELDS "known-fields"
        "At its top the body has only fields that the API knows."
        "Invalid JSON payload received. Unknown name \"frequency_penalty\": Cannot find field.";
    ROLE "role"
        "A content's role is `user` or `model`."
        "Please use a valid role: user, model.";
    NO_SYSTEM_ROLE "no-system-role"
        "System text is in `systemInstruction`, never in `contents`."
        "Content with system role is not supported.";
    VERTEX_ROLE "vertex-role"
        "On Vertex every content has a role."
        "Please use a valid role: user, model.";
    VERTEX_CAMEL_CASE "vertex-camel-case"
        "On Vertex names are in camel case."
        "";
    SYSTEM_TEXT "system-text"
        "`systemInstruction` has at least one part, and only texts."
        "";
    PARTS "parts"
        "A content has at least one part."
        "* GenerateContentRequest.contents[1].parts: contents.parts must not be empty.";
    PART_DATA "part-data"
        "A part is not empty: it holds a text, data, a call, a result, …"
        "* GenerateContentRequest.contents[33].parts[0].data: required oneof field 'data' must have one initialized field";
    PART_ONE_OF "part-one-of"
        "A part holds one thing only."
        "";
    INLINE_DATA "inline-data"
        "`inlineData` has `mimeType` and `data`, in base64."
        "";
    FILE_DATA "file-data"
        "`fileData` has `fileUri`."
        "";
    CALL_IN_MODEL_TURN "call-in-model-turn"
        "Calls are in contents of role `model`."
        "";
    CALL_ARGS "call-args"
        "The `args` of a call are an object."
        "";
    CALL_ORDER "call-order"
        "A turn with calls comes directly after a user turn or a turn of results, so it is never the first."
        "Please ensure that function call turn comes immediately after a user turn or after a function response turn.";
    RESPONSE_ORDER "response-order"
        "Results are in the turn directly after their calls; contents of one role in a row are one turn."
        "Please ensure that function response turn comes immediately after a function call turn.";
    RESPONSE_COUNT "response-count"
        "The turn after calls has as many results as there were calls."
        "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.";
    RESPONSE_NAME "response-name"
        "A result has the `name` of its function."
        "";
    RESPONSE_NAME_MATCH "response-name-match"
        "The names of the results are the names of the calls."
        "";
    RESPONSE_OBJECT "response-object"
        "The `response` of a result is an object; anything else is wrapped in one."
        "";
    RESPONSE_PARTS "response-parts"
        "The `parts` of a result are `inlineData` or `fileData`."
        "";
    RESPONSE_ID "response-id"
        "The `id` of a result is that of its call, or left out."
        "";
    RESPONSE_IN_USER_TURN "response-in-user-turn"
        "Results are in contents of role `user`."
        "";
    SIGNATURE "signature"
        "From Gemini 3 on, the first call of each step since the user last spoke has its `thoughtSignature`."
        "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance.";
    SIGNATURE_FORM "signature-form"
        "A `thoughtSignature` is base64, as it came."
        "Invalid value at 'contents[2].parts[0].thought_signature' (TYPE_BYTES), Base64 decoding failed for \"…\"";
    FUNCTION_NAME "function-name"
        "A function's name begins with a letter or `_`, continues with letters, digits, `_`, `.`, `:`, `-`, and has at most 128 characters."
        "";
    FUNCTION_COUNT "function-count"
        "There are at most 512 functions."
        "";
    SCHEMA_KEYWORD "schema-keyword"
        "`parameters` and `responseSchema` have only Google's own keywords."
        "Invalid JSON payload received. Unknown name \"const\" at 'tools[0].function_declarations[5].parameters…': Cannot find field.";
    SCHEMA_TYPE "schema-type"
        "In `parameters` and `responseSchema` a type is one name, not a list; use `nullable`."
        "Proto field is not repeating, cannot start list.";
    SCHEMA_ENUM "schema-enum"
        "In `parameters` and `responseSchema` the values of `enum` are strings."
        "";
    PARAMETER_NAME "parameter-name"
        "In `parameters` names are letters, digits and `_`, at most 64."
        "";
    SCHEMA_OBJECT "schema-object"
        "A schema is an object."
        "";
    CHOICE_MODE "choice-mode"
        "The mode of `functionCallingConfig` is AUTO, ANY, NONE or VALIDATED."
        "";
    CHOICE_NAMES "choice-names"
        "`allowedFunctionNames` are names of functions, and are given only with ANY or VALIDATED."
        "";
    CHOICE_WITHOUT_FUNCTIONS "choice-without-functions"
        "`functionCallingConfig` is given only with functions."
        "Function calling config is set without function_declarations.";
    MIXED_TOOLS "mixed-tools"
        "Functions beside tools that Google runs need `includeServerSideToolInvocations` from Gemini 3 on, and forbid it before."
        "Please enable tool_config.include_server_side_tool_invocations to use Built-in tools with Function calling.";
    CACHED_CONTENT "cached-content"
        "With `cachedContent` there are no `systemInstruction`, `tools` and `toolConfig`."
        "Tool config, tools and system instruction should not be set in the request when using cached content.";
    RESPONSE_FORMAT "response-format"
        "`responseSchema` or `responseJsonSchema`, not both, is given only with `responseMimeType` application/json (or text/x.enum)."
        "";
    THINKING_CONFIG "thinking-config"
        "`thinkingBudget` is -1 or more, `thinkingLevel` is MINIMAL, LOW, MEDIUM or HIGH, only one of them is set, and the model has it."
        "";
    FORMAT_TOOLS "format-with-functions"
        "Before Gemini 3, `responseMimeType` is not application/json beside functions."
        "";
    SETTING_TYPE "setting-type"
        "A setting is of its type: a switch is true or false, a limit a whole number, a list of stop sequences a list of strings."
        "";
    OUTPUT_TOKENS "output-tokens"
        "`maxOutputTokens` is from 1 to 2147483647."
        "";
    RANGE "sampling-range"
        "`temperature` is a number from 0 to 2, `topP` one from 0 to 1, `topK` one of 0 or more."
        "";
    OTHER_FORM "foreign-form"
        "Parts, items, tools and the fields of messages are in this API's form, not in another's."
        "";
}
