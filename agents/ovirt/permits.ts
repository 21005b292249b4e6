import { listAt, member, textAt } from '../shared/web/web-client.ts';

/** `ActionGroup.STOP_VM` and `RUN_VM` of oVirt's engine, as its API writes them. */
const WANTED = ['stop_vm', 'run_vm'];

/** What of the permissions of a machine is asked for: with `Filter: true` those of the user who asks, by groups and of what is above the machine among them. */
export const PERMISSIONS = 'permissions?follow=role.permits';

/** Permits that none of the permissions gives; undefined where that cannot be told. */
export function missingPermits(body: unknown): readonly string[] | undefined {
  const roles = listAt(body, 'permission').map((permission) => member(permission, 'role'));
  // An engine before 4.2 shows no permits there.
  if (roles.length === 0 || roles.some((role) => listAt(role, 'permits', 'permit').length === 0)) return undefined;
  const given = new Set(roles.flatMap((role) => listAt(role, 'permits', 'permit').map((permit) => textAt(permit, 'name'))));
  return WANTED.filter((name) => !given.has(name));
}
