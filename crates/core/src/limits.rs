//! Every maximum of larm, in one place.
//!
//! Each limit has a unit in its name, a default, a ceiling, what happens when it is reached, and the
//! counter that tells how often that was. There is no "unlimited": a maximum of 0 is refused, and so
//! is one above its ceiling. The table below is also the source of `docs/config.md`.

mod info;

use info::check;
pub use info::{LimitError, LimitInfo};

macro_rules! limits {
    ($($(#[doc = $about:literal])+ $name:ident = $default:expr, ceiling $ceiling:expr, $when:literal, $counter:literal;)+) => {
        /// The maxima in force for one crawl.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct Limits {
            $($(#[doc = $about])+ pub $name: u64,)+
        }

        impl Default for Limits {
            fn default() -> Self {
                Self { $($name: $default,)+ }
            }
        }

        impl Limits {
            /// Every limit with its default, ceiling and meaning, in the order of this file.
            pub const TABLE: &'static [LimitInfo] = &[
                $(LimitInfo {
                    name: stringify!($name),
                    about: concat!($($about),+),
                    default: $default,
                    ceiling: $ceiling,
                    when_reached: $when,
                    counter: $counter,
                },)+
            ];

            /// Sets one limit by its name, within its ceiling.
            pub fn set(&mut self, name: &str, value: u64) -> Result<(), LimitError> {
                match name {
                    $(stringify!($name) => {
                        check(stringify!($name), value, $ceiling)?;
                        self.$name = value;
                        Ok(())
                    })+
                    _ => Err(LimitError::Unknown(name.to_owned())),
                }
            }

            /// The value of one limit by its name.
            pub fn get(&self, name: &str) -> Option<u64> {
                match name {
                    $(stringify!($name) => Some(self.$name),)+
                    _ => None,
                }
            }

            /// All values within their ceilings, none 0, and none in conflict with another.
            pub fn validate(&self) -> Result<(), LimitError> {
                $(check(stringify!($name), self.$name, $ceiling)?;)+
                self.relations()
            }
        }
    };
}

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;
const GIB: u64 = 1024 * MIB;
const SECOND_MS: u64 = 1000;
const HOUR_MS: u64 = 3600 * SECOND_MS;

limits! {
    #[doc = "Bytes of a canonical URL."]
    url_bytes_max = 2_048, ceiling 64 * KIB, "the link is rejected", "reject.length";
    #[doc = "Segments of a URL's path."]
    url_segments_max = 32, ceiling 1_024, "the link is rejected", "reject.trap";
    #[doc = "Pairs in a URL's query."]
    url_query_pairs_max = 32, ceiling 1_024, "the link is rejected", "reject.trap";
    #[doc = "Times that one segment may stand in one path."]
    url_segment_repeats_max = 3, ceiling 1_024, "the link is rejected", "reject.trap";
    #[doc = "Bytes of one compiled set of regular expressions."]
    patterns_bytes_max = 16 * MIB, ceiling GIB, "the patterns are refused at the start", "config.refused";
    #[doc = "Hops from a seed."]
    depth_hops_max = 1_000, ceiling 65_000, "the link is rejected", "reject.depth";
    #[doc = "Redirects in a row."]
    redirects_max = 5, ceiling 32, "the target is rejected", "reject.redirects";
    #[doc = "Links kept of one page."]
    page_links_max = 5_000, ceiling 1_000_000, "the rest is left out, with a note", "page.links_truncated";
    #[doc = "Entries in one part of a directory's listing, at most one less than `page_links_max`."]
    listing_entries_max = 4_999, ceiling 999_999, "the rest is in the next part, which the listing links to", "listing.parts";
    #[doc = "Bytes of anchor text kept per link."]
    link_text_bytes_max = 256, ceiling 64 * KIB, "the text is cut", "page.anchor_truncated";
    #[doc = "Bytes of text kept of one page."]
    page_text_bytes_max = MIB, ceiling 64 * MIB, "the text is cut, with a note", "page.text_truncated";
    #[doc = "Bytes kept of a page's title, and of its description."]
    page_meta_bytes_max = 2 * KIB, ceiling MIB, "they are cut, with a note", "page.meta_truncated";
    #[doc = "Elements of one page that are looked at for its main part."]
    page_blocks_max = 50_000, ceiling 1_000_000, "the rest counts as part of what is around it, with a note", "page.marks_truncated";
    #[doc = "Headings, and emphasised passages, kept of one page; also what it names of itself in other languages."]
    page_marks_max = 1_000, ceiling 100_000, "the rest is left out, with a note", "page.marks_truncated";
    #[doc = "Open elements that the parser keeps track of."]
    page_nesting_max = 512, ceiling 64 * KIB, "deeper elements count as siblings", "page.nesting_truncated";
    #[doc = "Bytes of a body as sent."]
    body_bytes_max = 20_000_000, ceiling 64 * GIB, "the body is cut, with a note and WARC-Truncated", "fetch.body_truncated";
    #[doc = "Bytes of a body after decoding."]
    body_decoded_bytes_max = 60_000_000, ceiling 64 * GIB, "decoding stops, with a note", "fetch.decoded_truncated";
    #[doc = "How many times larger than sent a decoded body may be (beyond its first MiB)."]
    body_ratio_max = 100, ceiling 10_000, "decoding stops, with a note", "fetch.ratio_truncated";
    #[doc = "Bytes of one body before it needs a place among the large ones."]
    body_small_bytes_max = 256 * KIB, ceiling 64 * MIB, "the fetch waits for a place", "fetch.large_waits";
    #[doc = "Bytes of one cookie, as it is set."]
    cookie_bytes_max = 4 * KIB, ceiling 64 * KIB, "the cookie is not kept", "fetch.cookies_refused";
    #[doc = "Cookies of one site."]
    site_cookies_max = 100, ceiling 10_000, "the oldest is forgotten", "fetch.cookies_forgotten";
    #[doc = "Sites with cookies, and origins with a challenge that was answered."]
    cookie_sites_max = 10_000, ceiling 10_000_000, "the site used longest ago is forgotten", "fetch.cookies_forgotten";
    #[doc = "Bytes of all bodies in flight, until they are written."]
    bodies_bytes_max = 64 * MIB, ceiling 64 * GIB, "further bodies wait, and leasing with them", "fetch.large_waits";
    #[doc = "Bytes of a response's header block."]
    header_bytes_max = 64 * KIB, ceiling MIB, "the fetch fails: protocol", "failed.protocol";
    #[doc = "Header fields of a response."]
    header_fields_max = 128, ceiling 4_096, "the fetch fails: protocol", "failed.protocol";
    #[doc = "Bytes of robots.txt that are read."]
    robots_bytes_max = 500 * KIB, ceiling 16 * MIB, "the rest is ignored (RFC 9309 section 2.5)", "robots.truncated";
    #[doc = "Redirects followed for a robots.txt."]
    robots_redirects_max = 5, ceiling 32, "taken as no robots.txt (RFC 9309 section 2.3.1.2)", "robots.redirects";
    #[doc = "Age at which a cached robots.txt is fetched again."]
    robots_age_ms_max = 24 * HOUR_MS, ceiling 24 * HOUR_MS, "it is fetched again", "robots.expired";
    #[doc = "Origins whose robots.txt is kept parsed in memory."]
    robots_cached_max = 10_000, ceiling 10_000_000, "the oldest is read from disk when needed", "robots.evicted";
    #[doc = "Bytes of memory for parsed robots.txt files."]
    robots_cached_bytes_max = 32 * MIB, ceiling 64 * GIB, "the oldest is read from disk when needed", "robots.evicted";
    #[doc = "Statements of an owner about the use of one page that are kept."]
    signals_max = 16, ceiling 1_024, "the rest counts, but is not recorded", "signals.truncated";
    #[doc = "Bytes of one such statement."]
    signal_bytes_max = KIB, ceiling 64 * KIB, "it is recorded in part, and not read", "signals.too_long";
    #[doc = "Bytes of a tdmrep.json that are read."]
    tdmrep_bytes_max = 256 * KIB, ceiling 16 * MIB, "it is taken for none", "signals.tdmrep_too_long";
    #[doc = "Rules taken from one tdmrep.json."]
    tdmrep_rules_max = 1_000, ceiling 100_000, "the rest is left out", "signals.tdmrep_truncated";
    #[doc = "Time for which a signature of a request is good."]
    signature_ms_max = 300 * SECOND_MS, ceiling 24 * HOUR_MS, "whoever checks it later refuses it", "fetch.signed";
    #[doc = "Bytes of an answer with status 200 in which a bot wall is looked for; walls are small."]
    wall_bytes_max = 16 * KIB, ceiling MIB, "the answer is taken for a page", "walls.too_long";
    #[doc = "Hosts whose last pages are compared, to find those that answer every path alike."]
    soft_hosts_max = 10_000, ceiling 10_000_000, "the host looked at least recently is forgotten", "soft.evicted";
    #[doc = "Last pages of a host that are compared."]
    soft_pages_max = 8, ceiling 1_024, "the oldest is forgotten", "soft.forgotten";
    #[doc = "Words of a page from which on it is compared with other pages."]
    near_words_min = 50, ceiling 1_000_000, "a page of fewer is not compared", "near.too_short";
    #[doc = "Pages whose words are kept in memory to be compared with, the newest."]
    near_memory_max = 1 << 18, ceiling 1 << 24, "they go to disk", "near.runs";
    #[doc = "Guesses about hosts that are mirrors, and about index files of directories, that are followed up."]
    alias_cases_max = 1_000, ceiling 100_000, "further ones are not made", "alias.full";
    #[doc = "Rules that came of such guesses."]
    alias_rules_max = 10_000, ceiling 1_000_000, "further ones are not made", "alias.full";
    #[doc = "URLs taken from one sitemap."]
    sitemap_urls_max = 50_000, ceiling 1_000_000, "the rest is left out, with a note", "sitemap.truncated";
    #[doc = "Bytes of a sitemap after decoding."]
    sitemap_bytes_max = 50 * MIB, ceiling GIB, "the rest is left out, with a note", "sitemap.truncated";
    #[doc = "Folders that one URL is in and that are asked for besides, with `--path-ascending`; the nearest ones."]
    ascents_max = 32, ceiling 4_096, "higher folders are left out", "ascent.cut";
    #[doc = "Sitemap indexes inside sitemap indexes."]
    sitemap_nesting_max = 2, ceiling 16, "the link is rejected", "reject.sitemap_nesting";
    #[doc = "Time for reading one PDF, in a process of its own."]
    pdf_ms_max = 20 * SECOND_MS, ceiling HOUR_MS, "the process is killed; what it had read is kept, with a note", "pdf.late";
    #[doc = "Bytes of memory of a process that reads a PDF."]
    pdf_memory_bytes_max = 512 * MIB, ceiling 64 * GIB, "the process dies; what it had read is kept, with a note", "pdf.died";
    #[doc = "Processes that read PDFs at a time."]
    pdf_readers_max = 2, ceiling 1_024, "further PDFs wait, and leasing with them", "pdf.waits";
    #[doc = "Bytes that such a process may answer."]
    pdf_answer_bytes_max = 32 * MIB, ceiling GIB, "the rest is not heard, with a note", "pdf.truncated";
    #[doc = "Pages of a PDF that are read."]
    pdf_pages_max = 10_000, ceiling 1_000_000, "the rest is left out, with a note", "pdf.truncated";
    #[doc = "Bytes of one stream of a PDF after decoding."]
    pdf_stream_bytes_max = 32 * MIB, ceiling GIB, "the stream is left out", "pdf.truncated";
    #[doc = "Operands of one operator in a PDF."]
    pdf_operands_max = 65_536, ceiling 16_777_216, "the first ones are forgotten", "pdf.truncated";
    #[doc = "Drawings inside drawings, and saved states, in a PDF."]
    pdf_nesting_max = 16, ceiling 256, "deeper ones are left out", "pdf.truncated";
    #[doc = "Longest crawl-delay that is waited for."]
    crawl_delay_ms_max = 60 * SECOND_MS, ceiling 24 * HOUR_MS, "the host is skipped, with the reason", "host.crawl_delay_too_long";
    #[doc = "Longest Retry-After that is waited for."]
    retry_after_ms_max = 24 * HOUR_MS, ceiling 7 * 24 * HOUR_MS, "cut to this", "host.retry_after_cut";
    #[doc = "Longest back-off after a 429 or 503 that names no time."]
    host_back_off_ms_max = 300 * SECOND_MS, ceiling 24 * HOUR_MS, "cut to this", "host.back_off_cut";
    #[doc = "Longest gap that a host's own slowness can lead to."]
    gap_adaptive_ms_max = 30 * SECOND_MS, ceiling HOUR_MS, "cut to this", "host.gap_cut";
    #[doc = "Connections to one address at a time."]
    address_connections_max = 4, ceiling 1_024, "further hosts of that address wait", "address.waits";
    #[doc = "Time to connect, TLS included."]
    connect_ms_max = 10 * SECOND_MS, ceiling HOUR_MS, "the fetch fails: connect-timeout", "failed.connect-timeout";
    #[doc = "Head start of an address before the host's next one is tried beside it (RFC 8305 section 5)."]
    connect_stagger_ms = 250, ceiling 2 * SECOND_MS, "the next address is tried, too", "fetch.raced";
    #[doc = "Time from the request to the end of the response's headers."]
    first_byte_ms_max = 20 * SECOND_MS, ceiling HOUR_MS, "the fetch fails: first-byte-timeout", "failed.first-byte-timeout";
    #[doc = "Time for a whole fetch."]
    fetch_ms_max = 60 * SECOND_MS, ceiling 24 * HOUR_MS, "the body is cut, with a note and WARC-Truncated", "fetch.time_truncated";
    #[doc = "Bytes per second of a body, once `body_slow_ms_max` is over."]
    body_bytes_per_second_min = 1_000, ceiling GIB, "the body is cut, with a note and WARC-Truncated", "fetch.time_truncated";
    #[doc = "Time for which a body may come more slowly than that."]
    body_slow_ms_max = 60 * SECOND_MS, ceiling 24 * HOUR_MS, "from here on its speed counts", "fetch.time_truncated";
    #[doc = "Time for one name look-up."]
    dns_ms_max = 10 * SECOND_MS, ceiling 10 * 60 * SECOND_MS, "the look-up fails: dns", "failed.dns";
    #[doc = "Shortest time that an address is used before its name is looked up again, whatever its TTL."]
    dns_ttl_ms_min = 60 * SECOND_MS, ceiling HOUR_MS, "a shorter TTL counts as this", "dns.ttl_raised";
    #[doc = "Longest time that an address is used before its name is looked up again."]
    dns_ttl_ms_max = 24 * HOUR_MS, ceiling 7 * 24 * HOUR_MS, "a longer TTL counts as this", "dns.ttl_cut";
    #[doc = "Shortest time for which a name is taken not to exist."]
    dns_negative_ms_min = SECOND_MS, ceiling HOUR_MS, "a shorter TTL counts as this", "dns.ttl_raised";
    #[doc = "Longest time for which a name is taken not to exist."]
    dns_negative_ms_max = HOUR_MS, ceiling 24 * HOUR_MS, "a longer TTL counts as this", "dns.ttl_cut";
    #[doc = "Addresses of one name that are used."]
    dns_addresses_max = 16, ceiling 256, "further ones are left out", "dns.addresses_cut";
    #[doc = "Names in the DNS cache."]
    dns_cached_max = 100_000, ceiling 10_000_000, "the oldest is forgotten", "dns.evicted";
    #[doc = "Name look-ups at a time."]
    dns_lookups_max = 64, ceiling 4_096, "further hosts wait", "dns.waits";
    #[doc = "Tries of one URL."]
    url_tries_max = 3, ceiling 100, "the URL settles as failed", "url.gave_up";
    #[doc = "Failures in a row after which a host is left alone for a while."]
    host_failures_max = 10, ceiling 10_000, "the host is excluded and tried again later", "host.excluded";
    #[doc = "More chances for a host that fails."]
    host_chances_max = 3, ceiling 100, "its URLs settle as host unreachable", "host.unreachable";
    #[doc = "Time over which those chances are spread, connections refused aside."]
    host_chances_ms_max = HOUR_MS, ceiling 30 * 24 * HOUR_MS, "its URLs settle as host unreachable", "host.unreachable";
    #[doc = "Origins of which it is kept in words what went wrong with them."]
    host_reasons_max = 10_000, ceiling 10_000_000, "the oldest is forgotten, and its class remains", "host.reasons_forgotten";
    #[doc = "Hosts in a row of which nothing is heard, and of nobody else, before our own network counts as down."]
    outage_hosts_min = 4, ceiling 1_000, "the crawl pauses", "engine.offline";
    #[doc = "Time for which nobody may have answered before our own network counts as down."]
    outage_quiet_ms_min = 3 * SECOND_MS, ceiling HOUR_MS, "the crawl pauses", "engine.offline";
    #[doc = "Time for which a failure waits to learn whether our own network is down."]
    outage_doubt_ms_max = 30 * SECOND_MS, ceiling HOUR_MS, "it is held against the host", "engine.doubts_over";
    #[doc = "Time before the first try whether the network is back; each further one takes twice as long."]
    outage_probe_ms_min = 5 * SECOND_MS, ceiling HOUR_MS, "one URL is tried", "engine.probes";
    #[doc = "Longest time between two such tries."]
    outage_probe_ms_max = 60 * SECOND_MS, ceiling HOUR_MS, "one URL is tried", "engine.probes";
    #[doc = "Time that the crawl waits for its network."]
    outage_ms_max = 12 * HOUR_MS, ceiling 30 * 24 * HOUR_MS, "the crawl stops, its state saved", "engine.offline";
    #[doc = "Time that the crawl waits for its network if it was never there in this run."]
    outage_start_ms_max = 120 * SECOND_MS, ceiling 30 * 24 * HOUR_MS, "the crawl stops, its state saved", "engine.offline";
    #[doc = "Fetches in flight."]
    fetches_max = 1_024, ceiling 65_536, "leasing stops", "engine.fetches_full";
    #[doc = "Idle connections kept open."]
    connections_idle_max = 1_024, ceiling 65_536, "the oldest is closed", "fetch.pool_evicted";
    #[doc = "Origins (scheme and port) of one host."]
    host_origins_max = 64, ceiling 65_000, "links to further ones are rejected", "reject.host_origins";
    #[doc = "Shapes of URLs of one host whose pages are watched for whether they bring anything new."]
    host_patterns_max = 64, ceiling 4_096, "the one that has least to say is forgotten", "worth.forgotten";
    #[doc = "Bytes of memory for what the pages of one host have shown lately."]
    host_prints_bytes_max = 16 * KIB, ceiling MIB, "what was shown longest ago counts as new again", "worth.prints_forgotten";
    #[doc = "Lines and pictures of a page that are compared with what its host has shown, the longest first."]
    page_prints_max = 32, ceiling 1_024, "the rest says nothing of the page", "worth.prints_cut";
    #[doc = "Time that an idle connection is kept open."]
    connection_idle_ms_max = 60 * SECOND_MS, ceiling HOUR_MS, "it is closed, the next request connects anew", "fetch.pool_expired";
    #[doc = "URLs waiting for one host."]
    host_urls_max = 1_000_000, ceiling 1_000_000_000, "further links wait outside: counted, not queued", "reject.host_full";
    #[doc = "URLs of one host held in memory."]
    host_urls_memory_max = 1_000, ceiling 1_000_000, "the rest stays on disk", "frontier.spilled";
    #[doc = "Hosts held in memory."]
    hosts_memory_max = 20_000, ceiling 10_000_000, "further hosts stay on disk until there is room", "frontier.parked";
    #[doc = "Bytes of hosts and of their waiting URLs held in memory."]
    hosts_memory_bytes_max = 32 * MIB, ceiling 64 * GIB, "further hosts stay on disk until there is room", "frontier.parked";
    #[doc = "Bytes of URLs that gather on a shelf, an eighth of a partition, for hosts that are not in memory."]
    arrivals_bytes_max = 4 * MIB, ceiling 64 * MIB, "they are sorted out to their hosts", "frontier.sorted_out";
    #[doc = "URLs of one block on disk."]
    queue_block_urls_max = 256, ceiling 65_536, "the next block begins", "frontier.blocks";
    #[doc = "Changes held in memory between two checkpoints."]
    checkpoint_changes_max = 500_000, ceiling 10_000_000, "a checkpoint is written", "frontier.checkpoints";
    #[doc = "Bytes of changes held in memory between two checkpoints."]
    checkpoint_bytes_max = 16 * MIB, ceiling GIB, "a checkpoint is written", "frontier.checkpoints";
    #[doc = "Time between two checkpoints."]
    checkpoint_ms_max = 60 * SECOND_MS, ceiling HOUR_MS, "a checkpoint is written", "frontier.checkpoints";
    #[doc = "Work that one crash may repeat."]
    commit_ms_max = 100, ceiling 10 * SECOND_MS, "everything settled so far is synced", "commit.batches";
    #[doc = "Bytes of one log segment."]
    log_segment_bytes_max = 64 * MIB, ceiling GIB, "the next segment begins", "log.segments";
    #[doc = "Bytes of one log record."]
    log_record_bytes_max = 64 * MIB, ceiling GIB, "a larger one on disk is taken for damage", "log.damaged";
    #[doc = "Bytes of memory for the filters that spare reads of the seen set."]
    sieve_filter_bytes_max = 48 * MIB, ceiling 64 * GIB, "the largest filter is halved, more is read", "sieve.filters_halved";
    #[doc = "Places in a channel between two stages."]
    channel_max = 64, ceiling 65_536, "back-pressure", "engine.channel_full";
    #[doc = "Bytes of one WARC file."]
    warc_bytes_max = GIB, ceiling 1_024 * GIB, "the next file begins", "warc.rolled";
    #[doc = "Bytes that a sink collects before it writes them to its file."]
    sink_buffer_bytes_max = MIB, ceiling 64 * MIB, "they are written", "sink.writes";
    #[doc = "Bytes of the link log over which links are written out once, before they are packed."]
    links_chapter_bytes_max = 2 * MIB, ceiling 64 * MIB, "the next chapter begins", "links.chapters";
    #[doc = "Memory for sorting while the graph is made."]
    graph_sort_bytes_max = 128 * MIB, ceiling 64 * GIB, "sorted runs go to disk and are merged", "graph.runs";
    #[doc = "Nodes of a graph."]
    graph_nodes_max = 100_000_000, ceiling 4_000_000_000, "the graph is refused, said aloud", "graph.refused";
    #[doc = "Rounds of a computation that comes closer to its result with each."]
    graph_rounds_max = 1_000, ceiling 1_000_000, "it ends as far as it has come, said aloud", "graph.rounds";
    #[doc = "Pages whose worth is kept in memory, for orders that learn from links."]
    order_pages_max = 1_000_000, ceiling 1_000_000_000, "a page that is worth little is forgotten for one that is found", "order.forgotten";
    #[doc = "Links kept in memory, for orders that are computed over all pages."]
    order_arcs_max = 16_000_000, ceiling 4_000_000_000, "further pages pass on their worth once, when they are fetched", "order.arcs_full";
    #[doc = "Hosts that may be asked now, among which the one with the best page is looked for."]
    order_hosts_max = 64, ceiling 65_536, "those that wait longest are looked at", "order.hosts_cut";
    #[doc = "Waiting URLs, and links of the link log, that are read at the start of a run to know again what pages are worth."]
    order_recall_max = 20_000_000, ceiling 4_000_000_000, "the rest comes breadth first", "order.recall_cut";
    #[doc = "Fetched pages of which whoever works out what pages are worth has not heard yet."]
    order_news_max = 1_024, ceiling 65_536, "the crawl waits for it", "order.news_full";
    #[doc = "Memory for virtual crawls."]
    simulate_bytes_max = 4 * GIB, ceiling 1_024 * GIB, "fewer crawls run at a time; a graph too large for one is refused", "simulate.refused";
    #[doc = "Virtual crawls, and processes, of one simulation."]
    simulate_crawls_max = 10_000, ceiling 1_000_000, "the simulation is refused", "simulate.refused";
    #[doc = "Memory for sorting the index of one WARC file."]
    sort_bytes_max = 16 * MIB, ceiling GIB, "sorted runs go to disk and are merged", "cdx.runs";
    #[doc = "Bytes of the header of a WARC record that is read."]
    warc_header_bytes_max = 64 * KIB, ceiling MIB, "the record counts as damaged", "warc.damaged";
    #[doc = "Places behind damage in an archive file that are tried for the next whole record."]
    warc_recovery_tries_max = 10_000, ceiling 1_000_000, "the rest of the file is not read", "warc.damaged";
    #[doc = "Places of damage in one archive file that are told of."]
    warc_damages_max = 100, ceiling 10_000, "the rest of the file is not read", "warc.damaged";
    #[doc = "Memory for pages that are being indexed; less than 15 MB is taken for that."]
    index_memory_bytes_max = 64 * MIB, ceiling 2 * GIB, "they are written to the index", "index.segments";
    #[doc = "Time until a page that was fetched can be found."]
    index_commit_ms_max = 10 * SECOND_MS, ceiling HOUR_MS, "the index is committed", "index.commits";
    #[doc = "Bytes of pages that are read between two commits of the index, and read again after a crash."]
    index_commit_bytes_max = 256 * MIB, ceiling 64 * GIB, "the index is committed", "index.commits";
    #[doc = "Bytes of one file of the index's journal."]
    index_journal_bytes_max = 32 * MIB, ceiling GIB, "the next file begins", "index.journal_files";
    #[doc = "Bytes of pages in that journal that wait to be indexed."]
    index_backlog_bytes_max = GIB, ceiling 1_024 * GIB, "the crawl waits for the index", "index.waits";
    #[doc = "Links of one page whose texts are indexed with the pages that they lead to."]
    index_page_anchors_max = 500, ceiling 1_000_000, "further ones are left out", "index.anchors_cut";
    #[doc = "Pairs of URL and link text that are remembered, so as to index each once."]
    index_anchors_max = 500_000, ceiling 100_000_000, "the oldest half is forgotten", "index.anchors_forgotten";
    #[doc = "Link texts that are gathered for one URL between two commits of the index."]
    index_url_anchors_max = 16, ceiling 65_536, "further ones are counted, not indexed", "index.anchors_cut";
    #[doc = "Bytes of link texts that are gathered."]
    index_gathered_bytes_max = 16 * MIB, ceiling 64 * GIB, "they are written to the index", "index.gathered";
    #[doc = "Bytes of a query."]
    query_bytes_max = 4 * KIB, ceiling MIB, "the rest is left out, with a note", "search.cut";
    #[doc = "Words of a query, phrases and filters included."]
    query_words_max = 64, ceiling 1_024, "the rest is left out, with a note", "search.cut";
    #[doc = "Words that one prefix of a query stands for."]
    query_prefix_words_max = 128, ceiling 65_536, "the most frequent ones count", "search.prefix_cut";
    #[doc = "Matches that are ranked with their links, and can be paged through."]
    search_ranked_max = 1_000, ceiling 1_000_000, "further ones are counted only", "search.ranked";
    #[doc = "Pages that are found by the texts of links to them alone, for each word."]
    search_anchored_max = 10_000, ceiling 10_000_000, "further ones are left out", "search.anchored";
    #[doc = "Bytes of a snippet."]
    snippet_bytes_max = 240, ceiling 64 * KIB, "it is cut between words", "search.snippets";
    #[doc = "Bytes of a page's text in which its snippet is looked for."]
    snippet_text_bytes_max = 256 * KIB, ceiling 64 * MIB, "what follows is not looked at", "search.snippets";
    #[doc = "Words of a page that are read for how relevant it is to the topic of the crawl."]
    focus_words_max = 2_000, ceiling 1_000_000, "the rest says nothing of it", "focus.words_cut";
    #[doc = "Links of a page of which is told what stands beside them, for orders by text."]
    focus_page_links_max = 2_000, ceiling 1_000_000, "what further ones promise is not known", "focus.page_links_cut";
    #[doc = "Pages like which others are looked for, and as many like which they are not."]
    focus_examples_max = 256, ceiling 10_000, "further ones are refused, said aloud", "focus.examples_refused";
    #[doc = "Links not yet followed of which is kept what speaks for them."]
    focus_links_max = 100_000, ceiling 10_000_000, "the half that promises least keeps its last score", "focus.links_forgotten";
    #[doc = "Directories, and pages with links, whose harvest is kept."]
    focus_places_max = 65_536, ceiling 16_777_216, "another place is forgotten", "focus.places_forgotten";
    #[doc = "Free disk space below which the crawl waits."]
    disk_free_bytes_min = 2 * GIB, ceiling 1_024 * 1_024 * GIB, "the crawl pauses until there is room", "engine.disk_low";
    #[doc = "Time that the crawl waits for room on the disk."]
    disk_wait_ms_max = 60 * SECOND_MS, ceiling 30 * 24 * HOUR_MS, "the crawl stops, its state saved", "engine.disk_low";
    #[doc = "Seeds of one crawl."]
    seeds_max = 100_000_000, ceiling 1_000_000_000, "the rest is left out, said aloud", "seeds.truncated";
    #[doc = "Places taken into the scope beside the seeds: where a seed is redirected to on its own site, and where symbolic links lead."]
    seeds_adopted_max = 1_000, ceiling 100_000, "what lies there is rejected like any other", "reject.scope";
    #[doc = "Bytes of one line of a seed file."]
    seed_line_bytes_max = 64 * KIB, ceiling MIB, "the line is skipped, with a note", "seeds.skipped";
    #[doc = "Time given to fetches in flight when the crawl is asked to stop."]
    shutdown_ms_max = 10 * SECOND_MS, ceiling HOUR_MS, "what is still in flight is given back", "engine.given_back";
    #[doc = "Bytes of one command on the control socket."]
    control_bytes_max = 64 * KIB, ceiling 16 * MIB, "the command is refused", "control.refused";
    #[doc = "Commands on the control socket at a time."]
    control_connections_max = 16, ceiling 1_024, "further ones wait", "control.waits";
    #[doc = "Questions about crawls that the server reads files for at a time."]
    server_reads_max = 8, ceiling 1_024, "further ones wait", "server.reads_wait";
    #[doc = "URLs of one crawl that the server can filter and sort: lines of its log."]
    server_rows_max = 10_000_000, ceiling 4_000_000_000, "the oldest quarter is left out, said in the answer", "server.rows_left_out";
    #[doc = "Memory for such lines, over all crawls."]
    server_tables_bytes_max = 2 * GIB, ceiling 1_024 * GIB, "crawls that nobody looked at for longest are forgotten, and read again when asked for", "server.tables_forgotten";
    #[doc = "Bytes of one line of a crawl's log."]
    server_line_bytes_max = MIB, ceiling 64 * MIB, "the line is passed over and counted", "server.lines_damaged";
    #[doc = "Entries of one page of a list."]
    server_page_entries_max = 1_000, ceiling 100_000, "the request is refused", "server.refused";
    #[doc = "Questions that need a pass over a whole log, or a graph in memory, at a time."]
    server_passes_max = 3, ceiling 64, "further ones wait", "server.passes_wait";
    #[doc = "Bytes of a link log that are read to find the links of one URL."]
    server_links_bytes_max = 512 * MIB, ceiling 1_024 * GIB, "the graph is asked, if there is one; else the rest is not looked at, said in the answer", "server.links_cut";
    #[doc = "Bytes of a link log that are read for a list over all links: broken, redirected, left out."]
    server_link_log_bytes_max = 16 * GIB, ceiling 1_024 * GIB, "the rest is not looked at, said in the answer", "server.link_log_cut";
    #[doc = "Memory for the pages that are named in such lists, for each crawl."]
    server_groups_bytes_max = 64 * MIB, ceiling 64 * GIB, "further pages are counted, not named", "server.groups_unnamed";
    #[doc = "Nodes of a graph of which the server shows the foremost pages and hosts."]
    server_graph_nodes_max = 20_000_000, ceiling 4_000_000_000, "the request is refused; `larm graph` has no such limit", "server.graphs_refused";
    #[doc = "URLs that are broken, or redirected, and kinds of links left out, that are gathered for one crawl."]
    server_groups_max = 200_000, ceiling 100_000_000, "further ones are counted only, said in the answer", "server.groups_cut";
    #[doc = "Different URLs that are counted for each kind of links left out."]
    server_distinct_max = 1_000_000, ceiling 1_000_000_000, "it is not said how many there are", "server.distinct_cut";
    #[doc = "Crawls whose links, graph or index are kept open."]
    server_views_max = 16, ceiling 10_000, "what nobody looked at for longest is closed", "server.views_closed";
    #[doc = "Bytes of an archived page, or of its style sheets, as it is shown."]
    server_replay_bytes_max = 32 * MIB, ceiling GIB, "it is cut", "server.replay_cut";
    #[doc = "Crawls that are searched for one query over all of them."]
    server_searched_max = 64, ceiling 10_000, "further ones are left out, said in the answer", "server.searched_cut";
    #[doc = "Connections to the server at a time."]
    server_connections_max = 4_096, ceiling 100_000, "further ones wait to be accepted", "server.connections_wait";
    #[doc = "Requests to the server under way at a time."]
    server_requests_max = 256, ceiling 65_536, "further ones are refused for now (503)", "server.busy";
    #[doc = "Time for answering one request to the server; streams of events have none."]
    server_request_ms_max = 30 * SECOND_MS, ceiling HOUR_MS, "it is given up (504)", "server.late";
    #[doc = "Time in which the header of a request to the server has to be there."]
    server_header_ms_max = 10 * SECOND_MS, ceiling HOUR_MS, "the connection is closed", "server.slow_headers";
    #[doc = "Bytes of the header of a request to the server."]
    server_header_bytes_max = 32 * KIB, ceiling MIB, "the request is refused (431)", "server.long_headers";
    #[doc = "Bytes of the body of a request to the server."]
    server_body_bytes_max = MIB, ceiling 64 * MIB, "the request is refused (413)", "server.long_bodies";
    #[doc = "Browsers that are logged in to the server."]
    server_sessions_max = 1_000, ceiling 1_000_000, "the one used longest ago has to log in again", "server.sessions_forgotten";
    #[doc = "Time without a request after which a browser has to log in again."]
    server_session_ms_max = 30 * 24 * HOUR_MS, ceiling 365 * 24 * HOUR_MS, "the session is forgotten", "server.sessions_forgotten";
    #[doc = "Wrong tokens from one address within a minute."]
    server_guesses_max = 10, ceiling 10_000, "its tokens are not looked at for the rest of it (429)", "server.guesses";
    #[doc = "Addresses of which wrong tokens are counted."]
    server_guessers_max = 10_000, ceiling 1_000_000, "the one seen longest ago is forgotten", "server.guessers_forgotten";
    #[doc = "Streams of events that the server feeds at a time."]
    server_events_max = 2_048, ceiling 65_536, "further ones are refused for now (503)", "server.events_full";
    #[doc = "Events that wait for one slow reader."]
    server_events_waiting_max = 8, ceiling 1_024, "it is taken ahead to the newest one", "server.events_skipped";
    #[doc = "Settled URLs told in one event."]
    server_tail_rows_max = 50, ceiling 10_000, "the rest is left out, and counted", "server.tail_cut";
    #[doc = "Bytes of a crawl's log that are read for one such event."]
    server_tail_bytes_max = 4 * MIB, ceiling GIB, "what lies before is left out, and counted", "server.tail_cut";
    #[doc = "Crawls that the server shows."]
    server_crawls_max = 10_000, ceiling 1_000_000, "further directories are not shown, and no crawl is made", "server.crawls_full";
    #[doc = "Times that a crawl which died is started again."]
    server_restarts_max = 5, ceiling 1_000, "it is left as it is, with the reason", "server.given_up";
    #[doc = "Bytes of what a crawl that the server started says on standard error."]
    server_log_bytes_max = MIB, ceiling GIB, "the log begins anew", "server.logs_cut";
    #[doc = "Waiting URLs that are looked at for what a new rule would remove."]
    rule_preview_urls_max = 200_000, ceiling 1_000_000_000, "the rest is estimated, said aloud", "rules.sampled";
}

impl Limits {
    fn relations(&self) -> Result<(), LimitError> {
        if self.bodies_bytes_max < self.body_bytes_max {
            return Err(LimitError::Conflict(
                "`bodies_bytes_max` must hold at least one body of `body_bytes_max`",
            ));
        }
        if self.body_decoded_bytes_max < self.body_bytes_max {
            return Err(LimitError::Conflict(
                "`body_decoded_bytes_max` must not be below `body_bytes_max`",
            ));
        }
        if self.first_byte_ms_max > self.fetch_ms_max || self.connect_ms_max > self.fetch_ms_max {
            return Err(LimitError::Conflict(
                "`connect_ms_max` and `first_byte_ms_max` must fit into `fetch_ms_max`",
            ));
        }
        if self.dns_ttl_ms_min > self.dns_ttl_ms_max
            || self.dns_negative_ms_min > self.dns_negative_ms_max
            || self.outage_probe_ms_min > self.outage_probe_ms_max
        {
            return Err(LimitError::Conflict(
                "of `dns_ttl_ms`, `dns_negative_ms` and `outage_probe_ms`, `_min` must not be above `_max`",
            ));
        }
        if self.queue_block_urls_max > self.host_urls_memory_max {
            return Err(LimitError::Conflict(
                "`host_urls_memory_max` must hold at least one block of `queue_block_urls_max`",
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_valid() {
        assert_eq!(Limits::default().validate(), Ok(()));
    }

    #[test]
    fn zero_is_not_unlimited() {
        let mut limits = Limits::default();
        for info in Limits::TABLE {
            assert_eq!(limits.set(info.name, 0), Err(LimitError::Zero(info.name)));
        }
    }

    #[test]
    fn every_limit_can_be_set_to_its_ceiling_and_no_further() {
        let mut limits = Limits::default();
        for info in Limits::TABLE {
            assert_eq!(limits.set(info.name, info.ceiling), Ok(()), "{}", info.name);
            assert_eq!(limits.get(info.name), Some(info.ceiling));
            assert!(limits.set(info.name, info.ceiling + 1).is_err(), "{}", info.name);
        }
    }

    #[test]
    fn a_byte_budget_below_one_body_is_a_conflict() {
        let limits = Limits { bodies_bytes_max: 1, ..Limits::default() };
        assert!(matches!(limits.validate(), Err(LimitError::Conflict(_))));
    }
}
