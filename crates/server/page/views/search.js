// Search: pages by their words, as one types. The same view is the public face of a server, with nothing around it.

import { h, fill, foreign, openable, urlText, debounce } from '../dom.js';
import { get, crawlPath, query, isGone } from '../api.js';
import {
  asCommand,
  button,
  emptyBox,
  form as formFor,
  hint,
  line,
  problemBox,
  submitter,
  viewHead,
} from '../widgets.js';
import { ago, count, counted } from '../format.js';
import { recall, remember, viewPath } from '../stage.js';

const LIMIT = 10;
const RANKED_MAX = 1000;
const FEWER_WORDS = 'Fewer words find more; a * at the end of a word stands for any ending.';
const [MARK, UNMARK] = ['\uE000', '\uE001'];

export default function search(place, stage) {
  const { id, params, signal, isPublic } = stage;
  const base = isPublic ? '/search' : crawlPath(id, 'search');
  const asked = recall(params, { q: '', host: '', lang: '', type: '' });
  const results = h('div.results');
  const found = h('p.hint.found', { role: 'status' });
  const command = asCommand('GET', base + query({ q: 'wing' }));
  const { form, input, filters } = formOf(asked, () => look(0));
  let turn = 0;

  const title = isPublic
    ? h('h1.public-title', { tabindex: '-1', 'data-focus': true }, 'Search')
    : viewHead('Search', 'The text of every page, a few seconds after it was fetched.');
  fill(place, title, form, found, results, help(), isPublic ? null : command);
  if (isPublic) place.classList.add('public');

  async function look(offset) {
    const mine = ++turn;
    asked.q = input.value.trim();
    for (const filter of filters) asked[filter.dataset.key] = filter.value.trim();
    remember(asked);
    place.classList.toggle('asked', Boolean(asked.q));
    if (!asked.q) {
      fill(found);
      return fill(results);
    }
    const path = base + query({ ...asked, limit: LIMIT, offset: offset || '' });
    command.update('GET', path);
    try {
      const answer = await get(path, { signal });
      if (mine === turn) show(answer, offset);
    } catch (error) {
      if (mine === turn && !isGone(error)) complain(error, offset);
    }
  }
  function complain(error, offset) {
    const isHalfTyped = error.status === 422; // a filter that is not complete yet is no reason for alarm
    fill(found, isHalfTyped ? error.message : null);
    fill(results, isHalfTyped ? null : problemBox(error, () => look(offset)));
  }
  function show(answer, offset) {
    const { total, hits, missing = [], notes = [], ms } = answer;
    const took = ms === undefined ? '' : `, in ${Math.max(1, Math.round(ms))} ms`;
    const without = missing.length ? [`No page has: ${missing.join(', ')}.`] : [];
    fill(found, [total ? `${counted(total, 'page')}${took}` : 'Nothing found', ...without, ...notes].join(' · '));
    if (!hits.length) return fill(results, emptyBox('search', 'No page says that.', FEWER_WORDS));
    const list = h(
      'ol.plain.hits',
      { start: offset + 1 },
      hits.map((hit) => h('li', hitOf(hit, id, isPublic))),
    );
    fill(
      results,
      list,
      pagesOf(answer, offset, (next) => {
        look(next);
        scrollTo(0, 0);
        input.focus({ preventScroll: true });
      }),
    );
  }
  const later = debounce(() => look(0), 200);
  form.addEventListener('input', later);
  look(0);
}

/** The field, and what narrows the search. */
function formOf(asked, submit) {
  const narrow = (key, label) =>
    line(label, { type: 'search', class: 'narrow', value: asked[key], 'data-key': key });
  const filters = [narrow('host', 'Host'), narrow('lang', 'Language (en)'), narrow('type', 'Type (pdf)')];
  const input = line('Search the pages', { type: 'search', value: asked.q, autofocus: true });
  const node = formFor(
    'form.search-form',
    submit,
    { role: 'search' },
    h('div.quick-line', input, submitter('Search', 'search')),
    h('div.row.filters', filters),
  );
  return { form: node, input, filters };
}

function pagesOf({ total, hits }, offset, turnTo) {
  const end = Math.min(total, RANKED_MAX);
  if (end <= LIMIT) return null;
  const turn = (text, to, disabled) => button(text, () => turnTo(to), { kind: 'small', disabled });
  return h(
    'nav.pager',
    { 'aria-label': 'Pages of results' },
    turn('← Back', Math.max(0, offset - LIMIT), offset === 0),
    h('span.where', `${count(offset + 1)} to ${count(offset + hits.length)} of ${count(total)}`),
    turn('Next →', offset + LIMIT, offset + LIMIT >= end),
  );
}

function hitOf(hit, id, isPublic) {
  const href = openable(hit.url);
  const safe = { href, target: '_blank', rel: 'noopener noreferrer' };
  const name = foreign(hit.title || hit.url);
  const facts = [
    hit.date && ago(typeof hit.date === 'number' ? hit.date : Date.parse(hit.date)),
    hit.lang,
    hit.near ? `${count(hit.near)} nearly the same` : null,
    cached(hit, id, isPublic),
  ];
  return h(
    'article',
    h('p.hit-url', urlText(hit.url)),
    h('h3', href ? h('a', safe, name) : name),
    h('p.snippet', { dir: 'auto' }, marked(hit.snippet ?? '')),
    h(
      'p.hint',
      facts.filter(Boolean).map((fact, n) => [n ? ' · ' : null, fact]),
    ),
  );
}

/** The archived copy: in our own frame, or, for the public, the sandboxed copy itself. */
function cached(hit, id, isPublic) {
  const own = hit.crawl ?? id;
  if (!isPublic) return h('a', { href: viewPath(own, 'archive', { url: hit.url }) }, 'Archived copy');
  return hit.replay?.startsWith('/replay/')
    ? h('a', { href: hit.replay, target: '_blank', rel: 'noopener noreferrer' }, 'Archived copy')
    : null;
}

/** Text with the found words marked; whatever else is in it stays text. */
function marked(text) {
  return text.split(MARK).map((piece, n) => {
    if (n === 0) return piece;
    const [word, ...rest] = piece.split(UNMARK);
    return [h('mark', word), rest.join('')];
  });
}

const help = () =>
  h(
    'details.search-help',
    h('summary', 'How to ask'),
    h(
      'dl.facts-list',
      [
        ['wing lift', 'either word; pages with both come first'],
        ['"boundary layer"', 'these words side by side'],
        ['+wing -tail', 'with the one, without the other'],
        ['aero*', 'words that begin so'],
        ['title:wing', 'in the title; also heading, text, url, anchor'],
        ['site:example.org', 'of this site; also host:, type:, lang:'],
        ['since:2024-05', 'of this month or later; also until:'],
      ].map(([words, meaning]) => [h('dt', h('code', words)), h('dd', meaning)]),
    ),
  );
