//! Servers that ask to be left alone for a while, in clear words and in others.
//!
//! Each refuses the first try and gives a page at the second, so that a crawler which comes back finds
//! it. The two that never relent refuse every try.

use std::io;

use super::{family, page};
use crate::answer::http_date_in;
use crate::exchange::Exchange;

family! {
    /// Ways to say when to come back.
    Retry {
        /// 429, a second.
        BusySeconds = "busy-seconds",
        /// 429, a date a second ahead.
        BusyDate = "busy-date",
        /// 429, words.
        BusyNonsense = "busy-nonsense",
        /// 429, a date of the last century.
        BusyPast = "busy-past",
        /// 503, a second.
        DownSeconds = "down-seconds",
        /// 503, a date a second ahead.
        DownDate = "down-date",
        /// 503, less than nothing.
        DownNonsense = "down-nonsense",
        /// 503, a date of the last century.
        DownPast = "down-past",
        /// 503, longer than the world will last.
        DownForever = "down-forever",
        /// 429 at every try.
        BusyAlways = "busy-always",
        /// 503 at every try.
        DownAlways = "down-always",
    }
}

/// Refuses the first try.
pub(super) async fn send(exchange: &mut Exchange<'_>, retry: Retry, tries: u32) -> io::Result<()> {
    let never_relents = matches!(retry, Retry::BusyAlways | Retry::DownAlways);
    if tries > 0 && !never_relents {
        let body = format!("<title>Back again</title><p>{}", retry.word());
        return page(exchange, body.as_bytes()).await;
    }
    let wait = match retry {
        Retry::BusySeconds | Retry::DownSeconds => "1".to_owned(),
        Retry::BusyDate | Retry::DownDate => http_date_in(1),
        Retry::BusyNonsense => "when the cows come home".to_owned(),
        Retry::DownNonsense => "-30".to_owned(),
        Retry::BusyPast | Retry::DownPast => "Fri, 31 Dec 1999 23:59:59 GMT".to_owned(),
        Retry::DownForever => "9".repeat(30),
        Retry::BusyAlways | Retry::DownAlways => "0".to_owned(),
    };
    let status = match retry.word().starts_with("busy") {
        true => "429 Too Many Requests",
        false => "503 Service Unavailable",
    };
    let fields = format!("Retry-After: {wait}\r\nContent-Length: 0");
    exchange.last(format!("HTTP/1.1 {status}\r\n{fields}\r\n\r\n").as_bytes()).await
}
