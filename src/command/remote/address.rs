//! Server addresses: `grpc://host:port/instance`.

use std::fmt;
use std::str::FromStr;

/// The address of a server, and the name of a cache on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// Whether the connection uses TLS.
    secure: bool,
    /// Host and port.
    authority: String,
    /// Empty for a server with a single cache.
    instance: String,
}

/// Path components of blob names, which the protocol forbids in instance names.
const RESERVED: [&str; 8] =
    ["blobs", "uploads", "actions", "actionResults", "operations", "capabilities", "compressed-blobs", "chunked-blobs"];

impl Address {
    /// The address as an HTTP URI, as HTTP/2 libraries expect.
    pub(crate) fn uri(&self) -> String {
        format!("{}://{}", if self.secure { "https" } else { "http" }, self.authority)
    }

    pub(crate) fn is_secure(&self) -> bool {
        self.secure
    }

    pub(crate) fn instance(&self) -> &str {
        &self.instance
    }
}

impl FromStr for Address {
    type Err = String;

    /// Parses an address.
    ///
    /// # Errors
    /// The error, as the end of a sentence that begins with the address.
    fn from_str(text: &str) -> Result<Address, String> {
        let (scheme, rest) = text.split_once("://").ok_or("is not of the form grpc://host:port/instance")?;
        let secure = match scheme {
            "grpc" => false,
            "grpcs" => true,
            other => return Err(format!("has the scheme '{other}' instead of grpc or grpcs")),
        };
        let (authority, instance) = rest.split_once('/').unwrap_or((rest, ""));
        let instance = instance.strip_suffix('/').unwrap_or(instance);
        let named = tonic::codegen::http::uri::Authority::from_str(authority).ok();
        let named = named.filter(|a| !a.host().is_empty() && !authority.contains('@')).ok_or("lacks a host name")?;
        if named.port_u16().is_none_or(|port| port == 0) {
            return Err("lacks a port".into());
        }
        if let Some(word) = instance.split('/').find(|part| RESERVED.contains(part)) {
            return Err(format!("has the reserved word '{word}' in its instance name"));
        }
        if instance.chars().any(|c| c.is_control() || c.is_whitespace() || "?#".contains(c)) {
            return Err("has an invalid character in its instance name".into());
        }
        Ok(Address { secure, authority: authority.to_owned(), instance: instance.to_owned() })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", if self.secure { "grpcs" } else { "grpc" }, self.authority)?;
        if self.instance.is_empty() { Ok(()) } else { write!(f, "/{}", self.instance) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        for (text, uri, instance) in [
            ("grpc://cache:8980", "http://cache:8980", ""),
            ("grpc://cache:8980/", "http://cache:8980", ""),
            ("grpc://127.0.0.1:1/main", "http://127.0.0.1:1", "main"),
            ("grpcs://[::1]:443/a/b", "https://[::1]:443", "a/b"),
        ] {
            let address: Address = text.parse().unwrap();
            assert_eq!((address.uri().as_str(), address.instance()), (uri, instance), "{text}");
            assert_eq!(address.to_string(), text.trim_end_matches('/'));
        }
        for (text, error) in [
            ("", "is not of the form grpc://host:port/instance"),
            ("cache:8980", "is not of the form grpc://host:port/instance"),
            ("http://cache:8980", "has the scheme 'http' instead of grpc or grpcs"),
            ("grpc://", "lacks a host name"),
            ("grpc://:80", "lacks a host name"),
            ("grpc://user@cache:80", "lacks a host name"),
            ("grpc://cache", "lacks a port"),
            ("grpc://cache:0", "lacks a port"),
            ("grpc://cache:99999", "lacks a port"),
            ("grpc://cache:80/a/blobs", "has the reserved word 'blobs' in its instance name"),
            ("grpc://cache:80/a b", "has an invalid character in its instance name"),
        ] {
            assert_eq!(text.parse::<Address>().unwrap_err(), error, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "(grpcs?://)?[a-z0-9:@\\[\\]./%?# -]{0,24}") {
            if let Ok(address) = text.parse::<Address>() {
                proptest::prop_assert_eq!(address.to_string().parse::<Address>(), Ok(address));
            }
        }
    }
}
