// The archive: its files, what they save, and pages as they were, in a frame that can do nothing.

import { h, fill, icon, outLink, urlText, say } from '../dom.js';
import { get, crawlPath, query, address, isGone } from '../api.js';
import { asCommand, emptyBox, load, loading, problemBox, viewHead } from '../widgets.js';
import { table } from '../table.js';
import { ago, bytes, count, exact } from '../format.js';
import { go, viewPath } from '../stage.js';

export default function archive(place, stage) {
  const url = stage.params.get('url');
  url ? replay(place, stage, url) : files(place, stage);
}

function files(place, { id, signal }) {
  const path = crawlPath(id, 'archive');
  const list = h('div');
  fill(
    place,
    viewHead('Archive', 'What was fetched, byte for byte, in WARC files that other tools read, too.'),
    openForm(id),
    list,
    asCommand('GET', path),
  );
  load(
    list,
    () => get(path, { signal }),
    (answer) =>
      answer.files.length
        ? [sizes(answer), fileTable(id, answer.files)]
        : emptyBox('archive', 'Nothing is archived', ' so far.'),
  );
}

function openForm(id, url = '') {
  const input = h('input', {
    type: 'text',
    inputmode: 'url',
    value: url,
    placeholder: 'https://…',
    'aria-label': 'Address of an archived page',
    spellcheck: 'false',
    autocomplete: 'off',
  });
  const submit = (event) => {
    event.preventDefault();
    if (input.value.trim()) go(viewPath(id, 'archive', { url: input.value.trim() }));
  };
  return h(
    'form',
    { class: 'quick-line open-form', onsubmit: submit },
    input,
    h('button', { type: 'submit', class: 'main' }, icon('archive'), 'Open the copy'),
  );
}

function sizes({ files: all, bytes: kept, content_bytes: content, saved = {} }) {
  const less =
    content > 0
      ? `${Math.max(0, Math.round((1 - kept / content) * 100))} % less than the ${bytes(content)} that came`
      : 'in all files';
  const tiles = [
    ['Files', count(all.length), 'WARC files and their index'],
    ['Size', bytes(kept), less],
    ['Saved by compression', bytes(saved.compression), 'the same bytes, packed'],
    ['Saved by duplicates', bytes(saved.duplicates), 'what came twice is kept once'],
  ];
  return h(
    'dl',
    { class: 'tiles' },
    tiles.map(([name, value, note]) =>
      h('div', { class: 'tile' }, h('dt', name), h('dd', value), h('dd', { class: 'note' }, note)),
    ),
  );
}

function fileTable(id, all) {
  return table(
    'WARC files',
    [
      { name: 'File', class: 'wide mono', cell: (file) => file.name },
      { name: 'Size', class: 'n', cell: (file) => bytes(file.bytes) },
      { name: 'Changed', cell: (file) => ago(file.modified) },
      { name: 'State', cell: (file) => (file.open ? 'being written' : 'complete') },
      {
        name: 'Download',
        cell: (file) =>
          h(
            'a',
            {
              class: 'button small',
              href: address(crawlPath(id, 'archive', file.name)),
              download: file.name,
              'aria-label': `Download ${file.name}`,
            },
            icon('down'),
            'Download',
          ),
      },
    ],
    all,
  );
}

/** One page as it was. The frame runs no script, and asks nothing of the live web. */
function replay(place, { id, params, signal }, url) {
  const path = crawlPath(id, 'replay') + query({ url, at: params.get('at') });
  const when = h('span');
  const body = h('div', { class: 'replay' }, loading());
  fill(
    place,
    viewHead('Archived copy', null, h('a', { class: 'button', href: viewPath(id, 'archive') }, 'All files')),
    openForm(id, url),
    h(
      'div',
      { class: 'banner' },
      icon('archive'),
      h(
        'div',
        h('strong', 'This is an archived copy'),
        when,
        '. ',
        'Scripts are off, and nothing is loaded from the live web.',
        h('div', urlText(url), ' ', outLink(url)),
      ),
    ),
    body,
    asCommand('GET', path),
  );

  get(path, { signal }).then(
    ({ frame, at }) => {
      const taken = at ?? Number(frame.split('/')[4]);
      if (taken) say(when, `, as it was on ${exact(taken)}`);
      fill(
        body,
        h('iframe', {
          src: frame,
          sandbox: '',
          title: `Archived copy of ${url}`,
          referrerpolicy: 'no-referrer',
        }),
      );
    },
    (error) => {
      if (!isGone(error)) fill(body, problemBox(error));
    },
  );
}
