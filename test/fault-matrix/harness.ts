import { describe, expect, it, vi } from 'vitest';
import { AgentError } from '../../src/ports/agents.ts';
import { Case, PACE } from './case.ts';
import type { Pace } from './case.ts';
import { expectedOf } from './expectation.ts';
import { faultsOf } from './judge.ts';
import { ACTIONS, BEHAVIOURS } from './fault-profile.ts';
import type { Action, Behaviour, Oddity, FaultProfile } from './fault-profile.ts';

/** So many devices at once; most of the time they only wait. Fewer where each of them is a process. */
const AT_ONCE = 12;
/** The slowest case takes about 40 s on an idle machine. */
const CASE_TIMEOUT_MS = 150_000;
/** A reason shorter than this explains nothing. */
const REASON_MIN_LENGTH = 12;

/**
 * Registers every behaviour × action of one kind of device as a test, through the real dispatcher on the real clock. In a file of its own, which one of the
 * `*.test.ts` imports:
 *
 *     testFaultProfile({
 *       agent: redfish,
 *       cannot: { 'one-plug-stuck': 'a BMC has one machine' },
 *       words: { refuses: /Operator privilege is needed/u, unreachable: /ECONNREFUSED/u, ... },
 *       spawn: async (behaviour, isOn) => { ...start a device on loopback; return { parameters, plugs: [''], flows, commands, leftOpen, close, ... }; },
 *     });
 *
 * `spawn` runs up to 36 times at once, so every device has ports and folders of its own.
 */
export function testFaultProfile(profile: FaultProfile): void {
  vi.setConfig({ maxConcurrency: AT_ONCE });
  const { agent, cannot } = profile;
  describe.concurrent(`the fault matrix: ${agent.name}`, { timeout: CASE_TIMEOUT_MS }, () => {
    for (const behaviour of BEHAVIOURS.toSorted((left, right) => weightOf(right) - weightOf(left))) {
      if (cannot[behaviour] !== undefined) continue;
      for (const action of actionsOf(profile).toReversed())
        it(`${action} of a device that is ${behaviour} ${wordsFor(behaviour, action)}`, async () => {
          expect(await examine(profile, behaviour, action)).toEqual([]);
        });
    }
    for (const oddity of profile.oddities ?? []) {
      for (const action of actionsOf(profile).toReversed())
        it(`${action} of a device that ${oddity.name} ${wordsFor(oddity.like, action)}`, async () => {
          expect(await examine(oddOf(profile, oddity), oddity.like, action)).toEqual([]);
        });
    }
    it('says of every behaviour that it cannot show, why', () => {
      expect(Object.entries(cannot).filter(([, reason]) => reason.length < REASON_MIN_LENGTH)).toEqual([]);
    });
    it.runIf(agent.kind !== 'action')('sends nothing when the lease is lost in the turn of the send', async () => {
      expect(await examineWithoutLease(profile)).toEqual([]);
    });
    it('leaves nothing open when it is told to stop half way', async () => {
      expect(await examineAborted(profile)).toEqual([]);
    });
  });
}

/** For a file with several kinds whose devices run in this process: so many of them wait at once. After the kinds were registered. */
export function testTogether(atOnce: number): void {
  vi.setConfig({ maxConcurrency: atOnce });
}

function oddOf(profile: FaultProfile, oddity: Oddity): FaultProfile {
  const { like, words } = oddity;
  const told = words === undefined ? {} : { [like]: words };
  return { ...profile, words: { ...profile.words, ...told }, spawn: (_behaviour, isOn) => oddity.spawn(isOn) };
}

/** The long ones begin first, so that the short ones fill the gaps. */
function weightOf(behaviour: Behaviour): number {
  if (behaviour === 'slow') return 2;
  return ['accepts-and-lies', 'state-pending', 'flips-back-on', 'one-plug-stuck', 'late-after-deadline', 'hangs-mid-answer'].includes(behaviour)
    ? 1
    : 0;
}

function wordsFor(behaviour: Behaviour, action: Action): string {
  const expected = expectedOf(behaviour, action);
  return expected === 'succeeds' ? 'succeeds truthfully' : expected === 'fails' ? 'fails in the words of the device' : 'is true, or fails in words';
}

function actionsOf({ agent }: FaultProfile): readonly Action[] {
  if (agent.kind === 'action') return ['off', 'status'];
  return ACTIONS.filter((action) => action === 'status' || agent.actions.includes(action));
}

/** One case, judged; every fault in a sentence. */
export async function examine(profile: FaultProfile, behaviour: Behaviour, action: Action, pace: Pace = PACE): Promise<string[]> {
  const fixture = await profile.spawn(behaviour, action !== 'on');
  try {
    const problems = profile.agent.check(fixture.parameters, true).map(({ parameter, message }) => `parameter ${parameter} ${message}`);
    const account = await new Case(profile.agent, behaviour, fixture, pace).play(action);
    return [...problems, ...faultsOf(profile, behaviour, action, fixture, account)];
  } finally {
    await fixture.close();
  }
}

/** An honest device, and a controller that stops to be the leader in the very turn in which the off would be sent. */
export async function examineWithoutLease(profile: FaultProfile, pace: Pace = PACE): Promise<string[]> {
  const fixture = await profile.spawn('honest', true);
  const lost = (): void => {
    throw new AgentError('NotSent', { device: 'device', plug: '', asked: 'off', answered: 'the leader lease does not cover it' });
  };
  try {
    const { reports, commands, leftOpen } = await new Case(profile.agent, 'honest', fixture, pace, lost).play('off');
    const results = reports.map(({ result, message }) => `${result}: ${message}`);
    return [
      ...(reports.every(({ result }) => result === 'not-sent') && reports.length > 0 ? [] : [`it had to be not-sent: ${results.join('; ')}`]),
      ...(commands.length === 0 ? [] : ['the device was told something without a lease']),
      ...Object.entries(leftOpen).flatMap(([what, count]) => (count === 0 ? [] : [`${count} ${what} left open after close`])),
    ];
  } finally {
    await fixture.close();
  }
}

/** A device that is slow (or honest, where it cannot be), and a controller that is told to stop while it waits for it. */
export async function examineAborted(profile: FaultProfile, pace: Pace = PACE): Promise<string[]> {
  const fixture = await profile.spawn(profile.cannot.slow === undefined ? 'slow' : 'honest', true);
  const stopping = new AbortController();
  const timer = setTimeout(() => stopping.abort(new Error('the controller stops')), pace.offStableMs / 2);
  try {
    const outcome = await new Case(profile.agent, 'slow', fixture, pace).play('off', stopping.signal).then(
      () => 'it came to an end before it was told to stop',
      () => undefined,
    );
    const left = await emptied(fixture, pace);
    return [...(outcome === undefined || profile.cannot.slow !== undefined ? [] : [outcome]), ...left];
  } finally {
    clearTimeout(timer);
    await fixture.close();
  }
}

async function emptied(fixture: { leftOpen(): Record<string, number> }, { goneMs }: Pace): Promise<string[]> {
  const open = (): string[] => Object.entries(fixture.leftOpen()).flatMap(([what, count]) => (count === 0 ? [] : [`${count} ${what} left open`]));
  await vi.waitFor(() => expect(open()).toEqual([]), { timeout: goneMs, interval: 50 }).catch(() => undefined);
  return open();
}
