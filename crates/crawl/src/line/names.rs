//! Where a host is, before its first turn (step 5): its name is looked up, what name servers said is kept,
//! and the addresses are put in order.

use larm_core::Failure;
use larm_core::workbench::HostKey;

use super::Line;
use crate::error::Result;
use crate::fetch::{Resolved, in_order};
use crate::frontier::{Located, Nameless};
use crate::writer::Work;

/// A host, and where it is.
pub type Named = (HostKey, Result<Located, Failure>);

impl Line {
    /// Looks a host up. An error is our own machine's.
    pub async fn look_up(&self, nameless: Nameless) -> Result<Named> {
        let Nameless { host, name, port } = nameless;
        let located = match self.resolver.resolve(&name, port).await {
            Ok(resolved) => Ok(self.located(host, &name, port, resolved).await?),
            Err(failure) => {
                self.troubles.note(&name, &failure.detail);
                Err(self.network.judge(host, failure).await)
            }
        };
        Ok((host, located))
    }

    async fn located(
        &self,
        host: HostKey,
        name: &str,
        port: u16,
        resolved: Resolved,
    ) -> Result<Located> {
        if let Some(lookup) = resolved.lookup {
            // Behind a proxy, what our name servers say tells nothing of the way out.
            if !resolved.is_proxied {
                self.network.heard_of(host);
            }
            self.send(Work::Keep(Box::new(lookup))).await?;
        }
        let bounds = (self.limits.dns_ttl_ms_min, self.limits.dns_ttl_ms_max);
        Ok(Located {
            addresses: in_order(&self.guard, name, port, &resolved.addresses),
            ttl_ms: resolved.ttl_ms.clamp(bounds.0, bounds.1),
            port: resolved.one_port.then_some(port),
            alias: resolved.alias,
        })
    }
}
