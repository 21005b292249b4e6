import { ApiStatusError, TransportError, type ApiRequest, type ApiResponse, type ApiTransport } from '../ports/api-transport.ts';
import type { ListOptions, Resource } from '../ports/cluster.ts';
import type { KubeObject } from '../ports/objects.ts';
import { apiVersionOf, pathOf } from './resource-path.ts';
import { asFields, asObject, statusError } from './status.ts';

/** So often one page is asked for, at most. */
const TRIES_MAX = 5;
/** Objects per page; the API server's own recommendation. */
export const PAGE_SIZE = 500;

export interface PagedListOptions<T extends KubeObject> extends ListOptions {
  /** For each page. */
  deadlineMs: number;
  signal?: AbortSignal;
  lane?: ApiRequest['lane'];
  /** Absent: JSON. Other encodings show the fields only that reflectors keep. */
  accept?: string;
  /** Waits for as long as a server asks that is busy, and the same page is asked for again; absent: it fails. */
  later?: (delayMs: number) => Promise<void>;
  /** Applied to each object as its page arrives, so that a large list is never held whole in its raw form. */
  prune?: (object: T) => T;
}

export interface PagedList<T extends KubeObject> {
  items: T[];
  /** Of the first page: every page shows that one state. */
  resourceVersion: string;
}

/**
 * A consistent list (resourceVersion unset; a server that gets `resourceVersion=0` ignores `limit`). When the
 * continue token expires half-way, the list is read once more in one piece.
 */
export async function listPages<T extends KubeObject>(
  transport: ApiTransport,
  resource: Resource<T>,
  options: PagedListOptions<T>,
): Promise<PagedList<T>> {
  try {
    return await readPages(transport, resource, options, true);
  } catch (error) {
    if (error instanceof ApiStatusError && error.status === 410) {
      return readPages(transport, resource, options, false);
    }
    throw error;
  }
}

/** The version that the server is at: of a consistent list of one object. */
export async function currentVersion<T extends KubeObject>(
  transport: ApiTransport,
  resource: Resource<T>,
  options: PagedListOptions<T>,
): Promise<string> {
  const what = `list ${resource.plural}`;
  const response = await transport.request({
    method: 'GET',
    path: pathOf(resource, { namespace: options.namespace }),
    query: { ...selectors(options), limit: '1' },
    deadlineMs: options.deadlineMs,
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  });
  if (response.status !== 200) throw statusError(what, response);
  return readPage(what, response.body).resourceVersion;
}

async function readPages<T extends KubeObject>(
  transport: ApiTransport,
  resource: Resource<T>,
  options: PagedListOptions<T>,
  isPaged: boolean,
): Promise<PagedList<T>> {
  const path = pathOf(resource, { namespace: options.namespace });
  const what = `list ${resource.plural}`;
  const apiVersion = apiVersionOf(resource);
  const items: T[] = [];
  let token = '';
  do {
    const response = await untilServed(what, options, () =>
      transport.request({
        method: 'GET',
        path,
        query: { ...selectors(options), ...(isPaged ? { limit: String(PAGE_SIZE) } : {}), ...(token === '' ? {} : { continue: token }) },
        deadlineMs: options.deadlineMs,
        lane: options.lane,
        ...(options.accept === undefined ? {} : { accept: options.accept }),
        ...(options.signal === undefined ? {} : { signal: options.signal }),
      }),
    );
    const page = readPage(what, response.body);
    for (const raw of page.items) {
      const object = { ...(asObject(what, raw) as T), apiVersion, kind: resource.kind };
      items.push(options.prune === undefined ? object : options.prune(object));
    }
    if (page.token === '') {
      return { items, resourceVersion: page.resourceVersion };
    }
    if (page.token === token) {
      throw new TransportError('garbled', `${what}: the server gave the same continue token twice`);
    }
    token = page.token;
  } while (options.signal?.aborted !== true);
  throw new TransportError('aborted', `${what}: given up between two pages`);
}

/** Of many pages one is refused where a server is busy: to begin anew would ask for all of them again, and come to the end by chance only. */
async function untilServed(what: string, { later }: Pick<PagedListOptions<never>, 'later'>, ask: () => Promise<ApiResponse>): Promise<ApiResponse> {
  for (let tries = 1; ; tries += 1) {
    const response = await ask();
    if (response.status === 200) return response;
    const error = statusError(what, response);
    if (later === undefined || tries >= TRIES_MAX || error.retryAfterMs === undefined) throw error;
    await later(error.retryAfterMs);
  }
}

/** The query parameters of a list's or watch's selectors. */
export function selectors(options: ListOptions): Record<string, string> {
  return {
    ...(options.labelSelector === undefined ? {} : { labelSelector: options.labelSelector }),
    ...(options.fieldSelector === undefined ? {} : { fieldSelector: options.fieldSelector }),
  };
}

function readPage(what: string, body: unknown): { items: readonly unknown[]; token: string; resourceVersion: string } {
  const list = asFields(body);
  const metadata = asFields(list?.['metadata']);
  const items = list?.['items'] ?? [];
  const resourceVersion = metadata?.['resourceVersion'];
  if (!Array.isArray(items) || typeof resourceVersion !== 'string') {
    throw new TransportError('garbled', `${what}: the answer is not a list with items and metadata.resourceVersion`);
  }
  const token = metadata?.['continue'];
  return { items: items as readonly unknown[], token: typeof token === 'string' ? token : '', resourceVersion };
}
