//! How long an answer is held back, by the time since the first request.

use std::str::FromStr;
use std::time::Duration;

/// Latencies, each for a while; after the last one it begins again.
#[derive(Clone, Debug)]
pub struct Plan(Vec<(Duration, Duration)>);

impl Plan {
    /// The same latency for good.
    pub fn constant(latency: Duration) -> Self {
        Self(vec![(latency, Duration::MAX)])
    }

    /// The latency of an answer to a request that came then.
    pub fn at(&self, since_start: Duration) -> Duration {
        let round = self.0.iter().fold(Duration::ZERO, |sum, (_, time)| sum.saturating_add(*time));
        let mut left = Duration::from_nanos((since_start.as_nanos() % round.as_nanos()) as u64);
        for &(latency, time) in &self.0 {
            if left < time {
                return latency;
            }
            left -= time;
        }
        Duration::ZERO
    }
}

/// Such as `50ms:10s,0ms:10s`: 50 ms for ten seconds, then none for ten seconds, and again.
impl FromStr for Plan {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let step = |step: &str| {
            let (latency, time) = step.split_once(':').ok_or(format!("{step}: no `:`"))?;
            let time = duration(time)?;
            (!time.is_zero()).then_some(()).ok_or(format!("{step}: lasts no time"))?;
            Ok((duration(latency)?, time))
        };
        text.split(',').map(step).collect::<Result<_, String>>().map(Self)
    }
}

fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("{text}: not a time such as 50ms or 10s");
    let digits = text.find(|c: char| !c.is_ascii_digit()).ok_or_else(wrong)?;
    let number: u64 = text[..digits].parse().map_err(|_| wrong())?;
    match &text[digits..] {
        "ms" => Ok(Duration::from_millis(number)),
        "s" => Ok(Duration::from_secs(number)),
        _ => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_goes_round() {
        let plan: Plan = "50ms:10s,0ms:5s".parse().unwrap();
        let at = |seconds| plan.at(Duration::from_secs(seconds)).as_millis();
        assert_eq!([0, 9, 10, 14, 15, 25].map(at), [50, 50, 0, 0, 50, 0]);
        assert!("50ms".parse::<Plan>().is_err() && "5ms:0s".parse::<Plan>().is_err());
    }
}
