import { readyOf } from '../../../controllers/fence/observation.ts';
import { ROWS } from '../../../domain/automaton.ts';
import { isRequestOpen, isTriggered, seemsHealthy, triggerDueMs } from '../../../domain/health.ts';
import type { NodeFenceStatus, OtherHold } from '../../../domain/node-fence.ts';
import type { StormPolicy } from '../../../domain/policies/policy.ts';
import type { Plan, PlanProblem } from '../../../domain/plan.ts';
import { REMEDY_ROWS } from '../../../domain/remedy/rows.ts';
import type { ActiveHold, Snapshot } from '../../../domain/snapshot.ts';
import { wouldDo } from '../../../domain/would.ts';
import type { Node, Lease } from '../../../ports/objects.ts';
import type { NodeFenceReport, NodeFenceStop } from '../../../ports/resources.ts';
import type { RemedyLook } from '../explain-remedies.ts';
import type { Look } from '../explanation.ts';
import { describeLeader, isWithoutLeader } from '../leader.ts';
import type { Leader } from '../leader.ts';
import { dumpOf } from '../kernel-dump.ts';
import { daemonOf } from '../node-daemon.ts';
import { remediesOf } from '../remedy-rows.ts';
import { timeToOff, describeTimeToOff } from '../time-to-off.ts';
import { counted, harmless } from '../terminal/text.ts';
import { clockTime, coming, duration, moment } from '../terminal/times.ts';
import { describeDaemon, describeKept, describeRemedy } from './fence-page.ts';
import { problemsOf } from './alarms-page.ts';
import { fenceHeadline } from './headline.ts';
import { describeRun } from './run-words.ts';
import { entry, heading, paragraph } from './sections.ts';
import type { Sheet } from './sections.ts';

export interface ExplainPage {
  /** What is configured for it to answer its conditions. */
  remedies?: readonly string[];
  /** What the table of remedies decides of it now. */
  remedyLooks?: readonly RemedyLook[];
  name: string;
  node: Node | undefined;
  lease: Lease | 'unread' | undefined;
  leader: Leader;
  report: NodeFenceReport | undefined;
  /** Those that stand on this node. */
  stops: readonly NodeFenceStop[];
  looks: readonly Look[];
  /** A NodeFence bears the name of its fence and says another node, in words: nothing is done for either. */
  misnamed?: string | undefined;
  /** NodeFences that say this node and bear another name, in words: they fence nobody. */
  ignored?: readonly string[];
  unreadable: readonly string[];
  /** What preservation of its machine means for its fence; undefined: preservation is off. */
  preserved?: string | undefined;
  /** What people have written about that, when. */
  preserveMarks?: readonly string[];
  /** Storm policies as configured; absent: not looked at. */
  policies?: readonly StormPolicy[];
  /** Who has the node besides, in words; absent: it was not looked at. */
  holders?: readonly string[];
  /** Who drives health checks, in words; absent: it was not looked at. */
  drivers?: readonly string[];
}

const NAME_WIDTH = 13;
/** Rows that stand before the table: there is no fence, or it has just been created. */
const FIRST_ROWS: Readonly<Record<string, string>> = {
  none: 'no fence is open, and nothing asks for one → nothing',
  'none-triggered': 'the node has failed, no fence is open → create a NodeFence',
  begin: 'the NodeFence is new → freeze plan and identity in it',
  restored: 'the NodeFence was restored from a backup: nothing that it records counts → let it go',
  'begin-without-node': 'there is no Node any more → let the NodeFence go',
};

/** Why a node is or is not fenced: each rule with its inputs, the row of the automaton that decides, and what follows when. */
export function explainPage(page: ExplainPage, sheet: Sheet): string {
  const [first] = page.looks;
  if (first === undefined) return '';
  const lines = [paragraph(sheet, sheet.ink.bold(headline(page, first.snapshot)))];
  const message = first.snapshot.fence?.status?.message;
  if (message !== undefined) lines.push(paragraph(sheet, harmless(message)));
  lines.push(heading(sheet, 'Why'), ...rules(page, first, sheet));
  if (page.misnamed !== undefined) {
    lines.push(heading(sheet, 'Now'), paragraph(sheet, sheet.ink.bad(harmless(page.misnamed)), '  '));
    return [...lines, ...unread(page, sheet)].join('\n');
  }
  lines.push(heading(sheet, 'Now'), paragraph(sheet, describeRow(first), '  '));
  for (const look of page.remedyLooks ?? []) lines.push(paragraph(sheet, describeRemedyLook(look), '  '));
  lines.push(heading(sheet, 'Next, if nothing but time changes'), ...next(page, sheet));
  return [...lines, ...unread(page, sheet)].join('\n');
}

function unread({ unreadable }: ExplainPage, sheet: Sheet): string[] {
  return unreadable.length === 0 ? [] : ['', paragraph(sheet, sheet.ink.warn(`Not known, because you may not read it: ${unreadable.join(', ')}.`))];
}

function headline({ name, node }: ExplainPage, { fence, plan, node: facts, since, nowMs }: Snapshot): string {
  const status = fence?.status;
  if (status !== undefined) return fenceHeadline(name, status);
  if (node === undefined || facts === undefined) return `There is no Node ${name}, and no fence of it.`;
  if (isTriggered(facts, plan, since, nowMs)) return `Node ${name} has failed and no fence is open yet.`;
  return `Node ${name} is not fenced${facts.ready === 'True' ? ': it is Ready' : ', though it is not Ready'}.`;
}

function rules(page: ExplainPage, first: Look, sheet: Sheet): string[] {
  const { ink } = sheet;
  const { snapshot } = first;
  const { fence, plan, node: facts, since } = snapshot;
  const status = fence?.status;
  const lines: string[] = [];
  const rule = (name: string, text: string, paint?: (text: string) => string): void => {
    lines.push(entry(sheet, name, text, NAME_WIDTH, paint));
  };
  rule('Ready', describeReady(page.node, sheet), facts?.ready === 'True' ? ink.good : ink.bad);
  rule('sign of life', describeLife(page.lease, snapshot));
  rule('trigger', describeTrigger(snapshot));
  for (const line of page.ignored ?? []) rule('ignored', harmless(line), ink.warn);
  if (status !== undefined && facts !== undefined) {
    const seems = seemsHealthy(facts, status, plan, since, snapshot.nowMs);
    const due = since.healthy === undefined ? undefined : since.healthy + plan.timing.healthyDelayMs;
    const until =
      due === undefined ? '' : due > snapshot.nowMs ? `, for good in ${duration(due - snapshot.nowMs)} (healthy_delay)` : ' (healthy_delay over)';
    rule(
      'healthy',
      seems ? `looks so${until}` : 'no: it must be Ready, show a sign of life after our last action, and after an off run on another boot',
    );
  }
  const daemon = daemonOf(page.report);
  if (daemon !== undefined)
    rule('node daemon', harmless(describeDaemon(daemon, sheet.nowMs)), daemon.state === 'armed' || daemon.state === 'heard' ? undefined : ink.warn);
  const dump = dumpOf(page.report);
  if (dump !== undefined) rule('kernel dump', harmless(dump.message), dump.isDumping ? ink.warn : undefined);
  for (const row of remediesOf(page.report))
    rule('remedies', harmless(describeRemedy(row, sheet.nowMs)), row.phase === 'handed-over' ? ink.bad : ink.warn);
  for (const line of page.remedies ?? []) rule('remedy', harmless(line));
  const happened = page.report && problemsOf(page.report, sheet.nowMs);
  if (happened !== undefined) rule('problems', harmless(happened.words), happened.isAlarm ? ink.warn : undefined);
  rule('stops', describeStop(page.stops, sheet), page.stops.length > 0 ? ink.warn : undefined);
  const holds = holdsOf(first).map(({ policy, message, untilMs }) => {
    const until = untilMs === undefined ? '' : ` until ${coming(untilMs, sheet.nowMs)}`;
    return policy === 'observe' ? message : `${policy}${until}: ${message}`;
  });
  rule('holds', holds.length === 0 ? 'none on record' : holds.map(harmless).join('; '), holds.length > 0 ? ink.warn : undefined);
  for (const line of status === undefined || status.state === 'final' ? [] : describeKept(status)) rule('kept', harmless(line), ink.warn);
  if (page.preserved !== undefined) rule('preservation', page.preserved);
  for (const mark of page.preserveMarks ?? []) rule('preserve mark', harmless(mark));
  if (page.holders !== undefined && page.holders.length > 0) rule('claimed by', harmless(page.holders.join('; ')), ink.warn);
  if (page.drivers !== undefined && page.drivers.length > 0) rule('health checks', harmless(page.drivers.join('; ')));
  rule('counts', describeCount(status, plan, page.report));
  const identity = page.report?.status?.identity;
  rule(
    'identity',
    identity === undefined ? 'not on record: devices can not be compared with it' : `on record since ${moment(identity.recordedAt, sheet.nowMs)}`,
  );
  rule('controller', describeLeader(page.leader, sheet.nowMs), page.leader.isAlive ? undefined : ink.bad);
  rule('plan', describePlan(plan, status?.state === 'final' ? undefined : status));
  const time = timeToOff(plan, page.policies ?? []);
  if (time !== undefined) rule('time', describeTimeToOff(time));
  for (const problem of plan.problems) lines.push(problemLine(problem, sheet));
  return lines;
}

/** `error, power-management: ConfigMap ..., line 3: what and what to do`. */
export function problemLine({ severity, step, where, message }: PlanProblem, sheet: Sheet): string {
  const paint = severity === 'error' ? sheet.ink.bad : sheet.ink.warn;
  return paint(paragraph(sheet, harmless(`${severity}${step === undefined ? '' : `, ${step}`}: ${where}: ${message}`), '    '));
}

function describeReady(node: Node | undefined, { nowMs }: Sheet): string {
  if (node === undefined) return 'there is no such Node';
  const ready = readyOf(node);
  if (ready === undefined) return 'the Node has no Ready condition';
  return harmless(`${ready.status} (${ready.reason ?? 'no reason'}) since ${moment(ready.lastTransitionTime, nowMs)}`);
}

function describeLife(lease: ExplainPage['lease'], { node, plan, nowMs }: Snapshot): string {
  if (node === undefined) return 'none';
  if (lease === 'unread') {
    const seen = `heartbeat ${clockTime(node.lifeAtMs, nowMs)} (${duration(Math.floor((nowMs - node.lifeAtMs) / 1_000) * 1_000)} ago)`;
    return `${seen}; its lease, which tells of a later one, may not be read: what follows is judged without it`;
  }
  const what = lease?.spec.renewTime === undefined ? 'heartbeat' : 'lease or heartbeat';
  const silentMs = nowMs - node.lifeAtMs;
  const wait = plan.timing.lifeWaitMs;
  return `${what} ${clockTime(node.lifeAtMs, nowMs)} (${duration(Math.floor(silentMs / 1_000) * 1_000)} ago); silent for life_wait (${duration(wait)}): ${silentMs >= wait ? 'yes' : 'no'}`;
}

function describeTrigger({ node, plan, since, nowMs, fence }: Snapshot): string {
  if (node === undefined) return 'no';
  if (isRequestOpen(node, plan, fence?.status)) {
    const end = fence?.status?.lastStep === undefined ? '' : ', to go no further than isolation';
    return `yes: it was asked for${end}, and Ready does not shortcut that`;
  }
  if (isTriggered(node, plan, since, nowMs))
    return node.silence !== undefined
      ? 'yes: fast detection takes it for failed, see node daemon'
      : node.ready === 'Unknown'
        ? 'yes: Ready is Unknown and its lease is silent'
        : 'yes: not Ready for not_ready_period';
  const due = triggerDueMs(node, plan, since);
  if (due === undefined) return 'no: Ready must be Unknown with a silent lease, or not True for not_ready_period';
  const rule =
    node.ready === 'Unknown'
      ? `its lease is silent for life_wait (${duration(plan.timing.lifeWaitMs)})`
      : `not_ready_period (${duration(plan.timing.notReadyPeriodMs)}) is over: its kubelet is alive`;
  return `not yet: in ${duration(due - nowMs)}, when ${rule}`;
}

function describeStop(stops: readonly NodeFenceStop[], { nowMs }: Sheet): string {
  if (stops.length === 0) return 'none';
  return stops
    .map((stop) =>
      harmless(
        `${stop.metadata.name} (${stop.spec.all === true ? 'all nodes' : 'this node'}) since ${moment(stop.metadata.creationTimestamp, nowMs)}: ${stop.spec.reason}`,
      ),
    )
    .join('; ');
}

function describeCount(status: NodeFenceStatus | undefined, plan: Plan, report: NodeFenceReport | undefined): string {
  const restarts = plan.maxRestarts < 0 ? 'without end' : `of ${plan.maxRestarts}`;
  if (status !== undefined)
    return `incident ${status.incident}, ${counted(status.retries, 'failed run')} in this step (step_retries ${plan.stepRetries}), restart ${status.restarts} ${restarts}`;
  return `${counted(report?.status?.incident ?? 0, 'incident')} so far; step_retries ${plan.stepRetries}, restarts: ${plan.maxRestarts < 0 ? 'without end' : plan.maxRestarts}`;
}

const SOURCES: Readonly<Record<Plan['source'], string>> = {
  node: "the node's own ConfigMap",
  group: "its group's ConfigMap",
  default: 'the defaults',
  none: 'nothing: no ConfigMap speaks of this node',
};

function describePlan(plan: Plan, open: NodeFenceStatus | undefined): string {
  const steps = [
    ['isolation', plan.isolation],
    ['power-management', plan.powerManagement],
    ['recovery', plan.recovery],
  ] as const;
  const words = steps.map(([step, levels]) => {
    const names = levels.map(({ methods }) => methods.map((method) => method.name).join(', ')).join(' | else ');
    return `${step}: ${names === '' ? 'nothing' : harmless(names)}`;
  });
  const { asked } = open?.frozen ?? {};
  const only = asked === undefined ? '' : `, only of the methods that were asked for: ${harmless(asked.methods.join(', '))}`;
  return `from ${SOURCES[plan.source]}${open === undefined ? '' : ', frozen when the fence began'}${only}; ${words.join('; ')}`;
}

function describeRow({ decision, snapshot }: Look): string {
  const row = ROWS.find(({ id }) => id === decision.row);
  const message = row === undefined ? (FIRST_ROWS[decision.row] ?? '') : `${row.when} → ${row.does}`;
  const state = snapshot.fence?.status?.state;
  return `row ${decision.row}${state === undefined ? '' : ` in state ${state}`}: ${message.replaceAll('`', '')}`;
}

/** `row held of remedies of KernelDeadlock=True in phase waiting: something holds, ... → say what holds (held: ...)`. */
function describeRemedyLook({ threshold, phase, row: id, message }: RemedyLook): string {
  const row = REMEDY_ROWS.find((each) => each.id === id);
  if (row === undefined) return harmless(`row of ${threshold}: ${message ?? 'not known'}`);
  const from = phase === undefined ? '' : ` in phase ${phase}`;
  const says = message === undefined ? '' : ` (${message})`;
  return harmless(`row ${row.id} of remedies of ${threshold}${from}: ${`${row.when} → ${row.does}`.replaceAll('`', '')}${says}`);
}

function next({ looks, leader, remedyLooks = [] }: ExplainPage, sheet: Sheet): string[] {
  const last = looks.at(-1);
  const decided = remedyLooks.flatMap(remedyMomentOf);
  const moments = [...endsOf(looks), ...looks.flatMap(deedOf), ...wouldOf(looks), ...decided].sort((one, other) => one.atMs - other.atMs);
  const lines = moments.map(({ atMs, words }) => {
    if (!Number.isFinite(atMs)) return entry(sheet, 'some time', words, NAME_WIDTH);
    const inMs = atMs - sheet.nowMs;
    const when = inMs <= 0 ? 'at once' : `in ${duration(Math.ceil(inMs / 1_000) * 1_000)}`;
    return entry(sheet, when, `${inMs <= 0 ? '' : `${clockTime(atMs, sheet.nowMs)}, `}${words}`, NAME_WIDTH);
  });
  const open = last?.decision.row === 'in-flight' ? last.snapshot.fence?.status?.journal.find((run) => run.finishedAt === undefined) : undefined;
  if (open !== undefined)
    lines.push(entry(sheet, 'under way', `${describeRun(open)}, since ${moment(open.startedAt, sheet.nowMs)}; its result decides`, NAME_WIDTH));
  if (lines.length === 0) lines.push('  nothing, until something changes');
  if (lines.length > 0 && isWithoutLeader(leader)) lines.push(sheet.ink.bad('  but no controller leads: nothing of this happens before one does'));
  lines.push(
    sheet.ink.dim(
      paragraph(sheet, 'Times are computed from time stamps; the leader counts from its own first observation and may be a little later.', '  '),
    ),
  );
  return lines;
}

function remedyMomentOf({ threshold, dueMs }: RemedyLook): Moment[] {
  return dueMs === undefined ? [] : [{ atMs: dueMs, words: harmless(`the next look at ${threshold}, which decides what its remedies do`) }];
}

interface Moment {
  atMs: number;
  words: string;
}

function deedOf({ atMs, decision, snapshot }: Look): Moment[] {
  const isHeld = decision.status?.hold !== undefined && decision.dispatch === undefined;
  const isTooLong = decision.events.some(({ reason }) => reason === 'FencingHeldTooLong');
  // What a hold changes is its record; the hold itself stands above.
  if (isHeld) return isTooLong ? [{ atMs, words: `an Event says that it is held for too long by ${decision.status?.hold?.policy ?? ''}` }] : [];
  const message = describeDeed(decision, isObserved(snapshot));
  return message === undefined ? [] : [{ atMs, words: message }];
}

/** What holds it: what stands around it, and what the decision adds of its own record, a dump, the preservation of its machine, and how far its request goes. */
function holdsOf({ snapshot, decision }: Look): readonly ActiveHold[] {
  const { holds, fence } = snapshot;
  const recorded = (decision.status ?? fence?.status)?.hold;
  const decided = recorded === undefined || recorded.policy === 'stop' ? [] : [recorded, ...(recorded.besides ?? [])];
  const added = decided.filter(({ policy, reason }) => !holds.some((standing) => standing.policy === policy && standing.reason === reason));
  return [...holds, ...added.map(asStanding)];
}

/** The clock of an explanation is the one on the wall. */
function asStanding({ policy, reason, message, until }: OtherHold): ActiveHold {
  const untilMs = Date.parse(until ?? '');
  return { policy, reason, message, ...(!Number.isNaN(untilMs) && { untilMs }) };
}

/** When holds end by time alone, each of them once. */
function endsOf(looks: readonly Look[]): Moment[] {
  const ends = new Map<string, Moment>();
  for (const look of looks) {
    const verb = isObserved(look.snapshot) ? 'would end' : 'ends';
    for (const { policy, reason, untilMs } of holdsOf(look))
      if (untilMs !== undefined) ends.set(`${policy}/${reason}`, { atMs: untilMs, words: `the hold ${policy} ${verb}` });
  }
  return [...ends.values()];
}

/** In mode observe: what mode enforce would do. */
function wouldOf(looks: readonly Look[]): Moment[] {
  const look = looks.find(
    ({ snapshot, decision }) => isObserved(snapshot) && (decision.status ?? snapshot.fence?.status)?.hold?.policy === 'observe',
  );
  const status = look?.decision.status ?? look?.snapshot.fence?.status;
  if (look === undefined || status?.hold === undefined) return [];
  const { deeds, release, holds } = wouldDo({ snapshot: look.snapshot, status, plan: status.frozen?.plan ?? look.snapshot.plan }, status.hold);
  const open = holds.find(({ untilMs }) => untilMs === undefined);
  const told = deeds.map(({ message, atMs, afterMs }): Moment => {
    const after = `when ${open?.policy ?? 'every hold'} holds no more${afterMs === 0 ? '' : `, and ${duration(afterMs)} later`}`;
    return { atMs: atMs ?? Number.POSITIVE_INFINITY, words: harmless(`mode enforce would ${message}${atMs === undefined ? `, ${after}` : ''}`) };
  });
  const last = told.at(-1);
  return last === undefined ? [] : [...told, { atMs: last.atMs, words: harmless(`then it would ${release}`) }];
}

function isObserved({ holds }: Snapshot): boolean {
  return holds.some(({ policy }) => policy === 'observe');
}

/** What a decision does to the world or the fence; undefined when it only waits. */
function describeDeed({ row, create, status, dispatch, removeFinalizer, stepDown }: Look['decision'], isObserved: boolean): string | undefined {
  if (stepDown !== undefined) return `${row}: ${stepDown.message}`;
  if (dispatch !== undefined) return `${row}: ${dispatch.kind === 'recover' ? 'read what became of: ' : ''}${describeRun(dispatch.entry)}`;
  if (create !== undefined) return `${row}: a NodeFence is created${isObserved ? ', as a record of what would be done' : ''}`;
  if (removeFinalizer === true) return `${row}: the NodeFence is deleted`;
  if (status === undefined) return undefined;
  return `${row}: ${harmless(status.message ?? `state ${status.state}, step ${status.step}`)}`;
}
