import { PROVES_NOTHING } from '../domain/plan-problems.ts';
import { switchesOff } from '../domain/plan.ts';
import type { EvidenceKind, Plan, PlanLevel, Step } from '../domain/plan.ts';
import { isCloudAgent } from './cloud.ts';
import type { ResolvedMethod } from './plan-method.ts';
import type { Problems } from './problems.ts';
import { checkStorages } from './storage-checks.ts';

export interface ResolvedLevel extends PlanLevel {
  methods: readonly ResolvedMethod[];
}

export type ResolvedSteps = Readonly<Record<Step, readonly ResolvedLevel[]>>;

/** What one plug is: the machine behind a BMC with several is told apart by how it is chosen there. */
export function plugKey(method: Pick<ResolvedMethod, 'agent' | 'device' | 'plug' | 'parameters'>): string {
  const chosenBy = ['systems_uri', 'system_uuid', 'serial'].map((name) => method.parameters[name] ?? '');
  return JSON.stringify([method.agent, method.device, method.plug, ...chosenBy]);
}

function describe(method: ResolvedMethod): string {
  return method.plug === '' ? method.device : `${method.device} plug ${method.plug}`;
}

/** What the settings of a node demand of its steps. */
type Demands = Pick<Plan, 'supplies' | 'minimumEvidence'>;

/** What is wrong with a plan although every single method is right. */
export function checkSteps(steps: ResolvedSteps, { supplies, minimumEvidence }: Demands, where: string, problems: Problems): void {
  const isolation = steps.isolation.flatMap(({ methods }) => methods);
  const recovery = steps.recovery.flatMap(({ methods }) => methods);
  for (const level of steps['power-management']) checkPowerLevel(level, supplies, where, problems);
  for (const method of recovery.filter((method) => switchesOff(method) || method.action === 'diag')) {
    problems.error(method.where, `recovery may not switch off: ${method.name} does ${method.action}; put it into power_management`, 'recovery');
  }
  const lets = new Set(recovery.map(({ agent }) => agent));
  for (const { name, where: place, undoneBy } of steps['power-management'].flatMap(({ methods }) => methods)) {
    if (undoneBy === undefined || lets.has(undoneBy)) continue;
    problems.warning(
      place,
      `${name} is taken back by nothing: without a method of agent ${undoneBy} in recovery it stays so when the node is back`,
      'recovery',
    );
  }
  for (const method of [...isolation, ...recovery].filter(({ whileOff }) => whileOff === true)) {
    const message = `${method.name} is done only while the machine is proven off: put it into power_management, beside the off`;
    problems.error(method.where, message, isolation.includes(method) ? 'isolation' : 'recovery');
  }
  for (const method of isolation.filter(({ kind, action }) => kind === 'power' && action !== 'on')) {
    const message = `isolation may not switch power: ${method.name} does ${method.action}; put it into power_management, where off is proven and the workload released`;
    problems.error(method.where, message, 'isolation');
  }
  for (const step of ['isolation', 'power-management'] as const) {
    for (const method of steps[step].flatMap(({ methods }) => methods).filter(({ agent }) => agent === 'unfence'))
      problems.error(method.where, `${method.name} puts storage registrations back: put it into recovery`, step);
  }
  const reopened = new Set(
    [...recovery, ...steps['power-management'].flatMap(({ methods }) => methods)].filter(({ action }) => action === 'on').map(plugKey),
  );
  for (const method of isolation.filter(({ kind, action }) => kind === 'fabric' && action === 'off')) {
    const { undoneBy } = method;
    if (method.isUndoneByOthers || reopened.has(plugKey(method)) || (undoneBy !== undefined && lets.has(undoneBy))) continue;
    const how = undoneBy === undefined ? '' : `: name one of agent ${undoneBy} in recovery`;
    problems.warning(method.where, `${describe(method)} is closed by ${method.name}, and no later method opens it${how}`);
  }
  checkStorages(isolation, [...recovery, ...steps['power-management'].flatMap(({ methods }) => methods)], problems);
  const switching = steps['power-management'].flatMap(({ methods }) => methods);
  checkAdmitted(switching, minimumEvidence, problems);
  const hasOff = switching.some((method) => provenBy(method) !== undefined);
  const hasStorage = isolation.some(({ storage }) => storage !== undefined);
  // Where methods are left out for their errors, those say what is missing.
  if (!hasOff && !hasStorage && !problems.hasError('power-management')) {
    const message = `no method switches the node off or revokes its storage: ${PROVES_NOTHING}`;
    problems.warning(where, message, 'power-management');
  }
}

/** What a method of power-management can prove of the whole node; `undefined`: nothing. */
function provenBy({ kind, action, evidence }: ResolvedMethod): EvidenceKind | undefined {
  if (kind === 'power') return switchesOff({ action }) ? (evidence ?? 'power-off') : undefined;
  return action === 'run' ? evidence : undefined;
}

function checkAdmitted(methods: readonly ResolvedMethod[], admitted: Demands['minimumEvidence'], problems: Problems): void {
  for (const method of methods) {
    const kind = provenBy(method);
    if (kind === undefined || admitted.includes(kind)) continue;
    const message = `${method.name} proves ${kind}, which minimum_evidence does not admit: nothing is released on it; add ${kind} to minimum_evidence if it shall be`;
    problems.warning(method.where, message, 'power-management');
  }
}

function checkPowerLevel(level: ResolvedLevel, supplies: number | undefined, where: string, problems: Problems): void {
  const { methods } = level;
  const offs = methods.filter((method) => method.kind === 'power' && switchesOff(method));
  for (const [index, method] of methods.entries()) {
    const key = plugKey(method);
    const isLaterOff = methods.slice(index + 1).some((other) => other.action === 'off' && plugKey(other) === key);
    if (method.kind === 'power' && method.action === 'on' && isLaterOff) {
      problems.error(
        method.where,
        `level ${level.level}: ${method.name} switches ${describe(method)} on before it is switched off: write the off first`,
        'power-management',
      );
    } else if (method.kind === 'power' && method.action === 'on' && isOfAnother(method, methods, offs)) {
      const off = offs.find((other) => !isSwitchedOn(other, methods));
      const message = `level ${level.level}: ${off?.name ?? ''} switches ${off === undefined ? '' : describe(off)} off, and ${method.name} switches ${describe(method)} on: name the same device and plug in both`;
      problems.error(method.where, message, 'power-management');
    } else if (method.kind === 'power' && method.action === 'on' && !offs.some((other) => plugKey(other) === key)) {
      problems.warning(
        method.where,
        `level ${level.level}: ${method.name} switches ${describe(method)} on, and no method of this level switches it off`,
        'power-management',
      );
    }
  }
  for (const method of methods.filter(({ whileOff }) => whileOff === true)) {
    if (offs.length > 0) continue;
    const message = `level ${level.level}: ${method.name} is done only while the machine is proven off, and no method of this level switches it off: it would never run`;
    problems.error(method.where, message, 'power-management');
  }
  checkRepeated(level, offs, problems);
  if (offs.some(({ action }) => action === 'reboot') && new Set(offs.map(plugKey)).size > 1) {
    const message = `level ${level.level}: a reboot beside other plugs is done as all off, all proven off, release, all on`;
    problems.warning(offs[0]?.where ?? where, message, 'power-management');
  }
  checkSupplies(level, offs, supplies, where, problems);
}

/** It switches on what this level does not switch off, while what is switched off stays so: one of the two names the wrong device. */
function isOfAnother(on: ResolvedMethod, methods: readonly ResolvedMethod[], offs: readonly ResolvedMethod[]): boolean {
  const isElsewhere = ({ device, plug }: ResolvedMethod): boolean => device !== on.device || plug !== on.plug;
  return offs.every(isElsewhere) && offs.some((off) => off.agent === on.agent && !isSwitchedOn(off, methods));
}

function isSwitchedOn(off: ResolvedMethod, methods: readonly ResolvedMethod[]): boolean {
  return off.action === 'reboot' || methods.some((other) => other.kind === 'power' && other.action === 'on' && plugKey(other) === plugKey(off));
}

function checkRepeated(level: ResolvedLevel, offs: readonly ResolvedMethod[], problems: Problems): void {
  const seen = new Map<string, ResolvedMethod>();
  for (const method of offs) {
    const earlier = seen.get(plugKey(method));
    if (earlier !== undefined) {
      const message = `level ${level.level}: ${earlier.name} and ${method.name} both switch ${describe(method)} off: keep one`;
      problems.error(method.where, message, 'power-management');
    }
    seen.set(plugKey(method), method);
  }
}

function checkSupplies(level: ResolvedLevel, offs: readonly ResolvedMethod[], supplies: number | undefined, where: string, problems: Problems): void {
  const plugs = new Set(offs.filter(({ plug, agent }) => plug !== '' && !isCloudAgent(agent)).map(plugKey)).size;
  if (plugs === 0) return;
  if (supplies === undefined) {
    const message = `level ${level.level}: supplies is not declared: the ${plugs} plug(s) named here count as all of the machine's; write supplies=${plugs} if they are`;
    problems.warning(where, message, 'power-management');
  } else if (supplies !== plugs) {
    const message = `level ${level.level}: supplies=${supplies}, but ${plugs} plug(s) are switched off: a machine with one supply left runs on`;
    problems.error(where, message, 'power-management');
  }
}
