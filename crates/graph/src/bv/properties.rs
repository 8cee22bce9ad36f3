//! `NAME.properties`: how large a graph is, and how its bits are to be read.

use std::fs;
use std::path::Path;

use super::bits::Code;
use super::with_ending;
use crate::{Error, Result};

/// The kinds of graph that can be read: WebGraph's own name for the format, and older ones.
const CLASSES: [&str; 2] = ["it.unimi.dsi.webgraph.BVGraph", "it.unimi.dsi.webgraph.BvGraph"];

/// Size and parameters of a graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Properties {
    /// Nodes.
    pub nodes: u32,
    /// Arcs.
    pub arcs: u64,
    /// How many nodes back the list may be that another one refers to.
    pub window: u32,
    /// How long a chain of such references may be.
    pub references_max: u32,
    /// Neighbours in a row that make a run; 0: there are no runs.
    pub run_min: u32,
    pub(super) codes: Codes,
}

/// The code of each part of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Codes {
    pub degrees: Code,
    pub references: Code,
    pub block_counts: Code,
    pub blocks: Code,
    pub offsets: Code,
    pub gaps: Code,
}

impl Default for Codes {
    fn default() -> Self {
        Self {
            degrees: Code::Gamma,
            references: Code::Unary,
            block_counts: Code::Gamma,
            blocks: Code::Gamma,
            offsets: Code::Gamma,
            gaps: Code::Zeta(3),
        }
    }
}

impl Default for Properties {
    /// Of a graph without nodes, with the parameters that WebGraph starts from.
    fn default() -> Self {
        let codes = Codes::default();
        Self { nodes: 0, arcs: 0, window: 7, references_max: 3, run_min: 4, codes }
    }
}

impl Properties {
    /// Reads the properties of the graph `name`.
    pub fn read(name: &Path) -> Result<Self> {
        let path = with_ending(name, ".properties");
        let text = fs::read(&path).map_err(Error::io(&path))?;
        Self::parse(&String::from_utf8_lossy(&text)).map_err(|what| Error::unfit(&path, what))
    }

    fn parse(text: &str) -> Result<Self, String> {
        let lines = text.lines().filter(|line| !line.trim_start().starts_with(['#', '!']));
        let pairs: Vec<(&str, &str)> = lines
            .filter_map(|line| line.split_once('='))
            .map(|(key, value)| (key.trim(), value.trim()))
            .collect();
        let get = |key: &str| pairs.iter().find(|(name, _)| *name == key).map(|(_, value)| *value);
        let class = get("graphclass").unwrap_or(CLASSES[0]).trim_start_matches("class ");
        if !CLASSES.contains(&class) {
            return Err(format!("a graph of class {class}, which larm cannot read"));
        }
        if get("endianness").is_some_and(|order| order != "big") {
            return Err("its bits are in little-endian order, which larm cannot read".to_owned());
        }
        let number = |key: &str, default: u32| match get(key) {
            None => Ok(default),
            Some("-1") if key == "maxrefcount" => Ok(u32::MAX),
            Some(text) => {
                text.parse().map_err(|_| format!("`{key}` is `{text}`, which is too much"))
            }
        };
        let arcs = get("arcs").ok_or("it does not say how many arcs there are")?;
        get("nodes").ok_or("it does not say how many nodes there are")?;
        let zeta = number("zetak", 3)?.clamp(1, 32);
        Ok(Self {
            nodes: number("nodes", 0)?,
            arcs: arcs.parse().map_err(|_| format!("`arcs` is `{arcs}`"))?,
            window: number("windowsize", 7)?,
            references_max: number("maxrefcount", 3)?,
            run_min: number("minintervallength", 4)?,
            codes: codes(get("compressionflags").unwrap_or_default(), zeta)?,
        })
    }

    /// The properties as text, with how well it went: `bits` were written.
    pub(super) fn to_text(&self, bits: u64) -> String {
        let per = |count: u64| bits as f64 / count.max(1) as f64;
        format!(
            "#BVGraph properties\nversion=0\ngraphclass={}\nendianness=big\nnodes={}\narcs={}\n\
             windowsize={}\nmaxrefcount={}\nminintervallength={}\nzetak=3\ncompressionflags=\n\
             length={bits}\nbitsperlink={:.3}\nbitspernode={:.3}\n",
            CLASSES[0],
            self.nodes,
            self.arcs,
            self.window,
            self.references_max,
            self.run_min,
            per(self.arcs),
            per(u64::from(self.nodes)),
        )
    }
}

/// Reads `OUTDEGREES_DELTA|RESIDUALS_GAMMA` and the like.
fn codes(flags: &str, zeta: u32) -> Result<Codes, String> {
    let mut codes = Codes { gaps: Code::Zeta(zeta), ..Codes::default() };
    for flag in flags.split('|').map(str::trim).filter(|flag| !flag.is_empty()) {
        let unknown = || format!("compression flag `{flag}`, which larm cannot read");
        let (part, name) = flag.rsplit_once('_').ok_or_else(unknown)?;
        let code = match name {
            "UNARY" => Code::Unary,
            "GAMMA" => Code::Gamma,
            "DELTA" => Code::Delta,
            "ZETA" => Code::Zeta(zeta),
            _ => return Err(unknown()),
        };
        let place = match part {
            "OUTDEGREES" => &mut codes.degrees,
            "REFERENCES" => &mut codes.references,
            "BLOCK_COUNT" => &mut codes.block_counts,
            "BLOCKS" => &mut codes.blocks,
            "OFFSETS" => &mut codes.offsets,
            "RESIDUALS" => &mut codes.gaps,
            _ => return Err(unknown()),
        };
        *place = code;
    }
    Ok(codes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_come_back_and_those_of_others_are_understood() {
        let ours = Properties { nodes: 7, arcs: 9, ..Properties::default() };
        assert_eq!(Properties::parse(&ours.to_text(12)), Ok(ours));
        let java = "#BVGraph properties\n#Tue\nnodes=325557\narcs=3216152\nmaxrefcount=-1\n\
                    compressionflags=OUTDEGREES_DELTA | RESIDUALS_GAMMA\ngraphclass=class it.unimi.dsi.webgraph.BVGraph\n";
        let theirs = Properties::parse(java).unwrap();
        assert_eq!((theirs.nodes, theirs.references_max), (325_557, u32::MAX));
        assert_eq!((theirs.codes.degrees, theirs.codes.gaps), (Code::Delta, Code::Gamma));
    }

    #[test]
    fn what_cannot_be_read_is_said() {
        let refused = |text: &str| Properties::parse(text).unwrap_err();
        assert!(refused("nodes=1\n").contains("arcs"));
        assert!(refused("nodes=5000000000\narcs=1").contains("too much"));
        assert!(refused("nodes=1\narcs=1\ngraphclass=it.x.EFGraph").contains("EFGraph"));
        assert!(refused("nodes=1\narcs=1\nendianness=little").contains("little"));
        let nibbles = refused("nodes=1\narcs=1\ncompressionflags=RESIDUALS_NIBBLE");
        assert!(nibbles.contains("RESIDUALS_NIBBLE"));
    }
}
