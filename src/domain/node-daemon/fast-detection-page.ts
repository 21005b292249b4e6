import { FAST_ROWS } from './fast-detection.ts';

const VERDICTS = [
  ['none', 'nothing is done, and nothing said'],
  ['suspected', 'it is said, and nothing is done: Kubernetes finds the node in its own time'],
  ['held', 'the same; the peers are not even asked'],
  ['failed', 'the fence of the node begins, with the delays that are configured'],
] as const;

/** docs/fast-detection.md, printed from the table that decides. */
export function fastDetectionPage(): string {
  const lines = [
    '# Fast detection',
    '',
    'Printed from the table in `src/domain/node-daemon/fast-detection.ts` by `npm run generate`; do not edit. How it is switched on stands in [node-daemon.md](node-daemon.md).',
    '',
    'The leader asks the table four times a second about each node whose daemon is silent. The first row that applies decides. In the turn in which the first off is sent it is asked once more.',
    '',
    '| row | when | verdict |',
    '|---|---|---|',
    ...FAST_ROWS.map(({ id, when, verdict }) => `| \`${id}\` | ${when} | ${verdict} |`),
    '',
    '| verdict | what follows |',
    '|---|---|',
    ...VERDICTS.map(([verdict, words]) => `| ${verdict} | ${words} |`),
    '',
  ];
  return lines.join('\n');
}
