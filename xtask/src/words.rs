//! The words of a subcommand's command line: `--name value`, `--name=value`, flags and other words.

use anyhow::{Context, bail};

pub struct Words<'a> {
    rest: std::slice::Iter<'a, &'a str>,
    usage: &'static str,
    /// The last word, and the value after its `=` until it is taken.
    word: &'a str,
    inline: Option<&'a str>,
}

impl<'a> Words<'a> {
    pub fn new(words: &'a [&'a str], usage: &'static str) -> Self {
        Words { rest: words.iter(), usage, word: "", inline: None }
    }

    /// Returns the next option or other word. Errors: the value of the last option was not taken.
    pub fn next(&mut self) -> anyhow::Result<Option<&'a str>> {
        if let Some(value) = self.inline {
            bail!("{} takes no value, got '{value}'\n{}", self.word, self.usage);
        }
        let Some(&word) = self.rest.next() else { return Ok(None) };
        (self.word, self.inline) = match word.split_once('=') {
            Some((name, value)) if name.starts_with("--") => (name, Some(value)),
            _ => (word, None),
        };
        Ok(Some(self.word))
    }

    /// Returns the value of the last option.
    pub fn value(&mut self) -> anyhow::Result<&'a str> {
        let value = self.inline.take().or_else(|| self.rest.next().copied());
        value.with_context(|| format!("{} needs a value", self.word))
    }

    /// Parses the value of the last option.
    pub fn parse<T: std::str::FromStr>(&mut self) -> anyhow::Result<T>
    where
        T::Err: std::error::Error + Send + Sync + 'static,
    {
        let value = self.value()?;
        value.parse().with_context(|| self.word.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_and_values() {
        let mut words = Words::new(&["--a", "1", "--b=x", "c=d", "--flag=1"], "usage");
        assert_eq!(words.next().unwrap(), Some("--a"));
        assert_eq!(words.parse::<u32>().unwrap(), 1);
        assert_eq!(words.next().unwrap(), Some("--b"));
        assert_eq!(words.parse::<u32>().unwrap_err().to_string(), "--b");
        assert_eq!(words.next().unwrap(), Some("c=d"));
        assert_eq!(words.next().unwrap(), Some("--flag"));
        assert_eq!(words.next().unwrap_err().to_string(), "--flag takes no value, got '1'\nusage");
        let mut words = Words::new(&["--a"], "usage");
        words.next().unwrap();
        assert_eq!(words.value().unwrap_err().to_string(), "--a needs a value");
        assert_eq!(words.next().unwrap(), None);
    }
}
