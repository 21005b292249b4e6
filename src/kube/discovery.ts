import { TransportError, type ApiTransport } from '../ports/api-transport.ts';
import { asFields, statusError } from './status.ts';

/** How long each question may take. */
interface Patience {
  deadlineMs: number;
  signal?: AbortSignal;
}

/**
 * A document of discovery below `/apis/GROUP`, or `/api/VERSION` of the core group, for which no right is needed. Undefined only where `/apis` agrees that there is no such group or
 * version: the 404 alone may be a proxy's, or that of a server which has not installed all its paths yet.
 */
export async function discoveryDocument(transport: ApiTransport, path: string, patience: Patience): Promise<unknown> {
  const what = `look for ${path}`;
  const response = await transport.request({ method: 'GET', path, ...patience });
  if (response.status === 200) return response.body;
  if (response.status !== 404) throw statusError(what, response);
  const [, root, group = '', version] = path.split('/');
  const all = await transport.request({ method: 'GET', path: '/apis', ...patience });
  if (root !== 'apis' || all.status !== 200 || hasGroup(all.body, group, version) !== false) throw strangeNotFound(what, response.body);
  return undefined;
}

/** The plurals of what a version of a group serves; undefined: nothing is served there, and `/apis` agrees. */
export async function servedBy(
  transport: ApiTransport,
  group: string,
  version: string,
  patience: Patience,
): Promise<ReadonlySet<string> | undefined> {
  const groupVersion = group === '' ? version : `${group}/${version}`;
  const path = group === '' ? `/api/${version}` : `/apis/${groupVersion}`;
  const body = await discoveryDocument(transport, path, patience);
  if (body === undefined) return undefined;
  const document = asFields(body);
  const resources = document?.['resources'];
  if (document?.['kind'] !== 'APIResourceList' || document['groupVersion'] !== groupVersion || !Array.isArray(resources))
    throw new TransportError('garbled', `look for ${path}: the answer is not the list of what ${groupVersion} serves`);
  return new Set(resources.flatMap((resource) => asFields(resource)?.['name'] ?? []).filter((name) => typeof name === 'string'));
}

/** A 404 that does not come from the API server, as far as it shows: nothing follows from it. */
export function strangeNotFound(what: string, body: unknown): TransportError {
  const words = typeof body === 'string' ? body : (asFields(body)?.['message'] ?? '');
  const said = typeof words === 'string' && words.trim() !== '' ? ` (${words.trim().slice(0, 80)})` : '';
  return new TransportError(
    'garbled',
    `${what}: a 404${said} that does not name it: a proxy's, or of an API server that is starting or has lost a kind; it does not count as "there is none"`,
  );
}

/** Undefined: that is no list of groups. */
function hasGroup(body: unknown, group: string, version: string | undefined): boolean | undefined {
  const list = asFields(body);
  const groups = list?.['groups'];
  if (list?.['kind'] !== 'APIGroupList' || !Array.isArray(groups)) return undefined;
  const found = groups.map(asFields).find((each) => each?.['name'] === group);
  if (found === undefined || version === undefined) return found !== undefined;
  const versions = found['versions'];
  return Array.isArray(versions) && versions.some((each) => asFields(each)?.['version'] === version);
}
