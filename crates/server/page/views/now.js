// What it does now: the figures, how they went, the last fetches, and the handles to change its pace.

import { h, fill, say } from '../dom.js';
import { get, patch, crawlPath, query } from '../api.js';
import { asCommand, busy, field, toast, viewHead } from '../widgets.js';
import { lineChart, shareBar } from '../chart.js';
import { bytes, count, decimal, duration, percent, roughly } from '../format.js';
import { isAlive, places, settingText } from '../words.js';
import { LIVE } from '../keys.js';
import { ruleButton } from '../steer.js';
import { viewPath } from '../stage.js';
import { tail } from '../tail.js';

const MACHINE_EVERY_MS = 10_000;
const PACE = ['delay', 'rate', 'concurrency'];

export default function now(place, stage) {
  const tiles = tilesOf();
  const charts = chartsOf();
  const shares = outcomes(stage.id);
  const pace = h('div');
  const last = tail(stage);
  const { id, signal } = stage;

  fill(
    place,
    viewHead('Now', null),
    tiles.node,
    shares.node,
    charts.node,
    pace,
    last.node,
    asCommand('GET', crawlPath(id, 'events')),
  );

  function update(crawl) {
    tiles.update(crawl);
    shares.update(shareCounts(crawl.counts));
    if (isAlive(crawl)) charts.push(crawl);
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
function tilesOf() {
  const machine = {};
  const node = h('dl', { class: 'tiles' });
  const tiles = new Map();
  function put(name, value, note = '') {
    if (!tiles.has(name)) {
      const tile = { value: h('dd'), note: h('dd', { class: 'note' }) };
      tile.node = h('div', { class: 'tile' }, h('dt', name), tile.value, tile.note);
      tiles.set(name, tile);
      node.append(tile.node);
    }
    const tile = tiles.get(name);
    tile.node.hidden = value === null;
    say(tile.value, value ?? '');
    say(tile.note, note);
  }
  function update(crawl) {
    const { counts, rates } = crawl;
    const alive = isAlive(crawl) && rates ? rates : null;
    put('Pages', count(counts.fetched), `of ${count(counts.urls)} URLs settled`);
    put('Pages a second', alive && decimal(alive.pages_per_second), 'over the last seconds');
    put(
      'Received',
      bytes(counts.bytes),
      alive ? `${bytes(alive.bytes_per_second)} a second` : `${bytes(counts.warc_bytes)} in the archive`,
    );
    put('In flight', alive && count(alive.in_flight), alive ? places(alive) : '');
    put('Queue', count(counts.queued), counts.held ? `${count(counts.held)} of them held back` : 'URLs that wait');
    put(
      'Errors',
      alive ? percent(alive.errors_share) : percent(counts.urls ? counts.failed / counts.urls : 0),
      `${count(counts.failed)} failed`,
    );
    put(
      'Time left',
      alive && (crawl.seconds_left ? roughly(crawl.seconds_left * 1000) : '–'),
      crawl.seconds_left ? 'at this pace' : 'not known yet',
    );
    put('Time spent', duration(crawl.active_ms), 'pauses left out');
    put('Memory', alive && machine.memory ? bytes(machine.memory) : null, 'of the server');
    put('Disk', machine.disk_free ? bytes(machine.disk_free) : null, 'free');
  }
  return { node, update, machine: (server) => Object.assign(machine, server) };
}

/** `rejected` counts links; of the URLs that were settled, the rest was turned away when its turn came. */
function shareCounts(counts) {
  const others = counts.fetched + counts.redirects + counts.denied + counts.failed;
  return { ...counts, rejected: Math.max(0, counts.urls - others) };
}

function outcomes(id) {
  const parts = [
    ['Fetched', 'fetched', 'good'],
    ['Redirected', 'redirects', 'calm', 'redirected'],
    ['Denied by robots.txt', 'denied', 'wait'],
    ['Rejected by filters', 'rejected', 'wait2'],
    ['Failed', 'failed', 'bad', 'failed,host-unreachable'],
  ];
  const shown = parts.map(([name, key, tone, outcome = key]) => ({
    name,
    key,
    tone,
    href: viewPath(id, 'urls', { outcome }),
  }));
  return shareBar('What became of the URLs', shown, count);
}

function chartsOf() {
  const perSecond = (value) => `${bytes(value)}/s`;
  const charts = {
    pages_per_second: lineChart('Pages a second', decimal),
    bytes_per_second: lineChart('Received', perSecond),
    in_flight: lineChart('In flight', (value) => count(Math.round(value))),
    waiting: lineChart('Queue', count),
  };
  const node = h(
    'section',
    { class: 'charts', 'aria-label': 'How it went' },
    Object.values(charts).map((chart) => chart.node),
  );
  const each = (act) => Object.entries(charts).forEach(([key, chart]) => act(chart, key));
  node.hidden = true;
  function set({ points }) {
    if (!points.length) return;
    node.hidden = false;
    each((chart, key) => chart.set(points.map((point) => ({ at: point.at, value: point[key] ?? 0 }))));
  }
  function push({ rates, counts }) {
    if (!rates) return;
    node.hidden = false;
    const values = { ...rates, waiting: counts.queued };
    each((chart, key) => chart.push({ at: Date.now(), value: values[key] ?? 0 }));
  }
  return { node, set, push };
}

/** Delay, rate and concurrency of a crawl that runs: applied at once. */
function paceForm(id, signal) {
  const path = crawlPath(id, 'settings');
  const boxes = PACE.map((key) =>
    field(LIVE[key][0], h('input', { type: 'text', autocomplete: 'off' }), { hint: LIVE[key][1], key }),
  );
  const command = asCommand('PATCH', path, { delay: '2s' });
  const apply = h('button', { type: 'submit', class: 'main' }, 'Apply');
  const body = () =>
    Object.fromEntries(
      boxes
        .filter(({ input }) => input.value.trim() && input.value !== input.defaultValue)
        .map((box) => [box.dataset.key, box.input.value.trim()]),
    );

  function take({ settings, changes = [] }) {
    const all = { ...settings, ...Object.fromEntries(changes.map(({ key, value }) => [key, value])) };
    for (const box of boxes) box.input.value = box.input.defaultValue = settingText(all[box.dataset.key]);
  }
  async function submit(event) {
    event.preventDefault();
    boxes.forEach((box) => box.complain());
    await busy(apply, async () => {
      try {
        take(await patch(path, body()));
        toast('The new pace is in force.');
      } catch (error) {
        const box = boxes.find(({ dataset }) => dataset.key === error.key);
        box ? box.complain(error.message) : toast(error.message, 'bad');
      }
    });
  }
  const form = h(
    'form',
    { class: 'pace', onsubmit: submit, oninput: () => command.update('PATCH', path, body()) },
    boxes,
    apply,
  );
  get(path, { signal }).then(take, () => {});
  return h(
    'section',
    { class: 'card' },
    h('div', { class: 'card-head' }, h('h3', 'Its pace'), ruleButton(id, { exclude: '' }, 'Leave out a pattern …')),
    form,
    command,
  );
}
