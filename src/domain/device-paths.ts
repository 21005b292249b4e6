import { demandsIdentity, levelsOf, STEPS, switchesOff } from './plan.ts';
import type { Plan, PlanMethod } from './plan.ts';

/** Paths of one node of which the report keeps what probes found. */
export const PROBED_MAX = 32;

/** One plug of one device that a plan depends on. */
export interface DevicePath {
  /** One of the methods that use it; they read alike. */
  method: PlanMethod;
  /** Names of all of them, as they are written. */
  names: string[];
  /** What of its device the plan switches off for the node. */
  switched: readonly PlanMethod[];
  /** One of them demands that the device shows whose machine it switches. */
  isIdentityRequired: boolean;
}

export function methodsOf(plan: Plan): PlanMethod[] {
  return STEPS.flatMap((step) => levelsOf(plan, step).flatMap(({ methods }) => methods));
}

/** Several plugs of one method are `name:1`, `name:2`. */
export function writtenName({ name }: PlanMethod): string {
  return name.split(':')[0] ?? name;
}

/** Tells a path apart from the others of its node. Made when it is asked for: of thousands of paths it would take as much memory as all else of them. */
export function pathKey({ agent, device, plug, parameters, secret, secretFile, secretProgram }: PlanMethod): string {
  return JSON.stringify([agent, device, plug, parameters, secret, secretFile, secretProgram]);
}

/** Everything of a plan that has a state to read; off and on of one plug are one read. */
export function devicePaths(plan: Plan): DevicePath[] {
  const byPlug = new Map<string, DevicePath>();
  const off = plan.powerManagement.flatMap(({ methods }) => methods.filter(switchesOff));
  for (const method of methodsOf(plan).filter(({ kind }) => kind !== 'action')) {
    const key = pathKey(method);
    const known = byPlug.get(key);
    const switched = off.filter(({ device }) => device === method.device);
    const isIdentityRequired = demandsIdentity(plan, method);
    if (known === undefined) byPlug.set(key, { method, names: [writtenName(method)], switched, isIdentityRequired });
    else {
      known.isIdentityRequired ||= isIdentityRequired;
      if (!known.names.includes(writtenName(method))) known.names.push(writtenName(method));
    }
  }
  return [...byPlug.values()];
}
