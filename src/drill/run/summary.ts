import type { DrillResult } from './result.ts';
import { stamp } from './display.ts';

/** What a person reads at the end. */
export function summaryOf(result: DrillResult, isKept: boolean): string {
  const { timeline, laws } = result;
  const checks = Object.values(laws).reduce((sum, law) => sum + law.checks, 0);
  const violations = Object.values(laws).reduce((sum, law) => sum + law.violations.length, 0);
  const offs = result.devices.filter((device) => device.action === 'set off').length;
  const ons = result.devices.filter((device) => device.action === 'set on').length;
  return [
    `${result.expected ? 'as it must be' : 'NOT AS IT MUST BE'}: ${result.fault} on ${result.node} of ${result.nodes} nodes (seed ${result.seed}) ended ${result.outcome}`,
    ...(result.others ?? []).map(({ node, outcome, timeline: own }) => `  ${node} ended ${outcome}: ${timesOf(own)}`),
    ...(result.did === undefined ? [] : [`  the fault: ${result.did}`]),
    ...result.problems.map((problem) => `  problem: ${problem}`),
    `  times after the fault: ${timesOf(timeline) || 'none of a fence'}${result.replacedAt === undefined ? '' : `; its pods run again, and write, ${stamp(result.replacedAt).trim()}`}`,
    `  device: ${offs} × off, ${ons} × on, ${result.devices.filter((device) => device.action === 'read').length} reads; writers overlapping: ${result.writers.overlaps}`,
    `  laws P1–P11, judged from outside: ${checks} checks, ${violations} violations`,
    `  planted secrets: ${plantedText([result])}`,
    `  ${rightsText([result])}`,
    `  leaders: ${result.leaders.map(({ replica, epoch, at }) => `${replica} (epoch ${epoch}${at > 0 ? `, ${stamp(at).trim()}` : ''})`).join(', ')}`,
    ...(result.children === undefined ? [] : [`  ${childrenOf(result.children)}`]),
    `  API requests of the controllers: ${Object.entries(result.api)
      .map(([verb, count]) => `${verb} ${count}`)
      .join(', ')}`,
    `  leader: ${result.controller.rssMb} MB resident, ${result.controller.cpuMs} ms CPU`,
    ...(result.outcome === 'failed' ? [`  what it tells the operator: ${result.message}`] : []),
    isKept
      ? `  kubectl get nodefence node-fence-${result.node} -o yaml`
      : '  this cluster ends now; --keep leaves it running, for kubectl and nodefence',
    ...(result.expected ? [] : [whyOf(result)]),
    '',
  ].join('\n');
}

/** What was searched for passwords and tokens, and what was found. */
export function plantedText(results: readonly DrillResult[]): string {
  const sum = (of: (planted: DrillResult['planted']) => number): number => results.reduce((total, { planted }) => total + of(planted), 0);
  const [secrets, writes, texts] = [sum(({ secrets }) => secrets), sum(({ writes }) => writes), sum(({ texts }) => texts)];
  const where = `${writes} objects at the API, ${texts} logs, pages, command lines and environments (${sum(({ processes }) => processes)} processes)`;
  return `${secrets} looked for in ${where}: ${sum(({ found }) => found)} found`;
}

/** What was asked under the shipped rights, and how much of it was refused. */
export function rightsText(results: readonly DrillResult[]): string {
  const requests = results.reduce((sum, { rights }) => sum + rights.requests, 0);
  const refused = new Set(results.flatMap(({ rights }) => rights.refused));
  return `under the shipped rights: ${requests} requests, ${refused.size === 0 ? 'none refused' : `refused: ${[...refused].join('; ')}`}`;
}

/** The last line of a drill that did not go as it must: a log often keeps no other one. */
function whyOf({ problems }: DrillResult): string {
  const [first = 'no problem was told', ...others] = problems;
  return `failed: ${first}${others.length === 0 ? '' : `; and ${others.length} more, above`}`;
}

function timesOf(timeline: DrillResult['timeline']): string {
  const phases = Object.entries(timeline).filter(([name]) => name !== 'failedAt');
  return phases.map(([name, at]) => `${name.replace(/At$/, '')} ${stamp(at).trim()}`).join(', ');
}

function childrenOf({ seen, left, goneMs, outlivedLease }: NonNullable<DrillResult['children']>): string {
  const gone = goneMs === undefined ? '' : `, the last gone after ${goneMs} ms`;
  return `children of the killed leader: ${seen}${gone}; ${left} left when their deadlines were over, ${outlivedLease} when the successor began`;
}
