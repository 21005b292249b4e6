import { acknowledged } from '../acknowledgement.ts';
import { offBegan } from '../journal.ts';
import type { JournalEntry, NodeFenceStatus } from '../node-fence.ts';
import { levelsOf } from '../plan.ts';
import type { Plan, PlanMethod } from '../plan.ts';
import { compile, progress } from '../program.ts';
import type { ActiveHold, Snapshot } from '../snapshot.ts';
import { dumpEndsAtMs, mayDump } from './dump.ts';
import type { DumpFacts, Liveness } from './dump.ts';

export const KDUMP_POLICY = 'kdump';

/** Actions that touch neither the network nor the storage of a dump, nor its power. */
const HARMLESS: ReadonlySet<string> = new Set(['cordon', 'uncordon', 'taint', 'kdump', 'watchdog', 'ack']);

export interface DumpWatch {
  dump: DumpFacts;
  node: Liveness;
  nowMs: number;
}

/** The snapshot with what a dump holds against the very next operation of this fence; `endsAtMs`: when to look again. */
export function withDump(snapshot: Snapshot, status: NodeFenceStatus): { snapshot: Snapshot; endsAtMs?: number } {
  const { dump, node, nowMs } = snapshot;
  const plan = status.frozen?.plan;
  if (dump === undefined || node === undefined || plan?.kdump === undefined) return { snapshot };
  if (!isOpen(status) || !cutsNext(status, plan)) return { snapshot };
  const found = dumpHold({ dump, node, nowMs }, plan) ?? awaitedHold(snapshot, dump, status, plan);
  return found === undefined ? { snapshot } : { snapshot: { ...snapshot, holds: [...snapshot.holds, found.hold] }, endsAtMs: found.endsAtMs };
}

/** Right before a call: what a dump that runs by now holds against this run. `status`: without the run itself. */
export function dumpAgainst(watch: DumpWatch, status: NodeFenceStatus, { action, agent, step, method }: CutEntry): ActiveHold | undefined {
  const plan = status.frozen?.plan;
  if (plan?.kdump === undefined || step === 'recovery' || !isOpen(status)) return undefined;
  const planned = levelsOf(plan, step)
    .flatMap(({ methods }) => methods)
    .find(({ name }) => name === method);
  const cuts =
    action === 'off' || action === 'diag' || (action === 'run' && agent !== 'kubernetes' && planned !== undefined && cutsByRunning(planned));
  return cuts ? dumpHold(watch, plan)?.hold : undefined;
}

type CutEntry = Pick<JournalEntry, 'action' | 'agent' | 'step' | 'method'>;

/** Of an open fence that has cut nothing off yet: an off that was sent has ended the dump. */
function isOpen(status: NodeFenceStatus): boolean {
  return (status.state === 'new' || status.state === 'running') && !offBegan(status) && acknowledged(status) === undefined;
}

/** Would the next operation end a dump, or take its network or its storage? A cordon goes ahead, and so does whoever only waits. */
function cutsNext(status: NodeFenceStatus, plan: Plan): boolean {
  const step = status.state === 'new' ? 'isolation' : 'power-management';
  const level = status.step === step ? status.level : 1;
  const next = progress(compile(plan, step, level), { ...status, step, level });
  if (next.kind !== 'next' || next.confirm || next.operation.method === undefined) return false;
  const { phase, action, method } = next.operation;
  if (phase === 'on') return false;
  return action === 'run' ? cutsByRunning(method) : action !== 'on';
}

function cutsByRunning({ agent, evidence }: PlanMethod): boolean {
  return !HARMLESS.has(agent) && evidence === undefined;
}

interface Found {
  hold: ActiveHold;
  endsAtMs: number;
}

function dumpHold({ dump: { heard }, node, nowMs }: DumpWatch, { kdump }: Plan): Found | undefined {
  if (kdump === undefined || heard === undefined || !mayDump(heard, node, nowMs)) return undefined;
  const endsAtMs = dumpEndsAtMs(heard, kdump);
  if (endsAtMs <= nowMs) return undefined;
  const ends = `ends when none comes for ${kdump.finishedTimeoutMs / 1000} s, and at the latest kdump_max_duration ${kdump.maxDurationMs / 1000} s after the first`;
  const message = `its kernel dumps: ${heard.count} kdump messages from ${heard.source} since ${heard.first}; ${ends}`;
  return { hold: { reason: 'kdump-dumping', policy: KDUMP_POLICY, message, untilMs: heard.firstMs + kdump.maxDurationMs }, endsAtMs };
}

/** An armed crash kernel may be about to speak: it is waited for once, from when the failure was first seen, before power-management alone. */
function awaitedHold({ since, node, nowMs }: Snapshot, { heard, isArmed }: DumpFacts, status: NodeFenceStatus, { kdump }: Plan): Found | undefined {
  if (kdump === undefined || status.state !== 'running' || status.restarts > 0) return undefined;
  if (!isArmed && kdump.isArmed !== true) return undefined;
  // Alive, or its dump was heard and is over.
  if (node === undefined || (node.ready === 'True' && node.silence === undefined)) return undefined;
  if (heard !== undefined && mayDump(heard, node, nowMs)) return undefined;
  const endsAtMs = (since.triggered ?? nowMs) + kdump.startTimeoutMs;
  if (since.triggered === undefined || endsAtMs <= nowMs) return undefined;
  const message = `its crash kernel is armed and may be about to dump: a first message is waited for, kdump_start_timeout ${kdump.startTimeoutMs / 1000} s at most`;
  return { hold: { reason: 'kdump-awaited', policy: KDUMP_POLICY, message, untilMs: endsAtMs }, endsAtMs };
}
