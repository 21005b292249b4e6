import type { Call } from '../shared/call.ts';
import { member } from '../shared/web/web-client.ts';
import type { PveApi } from './api.ts';
import type { Listed } from './machine.ts';

/** What a fence needs besides VM.Audit, without which the machine would not have been found. */
const WANTED: readonly (readonly [path: (machine: Listed) => string, privilege: string, why: string])[] = [
  [({ vmid }) => `/vms/${vmid}`, 'VM.PowerMgmt', ''],
  [({ host }) => `/nodes/${host}`, 'Sys.Audit', ' (without it, tasks of others that are about to start the machine are not seen)'],
];

/** Asked of the API for who asks (`/access/permissions`). */
export async function missingPrivileges(call: Call, api: PveApi, machine: Listed): Promise<readonly string[]> {
  const missing: string[] = [];
  for (const [pathOf, privilege, why] of WANTED) {
    const path = pathOf(machine);
    if (!isGranted(await api.get(call, `/access/permissions?path=${encodeURIComponent(path)}`), path, privilege))
      missing.push(`${privilege} on ${path}${why}`);
  }
  return missing;
}

/** On the path itself; a service may show what a path inherits at the path that it is inherited from. */
export function isGranted(data: unknown, path: string, privilege: string): boolean {
  if (typeof data !== 'object' || data === null) return false;
  const paths = Object.keys(data).filter((each) => each === path || each === '/' || path.startsWith(`${each}/`));
  return paths.some((each) => {
    const granted = member(data, each, privilege);
    return granted === 1 || granted === '1' || granted === true || (each === path && granted === 0);
  });
}
