//! The graph for other tools, streamed.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result};
use larm_graph::bv::BvWriter;
use larm_graph::export::{NodeLabel, graphml, url_edges};
use larm_graph::{edges, rank};

use super::Asked;
use crate::cli::GraphForm;
use crate::exit::usage;

pub(super) fn export(asked: &Asked<'_>, form: GraphForm) -> Result<()> {
    if form == GraphForm::Webgraph {
        let name = asked.args.output.as_deref();
        let name = name.ok_or_else(|| usage("--export webgraph makes several files: -o NAME"))?;
        return webgraph(asked, name);
    }
    match &asked.args.output {
        Some(path) => {
            let file = File::create(path).with_context(|| path.display().to_string())?;
            let mut out = BufWriter::new(file);
            write(asked, form, &mut out)?;
            Ok(out.flush()?)
        }
        None => {
            let mut out = BufWriter::new(std::io::stdout().lock());
            write(asked, form, &mut out)?;
            Ok(out.flush()?)
        }
    }
}

fn write(asked: &Asked<'_>, form: GraphForm, out: &mut dyn Write) -> Result<()> {
    let graph = &asked.view.graph;
    let mut urls = asked.stored.nodes().lookup();
    let mut url = |node: u32| -> Result<String> {
        Ok(urls.url(asked.view.stored[node as usize])?.to_owned())
    };
    match form {
        GraphForm::Edges => Ok(edges::write(graph, out)?),
        GraphForm::Urls => url_edges(graph, url, out),
        GraphForm::Nodes => {
            (0..graph.nodes()).try_for_each(|node| Ok(writeln!(out, "{node}\t{}", url(node)?)?))
        }
        GraphForm::Graphml => {
            let ranks = rank::pagerank(graph, &asked.how()).values;
            let label =
                |node: u32| Ok(NodeLabel { url: url(node)?, pagerank: ranks[node as usize] });
            graphml(graph, label, out)
        }
        GraphForm::Webgraph => unreachable!("it is several files"),
    }
}

/// `NAME.graph`, `NAME.offsets`, `NAME.properties`, and `NAME.urls` with a URL a line in the order of
/// the nodes.
fn webgraph(asked: &Asked<'_>, name: &Path) -> Result<()> {
    let mut writer = BvWriter::create(name)?;
    asked.view.graph.rows().try_for_each(|(_, row)| writer.push(row))?;
    writer.finish()?;
    let mut path = name.as_os_str().to_owned();
    path.push(".urls");
    let file = File::create(&path).with_context(|| Path::new(&path).display().to_string())?;
    let mut out = BufWriter::new(file);
    let mut urls = asked.stored.nodes().lookup();
    for &node in &asked.view.stored {
        writeln!(out, "{}", urls.url(node)?)?;
    }
    Ok(out.flush()?)
}
