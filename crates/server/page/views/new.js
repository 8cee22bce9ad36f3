// A new crawl: what, how far, how much, how gently; and, before anything is asked of anybody, what will happen.

import { h, fill, icon, debounce, say } from '../dom.js';
import { get, post } from '../api.js';
import { asCommand, busy, button, field, loading, problemBox } from '../widgets.js';
import { go, viewPath } from '../stage.js';
import { readSetting, SETTINGS } from '../keys.js';

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
  ['host', 'This host', 'www.example.com and nothing else.'],
  ['domain', 'The whole domain', 'example.com with all its subdomains.'],
  ['subdomains', 'This host and below', 'also docs.www.example.com.'],
  ['prefix', 'Below this path', 'only what begins like the address itself.'],
  ['any', 'Anywhere', 'wherever links lead. Needs a contact.'],
];

export default function newCrawl(place, { params, signal }) {
  const form = fields(params.get('url') ?? '');
  const preview = h('div', { class: 'words', 'aria-live': 'polite' });
  const start = h('button', { type: 'submit', class: 'main' }, icon('play'), 'Start');
  const keep = button('Make it, start later', () => create(false, keep));
  const command = asCommand('POST', '/crawls', form.body());
  const aside = h(
    'aside',
    { class: 'card what', 'aria-label': 'What will happen' },
    h('h2', 'What will happen'),
    preview,
    h('div', { class: 'row' }, start, keep),
    command,
  );
  const node = h(
    'form',
    {
      class: 'new-form',
      novalidate: true,
      onsubmit: (event) => {
        event.preventDefault();
        create(true, start);
      },
    },
    h('div', form.node),
    aside,
  );
  let asked = 0;

  fill(place, h('h1', { tabindex: '-1', 'data-focus': true }, 'New crawl'), node);
  tellOwners(form.manners, signal);

  async function look() {
    const turn = ++asked;
    const body = form.body();
    command.update('POST', '/crawls', { ...body, start: true });
    if (!body.settings.seeds.length) return nothingYet();
    if (!preview.firstChild) fill(preview, loading('Looking …'));
    try {
      const answer = await post('/crawls/preview', body, { signal });
      if (turn === asked) agree(answer);
    } catch (error) {
      if (turn === asked && !signal.aborted) disagree(error);
    }
  }
  function nothingYet() {
    form.complain();
    fill(
      preview,
      h(
        'p',
        { class: 'hint' },
        'Type an address, and here stands in plain words what larm would do. Nothing is asked of anybody before you press Start.',
      ),
    );
    start.disabled = keep.disabled = true;
  }
  function agree({ words, dir }) {
    form.complain();
    fill(
      preview,
      h(
        'ul',
        words.map((text) => h('li', text)),
      ),
      dir ? h('p', { class: 'hint' }, 'Kept in ', h('code', dir)) : null,
    );
    start.disabled = keep.disabled = false;
  }
  function disagree(error) {
    const told = form.complain(error.key, error.message);
    fill(
      preview,
      problemBox(
        told ? { message: 'Not yet: one of the fields needs another value.', hint: error.message } : error,
      ),
    );
    start.disabled = keep.disabled = true;
  }
  async function create(now, pressed) {
    await busy(pressed, async () => {
      try {
        const crawl = await post('/crawls', { ...form.body(), start: now });
        go(viewPath(crawl.id, 'now'));
      } catch (error) {
        disagree(error);
        form.focusWrong();
      }
    });
  }

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

function fields(url) {
  const text = (key, label, hint, properties) =>
    field(label, h('input', { type: 'text', autocomplete: 'off', spellcheck: 'false', ...properties }), {
      hint,
      key,
    });
  const seeds = field(
    'Start URLs',
    h('textarea', {
      rows: 3,
      placeholder: 'https://example.com/',
      spellcheck: 'false',
      autocapitalize: 'none',
      value: url,
    }),
    { hint: 'One a line. https:// may be left out.', key: 'seeds' },
  );
  const types = radios('accept', 'What to keep', TYPES, '');
  const other = text('accept', 'Types', 'Such as application/epub+zip, image/*');
  const scope = radios('scope', 'How far links are followed', SCOPES, 'host');
  const number = { inputmode: 'numeric' };
  const simple = [
    text('max-pages', 'Pages at most', 'No end if empty.', number),
    text('depth', 'Depth', 'Hops from a start URL; 0 fetches these alone.', number),
    text('max-time', 'Time at most', 'Such as 30m, 8h, 2d.'),
    text('max-size', 'Size at most', 'Received bytes, such as 500MB or 10GB.'),
  ];
  const gentle = [
    text('delay', 'Pause per host', 'Between two requests; 1s unless you say otherwise.', {
      placeholder: '1s',
    }),
    text('rate', 'Requests a second', 'Over all hosts; no such limit if empty.'),
    text('contact', 'Your contact', 'A URL or e-mail for webmasters who wonder.'),
  ];
  const patterns = [
    text('include', 'Only what matches', 'A regular expression, such as /docs/'),
    text('exclude', 'Not what matches', 'A regular expression, such as /calendar/'),
  ];
  const assets = h(
    'label',
    { class: 'check' },
    h('input', { type: 'checkbox' }),
    h('span', 'Images, styles and scripts of pages, too, so that archived copies look right'),
  );
  const name = text('name', 'Name', 'Made from the first URL if empty.');
  const more = moreSettings();
  const manners = h('div', { class: 'manners' });
  other.hidden = true;
  types.node.addEventListener('change', () => {
    other.hidden = types.value() !== 'other';
  });

  const node = [
    section('Where to begin', seeds),
    section('What to keep', types.node, other, assets),
    section('How far links are followed', scope.node, h('div', { class: 'pair' }, patterns)),
    section('How much', h('div', { class: 'pair' }, simple)),
    section('Manners', manners, h('div', { class: 'pair' }, gentle)),
    h('details', { class: 'card' }, h('summary', 'More settings'), name, more.node),
  ];
  const boxes = [seeds, other, types.node, scope.node, ...simple, ...gentle, ...patterns, name];

  function body() {
    const settings = {
      seeds: seeds.input.value
        .split('\n')
        .map((line) => line.trim())
        .filter(Boolean),
    };
    const accept = types.value() === 'other' ? other.input.value : types.value();
    const given = { accept, scope: scope.value() === 'host' ? '' : scope.value() };
    for (const box of [...simple, ...gentle, ...patterns]) given[box.dataset.key] = box.input.value.trim();
    for (const [key, value] of [...Object.entries(given), ...more.values()])
      if (value) settings[key] = readSetting(key, value);
    if (assets.querySelector('input').checked) settings.assets = true;
    const called = name.input.value.trim();
    return called ? { name: called, settings } : { settings };
  }
  /** Says what is wrong at the field that is meant; false if no field is. */
  function complain(key, message) {
    for (const box of boxes) box.complain?.();
    more.complain();
    const box = key && boxes.find((one) => one.dataset.key === key && !one.hidden && one.complain);
    box?.complain(message);
    return Boolean(box) || more.complain(key, message);
  }
  const focusWrong = () => node[0].parentNode.querySelector('[aria-invalid="true"]')?.focus();
  return { node, manners, body, complain, focusWrong };
}

const section = (title, ...children) => h('section', { class: 'card' }, h('h2', title), children);

function radios(key, legend, choices, chosen) {
  const wrong = h('p', { class: 'wrong' });
  const options = choices.map(([value, name, words]) =>
    h(
      'label',
      { class: 'choice' },
      h('input', { type: 'radio', name: key, value, checked: value === chosen }),
      h('span', h('strong', name), h('small', words)),
    ),
  );
  const node = h(
    'fieldset',
    { 'data-key': key },
    h('legend', { class: 'sr-only' }, legend),
    h('div', { class: 'choices' }, options),
    wrong,
  );
  node.complain = (text) => say(wrong, text ?? '');
  return { node, value: () => node.querySelector('input:checked')?.value ?? '' };
}

/** Rows of any key and its value. */
function moreSettings() {
  const rows = h('div');
  const wrong = h('p', { class: 'wrong' });
  const list = h(
    'datalist',
    { id: 'keys' },
    Object.keys(SETTINGS).map((key) => h('option', { value: key })),
  );
  const node = h(
    'div',
    h('p', { class: 'hint' }, 'Any key of larm.toml, as docs/config.md lists them. Lists take commas.'),
    list,
    rows,
    wrong,
    button('Add a setting', add, { sign: 'new', kind: 'small' }),
  );
  function add() {
    const key = h('input', {
      type: 'text',
      list: 'keys',
      'aria-label': 'Key',
      placeholder: 'key',
      spellcheck: 'false',
    });
    const value = h('input', {
      type: 'text',
      'aria-label': 'Value',
      placeholder: 'value',
      spellcheck: 'false',
    });
    const hint = h('p', { class: 'hint' });
    key.addEventListener('input', () => say(hint, SETTINGS[key.value.trim()]?.[1] ?? ''));
    const row = h(
      'div',
      { class: 'setting' },
      key,
      value,
      button(
        'Remove',
        () => {
          row.remove();
          node.dispatchEvent(new Event('change', { bubbles: true }));
        },
        { kind: 'small' },
      ),
      hint,
    );
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
