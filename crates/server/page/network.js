// The hosts of a crawl as a drawing: who links to whom. The same graph gives the same picture, every time.

import { h, s } from './dom.js';
import { table } from './table.js';
import { count, counted } from './format.js';

const [WIDTH, HEIGHT] = [800, 460];
const ROUNDS = 260;
const NAMED_MAX = 14;

/** `{nodes: [{host, pages}], arcs: [{from, to, links}]}` as a picture, with a table beside it. */
export function hostGraph({ nodes, arcs }) {
  const points = layOut(nodes, arcs);
  const most = Math.max(1, ...nodes.map(({ pages }) => pages));
  const radius = ({ pages }) => 5 + 17 * Math.sqrt(pages / most);
  const lines = arcs
    .filter(({ from, to }) => from !== to && points.has(from) && points.has(to))
    .map((arc) => line(points, arc));
  const circles = nodes.map((node, n) => circle(points.get(node.host), node, radius(node), n < NAMED_MAX));
  const largest = nodes.slice(0, 3).map(({ host, pages }) => `${host} with ${counted(pages, 'page')}`);
  const size = `${counted(nodes.length, 'host')} and ${counted(arcs.length, 'connection')} between them`;
  const label = `${size}. Largest: ${largest.join(', ')}.`;
  const picture = s(
    'svg',
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', 'aria-label': label, class: 'network' },
    lines,
    circles,
  );
  return h('div', picture, h('details', h('summary', 'As a table'), arcTable(arcs)));
}

function line(points, { from, to, links }) {
  const [a, b] = [points.get(from), points.get(to)];
  const node = s(
    'line.arc',
    { x1: a.x, y1: a.y, x2: b.x, y2: b.y },
    s('title', `${from} → ${to}: ${counted(links, 'link')}`),
  );
  node.style.setProperty('stroke-width', `${Math.min(5, 0.6 + Math.log10(links + 1))}`);
  return node;
}

function circle({ x, y }, { host, pages }, radius, isNamed) {
  const name = isNamed ? s('text', { y: radius + 13 }, host.length > 28 ? `${host.slice(0, 27)}…` : host) : null;
  return s(
    'g.host',
    { transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})` },
    s('circle', { r: radius.toFixed(1) }),
    name,
    s('title', `${host}: ${counted(pages, 'page')}`),
  );
}

/** From a circle, in order, by forces: hosts push each other off, links pull. No chance is in it. */
function layOut(nodes, arcs) {
  const points = new Map(
    nodes.map(({ host }, n) => {
      const angle = n * 2.39996; // the golden angle: neighbours in the list are far apart
      const reach = 40 + 150 * Math.sqrt(n / nodes.length);
      return [host, { x: WIDTH / 2 + 1.6 * reach * Math.cos(angle), y: HEIGHT / 2 + reach * Math.sin(angle) }];
    }),
  );
  const all = [...points.values()];
  const springs = arcs
    .map(({ from, to }) => [points.get(from), points.get(to)])
    .filter(([a, b]) => a && b && a !== b);
  const ideal = Math.sqrt((WIDTH * HEIGHT) / Math.max(2, nodes.length)) * 0.75;
  for (let round = 0; round < ROUNDS; round += 1) relax(all, springs, ideal, 22 * (1 - round / ROUNDS));
  return points;
}

function relax(all, springs, ideal, heat) {
  for (const point of all)
    Object.assign(point, { dx: (WIDTH / 2 - point.x) * 0.03, dy: (HEIGHT / 2 - point.y) * 0.06 });
  for (const a of all)
    for (const b of all) if (a !== b) pull(a, b, (distance) => -(ideal * ideal) / (distance * distance));
  for (const [a, b] of springs) {
    pull(a, b, (distance) => (distance / ideal) * 0.35);
    pull(b, a, (distance) => (distance / ideal) * 0.35);
  }
  for (const point of all) {
    const force = Math.hypot(point.dx, point.dy) || 1;
    const step = Math.min(force, heat) / force;
    point.x = Math.max(60, Math.min(WIDTH - 60, point.x + point.dx * step));
    point.y = Math.max(28, Math.min(HEIGHT - 38, point.y + point.dy * step));
  }
}

/** Moves `a` towards `b` by `strength(distance)` of a unit's ten. */
function pull(a, b, strength) {
  const [x, y] = [b.x - a.x, b.y - a.y];
  const distance = Math.max(1, Math.hypot(x, y));
  const force = 10 * strength(distance);
  a.dx += (x / distance) * force;
  a.dy += (y / distance) * force;
}

const arcTable = (arcs) =>
  table(
    'Links between hosts',
    [
      { name: 'From', cell: ({ from }) => from },
      { name: 'To', cell: ({ to }) => to },
      { name: 'Links', class: 'n', cell: ({ links }) => count(links) },
    ],
    [...arcs].sort((a, b) => b.links - a.links).slice(0, 100),
  );
