//! The rules.

use crate::lint::Rule;

/// All of them.
pub(crate) const RULES: &[Rule] = &[
    CONTENTS,
    ROLE,
    NO_SYSTEM_ROLE,
    VERTEX_ROLE,
    VERTEX_CAMEL_CASE,
    SYSTEM_TEXT,
    PARTS,
    PART_DATA,
    PART_ONE_OF,
    INLINE_DATA,
    FILE_DATA,
    CALL_IN_MODEL_TURN,
    CALL_ARGS,
    CALL_ORDER,
    RESPONSE_ORDER,
    RESPONSE_COUNT,
    RESPONSE_NAME,
    RESPONSE_NAME_MATCH,
    RESPONSE_OBJECT,
    RESPONSE_PARTS,
    RESPONSE_ID,
    RESPONSE_IN_USER_TURN,
    SIGNATURE,
    SIGNATURE_FORM,
    ENDS_WITH_USER,
    FUNCTION_NAME,
    FUNCTION_COUNT,
    SCHEMA_KEYWORD,
    SCHEMA_TYPE,
    SCHEMA_ENUM,
    PARAMETER_NAME,
    SCHEMA_OBJECT,
    CHOICE_MODE,
    CHOICE_NAMES,
    CHOICE_WITHOUT_FUNCTIONS,
    MIXED_TOOLS,
    CACHED_CONTENT,
    RESPONSE_FORMAT,
    THINKING_CONFIG,
];

pub(super) const CONTENTS: Rule = Rule {
    id: "gemini/contents",
    sentence: "`contents` is a list of at least one content.",
    api_text: "* GenerateContentRequest.contents: contents is not specified",
};

pub(super) const ROLE: Rule = Rule {
    id: "gemini/role",
    sentence: "A content's role is `user` or `model`.",
    api_text: "Please use a valid role: user, model.",
};

pub(super) const NO_SYSTEM_ROLE: Rule = Rule {
    id: "gemini/no-system-role",
    sentence: "System text stands in `systemInstruction`, never in `contents`.",
    api_text: "Content with system role is not supported.",
};

pub(super) const VERTEX_ROLE: Rule = Rule {
    id: "gemini/vertex-role",
    sentence: "On Vertex every content has a role.",
    api_text: "Please use a valid role: user, model.",
};

pub(super) const VERTEX_CAMEL_CASE: Rule = Rule {
    id: "gemini/vertex-camel-case",
    sentence: "On Vertex names are in camel case.",
    api_text: "",
};

pub(super) const SYSTEM_TEXT: Rule = Rule {
    id: "gemini/system-text",
    sentence: "`systemInstruction` has at least one part, and only texts.",
    api_text: "",
};

pub(super) const PARTS: Rule = Rule {
    id: "gemini/parts",
    sentence: "A content has at least one part.",
    api_text: "* GenerateContentRequest.contents[1].parts: contents.parts must not be empty.",
};

pub(super) const PART_DATA: Rule = Rule {
    id: "gemini/part-data",
    sentence: "A part holds something: a text, data, a call, a result, …",
    api_text: "* GenerateContentRequest.contents[33].parts[0].data: required oneof field 'data' must have one initialized field",
};

pub(super) const PART_ONE_OF: Rule =
    Rule { id: "gemini/part-one-of", sentence: "A part holds one thing only.", api_text: "" };

pub(super) const INLINE_DATA: Rule = Rule {
    id: "gemini/inline-data",
    sentence: "`inlineData` has `mimeType` and `data`.",
    api_text: "",
};

pub(super) const FILE_DATA: Rule =
    Rule { id: "gemini/file-data", sentence: "`fileData` has `fileUri`.", api_text: "" };

pub(super) const CALL_IN_MODEL_TURN: Rule = Rule {
    id: "gemini/call-in-model-turn",
    sentence: "Calls stand in contents of role `model`.",
    api_text: "",
};

pub(super) const CALL_ARGS: Rule =
    Rule { id: "gemini/call-args", sentence: "The `args` of a call are an object.", api_text: "" };

pub(super) const CALL_ORDER: Rule = Rule {
    id: "gemini/call-order",
    sentence: "A turn with calls comes directly after a user turn or a turn of results, so it is never the first.",
    api_text: "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
};

pub(super) const RESPONSE_ORDER: Rule = Rule {
    id: "gemini/response-order",
    sentence: "Results stand in the turn directly after their calls; neighbouring contents of one role are one turn.",
    api_text: "Please ensure that function response turn comes immediately after a function call turn.",
};

pub(super) const RESPONSE_COUNT: Rule = Rule {
    id: "gemini/response-count",
    sentence: "The turn after calls has as many results as there were calls.",
    api_text: "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
};

pub(super) const RESPONSE_NAME: Rule = Rule {
    id: "gemini/response-name",
    sentence: "A result has the `name` of its function.",
    api_text: "",
};

pub(super) const RESPONSE_NAME_MATCH: Rule = Rule {
    id: "gemini/response-name-match",
    sentence: "The names of the results are the names of the calls.",
    api_text: "",
};

pub(super) const RESPONSE_OBJECT: Rule = Rule {
    id: "gemini/response-object",
    sentence: "The `response` of a result is an object; anything else is wrapped in one.",
    api_text: "",
};

pub(super) const RESPONSE_PARTS: Rule = Rule {
    id: "gemini/response-parts",
    sentence: "The `parts` of a result are `inlineData` or `fileData`.",
    api_text: "",
};

pub(super) const RESPONSE_ID: Rule = Rule {
    id: "gemini/response-id",
    sentence: "The `id` of a result is the one of its call, or left out.",
    api_text: "",
};

pub(super) const RESPONSE_IN_USER_TURN: Rule = Rule {
    id: "gemini/response-in-user-turn",
    sentence: "Results stand in contents of role `user`.",
    api_text: "",
};

pub(super) const SIGNATURE: Rule = Rule {
    id: "gemini/signature",
    sentence: "From Gemini 3 on, the first call of each step since the user last spoke has its `thoughtSignature`.",
    api_text: "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance.",
};

pub(super) const SIGNATURE_FORM: Rule = Rule {
    id: "gemini/signature-form",
    sentence: "A `thoughtSignature` is base64, as it came.",
    api_text: "Corrupted thought signature.",
};

pub(super) const ENDS_WITH_USER: Rule = Rule {
    id: "gemini/ends-with-user",
    sentence: "The last turn is the user's or one of results.",
    api_text: "",
};

pub(super) const FUNCTION_NAME: Rule = Rule {
    id: "gemini/function-name",
    sentence: "A function's name begins with a letter or `_`, goes on with letters, digits, `_`, `.`, `:`, `-`, and has at most 128 characters.",
    api_text: "",
};

pub(super) const FUNCTION_COUNT: Rule = Rule {
    id: "gemini/function-count",
    sentence: "There are at most 512 functions.",
    api_text: "",
};

pub(super) const SCHEMA_KEYWORD: Rule = Rule {
    id: "gemini/schema-keyword",
    sentence: "`parameters` and `responseSchema` have no keywords but Google's own.",
    api_text: "Invalid JSON payload received. Unknown name \"const\" at 'tools[0].function_declarations[5].parameters…': Cannot find field.",
};

pub(super) const SCHEMA_TYPE: Rule = Rule {
    id: "gemini/schema-type",
    sentence: "In `parameters` and `responseSchema` a type is one name, not a list; use `nullable`.",
    api_text: "Proto field is not repeating, cannot start list.",
};

pub(super) const SCHEMA_ENUM: Rule = Rule {
    id: "gemini/schema-enum",
    sentence: "In `parameters` and `responseSchema` the values of `enum` are strings.",
    api_text: "",
};

pub(super) const PARAMETER_NAME: Rule = Rule {
    id: "gemini/parameter-name",
    sentence: "In `parameters` names are letters, digits and `_`, at most 64.",
    api_text: "",
};

pub(super) const SCHEMA_OBJECT: Rule =
    Rule { id: "gemini/schema-object", sentence: "A schema is an object.", api_text: "" };

pub(super) const CHOICE_MODE: Rule = Rule {
    id: "gemini/choice-mode",
    sentence: "The mode of `functionCallingConfig` is AUTO, ANY, NONE or VALIDATED.",
    api_text: "",
};

pub(super) const CHOICE_NAMES: Rule = Rule {
    id: "gemini/choice-names",
    sentence: "`allowedFunctionNames` are names of functions, and stand only with ANY or VALIDATED.",
    api_text: "",
};

pub(super) const CHOICE_WITHOUT_FUNCTIONS: Rule = Rule {
    id: "gemini/choice-without-functions",
    sentence: "`functionCallingConfig` stands only with functions.",
    api_text: "Function calling config is set without function_declarations",
};

pub(super) const MIXED_TOOLS: Rule = Rule {
    id: "gemini/mixed-tools",
    sentence: "Functions beside tools that Google runs need `includeServerSideToolInvocations` from Gemini 3 on, and forbid it before.",
    api_text: "",
};

pub(super) const CACHED_CONTENT: Rule = Rule {
    id: "gemini/cached-content",
    sentence: "With `cachedContent` there are no `systemInstruction`, `tools` and `toolConfig`.",
    api_text: "Tool config, tools and system instruction should not be set in the request when using cached content.",
};

pub(super) const RESPONSE_FORMAT: Rule = Rule {
    id: "gemini/response-format",
    sentence: "`responseSchema` or `responseJsonSchema`, not both, stands only with `responseMimeType` application/json (or text/x.enum).",
    api_text: "",
};

pub(super) const THINKING_CONFIG: Rule = Rule {
    id: "gemini/thinking-config",
    sentence: "`thinkingBudget` is -1 or more, `thinkingLevel` is MINIMAL, LOW, MEDIUM or HIGH, and only one of them is set.",
    api_text: "",
};
