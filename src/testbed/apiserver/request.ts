import type { Json } from './json.ts';

/** Who asks. */
export interface User {
  name: string;
  groups: readonly string[];
}

export interface ServerRequest {
  method: string;
  /** Absolute path without query. */
  path: string;
  query: Readonly<Record<string, string>>;
  /** `undefined`: nobody the server knows; answered 401. */
  user: User | undefined;
  /** Parsed; the server takes it over, the caller must not change it afterwards. */
  body?: Json | undefined;
  contentType?: string | undefined;
  accept?: string | undefined;
  userAgent?: string | undefined;
}

export interface ServerResponse {
  status: number;
  /** Shares objects with the store: copy or serialise it, never change it. Text for health and version of plain text. */
  body: Json;
  headers: Readonly<Record<string, string>>;
}

/** A request for objects, taken apart. */
export interface ResourcePath {
  group: string;
  version: string;
  plural: string;
  namespace: string;
  name: string;
  subresource: string;
}

/** Reads `/api/v1/...` and `/apis/<group>/<version>/...`; `undefined` for every other path. */
export function parseResourcePath(path: string): ResourcePath | undefined {
  const parts = path.split('/').filter((part) => part !== '');
  let rest: string[];
  let group = '';
  let version: string;
  if (parts[0] === 'api' && parts.length > 2) {
    version = parts[1] ?? '';
    rest = parts.slice(2);
  } else if (parts[0] === 'apis' && parts.length > 3) {
    group = parts[1] ?? '';
    version = parts[2] ?? '';
    rest = parts.slice(3);
  } else {
    return undefined;
  }
  const decoded = rest.map(decodePart);
  const scoped = decoded[0] === 'namespaces' && decoded.length > 2 && !['status', 'finalize'].includes(decoded[2] ?? '');
  const [plural = '', name = '', subresource = '', ...more] = scoped ? decoded.slice(2) : decoded;
  if (more.length > 0) return undefined;
  const namespace = scoped ? (decoded[1] ?? '') : '';
  return { group, version, plural, namespace, name, subresource };
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
