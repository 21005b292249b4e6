import { EVIDENCE_RULES } from '../../../domain/evidence.ts';
import type { Evidence, Hold, JournalEntry, NodeFenceStatus, OtherHold, Restore, Timeline } from '../../../domain/node-fence.ts';
import type { NodeFence, NodeFenceAcknowledgement } from '../../../ports/resources.ts';
import type { PreservedRow } from '../../preservation/picture.ts';
import type { NodeRow, StopRow } from '../fleet.ts';
import { describeLeader } from '../leader.ts';
import type { Leader } from '../leader.ts';
import type { HeardDumpRow } from '../heard-dumps.ts';
import type { DaemonRow } from '../node-daemon.ts';
import type { RemedyRow } from '../remedy-rows.ts';
import { counted, harmless, padded } from '../terminal/text.ts';
import { age, between, clockTime, coming, duration, moment } from '../terminal/times.ts';
import { holderLines } from './ownership-page.ts';
import { describeStop, maintenanceLines } from './fleet-page.ts';
import { fenceHeadline } from './headline.ts';
import { preservedParagraph } from './preserved-page.ts';
import { placeOf, describeResult, describeRun } from './run-words.ts';
import { entry, heading, paragraph } from './sections.ts';
import type { Sheet } from './sections.ts';

export interface FencePage {
  row: NodeRow;
  leader: Leader;
  /** Those that stand on this node. */
  stops: readonly StopRow[];
  /** Of its machine; absent: nobody keeps it. */
  preserved?: PreservedRow;
  /** Who has the node, in words; absent: nobody, or it was not looked at. */
  holders?: readonly string[];
  fence: NodeFence | undefined;
  acknowledgements: readonly NodeFenceAcknowledgement[];
  /** Who gave them, by their names. */
  authors?: Readonly<Record<string, string | undefined>>;
}

const NAME_WIDTH = 14;

/** Everything about the fence of one node, the most urgent first. */
export function fencePage(page: FencePage, sheet: Sheet): string {
  const { ink } = sheet;
  const { row, fence, leader } = page;
  const status = fence?.status;
  const lines = [paragraph(sheet, ink.bold(status?.frozen === undefined ? withoutFence(row, fence) : fenceHeadline(row.node, status)))];
  if (status?.message !== undefined) lines.push(mind(status, paragraph(sheet, harmless(status.message)), sheet));
  if (!leader.isAlive) lines.push(ink.bad(paragraph(sheet, describeLeader(leader, sheet.nowMs))));
  for (const stop of page.stops) lines.push(ink.warn(paragraph(sheet, `STOP ${describeStop(stop, sheet.nowMs)}`)));
  lines.push(...maintenanceLines(row, sheet));
  if (page.preserved !== undefined) lines.push(preservedParagraph(page.preserved, sheet));
  lines.push(...holderLines(page.holders ?? [], sheet));
  if (row.daemon !== undefined) lines.push(entry(sheet, 'node daemon', harmless(describeDaemon(row.daemon, sheet.nowMs)), NAME_WIDTH));
  for (const remedy of row.remedies ?? []) lines.push(entry(sheet, 'remedies', harmless(describeRemedy(remedy, sheet.nowMs)), NAME_WIDTH));
  if (row.dump !== undefined) lines.push(entry(sheet, 'kernel dump', harmless(describeDump(row.dump, sheet.nowMs)), NAME_WIDTH));
  for (const problem of row.problems) lines.push(ink.warn(paragraph(sheet, harmless(`Cannot be fenced as it should: ${problem}`))));
  if (status?.frozen !== undefined) {
    lines.push(...timeline(status, sheet), ...journal(status, sheet), ...evidence(status.evidence, sheet));
    lines.push(...facts(status, sheet), ...conditions(status, sheet), ...history(status, sheet));
  }
  lines.push(...acknowledgementLines(page, sheet));
  return lines.join('\n');
}

/** `KernelDeadlock=True running, attempt 1, since 10:00: repair runs`. */
export function describeRemedy({ threshold, phase, attempt, since, message }: RemedyRow, nowMs: number): string {
  return `${threshold} ${phase}, attempt ${attempt}, since ${moment(since, nowMs)}${message === undefined ? '' : `: ${message}`}`;
}

/** `heard since 10:00: Heartbeats come; ...` */
export function describeDaemon({ state, since, message }: DaemonRow, nowMs: number): string {
  return `${state === 'armed' ? 'heard' : state} since ${moment(since, nowMs)}: ${message}`;
}

/** `DUMPING since 10:00: 12 kdump messages from 192.0.2.7, the last 10:02, heard by a, b; ...` */
function describeDump({ state, since, last, count, source, heardBy, heldUntil, heldAtMostUntil }: HeardDumpRow, nowMs: number): string {
  const heard = `${state} since ${moment(since, nowMs)}: ${counted(count, 'kdump message')} from ${source}, the last ${moment(last, nowMs)}, heard by ${heardBy.join(', ')}`;
  if (heldUntil === undefined) return `${heard}; nothing waits for it`;
  return `${heard}; its fence waits until ${coming(heldUntil, nowMs)} if no more come, and until ${coming(heldAtMostUntil ?? heldUntil, nowMs)} at most`;
}

function withoutFence({ node, ready, since }: NodeRow, fence: NodeFence | undefined): string {
  if (fence !== undefined) return `Node ${node}: a NodeFence was created; it has not begun.`;
  if (ready === 'True') return `Node ${node} is Ready and not fenced.`;
  return `Node ${node} is not Ready (${ready}${since === undefined ? '' : `, since ${since}`}) and not fenced: nodefence explain ${node} says why.`;
}

/** What a person must do stands out. */
function mind({ outcome, state }: NodeFenceStatus, text: string, { ink }: Sheet): string {
  return outcome === 'failed' || state === 'error' ? ink.bad(text) : text;
}

const MOMENTS: readonly [keyof Timeline, string][] = [
  ['failedAt', 'failed'],
  ['noticedAt', 'noticed'],
  ['isolatedAt', 'isolated'],
  ['poweredOffAt', 'proven off'],
  ['releasedAt', 'released'],
  ['poweredOnAt', 'switched on'],
  ['readyAt', 'ready'],
  ['finalAt', 'closed'],
];

function timeline({ timeline: times, trigger }: NodeFenceStatus, sheet: Sheet): string[] {
  const lines = MOMENTS.flatMap(([key, name]) => {
    const time = times[key];
    if (time === undefined) return [];
    const later = between(times.failedAt, time);
    const offset = later === undefined || key === 'failedAt' ? '' : `  +${duration(later)}`;
    const why =
      key === 'failedAt' && trigger !== undefined
        ? `  ${trigger.conditionType ?? trigger.kind} ${trigger.status ?? ''} (${trigger.reason ?? ''})`
        : '';
    const label = key === 'failedAt' && isAskedWhileReady(trigger) ? 'asked for' : name;
    return [entry(sheet, label, harmless(`${moment(time, sheet.nowMs)}${offset}${why}`), NAME_WIDTH)];
  });
  return lines.length === 0 ? [] : [heading(sheet, 'Timeline'), ...lines];
}

/** Nothing had failed: somebody asked. */
function isAskedWhileReady(trigger: NodeFenceStatus['trigger']): boolean {
  return trigger !== undefined && (trigger.kind === 'remediation' || trigger.kind === 'person') && trigger.status === 'True';
}

function journal({ journal: runs }: NodeFenceStatus, sheet: Sheet): string[] {
  if (runs.length === 0) return [];
  return [heading(sheet, 'Journal'), ...runs.map((run) => runLine(run, sheet))];
}

function runLine(run: JournalEntry, sheet: Sheet): string {
  const { ink, nowMs } = sheet;
  const { mark, words: result } = describeResult(run.result);
  const paint = mark === '✓' ? ink.good : mark === '✗' ? ink.bad : ink.warn;
  const took = between(run.startedAt, run.finishedAt);
  const time = took === undefined ? ` for ${age(run.startedAt, nowMs)}` : ` in ${duration(took)}`;
  const attempt = run.attempt > 1 ? `, attempt ${run.attempt}` : '';
  const level = run.level > 1 ? `, level ${run.level}` : '';
  const restart = run.restart > 0 ? `, restart ${run.restart}` : '';
  const message = run.message === undefined ? '' : harmless(`: ${run.message}`);
  const text = `${describeRun(run)}${level}${attempt}${restart}: ${result}${time}${message}`;
  const name = clockTime(run.startedAt, nowMs);
  const line = entry(sheet, name, `# ${text}`, Math.max(NAME_WIDTH - 4, name.length));
  return line.replace('# ', `${paint(mark)} `);
}

function evidence(items: readonly Evidence[], sheet: Sheet): string[] {
  if (items.length === 0) return [heading(sheet, 'Evidence'), sheet.ink.dim('  none: nothing proves that the node cannot write')];
  return [
    heading(sheet, 'Evidence'),
    ...items.map((item) => {
      const proves = `${item.grade}: ${EVIDENCE_RULES[item.kind].proves}`;
      const void_ = item.voidedAt === undefined ? '' : ` VOID since ${moment(item.voidedAt, sheet.nowMs)}: ${item.voidedBecause ?? ''}.`;
      const identity = item.identity === undefined ? '' : `, identity ${item.identity}`;
      const text = `${proves}${identity}; seen ${moment(item.observedAt, sheet.nowMs)}.${void_} ${item.detail}`;
      return entry(sheet, item.kind, harmless(text), NAME_WIDTH, item.voidedAt === undefined ? sheet.ink.good : sheet.ink.warn);
    }),
  ];
}

function facts(status: NodeFenceStatus, sheet: Sheet): string[] {
  const { restore, released, frozen, retries, restarts, hold } = status;
  const lines: string[] = [];
  const plan = frozen?.plan;
  for (const line of hold === undefined ? [] : holdLines(hold, sheet)) lines.push(entry(sheet, 'held', harmless(line), NAME_WIDTH, sheet.ink.warn));
  if (released !== undefined) {
    const detached = released.volumesDetachedAt === undefined ? '' : `; volumes detached ${moment(released.volumesDetachedAt, sheet.nowMs)}`;
    const trouble = `${released.timedOut === true ? '; release_timeout was over' : ''}${released.voidedAt === undefined ? '' : `; VOID since ${moment(released.voidedAt, sheet.nowMs)}`}`;
    lines.push(
      entry(
        sheet,
        'released',
        `${counted(released.pods, 'pod')} by ${released.by} ${moment(released.at, sheet.nowMs)}${detached}${trouble}`,
        NAME_WIDTH,
      ),
    );
  }
  for (const line of describeKept(status)) lines.push(entry(sheet, 'kept', harmless(line), NAME_WIDTH, sheet.ink.warn));
  const back = restore === undefined ? [] : describeRestore(restore);
  if (back.length > 0) lines.push(entry(sheet, 'to take back', harmless(back.join(', ')), NAME_WIDTH, sheet.ink.warn));
  const limit =
    plan === undefined ? '' : ` (step_retries ${plan.stepRetries}); restart ${restarts} of ${plan.maxRestarts < 0 ? 'many' : plan.maxRestarts}`;
  lines.push(entry(sheet, 'failed runs', `${retries} in this step${limit}`, NAME_WIDTH));
  return [heading(sheet, 'Status'), ...lines];
}

/** The recorded hold and what holds besides; when each of them ends is told from now. */
function holdLines(hold: Hold, { nowMs }: Sheet): string[] {
  const isObserved = hold.policy === 'observe';
  const since = `since ${moment(hold.since, nowMs)}`;
  const until = (standing: OtherHold): string => (standing.until === undefined ? '' : ` until ${coming(standing.until, nowMs)}`);
  const others = (hold.besides ?? []).map((other) => `${isObserved ? 'would be held' : 'and'} by ${other.policy}${until(other)}: ${other.message}`);
  return [isObserved ? `by mode observe ${since}` : `by ${hold.policy} ${since}${until(hold)}: ${hold.message}`, ...others];
}

/** Pods and volumes that the release asked for and did not get, what keeps each of them, and what to do. */
export function describeKept({ released, storageRelease }: NodeFenceStatus): string[] {
  const kept = released === undefined ? storageRelease?.kept : released.kept;
  const pods = (kept ?? []).map(({ pod, by }) => `${pod}: ${by}. Mend what refuses it, or delete the pod by hand while its node is off.`);
  const volumes = (released?.keptVolumes ?? []).map(
    ({ attachment, by }) =>
      `VolumeAttachment ${attachment}: ${by}. Mend what refuses it, or delete the VolumeAttachment by hand while its node is off.`,
  );
  return [...pods, ...volumes];
}

/** What of ours stands on the node or its devices. */
export function describeRestore({ cordoned, taints, edges }: Restore): string[] {
  return [
    ...(cordoned === true ? ['our cordon'] : []),
    ...(taints ?? []).map((taint) => `our taint ${taint.key}`),
    ...(edges ?? []).map((edge) => `${edge.agent}${placeOf(edge)} is ${edge.state}`),
  ];
}

function conditions({ conditions: all }: NodeFenceStatus, sheet: Sheet): string[] {
  if (all.length === 0) return [];
  const width = Math.max(...all.map(({ type }) => type.length));
  return [
    heading(sheet, 'Conditions'),
    ...all.map(({ type, status, reason, message, lastTransitionTime }) => {
      const text = `${padded(status, 7)} ${reason}, for ${age(lastTransitionTime, sheet.nowMs)}${message === '' ? '' : `: ${message}`}`;
      return entry(sheet, type, harmless(text), width);
    }),
  ];
}

function history({ history: past }: NodeFenceStatus, sheet: Sheet): string[] {
  if (past.length === 0) return [];
  return [
    heading(sheet, 'Earlier fences'),
    ...past.map(({ incident, outcome, from, summary }) =>
      entry(sheet, `incident ${incident}`, harmless(`${outcome}, began ${moment(from, sheet.nowMs)}: ${summary}`), NAME_WIDTH),
    ),
  ];
}

function acknowledgementLines({ acknowledgements, authors = {} }: FencePage, sheet: Sheet): string[] {
  if (acknowledgements.length === 0) return [];
  return [
    heading(sheet, 'Acknowledgements'),
    ...acknowledgements.map(({ metadata, spec, status }) => {
      const state = status?.state === undefined ? 'waits' : `${status.state} ${moment(status.at, sheet.nowMs)}: ${status.message ?? ''}`;
      const by = authors[metadata.name];
      const given = `given ${moment(metadata.creationTimestamp, sheet.nowMs)}${by === undefined ? '' : ` by ${by}`}`;
      return entry(sheet, metadata.name, harmless(`${state} (incident ${spec.incident}, ${given}: ${spec.reason})`), NAME_WIDTH);
    }),
  ];
}
