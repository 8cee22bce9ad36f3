// The way to the server: requests that end in time, problems in words, streams that come back.

const PATIENCE_MS = 30_000;
const BACK_OFF_MS = [1000, 2000, 4000, 8000, 15_000, 30_000];

/** Why a request came to nothing, in words for people. */
export class Problem extends Error {
  constructor({ status = 0, title = 'Problem', detail, hint, key }) {
    super(detail ?? title);
    Object.assign(this, { status, title, hint, key });
  }
}

/** Whom to tell that the server does not know this browser. */
export const gate = new EventTarget();

export const get = (path, options) => ask('GET', path, undefined, options);
export const post = (path, body, options) => ask('POST', path, body, options);
export const patch = (path, body, options) => ask('PATCH', path, body, options);
export const remove = (path, options) => ask('DELETE', path, undefined, options);

/** `{a: 1, b: ''}` as `?a=1`: what is empty is left out. */
export function query(values) {
  const filled = Object.entries(values).filter(
    ([, value]) => value !== '' && value !== null && value !== undefined,
  );
  return filled.length ? `?${new URLSearchParams(filled)}` : '';
}

/** The path of a crawl's part: `crawlPath(id, 'hosts')`. */
export const crawlPath = (id, ...parts) =>
  ['/crawls', id, ...parts].map((part, n) => (n ? encodeURIComponent(part) : part)).join('/');

/** The same as an address for a plain link. */
export const address = (path) => `/api/v1${path}`;

async function ask(method, path, body, { signal } = {}) {
  const late = AbortSignal.timeout(PATIENCE_MS);
  const request = {
    method,
    signal: signal ? AbortSignal.any([signal, late]) : late,
    headers: { Accept: 'application/json' },
  };
  if (body !== undefined) {
    request.headers['Content-Type'] = 'application/json';
    request.body = JSON.stringify(body);
  }
  const response = await fetch(address(path), request).catch((error) => unreachable(error, signal));
  return read(response);
}

function unreachable(error, signal) {
  if (signal?.aborted) throw error;
  const detail =
    error.name === 'TimeoutError' ? 'The server took too long to answer.' : 'The server cannot be reached.';
  throw new Problem({ title: 'No answer', detail, hint: 'Is larm serve still running?' });
}

async function read(response) {
  const text = await response.text();
  const value = parsed(text);
  if (response.ok) return value;
  if (response.status === 401) gate.dispatchEvent(new Event('locked'));
  throw new Problem({ detail: text.slice(0, 300) || response.statusText, ...value, status: response.status });
}

function parsed(text) {
  try {
    return text ? JSON.parse(text) : null;
  } catch {
    return null;
  }
}

/** True for the error of a request that was given up because its view is gone. */
export const isGone = (error) => error?.name === 'AbortError';

/** Whom to tell how the stream to the server is: `live` or `lost`. */
const onState = (detail) => dispatchEvent(new CustomEvent('larm:connection', { detail }));

/**
 * Server-sent events, for as long as `signal` allows. `handlers` maps event names to functions. A lost stream is tried again, ever more slowly. A hidden page lets go of its stream: a browser
 * opens six connections to a host, and a page in each of six tabs would block the seventh.
 */
export function listen(path, handlers, signal) {
  let source = null;
  let timer = 0;
  let failures = 0;

  const close = () => {
    clearTimeout(timer);
    source?.close();
    source = null;
  };
  const open = () => {
    close();
    if (signal.aborted || document.hidden) return;
    source = new EventSource(address(path));
    source.onopen = () => {
      failures = 0;
      onState('live');
    };
    source.onerror = retry;
    for (const [name, act] of Object.entries(handlers)) {
      source.addEventListener(name, (event) => act(JSON.parse(event.data)));
    }
  };
  const retry = () => {
    close();
    if (signal.aborted) return;
    const wait = BACK_OFF_MS[Math.min(failures++, BACK_OFF_MS.length - 1)];
    onState('lost');
    timer = setTimeout(open, wait * (0.8 + 0.4 * Math.random()));
    get('/server', { signal }).catch(() => {});
  };

  signal.addEventListener('abort', close);
  document.addEventListener('visibilitychange', open, { signal });
  open();
}
