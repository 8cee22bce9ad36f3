// Line charts for numbers that change: drawn as SVG, summed up in words, and given as a table to who wants one.

import { h, s, fill, say } from './dom.js';
import { clock } from './format.js';

const WIDTH = 600;
const HEIGHT = 120;
const HEAD = 18; // room for the number at the top
const POINTS_MAX = 600;
const TABLE_ROWS = 20;
const SUMMARY_EVERY_MS = 15_000;
const SAME_WIDTH = { 'vector-effect': 'non-scaling-stroke' };

/**
 * A chart of one number over time. `form` makes words of a value. `set(points)` and `push(point)` take `{at, value}`;
 * at most POINTS_MAX are kept. `live(is)` says whether the last point is how it is now: the head of a chart of the
 * past says how much it was at most.
 */
export function lineChart(title, form) {
  const [area, line] = [s('path.area'), s('path.line', SAME_WIDTH)];
  const shape = { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none', role: 'img' };
  const picture = s('svg', shape, gridLines(), area, line);
  const [head, top, from, till] = ['strong', 'span.top', 'span', 'span'].map((tag) => h(tag));
  const plot = h('div.plot', picture, top);
  let points = [];
  let summedAt = 0;
  let isLive = true;

  function draw() {
    if (!points.length) return;
    const most = Math.max(...points.map(({ value }) => value));
    const peak = niceCeiling(most);
    const [start, end] = [points[0].at, points.at(-1).at];
    const x = (at) => (end > start ? ((at - start) / (end - start)) * WIDTH : WIDTH);
    const y = (value) => HEIGHT - (value / peak) * (HEIGHT - HEAD);
    const path = points.map(({ at, value }) => `${x(at).toFixed(1)} ${y(value).toFixed(1)}`).join('L');
    line.setAttribute('d', `M${path}`);
    area.setAttribute('d', `M${x(start)} ${HEIGHT}L${path}L${x(end).toFixed(1)} ${HEIGHT}Z`);
    say(top, form(peak));
    say(head, isLive ? form(points.at(-1).value) : `at most ${form(most)}`);
    say(from, clock(start));
    say(till, clock(end));
    sumUp();
  }
  /** Not with each point: who reads the summary would never come to its end. */
  function sumUp() {
    if (Date.now() - summedAt < SUMMARY_EVERY_MS) return;
    summedAt = Date.now();
    picture.setAttribute('aria-label', summary(title, points, form, isLive));
  }
  function change(next, is = isLive) {
    [points, isLive, summedAt] = [next, is, 0];
    draw();
  }
  function push(one) {
    if (points.length && one.at <= points.at(-1).at) return;
    points.push(one);
    if (points.length > POINTS_MAX) points.shift();
    draw();
  }
  followPointer(plot, () => points, form);
  const node = h(
    'figure.chart',
    h('figcaption', title, head),
    plot,
    h('div.axis', from, till),
    asTable(title, () => points, form),
  );
  const live = (is) => is === isLive || change(points, is);
  return { node, live, push, set: (given) => change(given.slice(-POINTS_MAX)) };
}

/** The value under the pointer, and when it was. */
function followPointer(plot, points, form) {
  const cursor = h('span.cursor', { hidden: true });
  const point = (event) => {
    const all = points();
    if (!all.length) return;
    const box = plot.getBoundingClientRect();
    const share = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
    const at = all[0].at + share * (all.at(-1).at - all[0].at);
    const near = all.reduce((best, one) => (Math.abs(one.at - at) < Math.abs(best.at - at) ? one : best));
    cursor.hidden = false;
    cursor.classList.toggle('left', share > 0.6);
    cursor.style.setProperty('left', `${share * 100}%`);
    say(cursor, `${form(near.value)} at ${clock(near.at)}`);
  };
  plot.append(cursor);
  plot.addEventListener('pointermove', point);
  plot.addEventListener('pointerleave', () => {
    cursor.hidden = true;
  });
}

const gridLines = () =>
  [0, 1, 2, 3]
    .map((n) => HEAD + (n * (HEIGHT - HEAD)) / 4)
    .map((y) => s('line.grid', { x1: 0, x2: WIDTH, y1: y, y2: y, ...SAME_WIDTH }));

/** 1, 2 or 5 times a power of ten, not below `value`. */
function niceCeiling(value) {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= value * 1.02) ?? 10 * power;
}

function summary(title, points, form, isLive) {
  const values = points.map(({ value }) => value);
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const span = `${clock(points[0].at)} to ${clock(points.at(-1).at)}`;
  const [last, most] = [values.at(-1), Math.max(...values)];
  const now = isLive ? `now ${form(last)}, ` : '';
  return `${title} from ${span}: ${now}on average ${form(mean)}, at most ${form(most)}.`;
}

/** The same in numbers, made when somebody looks. */
function asTable(title, points, form) {
  const cells = h('div');
  const ontoggle = () => node.open && fill(cells, tableOf(title, points(), form));
  const node = h('details', { ontoggle }, h('summary', 'As a table'), cells);
  return node;
}

function tableOf(title, points, form) {
  const step = Math.max(1, Math.ceil(points.length / TABLE_ROWS));
  const some = points.filter((_, n) => (points.length - 1 - n) % step === 0).reverse();
  const rows = some.map(({ at, value }) => h('tr', h('td', clock(at)), h('td.n', form(value))));
  const head = h('thead', h('tr', h('th', 'Time'), h('th.n', title)));
  return h('table', h('caption.sr-only', title), head, h('tbody', rows));
}

/**
 * Shares of a whole as one bar, with the numbers beside it. Parts are `{key, name, tone, href}`; `update(counts)` takes
 * the number of each key, and changes what is there, so that links keep their focus.
 */
export function shareBar(title, parts, form) {
  const shown = parts.map((part) => ({ ...part, ...shareOf(part) }));
  const bar = shown.map(({ piece }) => piece);
  const list = shown.map(({ item }) => item);
  const node = h(
    'section.shares',
    h('h3', title),
    h('div.bar', { 'aria-hidden': 'true' }, bar),
    h('ul.legend', { 'aria-label': title }, list),
  );
  function update(counts) {
    for (const { key, piece, item, number } of shown) {
      const value = counts[key] ?? 0;
      piece.hidden = item.hidden = value === 0;
      piece.style.setProperty('flex-grow', value);
      say(number, form(value));
    }
  }
  return { node, update };
}

function shareOf({ name, tone, href }) {
  const number = h('strong');
  const dot = h(`span.dot.${tone}`, { 'aria-hidden': 'true' });
  return {
    piece: h(`span.piece.${tone}`),
    number,
    item: h('li', dot, h('a', { href }, name), ' ', number),
  };
}
