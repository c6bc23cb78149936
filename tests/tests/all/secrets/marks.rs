//! Secrets that can be recognised, and the search for them.

/// Stands in every planted secret.
pub(super) const MARK: &str = "q7Zmark";

/// A secret of a user.
pub(super) struct Marks {
    pub(super) username: String,
    pub(super) password: String,
}

impl Marks {
    pub(super) fn new() -> Self {
        Self {
            username: "ada".to_owned(),
            password: marked("password"),
        }
    }
}

/// A secret with the mark and a name, so that a find tells where it was planted.
pub(super) fn marked(name: &str) -> String {
    format!("{MARK}{name}")
}

/// The secrets that a key file holds, each the last word of its line.
pub(super) fn secrets_of_key_file(path: &str) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap();
    let keys: Vec<String> = text
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| line.split_whitespace().last().unwrap().to_owned())
        .collect();
    assert!(keys.iter().all(|it| it.len() > 20), "{}", keys.len());
    keys
}

/// Asserts that none of the secrets is in a text, nor a signed token.
#[track_caller]
pub(super) fn clean(name: &str, text: &str, more: &[String]) {
    // A token's three parts, of which the first is the beginning of any JSON.
    let token = |word: &str| word.starts_with("eyJ") && word.matches('.').count() == 2;
    let words = |line: &&str| {
        line.split(|it: char| !it.is_ascii_graphic() || "\"',()".contains(it))
            .any(token)
    };
    let secret =
        |line: &&str| line.contains(MARK) || more.iter().any(|it| line.contains(it.as_str()));
    let found: Vec<String> = text
        .lines()
        .filter(|line| secret(line) || words(line))
        .map(|line| line.chars().take(600).collect())
        .collect();
    assert!(
        found.is_empty(),
        "{name}: {} lines, such as {}",
        found.len(),
        found[0]
    );
}
