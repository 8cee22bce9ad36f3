// Skipped: why links were not followed, and the setting that would let them in.

import { h, fill, urlText, icon } from '../dom.js';
import { get, patch, crawlPath } from '../api.js';
import { asCommand, busy, button, dialog, emptyBox, load, problemBox, toast, viewHead } from '../widgets.js';
import { count, counted } from '../format.js';
import { isAlive, settingText } from '../words.js';
import { ruleButton } from '../steer.js';
import { LIVE } from '../keys.js';
import { viewPath } from '../stage.js';

export default function skipped(place, stage) {
  const { id, signal } = stage;
  const list = h('div');
  const path = crawlPath(id, 'skipped');
  fill(
    place,
    viewHead(
      'Skipped',
      'Links that were not followed, by the rule that said no.',
      ruleButton(id, { exclude: '' }, 'Leave out more …'),
    ),
    list,
    asCommand('GET', path),
  );
  load(
    list,
    () => get(path, { signal }),
    ({ groups }) => (groups.length ? shown(stage, groups) : emptyBox('done', 'Nothing was skipped', ' so far.')),
  );
}

function shown(stage, groups) {
  const most = Math.max(...groups.map((group) => group.links));
  return [...groups].sort((a, b) => b.links - a.links).map((group) => card(stage, group, most));
}

function card(stage, group, most) {
  const bar = h('span', { class: 'meter', 'aria-hidden': 'true' }, h('span'));
  bar.firstChild.style.setProperty('width', `${Math.max(1, (group.links / most) * 100)}%`);
  const numbers = group.urls
    ? `${counted(group.links, 'link')} to ${counted(group.urls, 'URL')}`
    : counted(group.links, 'link');
  return h(
    'article',
    { class: 'card group' },
    h('div', { class: 'group-head' }, h('h3', group.words), h('span', { class: 'hint' }, numbers)),
    bar,
    h(
      'p',
      { class: 'hint' },
      'by ',
      h('code', group.filter ?? group.reason),
      group.filter && group.reason && group.reason !== group.filter ? [': ', h('code', group.reason)] : null,
    ),
    examples(stage.id, group),
    group.rule ? button('Let them in …', () => letIn(stage, group), { kind: 'small', sign: 'play' }) : null,
  );
}

function examples(id, { examples: some, links }) {
  const items = some.map(({ url, from }) =>
    h(
      'li',
      h('a', { href: viewPath(id, 'urls', { show: url }) }, urlText(url)),
      from ? h('span', { class: 'hint' }, ' on ', urlText(from)) : null,
    ),
  );
  return h(
    'details',
    h('summary', some.length < links ? `${some.length} of ${count(links)} examples` : 'Which'),
    h('ul', { class: 'plain urls-list' }, items),
  );
}

/** What one setting would change, with examples; nothing changes before Apply. */
function letIn(stage, group) {
  const { key, value } = group.rule;
  const path = crawlPath(stage.id, 'settings');
  const body = { [key]: value };
  const isLive = isAlive(stage.crawl()) && !LIVE[key];
  return dialog('Let them in', (close) => {
    const wrong = h('div');
    const apply = button(
      'Apply',
      () =>
        busy(apply, async () => {
          try {
            await patch(path, body);
            toast(`${key} is ${settingText(value)} now.`);
            close(true);
          } catch (error) {
            fill(wrong, problemBox(error));
          }
        }),
      { kind: 'main' },
    );
    return h(
      'div',
      h('p', 'This setting lets in what “', group.words, '” kept out:'),
      h('pre', h('code', `${key} = ${JSON.stringify(value)}`)),
      h('p', h('strong', `${counted(group.links, 'link')} so far`), ' would have been followed, such as'),
      h(
        'ul',
        { class: 'plain urls-list' },
        group.examples.map(({ url }) => h('li', urlText(url))),
      ),
      isLive
        ? h(
            'p',
            { class: 'hint' },
            icon('wait'),
            ' A crawl that runs may take this one only when it is started anew: stop it first.',
          )
        : null,
      wrong,
      asCommand('PATCH', path, body),
      h(
        'div',
        { class: 'row end' },
        button('Cancel', () => close()),
        apply,
      ),
    );
  });
}
