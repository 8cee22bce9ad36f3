// What it does now: the figures, how they went, the last fetches, and the handles to change its pace.

import { h, fill } from '../dom.js';
import { get, crawlPath, query } from '../api.js';
import { asCommand, tilesOf, viewHead } from '../widgets.js';
import { lineChart, shareBar } from '../chart.js';
import { bytes, count, decimal, duration, percent, roughly } from '../format.js';
import { isAlive, places } from '../words.js';
import { liveForm } from '../keys.js';
import { ruleButton } from '../steer.js';
import { viewPath } from '../stage.js';
import { tail } from '../tail.js';

const MACHINE_EVERY_MS = 10_000;
const PACE = ['delay', 'rate', 'concurrency'];

export default function now(place, stage) {
  const tiles = figures();
  const charts = chartsOf();
  const shares = outcomes(stage.id);
  const pace = h('div');
  const { id, signal } = stage;

  fill(
    place,
    viewHead('Now', null),
    tiles.node,
    shares.node,
    charts.node,
    pace,
    tail(stage),
    asCommand('GET', crawlPath(id, 'events')),
  );

  function update(crawl) {
    tiles.update(crawl);
    shares.update(shareCounts(crawl.counts));
    charts.update(crawl);
    if (isAlive(crawl) !== Boolean(pace.firstChild)) fill(pace, isAlive(crawl) ? paceForm(id, signal) : null);
  }
  async function machine() {
    if (signal.aborted) return;
    await get('/server', { signal }).then(tiles.machine, () => {});
    tiles.update(stage.crawl());
    setTimeout(machine, MACHINE_EVERY_MS);
  }
  update(stage.crawl());
  stage.on('status', update);
  machine();
  get(crawlPath(id, 'stats') + query({ points: 300 }), { signal }).then(charts.set, () => {});
}

/** The figures. Those of the pace are there only while it runs. */
function figures() {
  const machine = {};
  const { node, put } = tilesOf();
  function update(crawl) {
    const { counts, rates } = crawl;
    const alive = isAlive(crawl) && rates ? rates : null;
    const speed = alive
      ? `${bytes(alive.bytes_per_second)} a second`
      : `${bytes(counts.warc_bytes)} in the archive`;
    const held = counts.held ? `${count(counts.held)} of them held back` : 'URLs that wait';
    put('Pages', count(counts.fetched), `of ${count(counts.urls)} URLs settled`);
    put('Pages a second', ...paceOf(crawl, alive));
    put('Received', bytes(counts.bytes), speed);
    put('In flight', alive && count(alive.in_flight), alive ? places(alive) : '');
    put('Queue', count(counts.queued), held);
    put('Errors', ...errorsOf(counts));
    put('Time left', alive && timeLeft(crawl), crawl.seconds_left ? 'at this pace' : 'not known yet');
    put('Time spent', duration(crawl.active_ms), 'pauses left out');
    put('Memory', alive?.memory ? bytes(alive.memory) : null, 'of this crawl');
    put('Disk', machine.disk_free ? bytes(machine.disk_free) : null, 'free');
  }
  return { node, update, machine: (server) => Object.assign(machine, server) };
}

/** How fast it goes, or how fast it went. */
function paceOf({ counts, active_ms: spent }, alive) {
  if (alive) return [decimal(alive.pages_per_second), 'over the last seconds'];
  return [spent ? decimal((counts.fetched * 1000) / spent) : null, 'on the whole'];
}

const timeLeft = ({ seconds_left: seconds }) => (seconds ? roughly(seconds * 1000) : '–');

/** Their share of all URLs, and how many: no answer at all, and answers that are errors. */
function errorsOf({ urls, failed, error_answers: answers }) {
  const share = percent(urls ? (failed + (answers ?? 0)) / urls : 0);
  const told = answers === undefined ? '' : `, ${count(answers)} answers 4xx or 5xx`;
  return [share, `${count(failed)} failed${told}`];
}

/**
 * Each settled URL in one part. `rejected` counts links; of the URLs that were settled, the rest was turned away when
 * its turn came. Answers that are errors were fetched, too.
 */
function shareCounts(counts) {
  const others = counts.fetched + counts.redirects + counts.denied + counts.failed;
  const answers = counts.error_answers ?? 0;
  const rejected = Math.max(0, counts.urls - others);
  return { ...counts, fetched: counts.fetched - answers, error_answers: answers, rejected };
}

function outcomes(id) {
  const urls = (outcome) => viewPath(id, 'urls', { outcome });
  const parts = [
    ['Fetched', 'fetched', 'good', urls('fetched')],
    ['Answers 4xx or 5xx', 'error_answers', 'bad2', viewPath(id, 'broken')],
    ['Redirected', 'redirects', 'calm', urls('redirected')],
    ['Denied by robots.txt', 'denied', 'wait', urls('denied')],
    ['Rejected by filters', 'rejected', 'wait2', urls('rejected')],
    ['Failed', 'failed', 'bad', urls('failed,host-unreachable')],
  ];
  const shown = parts.map(([name, key, tone, href]) => ({ name, key, tone, href }));
  return shareBar('What became of the URLs', shown, count);
}

function chartsOf() {
  const charts = Object.entries({
    pages_per_second: lineChart('Pages a second', decimal),
    bytes_per_second: lineChart('Received', (value) => `${bytes(value)}/s`),
    in_flight: lineChart('In flight', (value) => count(Math.round(value))),
    waiting: lineChart('Queue', count),
  });
  const node = h(
    'section.charts',
    { 'aria-label': 'How it went' },
    charts.map(([, chart]) => chart.node),
  );
  node.hidden = true;
  function set({ points }) {
    // One point is no line: a crawl of a moment has no more.
    if (points.length < 2) return;
    node.hidden = false;
    for (const [key, chart] of charts)
      chart.set(points.map((point) => ({ at: point.at, value: point[key] ?? 0 })));
  }
  function update(crawl) {
    const isLive = isAlive(crawl) && Boolean(crawl.rates);
    const values = { ...crawl.rates, waiting: crawl.counts.queued };
    if (isLive) node.hidden = false;
    for (const [key, chart] of charts) {
      chart.live(isLive);
      if (isLive) chart.push({ at: Date.now(), value: values[key] ?? 0 });
    }
  }
  return { node, set, update };
}

/** Delay, rate and concurrency of a crawl that runs: applied at once. */
function paceForm(id, signal) {
  const path = crawlPath(id, 'settings');
  const live = liveForm(path, PACE);
  get(path, { signal }).then(live.take, () => {});
  const leaveOut = ruleButton(id, { exclude: '' }, 'Leave out a pattern …');
  return h('section.card', h('div.card-head', h('h3', 'Its pace'), leaveOut), live.node);
}
