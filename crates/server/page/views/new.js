// A new crawl: what, how far, how much, how gently; and, before anything is asked of anybody, what will happen.

import { h, fill, icon, debounce, say, turns } from '../dom.js';
import { get, post } from '../api.js';
import {
  asCommand,
  busy,
  button,
  field,
  form as formFor,
  hint,
  line,
  loading,
  problemBox,
  submitter,
} from '../widgets.js';
import { go, viewPath } from '../stage.js';
import { parts, readSetting, SETTINGS } from '../keys.js';

const TYPES = [
  ['', 'Everything', 'Pages, documents, whatever the links lead to.'],
  ['text/html', 'Web pages', 'HTML alone.'],
  ['application/pdf', 'PDF', 'Documents; pages are read to find them.'],
  ['image/*', 'Images', 'Pictures; pages are read to find them.'],
  ['audio/*', 'Audio', 'Sound files, podcasts.'],
  ['video/*', 'Video', 'Films.'],
  ['other', 'Other …', 'Types that you name.'],
];
const SCOPES = [
  ['host', 'This host', 'Such as www.example.com, and nothing else.'],
  ['domain', 'The whole domain', 'Such as example.com with all its subdomains.'],
  ['subdomains', 'This host and below', 'Also docs.www.example.com.'],
  ['prefix', 'Below this path', 'Only what begins like the address itself.'],
  ['any', 'Anywhere', 'Wherever links lead. Needs a contact.'],
];

const NUMBER = { inputmode: 'numeric' };

/** Fields of one line: key, label, hint, properties. */
const HOW_MUCH = [
  ['max-pages', 'Pages at most', 'No end if empty.', NUMBER],
  ['depth', 'Depth', 'Hops from a start URL; 0 fetches these alone.', NUMBER],
  ['max-time', 'Time at most', 'Such as 30m, 8h, 2d.'],
  ['max-size', 'Size at most', 'Received bytes, such as 500MB or 10GB.'],
];
const HOW_GENTLY = [
  ['delay', 'Pause per host', 'Between two requests; 1s unless you say otherwise.', { placeholder: '1s' }],
  ['rate', 'Requests a second', 'Over all hosts; no such limit if empty.'],
  ['contact', 'Your contact', 'A URL or e-mail for webmasters who wonder.'],
];
const WHICH = [
  ['include', 'Only what matches', 'A regular expression, such as /docs/'],
  ['exclude', 'Not what matches', 'A regular expression, such as /calendar/'],
];
const NOTHING_YET =
  'Type an address, and here stands in plain words what larm would do. Nothing is asked of anybody before you press Start.';

export default function newCrawl(place, { params, signal }) {
  const form = fields(params.get('url') ?? '');
  const preview = h('div.words', { 'aria-live': 'polite' });
  const start = submitter('Start', 'play');
  const keep = button('Make it, start later', () => create(false, keep));
  const command = asCommand('POST', '/crawls', form.body());
  const label = 'What will happen';
  const buttons = h('div.row', start, keep);
  const aside = h('aside.card.what', { 'aria-label': label }, h('h2', label), preview, buttons, command);
  const novalidate = { novalidate: true };
  const node = formFor('form.new-form', () => create(true, start), novalidate, h('div', form.node), aside);
  const turn = turns();

  fill(place, h('h1', { tabindex: '-1', 'data-focus': true }, 'New crawl'), node);
  tellOwners(form.manners, signal);

  async function look() {
    const isLast = turn();
    const body = form.body();
    command.update('POST', '/crawls', { ...body, start: true });
    if (!body.settings.seeds.length) return nothingYet();
    if (!preview.firstChild) fill(preview, loading('Looking …'));
    try {
      const answer = await post('/crawls/preview', body, { signal });
      if (isLast()) agree(answer);
    } catch (error) {
      if (isLast() && !signal.aborted) disagree(error);
    }
  }
  function tell(isGood, ...words) {
    fill(preview, words);
    start.disabled = keep.disabled = !isGood;
  }
  function nothingYet() {
    form.complain();
    tell(false, hint(NOTHING_YET));
  }
  function agree({ words, dir }) {
    form.complain();
    const items = words.map((text) => h('li', text));
    tell(true, h('ul', items), dir ? hint('Kept in ', h('code', dir)) : null);
  }
  function disagree(error) {
    const isTold = form.complain(error.key, error.message);
    const short = { message: 'Not yet: one of the fields needs another value.', hint: error.message };
    tell(false, problemBox(isTold ? short : error));
  }
  const create = (now, pressed) =>
    busy(pressed, async () => {
      try {
        const crawl = await post('/crawls', { ...form.body(), start: now });
        go(viewPath(crawl.id, 'now'));
      } catch (error) {
        disagree(error);
        form.focusWrong();
      }
    });

  node.addEventListener('input', debounce(look, 300));
  node.addEventListener('change', debounce(look, 50));
  look();
}

/** What the owners of the sites get to see. */
async function tellOwners(note, signal) {
  const { version = 'VERSION', confined_to: only = [] } = await get('/server', { signal }).catch(() => ({}));
  const name = h('code', `larm/${version}`);
  const told = [
    ['robots.txt is read before a host is asked for anything else, and obeyed. So are nofollow and Retry-After.'],
    ['Owners see one connection and a pause after each answer, longer if their server is slow.'],
    ['They see the name ', name, ', with your contact if you give one.'],
  ];
  if (only.length) told.push([`This server may ask ${only.join(', ')}, and nobody else.`]);
  fill(
    note,
    told.map((words) => h('p', icon('done'), words)),
  );
}

const one = ([key, label, words, properties]) => field(label, line(null, properties), { hint: words, key });

const pair = (boxes) => h('div.pair', boxes);

function seedsField(url) {
  const properties = { rows: 3, placeholder: 'https://example.com/', spellcheck: 'false', autocapitalize: 'none' };
  const words = 'One a line. https:// may be left out.';
  return field('Start URLs', h('textarea', { ...properties, value: url }), { hint: words, key: 'seeds' });
}

function fields(url) {
  const seeds = seedsField(url);
  const types = radios('accept', 'What to keep', TYPES, '');
  const other = one(['accept', 'Types', 'Such as application/epub+zip, image/*']);
  const scope = radios('scope', 'How far links are followed', SCOPES, 'host');
  const [much, gentle, which] = [HOW_MUCH, HOW_GENTLY, WHICH].map((rows) => rows.map(one));
  const assets = h('input', { type: 'checkbox' });
  const assetsWords = 'Images, styles and scripts of pages, too, so that archived copies look right';
  const name = one(['name', 'Name', 'Made from the first URL if empty.']);
  const more = moreSettings();
  const manners = h('div.manners');
  const simple = [...much, ...gentle, ...which];
  const boxes = [seeds, other, types.node, scope.node, ...simple, name];
  other.hidden = true;
  types.node.addEventListener('change', () => {
    other.hidden = types.value() !== 'other';
  });

  const node = [
    section('Where to begin', seeds),
    section('What to keep', types.node, other, h('label.check', assets, h('span', assetsWords))),
    section('How far links are followed', scope.node, pair(which)),
    section('How much', pair(much)),
    section('Manners', manners, pair(gentle)),
    h('details.card', h('summary', 'More settings'), name, more.node),
  ];

  function body() {
    const settings = { seeds: parts(seeds.input.value, '\n') };
    const accept = types.value() === 'other' ? other.input.value : types.value();
    const given = { accept, scope: scope.value() === 'host' ? '' : scope.value() };
    for (const box of simple) given[box.dataset.key] = box.input.value.trim();
    for (const [key, value] of [...Object.entries(given), ...more.values()])
      if (value) settings[key] = readSetting(key, value);
    if (assets.checked) settings.assets = true;
    const called = name.input.value.trim();
    return called ? { name: called, settings } : { settings };
  }
  /** Says what is wrong at the field that is meant; false if no field is. */
  function complain(key, message) {
    for (const box of boxes) box.complain?.();
    more.complain();
    const box = key && boxes.find((known) => known.dataset.key === key && !known.hidden && known.complain);
    box?.complain(message);
    return Boolean(box) || more.complain(key, message);
  }
  const focusWrong = () => node[0].parentNode.querySelector('[aria-invalid="true"]')?.focus();
  return { node, manners, body, complain, focusWrong };
}

const section = (title, ...children) => h('section.card', h('h2', title), children);

function radios(key, legend, choices, chosen) {
  const wrong = h('p.wrong');
  const options = choices.map(([value, name, words]) =>
    h(
      'label.choice',
      h('input', { type: 'radio', name: key, value, checked: value === chosen }),
      h('span', h('strong', name), h('small', words)),
    ),
  );
  const node = h('fieldset', { 'data-key': key }, h('legend.sr-only', legend), h('div.choices', options), wrong);
  node.complain = (text) => say(wrong, text ?? '');
  return { node, value: () => node.querySelector('input:checked')?.value ?? '' };
}

/** Rows of any key and its value. */
function moreSettings() {
  const rows = h('div');
  const wrong = h('p.wrong');
  const known = Object.keys(SETTINGS).map((key) => h('option', { value: key }));
  const node = h(
    'div',
    hint('Any key of larm.toml, as docs/config.md lists them. Lists take commas.'),
    h('datalist', { id: 'keys' }, known),
    rows,
    wrong,
    button('Add a setting', add, { sign: 'new', kind: 'small' }),
  );
  function add() {
    const key = line('Key', { list: 'keys' });
    const words = hint();
    key.addEventListener('input', () => say(words, SETTINGS[key.value.trim()]?.[1] ?? ''));
    const row = h('div.setting', key, line('Value'), button('Remove', remove, { kind: 'small' }), words);
    function remove() {
      row.remove();
      node.dispatchEvent(new Event('change', { bubbles: true }));
    }
    rows.append(row);
    key.focus();
  }
  const values = () =>
    [...rows.children]
      .map((row) => [...row.querySelectorAll('input')].map((input) => input.value.trim()))
      .filter(([key]) => key);
  function complain(key, message) {
    const mine = key && values().some(([own]) => own === key);
    say(wrong, mine ? message : '');
    return Boolean(mine);
  }
  return { node, values, complain };
}
