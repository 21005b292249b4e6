import { expect, it } from 'vitest';
import { folderOf, tableOf } from './table.ts';

it.each([
  ['agents/ipmi/native/keys.ts', 'agents/ipmi'],
  ['src/kube/kubeconfig/user.ts', 'src/kube'],
  ['src/controllers/machine-health-check/read/fields.ts', 'src/controllers/machine-health-check'],
  [undefined, 'simulation'],
])('a mutant of %s counts for %s', (file, folder) => {
  expect(folderOf(file)).toBe(folder);
});

it('the table says of each folder what was planted, what was killed, and by what', () => {
  const rows = [
    { file: 'src/kube/client.ts', killer: 'test “reads” (src/kube/client.test.ts)' },
    { file: 'src/domain/automaton.ts', killer: 'search: P3' },
    { file: 'src/kube/kubeconfig/user.ts', killer: undefined },
    { file: 'src/domain/rows/any.ts', killer: 'test “holds” (src/domain/automaton.test.ts)' },
    { file: undefined, killer: 'P1: off without a proof' },
    { file: 'agents/ack/agent.ts', killer: undefined },
  ];
  expect(tableOf(rows)).toEqual([
    'agents/ack  1 planted, 0 killed',
    'simulation  1 planted, 1 killed: 1 by simulation',
    'src/domain  2 planted, 2 killed: 1 by search, 1 by test',
    'src/kube    2 planted, 1 killed: 1 by test',
  ]);
});
