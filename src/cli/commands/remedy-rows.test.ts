import { describe, expect, it } from 'vitest';
import { Problems } from '../../config/problems.ts';
import { readRemedies } from '../../config/remedies.ts';
import { remediesFor } from '../../domain/remedy/reach.ts';
import type { NodeRemedies } from '../../domain/remedy/reach.ts';
import type { NodeFenceReport } from '../../ports/resources.ts';
import { configuredRemedies, remediesOf, remedyWord } from './remedy-rows.ts';
import type { RemedyRow } from './remedy-rows.ts';
import { node } from './testing/pictured-cluster.ts';

const CONFIGURATION = `
apiVersion: node-remedy/v1alpha
kind: Configuration
thresholdConfigs:
  - {nodeConditionType: Ready, nodeConditionStatus: false, nodeConditionPeriod: 5s, remedy1: {name: drain}, recovery: {name: uncordon}}
  - {nodeConditionType: KernelDeadlock, nodeConditionStatus: true, nodeConditionPeriod: 1m, remedy1: {name: fence}}
`;
const configured = (...texts: string[]): NodeRemedies =>
  remediesFor(
    readRemedies(
      texts.map((text, index) => ({ name: `r${index}`, data: { 'a.yaml': text } })),
      new Problems(),
    ),
    {},
  );

const row = (phase: RemedyRow['phase'], remedy?: string): RemedyRow => ({
  ...{ threshold: 'T=True', phase, attempt: 1, since: '2026-11-25T00:00:00Z' },
  ...(remedy !== undefined && { remedy }),
});

describe('remedies in tables and explanations', () => {
  it('are what the leader wrote', () => {
    const position = {
      threshold: 'T=True',
      episode: 'e',
      phase: 'running',
      attempt: 2,
      rung: 1,
      serial: 1,
      hasActed: true,
      since: 's',
      message: 'drain runs',
    };
    const run = { id: 'i', remedy: 'drain', kind: 'evict', of: '1' };
    const report = { metadata: { name: 'a' }, status: { remedies: { positions: [{ ...position, run }] } } } as NodeFenceReport;
    expect(remediesOf(report)).toEqual([{ threshold: 'T=True', phase: 'running', attempt: 2, since: 's', remedy: 'drain', message: 'drain runs' }]);
    expect(remediesOf(undefined)).toEqual([]);
  });

  it.each<[rows: RemedyRow[], word: string | undefined]>([
    [[], undefined],
    [[row('running', 'drain')], 'drain'],
    [[row('starting', 'drain')], 'drain?'],
    [[row('waiting'), row('running', 'fix')], 'fix'],
    [[row('running', 'fix'), row('handed-over')], 'handed-over'],
    [[row('recovered')], 'recovered'],
  ])('%j', (rows, word) => {
    expect(remedyWord(rows)).toBe(word);
  });

  it('say what is configured, what the node says to that, and who contradicts whom', () => {
    expect(configuredRemedies(configured(CONFIGURATION), node('a', 'True', 60))).toEqual([
      'Ready=False (now True): drain, recovery uncordon',
      'KernelDeadlock=True (the Node has no such condition): fence',
    ]);
    expect(configuredRemedies(configured(CONFIGURATION, CONFIGURATION), node('a', 'True', 60))).toContain(
      'KernelDeadlock True is answered by nobody: r0/a.yaml and r1/a.yaml both do',
    );
  });
});
