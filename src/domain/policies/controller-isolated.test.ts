import { describe, expect, it } from 'vitest';
import { controllerIsolated, DEFAULT_ISOLATION } from './controller-isolated.ts';
import type { IsolationSettings } from './controller-isolated.ts';
import { fence, heldBy, holdOf, node, nodes, NOW_MS, view } from './testing/views.ts';
import type { ControllerView, StormView } from './view.ts';

const policy = (settings: Partial<IsolationSettings> = {}): ReturnType<typeof controllerIsolated> =>
  controllerIsolated({ name: 'controller-isolated', ...DEFAULT_ISOLATION, ...settings });

function seen(controller: Partial<ControllerView>): StormView {
  const usual = view(nodes(2, 1));
  return { ...usual, controller: { ...usual.controller, ...controller } };
}

/** `+-?`: reached, not reached, not asked yet; named a, b, c, ... */
function targets(answers: string): ControllerView['targets'] {
  return new Map(Array.from(answers, (answer, index) => ['abcdefgh'.charAt(index), answer === '?' ? undefined : answer === '+']));
}

describe('controller-isolated', () => {
  it.each<[what: string, controller: Partial<ControllerView>, reason: string | undefined, untilMs?: number]>([
    ['long connected', {}, undefined],
    ['as old as may be', { freshAtMs: NOW_MS - 90_000 }, undefined],
    ['too old', { freshAtMs: NOW_MS - 90_001 }, 'stale-view'],
    ['just reconnected', { freshSinceMs: NOW_MS }, 'reconnected', NOW_MS + 40_000],
    ['one grace less a breath', { freshSinceMs: NOW_MS - 39_999 }, 'reconnected', NOW_MS + 1],
    ['one full grace', { freshSinceMs: NOW_MS - 40_000 }, undefined],
    ['reaches all', { targets: targets('+++') }, undefined],
    ['reaches two of three', { targets: targets('++-') }, undefined],
    ['reaches one of three', { targets: targets('+--') }, 'targets-unreachable'],
    ['reaches half of four', { targets: targets('++--') }, undefined],
    ['reaches one of two', { targets: targets('+-') }, undefined],
    ['does not reach the only one', { targets: targets('-') }, 'targets-unreachable'],
    ['what was not asked is not reached', { targets: targets('?') }, 'targets-unreachable'],
    ['stale comes before unreachable', { targets: targets('-'), freshAtMs: 0 }, 'stale-view'],
  ])('%s', (_what, controller, reason, untilMs) => {
    const found = holdOf(policy(), seen(controller));
    expect(found?.reason).toBe(reason);
    expect(found?.untilMs).toBe(untilMs);
  });

  it('lets a fence go on whose machine was switched off before: the device tells of it; only being cut off itself holds it', () => {
    const off = [node('a', { health: 'failed', fence: fence({ holdsSlot: true, isSwitchedOff: true, state: 'running' }) }), ...nodes(2, 1)];
    const reconnected = { ...view(off), controller: { ...view(off).controller, freshSinceMs: NOW_MS } };
    expect(heldBy(policy(), reconnected)).not.toContain('a');
    expect(heldBy(policy(), reconnected).length).toBeGreaterThan(0);
    expect(heldBy(policy(), { ...reconnected, controller: { ...reconnected.controller, targets: targets('-') } })).toContain('a');
  });

  it.each<[settings: Partial<IsolationSettings>, answers: string, isHeld: boolean]>([
    [{ minReachable: 1 }, '+---', false],
    [{ minReachable: 1 }, '----', true],
    [{ minReachable: 0 }, '----', false],
    [{ minReachable: 9 }, '+++', false],
    [{ minReachable: 9 }, '++-', true],
    [{ targets: ['a'] }, '+---', false],
    [{ targets: ['b'] }, '+---', true],
    [{ targets: ['z'] }, '++++', true],
  ])('%j with answers %s', (settings, answers, isHeld) => {
    expect(heldBy(policy(settings), seen({ targets: targets(answers) }))).toHaveLength(isHeld ? 2 : 0);
  });

  it('says what is not reached', () => {
    expect(holdOf(policy(), seen({ targets: targets('+--') }))?.message).toBe(
      'this controller reaches 1 of 3 targets, 2 are required (not b, c): it may be cut off itself; ends when it reaches 2',
    );
  });

  it('tells the shell what to ask', () => {
    expect(policy({ targets: ['https://192.0.2.1:6443'] }).targets).toEqual(['https://192.0.2.1:6443']);
  });
});
