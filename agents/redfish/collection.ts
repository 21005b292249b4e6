import type { Call } from '../shared/call.ts';
import { unexpected } from './resource-view.ts';
import type { Session } from './session.ts';
import { isObject, linkPath, listAt, type JsonObject } from './words.ts';

const PAGES_MAX = 16;

/** One entry of a collection; some devices put the whole resource there. */
export interface Member {
  path: string;
  /** Undefined where the collection shows a link only. */
  resource: JsonObject | undefined;
}

/** The members of a collection, `max` at most, over its pages. */
export async function membersOf(session: Session, call: Call, path: string, max: number): Promise<Member[]> {
  return (await lookedThrough(session, call, path, max)).members;
}

/** The same, and whether there are more than were looked at. */
export async function lookedThrough(session: Session, call: Call, path: string, max: number): Promise<{ members: Member[]; isCut: boolean }> {
  const members: Member[] = [];
  const seen = new Set<string>();
  let next: string | undefined = path;
  while (next !== undefined && !seen.has(next) && seen.size < PAGES_MAX && members.length < max) {
    seen.add(next);
    const response = await session.get(call, next);
    if (response.status !== 200 || !isObject(response.body)) throw unexpected(session, call, next, response);
    members.push(...listAt(response.body, 'Members').flatMap(memberOf));
    next = linkPath(response.body['Members@odata.nextLink']) ?? linkPath(response.body['@odata.nextLink']);
  }
  return { members: members.slice(0, max), isCut: members.length > max || (next !== undefined && !seen.has(next)) };
}

/** Id of a resource as its own path ends. */
export function idOf(path: string): string {
  return decoded(path.split('/').findLast((part) => part !== '') ?? '');
}

function memberOf(entry: unknown): Member[] {
  const path = linkPath(entry);
  if (path === undefined) return [];
  return [{ path, resource: isObject(entry) && Object.keys(entry).length > 2 ? entry : undefined }];
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch (error) {
    if (error instanceof URIError) return part;
    throw error;
  }
}
