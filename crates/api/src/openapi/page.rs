//! The document as a page that needs nothing but itself: no script, no picture, no other server.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use sha2::{Digest, Sha256};

const STYLE: &str = include_str!("page.css");
const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

/// The page, and the policy that holds a browser to it.
pub(super) struct Page {
    pub(super) html: String,
    pub(super) security_policy: String,
}

impl Page {
    /// Writes the page of a document.
    pub(super) fn of(document: &Value) -> Self {
        let hash = STANDARD.encode(Sha256::digest(STYLE));
        Self {
            html: html(document),
            security_policy: format!(
                "default-src 'none'; style-src 'sha256-{hash}'; base-uri 'none'; \
                 form-action 'none'; frame-ancestors 'none'"
            ),
        }
    }
}

fn html(document: &Value) -> String {
    let info = &document["info"];
    let mut body = format!(
        "<h1>{}</h1><div class=\"prose\">{}</div>",
        text(&info["title"]),
        prose(plain(&info["description"]))
    );
    body += "<p><a href=\"/public-api/openapi.json\">openapi.json</a></p>";
    for tag in items(&document["tags"]) {
        let of_tag: String = operations(document)
            .filter(|(_, _, operation)| operation["tags"][0] == tag["name"])
            .map(|(path, method, told)| operation(document, path, method, told))
            .collect();
        body += &format!("<h2>{}</h2>{of_tag}", text(&tag["name"]));
    }
    body += "<h2>Schemas</h2>";
    for (name, schema) in entries(&document["components"]["schemas"]) {
        let name = escape(name);
        let schema = json(schema);
        body += &format!(
            "<details id=\"{name}\"><summary><code>{name}</code></summary>{schema}</details>"
        );
    }
    format!(
        "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title>\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <style>{STYLE}</style></head><body><main>{body}</main></body></html>\n",
        title = text(&info["title"]),
    )
}

/// Path, method and operation, in the document's order.
fn operations(document: &Value) -> impl Iterator<Item = (&str, &str, &Value)> {
    entries(&document["paths"]).flat_map(|(path, methods)| {
        let of_method = move |method| Some((path, method, methods.get(method)?));
        METHODS.into_iter().filter_map(of_method)
    })
}

fn operation(document: &Value, path: &str, method: &str, told: &Value) -> String {
    let open = if items(&told["security"]).next().is_none() {
        "<span class=\"open\">without a token</span>"
    } else {
        ""
    };
    let mut html = format!(
        "<details class=\"operation\" id=\"{id}\"><summary><span class=\"method {method}\">{}</span> \
         <code>{}</code> <span class=\"told\">{}</span> {open}</summary>{}",
        method.to_uppercase(),
        escape(path),
        text(&told["summary"]),
        prose(plain(&told["description"])),
        id = text(&told["operationId"]),
    );
    html += &parameters(&told["parameters"]);
    if let Some(request) = told.get("requestBody") {
        html += &format!("<h3>Request body</h3>{}", contents(request));
    }
    html += "<h3>Answers</h3>";
    for (status, response) in entries(&told["responses"]) {
        html += &answer(status, resolve(document, response));
    }
    html + "</details>"
}

fn parameters(parameters: &Value) -> String {
    let row = |parameter: &Value| {
        let required = if parameter["required"] == true {
            "required"
        } else {
            ""
        };
        format!(
            "<tr><td><code>{}</code></td><td>{} {required}</td><td>{}</td><td><code>{}</code></td>\
             <td><code>{}</code></td></tr>",
            text(&parameter["name"]),
            text(&parameter["in"]),
            prose(plain(&parameter["description"])),
            escape(&parameter["schema"].to_string()),
            escape(&parameter["example"].to_string()),
        )
    };
    let rows: String = items(parameters).map(row).collect();
    if rows.is_empty() {
        return rows;
    }
    format!(
        "<h3>Parameters</h3><table><tr><th>Name</th><th>In</th><th>Meaning</th><th>Schema</th>\
         <th>Example</th></tr>{rows}</table>"
    )
}

fn answer(status: &str, response: &Value) -> String {
    let headers: Vec<String> = entries(&response["headers"])
        .map(|(name, _)| format!("<code>{}</code>", escape(name)))
        .collect();
    let class = if status.starts_with('2') {
        "good"
    } else {
        "bad"
    };
    let description = plain(&response["description"]);
    let (first, rest) = description.split_once("\n\n").unwrap_or((description, ""));
    format!(
        "<details class=\"answer\"><summary><span class=\"status {class}\">{}</span> {}</summary>{}\
         <p>Headers: {}</p>{}</details>",
        escape(status),
        inline(first),
        prose(rest),
        headers.join(", "),
        contents(response),
    )
}

/// Schema and examples of each media type.
fn contents(holder: &Value) -> String {
    let mut html = String::new();
    for (media, content) in entries(&holder["content"]) {
        html += &format!(
            "<p><code>{}</code></p>{}",
            escape(media),
            json(&content["schema"])
        );
        let several = entries(&content["examples"]).map(|(_, example)| &example["value"]);
        for example in content.get("example").into_iter().chain(several) {
            html += &format!("<p>Example</p>{}", json(example));
        }
    }
    html
}

fn resolve<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    let target = value["$ref"].as_str().and_then(|it| it.strip_prefix('#'));
    target.and_then(|it| document.pointer(it)).unwrap_or(value)
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn entries(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let entries = value.as_object().into_iter().flatten();
    entries.map(|(name, value)| (name.as_str(), value))
}

/// JSON, with its references as links to the schemas below.
fn json(value: &Value) -> String {
    let mut html = String::from("<pre>");
    for line in format!("{value:#}").lines() {
        let name = line
            .trim()
            .strip_prefix("\"$ref\": \"#/components/schemas/")
            .and_then(|rest| rest.split('"').next());
        match name {
            Some(name) => {
                let name = escape(name);
                html += &format!("<a href=\"#{name}\">{}</a>", escape(line));
            }
            None => html += &escape(line),
        }
        html.push('\n');
    }
    html + "</pre>"
}

/// What of CommonMark the document uses: paragraphs, lists and code.
fn prose(markdown: &str) -> String {
    let mut html = String::new();
    for block in markdown.split("\n\n") {
        if block.starts_with("- ") {
            let lines = block.lines().map(|line| line.trim_start_matches("- "));
            let lines: String = lines
                .map(|line| format!("<li>{}</li>", inline(line)))
                .collect();
            html += &format!("<ul>{lines}</ul>");
        } else if !block.is_empty() {
            html += &format!("<p>{}</p>", inline(block));
        }
    }
    html
}

fn inline(markdown: &str) -> String {
    let part = |(index, part): (usize, &str)| {
        if index % 2 == 1 {
            format!("<code>{}</code>", escape(part))
        } else {
            escape(part)
        }
    };
    markdown.split('`').enumerate().map(part).collect()
}

fn plain(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn text(value: &Value) -> String {
    escape(plain(value))
}

fn escape(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => html += "&amp;",
            '<' => html += "&lt;",
            '>' => html += "&gt;",
            '"' => html += "&quot;",
            '\'' => html += "&#39;",
            other => html.push(other),
        }
    }
    html
}
