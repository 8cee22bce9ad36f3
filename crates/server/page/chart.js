// Line charts for numbers that change: drawn as SVG, summed up in words, and given as a table to who wants one.

import { h, s, fill, say } from './dom.js';
import { clock } from './format.js';

const WIDTH = 600;
const HEIGHT = 120;
const HEAD = 18; // room for the number at the top
const POINTS_MAX = 600;
const TABLE_ROWS = 20;
const SUMMARY_EVERY_MS = 15_000;

/**
 * A chart of one number over time. `form` makes words of a value. `set(points)` and `push(point)` take `{at, value}`;
 * at most POINTS_MAX are kept.
 */
export function lineChart(title, form) {
  const area = s('path', { class: 'area' });
  const line = s('path', { class: 'line', 'vector-effect': 'non-scaling-stroke' });
  const picture = s(
    'svg',
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none', role: 'img' },
    gridLines(),
    area,
    line,
  );
  const [latest, top, from, till] = ['strong', 'span', 'span', 'span'].map((tag) => h(tag));
  const cursor = h('span', { class: 'cursor', hidden: true });
  const plot = h('div', { class: 'plot' }, picture, cursor, h('span', { class: 'top' }, top));
  const cells = h('div');
  const details = h(
    'details',
    { ontoggle: () => details.open && fill(cells, tableOf(title, points, form)) },
    h('summary', 'As a table'),
    cells,
  );
  const node = h(
    'figure',
    { class: 'chart' },
    h('figcaption', title, latest),
    plot,
    h('div', { class: 'axis' }, from, till),
    details,
  );
  let points = [];
  let summedAt = 0;

  function draw() {
    if (!points.length) return;
    const peak = niceCeiling(Math.max(...points.map(({ value }) => value)));
    const [start, end] = [points[0].at, points.at(-1).at];
    const x = (at) => (end > start ? ((at - start) / (end - start)) * WIDTH : WIDTH);
    const y = (value) => HEIGHT - (value / peak) * (HEIGHT - HEAD);
    const path = points.map(({ at, value }) => `${x(at).toFixed(1)} ${y(value).toFixed(1)}`).join('L');
    line.setAttribute('d', `M${path}`);
    area.setAttribute('d', `M${x(start)} ${HEIGHT}L${path}L${x(end).toFixed(1)} ${HEIGHT}Z`);
    say(top, form(peak));
    say(latest, form(points.at(-1).value));
    say(from, clock(start));
    say(till, clock(end));
    sumUp();
  }
  function sumUp() {
    if (Date.now() - summedAt < SUMMARY_EVERY_MS) return;
    summedAt = Date.now();
    picture.setAttribute('aria-label', summary(title, points, form));
  }
  function point(event) {
    if (!points.length) return;
    const box = plot.getBoundingClientRect();
    const share = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
    const at = points[0].at + share * (points.at(-1).at - points[0].at);
    const near = points.reduce((best, one) => (Math.abs(one.at - at) < Math.abs(best.at - at) ? one : best));
    cursor.hidden = false;
    cursor.classList.toggle('left', share > 0.6);
    cursor.style.setProperty('left', `${share * 100}%`);
    say(cursor, `${form(near.value)} at ${clock(near.at)}`);
  }
  plot.addEventListener('pointermove', point);
  plot.addEventListener('pointerleave', () => {
    cursor.hidden = true;
  });

  return {
    node,
    set: (given) => {
      points = given.slice(-POINTS_MAX);
      summedAt = 0;
      draw();
    },
    push: (one) => {
      if (points.length && one.at <= points.at(-1).at) return;
      points.push(one);
      if (points.length > POINTS_MAX) points.shift();
      draw();
    },
  };
}

const gridLines = () =>
  [0, 1, 2, 3]
    .map((n) => HEAD + (n * (HEIGHT - HEAD)) / 4)
    .map((y) =>
      s('line', { class: 'grid', x1: 0, x2: WIDTH, y1: y, y2: y, 'vector-effect': 'non-scaling-stroke' }),
    );

/** 1, 2 or 5 times a power of ten, not below `value`. */
function niceCeiling(value) {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= value * 1.02) ?? 10 * power;
}

function summary(title, points, form) {
  const values = points.map(({ value }) => value);
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const span = `${clock(points[0].at)} to ${clock(points.at(-1).at)}`;
  const [last, most] = [values.at(-1), Math.max(...values)];
  return `${title} from ${span}: now ${form(last)}, on average ${form(mean)}, at most ${form(most)}.`;
}

function tableOf(title, points, form) {
  const step = Math.max(1, Math.ceil(points.length / TABLE_ROWS));
  const some = points.filter((_, n) => (points.length - 1 - n) % step === 0).reverse();
  const rows = some.map(({ at, value }) => h('tr', h('td', clock(at)), h('td', { class: 'n' }, form(value))));
  return h(
    'table',
    h('caption', { class: 'sr-only' }, title),
    h('thead', h('tr', h('th', 'Time'), h('th', { class: 'n' }, title))),
    h('tbody', rows),
  );
}

/**
 * Shares of a whole as one bar, with the numbers beside it. Parts are `{key, name, tone, href}`; `update(counts)` takes
 * the number of each key, and changes what is there, so that links keep their focus.
 */
export function shareBar(title, parts, form) {
  const shown = parts.map((part) => ({ ...part, ...shareOf(part) }));
  const node = h(
    'div',
    { class: 'shares' },
    h(
      'div',
      { class: 'bar', 'aria-hidden': 'true' },
      shown.map(({ piece }) => piece),
    ),
    h(
      'ul',
      { class: 'legend', 'aria-label': title },
      shown.map(({ item }) => item),
    ),
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
  const dot = h('span', { class: `dot ${tone}`, 'aria-hidden': 'true' });
  return {
    piece: h('span', { class: `piece ${tone}` }),
    number,
    item: h('li', dot, h('a', { href }, name), ' ', number),
  };
}
