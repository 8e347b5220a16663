// Shows openapi.json as one page: contents, operations by tag, schemas. Text of the document is never taken for HTML.
"use strict";

const METHODS = ["get", "post", "put", "patch", "delete"];

/** An element with attributes and children; children that are no nodes become text. */
function el(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined) node.append(child);
  }
  return node;
}

/** A text whose `code` and paragraphs and lists are shown as such. */
function prose(text) {
  const blocks = (text ?? "").split(/\n\n+/).filter((block) => block.trim() !== "");
  return blocks.map((block) => {
    const lines = block.split("\n");
    return lines.every((line) => line.startsWith("- "))
      ? el("ul", {}, lines.map((line) => el("li", {}, inline(line.slice(2)))))
      : el("p", {}, inline(block));
  });
}

function inline(text) {
  return (text ?? "").split(/(`[^`]+`)/).map((part) =>
    part.length > 2 && part.startsWith("`") ? el("code", {}, part.slice(1, -1)) : part);
}

const schemaName = (reference) => reference.split("/").pop();
const schemaId = (name) => `schema-${name}`;

/** What a schema says of its type, with links to the schemas that have a name. */
function typeOf(schema) {
  if (schema === undefined || schema === true) return ["anything"];
  if (schema.$ref) {
    const name = schemaName(schema.$ref);
    return [el("a", { href: `#${schemaId(name)}` }, name)];
  }
  const parts = schema.allOf ?? schema.oneOf ?? schema.anyOf;
  if (parts) {
    const word = schema.allOf ? " and " : " or ";
    return parts.flatMap((part, at) => (at === 0 ? typeOf(part) : [word, ...typeOf(part)]));
  }
  const types = [schema.type ?? []].flat();
  return types.flatMap((type, at) => [
    at === 0 ? "" : " or ",
    ...(type === "array" ? ["list of ", ...typeOf(schema.items)]
      : type === "object" && schema.additionalProperties ? ["map to ", ...typeOf(schema.additionalProperties)]
        : [type]),
  ]);
}

/** What a schema says beyond its type. */
function limits(schema) {
  const said = [];
  if (schema.format) said.push(schema.format);
  if (schema.enum) said.push(schema.enum.map(String).join(" | "));
  const least = schema.minimum ?? "";
  const most = schema.maximum ?? "";
  if (least !== "" || most !== "") said.push(`${least} … ${most}`);
  if (schema.minLength !== undefined) said.push(`at least ${schema.minLength} long`);
  if (schema.maxLength !== undefined) said.push(`at most ${schema.maxLength} long`);
  if (schema.pattern) said.push(`pattern ${schema.pattern}`);
  if (schema.default !== undefined) said.push(`default ${JSON.stringify(schema.default)}`);
  return said.length === 0 ? null : el("div", { class: "limits" }, said.join(" · "));
}

function described(schema) {
  return schema?.description
    ?? (schema?.oneOf ?? []).map((part) => part.description).find((text) => text)
    ?? "";
}

function row(name, isNeeded, schema, description) {
  return el("tr", {},
    el("th", { scope: "row" }, el("code", {}, name), isNeeded ? null : el("span", { class: "optional" }, " optional")),
    el("td", {}, typeOf(schema), limits(schema ?? {})),
    el("td", {}, inline(description)));
}

function table(rows, caption) {
  return el("table", {}, el("caption", {}, caption), el("tbody", {}, rows));
}

/** The properties of an object, those of the parts that it is made of included. */
function properties(schema, caption) {
  const parts = [schema, ...(schema.allOf ?? [])].filter((part) => part.properties);
  const rows = parts.flatMap((part) => Object.entries(part.properties).map(([name, property]) =>
    row(name, (part.required ?? []).includes(name), property, described(property))));
  return rows.length === 0 ? null : table(rows, caption);
}

function example(value) {
  if (value === undefined) return null;
  return el("details", {}, el("summary", {}, "Example"), el("pre", {}, JSON.stringify(value, null, 2)));
}

function parameters(operation) {
  const rows = (operation.parameters ?? []).map((parameter) =>
    row(parameter.name, parameter.required === true, parameter.schema,
      `${parameter.description ?? ""} (${parameter.in})`));
  return rows.length === 0 ? null : table(rows, "Parameters");
}

function body(operation) {
  const contents = Object.entries(operation.requestBody?.content ?? {});
  return contents.map(([type, content]) => el("div", { class: "body" },
    el("h4", {}, "Body"),
    el("p", {}, typeOf(content.schema), ` as ${type}`),
    example(content.example)));
}

/** Which codes a refusal can have. */
function codes(content) {
  const parts = content?.schema?.allOf ?? [];
  return parts.map((part) => part.properties?.errorCode?.enum).find((words) => words);
}

function answer([status, response]) {
  const [type, content] = Object.entries(response.content ?? {})[0] ?? [];
  const words = codes(content);
  const headers = Object.keys(response.headers ?? {});
  const said = words
    ? words.flatMap((word, at) => [at === 0 ? "" : ", ", el("code", {}, word)])
    : [inline(response.description), " ", typeOf(content?.schema), type === "application/json" ? null : ` as ${type}`];
  return el("tr", { class: status < "400" ? "good" : "refused" },
    el("th", { scope: "row" }, status),
    el("td", {}, said,
      headers.length === 0 ? null : el("div", { class: "limits" }, `headers: ${headers.join(", ")}`),
      example(content?.example)));
}

function who(operation) {
  const role = operation["x-required-role"];
  if (!role) return "Open to anybody.";
  const isOptional = (operation.security ?? []).some((scheme) => Object.keys(scheme).length === 0);
  return isOptional ? `Role ${role}, where members are authenticated.` : `Role ${role}.`;
}

function section(path, method, operation) {
  return el("section", { id: operation.operationId, class: "operation" },
    el("h3", {}, el("a", { href: `#${operation.operationId}` }, operation.summary ?? operation.operationId)),
    el("p", { class: "route" },
      el("span", { class: `method ${method}` }, method.toUpperCase()), " ", el("code", {}, path),
      el("span", { class: "id" }, operation.operationId)),
    prose(operation.description),
    el("p", { class: "who" }, who(operation)),
    parameters(operation),
    body(operation),
    el("table", {}, el("caption", {}, "Answers"),
      el("tbody", {}, Object.entries(operation.responses ?? {}).map(answer))));
}

function schemaSection([name, schema]) {
  const hasType = !schema.properties && !schema.allOf;
  return el("section", { id: schemaId(name), class: "schema" },
    el("h3", {}, el("a", { href: `#${schemaId(name)}` }, name)),
    prose(schema.description),
    hasType ? el("p", {}, typeOf(schema), limits(schema)) : null,
    schema.allOf ? el("p", {}, typeOf({ allOf: schema.allOf.filter((part) => part.$ref) }), " and:") : null,
    properties(schema, "Fields"));
}

function operationsOf(api) {
  return Object.entries(api.paths).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method]).map((method) => ({ path, method, operation: item[method] })));
}

/** The operations of each part, in the order in which the document names the parts. */
function parts(api) {
  const all = operationsOf(api);
  return (api.tags ?? []).map((tag) => ({
    tag,
    operations: all.filter(({ operation }) => (operation.tags ?? []).includes(tag.name)),
  })).filter(({ operations }) => operations.length > 0);
}

function contents(api) {
  const entries = parts(api).map(({ tag, operations }) => el("li", {}, tag.name,
    el("ul", {}, operations.map(({ operation }) =>
      el("li", {}, el("a", { href: `#${operation.operationId}` }, operation.operationId))))));
  const schemas = Object.keys(api.components?.schemas ?? {});
  entries.push(el("li", {}, "Schemas",
    el("ul", {}, schemas.map((name) => el("li", {}, el("a", { href: `#${schemaId(name)}` }, name))))));
  return el("ul", {}, entries);
}

function show(api) {
  document.title = `${api.info.title} ${api.info.version}`;
  document.getElementById("contents").replaceChildren(contents(api));
  document.getElementById("reference").replaceChildren(
    el("h1", {}, `${api.info.title} `, el("small", {}, api.info.version)),
    ...prose(api.info.description),
    el("p", {}, el("a", { href: "coord/v1/openapi.json" }, "openapi.json"), ` · OpenAPI ${api.openapi}`),
    ...parts(api).flatMap(({ tag, operations }) => [
      el("h2", {}, tag.name),
      ...prose(tag.description),
      ...operations.map(({ path, method, operation }) => section(path, method, operation)),
    ]),
    el("h2", {}, "Schemas"),
    ...Object.entries(api.components?.schemas ?? {}).map(schemaSection));
  // What the address names was not there before.
  if (location.hash.length > 1) document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
}

async function read() {
  const response = await fetch("coord/v1/openapi.json");
  if (!response.ok) throw new Error(`openapi.json was answered with ${response.status}`);
  return response.json();
}

read().then(show).catch((error) => {
  document.getElementById("reference").replaceChildren(
    el("p", { role: "alert" }, `The document could not be read: ${error.message}. Load the page again.`));
});
