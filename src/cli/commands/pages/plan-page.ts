import { EVIDENCE_RULES } from '../../../domain/evidence.ts';
import { methodsOf, writtenName } from '../../../domain/device-paths.ts';
import { fenceName } from '../../../domain/node-fence.ts';
import type { AskedMethods } from '../../../domain/node-fence.ts';
import type { Plan, ReleaseMode, Step } from '../../../domain/plan.ts';
import { stagesOf, totalOf } from '../plan-durations.ts';
import type { Stage } from '../plan-durations.ts';
import type { MethodWitness } from '../plan-witnesses.ts';
import { describeTimeToOff } from '../time-to-off.ts';
import type { TimeToOff } from '../time-to-off.ts';
import { clipped, counted, harmless, padded } from '../terminal/text.ts';
import { duration } from '../terminal/times.ts';
import { problemLine } from './explain-page.ts';
import { describeRun } from './run-words.ts';
import { heading, paragraph } from './sections.ts';
import type { Sheet } from './sections.ts';

/** A pod that a release would free. */
export interface FreedPod {
  namespace: string;
  name: string;
  claims: readonly string[];
}

export interface PlanPage {
  node: string;
  plan: Plan;
  freed: readonly FreedPod[];
  /** Pods of the node that stay: DaemonSets, static pods, pods that tolerate the taint. */
  stay: number;
  /** PersistentVolumes attached to the node. */
  attached: readonly string[];
  /** How `auto` is done on this server. */
  auto: Exclude<ReleaseMode, 'auto'>;
  /** What has to agree with each device's own state. */
  witnesses: readonly MethodWitness[];
  /** A fence is open, and its frozen plan is this one or another; `unbegun`: another, by which nothing was done yet. */
  open: 'same' | 'other' | 'unbegun' | undefined;
  /** The fence that is open was asked for by these methods alone. Absent: by its steps, or none is open. */
  asked?: AskedMethods;
  unreadable: readonly string[];
  /** From the failure to the off; absent: nothing proves one. */
  time?: TimeToOff | undefined;
}

const WIDTH = 110;
const NUMBERS = 22;
const PODS_SHOWN = 40;
const NO_WITNESS = "none is used; the device's own state alone counts";
const STEPS: readonly Step[] = ['isolation', 'power-management', 'recovery'];
const SOURCES: Readonly<Record<Plan['source'], string>> = {
  node: "the node's own ConfigMap",
  group: "its group's ConfigMap",
  default: 'the defaults',
  none: 'no ConfigMap: nothing speaks of this node',
};

/** What lets a fence that mode observe or a hold kept from acting take up what was mended meanwhile. */
function anew(node: string): string {
  return `kubectl delete --wait=false nodefence ${fenceName(node)} makes it begin again, with this plan and its full delays.`;
}

/** Steps, devices, times, evidence, what would be released, and what is wrong. */
export function planPage(page: PlanPage, sheet: Sheet): string {
  const { node, plan, open } = page;
  const { ink } = sheet;
  const lines = [paragraph(sheet, ink.bold(`How node ${node} would be fenced, from ${SOURCES[plan.source]}. Nothing is done now.`))];
  if (open === 'other' || open === 'unbegun') {
    const words = 'A fence is open and follows another plan, which was frozen when it began: nodefence explain shows that plan.';
    lines.push(ink.warn(paragraph(sheet, open === 'other' ? words : `${words} Nothing has been done yet: ${anew(node)}`)));
  }
  if (page.asked !== undefined) {
    const end = page.asked.lastStep === undefined ? '' : ', and goes no further than isolation';
    lines.push(paragraph(sheet, `The fence that is open was asked for by its methods alone: ${harmless(page.asked.methods.join(', '))}${end}.`));
  }
  if (open === 'same') lines.push(paragraph(sheet, 'A fence is open, and goes by this plan.'));
  const errors = plan.problems.filter(({ severity }) => severity === 'error');
  if (errors.length > 0) lines.push(ink.bad(`${errors.length} error${errors.length === 1 ? '' : 's'} in the configuration: see Problems.`));
  const stages = stagesOf(plan);
  for (const step of STEPS) lines.push(...stepLines(step, stages, page, sheet));
  lines.push(...totals(stages, plan, page.time, sheet), ...evidence(stages, page, sheet), ...released(page, sheet));
  if (plan.problems.length > 0) lines.push(heading(sheet, 'Problems'), ...plan.problems.map((problem) => problemLine(problem, sheet)));
  if (page.unreadable.length > 0)
    lines.push('', ink.warn(paragraph(sheet, `Not known, because you may not read it: ${page.unreadable.join(', ')}.`)));
  return lines.join('\n');
}

function stepLines(step: Step, stages: readonly Stage[], page: PlanPage, sheet: Sheet): string[] {
  const width = Math.min(sheet.width ?? WIDTH, WIDTH) - NUMBERS;
  const own = stages.filter((stage) => stage.step === step);
  const numbers = (typical: string, worst: string): string => typical.padStart(10) + worst.padStart(NUMBERS / 2);
  const head = step === 'isolation' ? numbers('typically', 'at worst') : '';
  const lines = ['', sheet.ink.bold(padded(step, width) + head).trimEnd()];
  let level = 1;
  for (const stage of own) {
    if (stage.level !== level) lines.push(sheet.ink.dim(`  else, when level ${level} failed, level ${stage.level}:`));
    level = stage.level;
    const text = harmless(stage.operation === undefined ? `wait: ${stage.wait ?? ''}` : describeOperation(stage, page));
    const line = padded(clipped(`  ${text}`, width), width) + numbers(duration(stage.typicalMs), duration(stage.worstMs));
    lines.push(stage.operation === undefined ? sheet.ink.dim(line) : line);
  }
  if (!own.some((stage) => stage.operation !== undefined)) lines.push(sheet.ink.warn('  nothing to do'));
  return lines;
}

function describeOperation({ operation }: Stage, { plan, auto }: PlanPage): string {
  if (operation === undefined) return '';
  if (operation.action === 'release') return `release the workload: ${plan.release === 'auto' ? auto : plan.release}`;
  const method = operation.method;
  const message = describeRun({
    action: operation.action,
    operation: operation.key,
    method: method?.name ?? '',
    agent: method?.agent ?? '',
    device: method?.device ?? '',
    plug: method?.plug ?? '',
  });
  return method === undefined ? message : `${message} (${method.name})`;
}

function totals(stages: readonly Stage[], plan: Plan, time: TimeToOff | undefined, sheet: Sheet): string[] {
  const lines = [heading(sheet, 'Altogether, from the moment Kubernetes says that the node has failed')];
  const line = (what: string, total: ReturnType<typeof totalOf>): void => {
    if (total !== undefined) lines.push(`  ${padded(what, 38)} typically ${duration(total.typicalMs)}, at worst ${duration(total.worstMs)}`);
  };
  line(
    'until the node is proven off',
    totalOf(stages, ({ evidence: kind }) => kind !== undefined),
  );
  line(
    'until its workload is released',
    totalOf(stages, ({ operation }) => operation?.action === 'release'),
  );
  line(
    'until it is switched on',
    totalOf(stages, ({ operation }) => operation?.action === 'on'),
  );
  line(
    'until it is back (boot time on top)',
    totalOf(stages, () => true),
  );
  const again = `Each run that fails is tried again, ${counted(plan.stepRetries, 'time')} in a step, after settle (${duration(plan.timing.settleMs)}); then the next level, then restarts (${plan.maxRestarts < 0 ? 'without end' : plan.maxRestarts}).`;
  const words = time === undefined ? [] : [paragraph(sheet, sheet.ink.bold(`In all: ${describeTimeToOff(time)}.`), '  ')];
  return [...lines, ...words, sheet.ink.dim(paragraph(sheet, again, '  '))];
}

function evidence(stages: readonly Stage[], { plan, witnesses }: PlanPage, sheet: Sheet): string[] {
  const kinds = [...new Set(stages.flatMap((stage) => stage.evidence ?? []))];
  const expected = kinds.map((kind) => `${kind} (${EVIDENCE_RULES[kind].grade}: ${EVIDENCE_RULES[kind].proves})`);
  const message =
    expected.length === 0
      ? 'none: no method of this plan proves that the node cannot write, so nothing is released before an acknowledgement'
      : expected.join(', ');
  const admitted = plan.minimumEvidence.length === 0 ? 'nothing' : plan.minimumEvidence.join(', ');
  return [
    heading(sheet, 'Evidence'),
    paragraph(sheet, `Expected: ${message}.`, '  '),
    paragraph(sheet, harmless(`Admitted: ${admitted}; identity ${plan.identity}${exceptions(plan)}.`), '  '),
    ...witnesses.map(({ method, witness }) => paragraph(sheet, harmless(`Witness of ${method}: ${witness ?? NO_WITNESS}.`), '  ')),
  ];
}

/** Methods that say for themselves whether their device must show whose machine it switches. */
function exceptions(plan: Plan): string {
  const own = methodsOf(plan).filter(({ identity }) => identity !== undefined && identity !== plan.identity);
  const names = [...new Set(own.map(writtenName))];
  return names.length === 0 ? '' : `, ${own[0]?.identity ?? ''} for ${names.join(', ')}`;
}

function released({ plan, freed, stay, attached }: PlanPage, sheet: Sheet): string[] {
  const lines = [heading(sheet, 'What would be released now')];
  if (plan.release === 'none') return [...lines, sheet.ink.warn('  nothing: release=none')];
  for (const { namespace, name, claims } of freed.slice(0, PODS_SHOWN))
    lines.push(paragraph(sheet, harmless(`pod ${namespace}/${name}${claims.length === 0 ? '' : ` with ${claims.join(', ')}`}`), '  '));
  if (freed.length === 0) lines.push('  no pod');
  if (freed.length > PODS_SHOWN) lines.push(`  and ${counted(freed.length - PODS_SHOWN, 'more pod')}`);
  if (attached.length > 0) lines.push(paragraph(sheet, harmless(`volumes attached: ${attached.join(', ')}`), '  '));
  if (stay > 0) lines.push(sheet.ink.dim(`  ${counted(stay, 'pod')} of DaemonSets, static, or tolerating the taint: not touched`));
  return lines;
}
