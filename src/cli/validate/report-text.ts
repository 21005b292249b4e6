import { levelsOf, STEPS } from '../../domain/plan.ts';
import type { Plan, PlanMethod, Step } from '../../domain/plan.ts';
import type { Ink } from '../commands/terminal/ink.ts';
import { harmless } from '../commands/terminal/text.ts';
import { placeOf } from './probe-problems.ts';
import type { ProbeResult } from './probe-result.ts';
import { countOf } from './report.ts';
import type { Report, ReportedNode, ReportedProblem } from './report.ts';

const STEP_NAMES: Readonly<Record<Step, string>> = { isolation: 'isolation', 'power-management': 'power_management', recovery: 'recovery' };
const NAMES_SHOWN = 3;

/** For people: every node's plan in short, then what is wrong, errors last, where the eye is. */
export function reportText(report: Report, ink: Ink): string {
  const nodes = report.nodes.flatMap((node) => nodeLines(node, report, ink));
  const notes = report.notes.map((note) => ink.dim(`note     ${harmless(note)}`));
  const told = report.problems.toReversed().map((problem) => problemLine(problem, ink));
  return [
    ...nodes,
    ...(nodes.length === 0 ? [] : ['']),
    ...policyLines(report),
    ...notes,
    ...told,
    ...(notes.length + told.length === 0 ? [] : ['']),
    summary(report, ink),
  ].join('\n');
}

/** Which hold fences back: nobody sees from a ConfigMap which defaults stand beside it. */
function policyLines({ policies }: Report): string[] {
  if (policies === undefined) return [];
  const { configured, byDefault } = policies;
  const parts = [
    ...(configured.length === 0 ? [] : [`${configured.join(', ')} as configured`]),
    ...(byDefault.length === 0 ? [] : [`${byDefault.join(', ')} by default`]),
  ];
  return [harmless(`storm policies: ${parts.length === 0 ? 'none' : parts.join('; ')}`), ''];
}

function summary(report: Report, ink: Ink): string {
  const [errors, warnings] = [countOf(report, 'error'), countOf(report, 'warning')];
  const { remedies } = report;
  const told = remedies === undefined ? '' : `${counted(remedies, 'Configuration')} of remedies, `;
  const counts = `${counted(report.nodes.length, 'node')}, ${told}${counted(errors, 'error')}, ${counted(warnings, 'warning')}`;
  const message = `${harmless(report.source)}: ${counts}${report.isInterrupted ? '; interrupted, not every device was read' : ''}`;
  return errors > 0 ? ink.bad(message) : warnings > 0 ? ink.warn(message) : ink.good(message);
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

/** `error ConfigMap fence-config-a, key config.properties, line 3 (nodes.yaml:12): what, what to do`. */
function problemLine({ severity, where, message, file, line, nodes }: ReportedProblem, ink: Ink): string {
  const inFile = file === undefined || file === where ? '' : ` (${file}:${line ?? '?'})`;
  const place = file === where && line !== undefined ? `${where}:${line}` : where;
  const others = nodes.filter((node) => !place.includes(node) && !message.includes(node));
  const who = others.length === 0 ? '' : ` [${nodeNames(nodes)}]`;
  const word = severity === 'error' ? ink.bad('error   ') : ink.warn('warning ');
  return `${word} ${harmless(`${place}${inFile}: ${message}${who}`)}`;
}

function nodeNames(nodes: readonly string[]): string {
  const shown = nodes.slice(0, NAMES_SHOWN).join(', ');
  const more = nodes.length - NAMES_SHOWN;
  return more > 0 ? `${shown} and ${more} more` : shown;
}

function nodeLines(node: ReportedNode, report: Report, ink: Ink): string[] {
  const { facts, plan, devices } = node;
  const own = report.problems.filter(({ severity, nodes }) => severity === 'error' && nodes.includes(facts.name));
  const verdict = own.length === 0 ? ink.good('ok') : ink.bad(counted(own.length, 'error'));
  const lines = [`${ink.bold(harmless(facts.name))}  ${verdict}  ${ink.dim(SOURCES[plan.source])}`];
  if (plan.trigger === 'never') return [...lines, '  never fenced: fence=never'];
  for (const step of STEPS) lines.push(...stepLines(step, plan));
  lines.push(`  ${'release'.padEnd(18)}${plan.release}, on ${plan.minimumEvidence.join(', ')}`);
  for (const device of devices ?? []) lines.push(deviceLine(device, ink));
  return lines;
}

const SOURCES: Readonly<Record<Plan['source'], string>> = {
  node: 'its own ConfigMap',
  group: 'the ConfigMap of its group',
  default: 'the default of its cloud: it has no ConfigMap',
  none: 'nothing says how it is switched off: it is cordoned and no more',
};

function stepLines(step: Step, plan: Plan): string[] {
  const levels = levelsOf(plan, step);
  const name = (level: number): string => STEP_NAMES[step] + (level === 1 ? '' : `.${level}`);
  if (levels.length === 0) return [`  ${name(1).padEnd(18)}nothing`];
  return levels.map(({ level, methods }, index) => {
    const message = methods.length === 0 ? 'nothing that can be done: see its errors' : harmless(methods.map(describeMethod).join(', then '));
    return `  ${name(level).padEnd(18)}${index === 0 ? delayOf(step, plan) : ''}${message}`;
  });
}

function delayOf(step: Step, { timing }: Plan): string {
  if (step === 'isolation') return `after ${timing.isolationDelayMs / 1000} s: `;
  return step === 'power-management' ? `after ${timing.powerManagementDelayMs / 1000} s: ` : '';
}

function describeMethod({ name, agent, action, device, plug }: PlanMethod): string {
  if (device === '') return name === agent ? name : `${name} (${agent})`;
  return `${name}: ${action} ${placeOf({ agent, device, plug })}`;
}

function deviceLine({ agent, device, plug, state, identity, detail, latencyMs, error }: ProbeResult, ink: Ink): string {
  const place = `  ${'device'.padEnd(18)}${harmless(placeOf({ agent, device, plug }))}  `;
  if (error !== undefined) return place + ink.bad('not read');
  const message = `${state ?? ''}, identity ${identity ?? ''}, ${latencyMs} ms (${harmless(detail ?? '')})`;
  return place + (identity === 'verified' && state === 'on' ? ink.good(message) : ink.warn(message));
}
