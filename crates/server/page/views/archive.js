// The archive: its files, what they save, and pages as they were, in a frame that can do nothing.

import { h, fill, icon, outLink, urlText, say } from '../dom.js';
import { get, crawlPath, query, address } from '../api.js';
import { asCommand, emptyBox, form, line, load, submitter, tilesOf, viewHead } from '../widgets.js';
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
  const words = 'What was fetched, byte for byte, in WARC files that other tools read, too.';
  fill(place, viewHead('Archive', words), openForm(id), list, asCommand('GET', path));
  const none = () => emptyBox('archive', 'Nothing is archived', ' so far.');
  const show = (answer) => (answer.files.length ? [sizes(answer), fileTable(id, answer.files)] : none());
  load(list, () => get(path, { signal }), show);
}

function openForm(id, url = '') {
  const input = line('Address of an archived page', { inputmode: 'url', value: url, placeholder: 'https://…' });
  const submit = () => input.value.trim() && go(viewPath(id, 'archive', { url: input.value.trim() }));
  return form('form.quick-line.open-form', submit, input, submitter('Open the copy', 'archive'));
}

function sizes({ files: all, bytes: kept, content_bytes: content, saved = {} }) {
  const share = Math.max(0, Math.round((1 - kept / content) * 100));
  const { node, put } = tilesOf();
  put('Files', count(all.length), 'WARC files and their index');
  put('Size', bytes(kept), content > 0 ? `${share} % less than the ${bytes(content)} that came` : 'in all files');
  put('Saved by compression', bytes(saved.compression), 'the same bytes, packed');
  put('Saved by duplicates', bytes(saved.duplicates), 'what came twice is kept once');
  return node;
}

function fileTable(id, all) {
  const download = ({ name }) => {
    const href = address(crawlPath(id, 'archive', name));
    const properties = { href, download: name, 'aria-label': `Download ${name}` };
    return h('a.button.small', properties, icon('down'), 'Download');
  };
  const columns = [
    { name: 'File', class: 'wide mono', cell: (file) => file.name },
    { name: 'Size', class: 'n', cell: (file) => bytes(file.bytes) },
    { name: 'Changed', cell: (file) => ago(file.modified) },
    { name: 'State', cell: (file) => (file.open ? 'being written' : 'complete') },
    { name: 'Download', cell: download },
  ];
  return table('WARC files', columns, all);
}

/** One page as it was. The frame runs no script, and asks nothing of the live web. */
function replay(place, { id, params, signal }, url) {
  const path = crawlPath(id, 'replay') + query({ url, at: params.get('at') });
  const when = h('span');
  const body = h('div.replay');
  const banner = h(
    'div.banner',
    icon('archive'),
    h(
      'div',
      h('strong', 'This is an archived copy'),
      when,
      '. Scripts are off, and nothing is loaded from the live web.',
      h('div', urlText(url), ' ', outLink(url)),
    ),
  );
  const files = h('a.button', { href: viewPath(id, 'archive') }, 'All files');
  fill(place, viewHead('Archived copy', null, files), openForm(id, url), banner, body, asCommand('GET', path));

  const show = ({ frame, at }) => {
    const taken = at ?? Number(frame.split('/')[4]);
    if (taken) say(when, `, as it was on ${exact(taken)}`);
    return h('iframe', {
      src: frame,
      sandbox: '',
      title: `Archived copy of ${url}`,
      referrerpolicy: 'no-referrer',
    });
  };
  load(body, () => get(path, { signal }), show);
}
