import { expect, it } from 'vitest';
import { pageOf } from './status-page.ts';

it('shows what a daemon says of itself, line by line', () => {
  const page = pageOf({
    node: 'node-1',
    bootID: 'boot-1',
    phase: 'isolated',
    keptForSeconds: -12.34,
    watchdog: { feeds: 3, state: 'armed', device: '/dev/watchdog0', identity: 'iTCO_wdt', timeoutSeconds: 10 },
    controllers: [],
    peers: [
      { node: 'node-2', domain: 'rack-2', isAttested: true },
      { node: 'node-3', isAttested: false },
    ],
    areGrantsEnded: true,
    checks: [{ name: 'storage', health: 'problem', sentence: 'no answer for 4 s: /mnt/shared', secondsAgo: 7 }],
    refusedDatagrams: { forged: 3 },
    problems: ['the attestation cannot be written: \u001b[31mno answer'],
  });
  expect(page.split('\n')).toEqual([
    'Node:        node-1',
    'Boot:        boot-1',
    'Self-fence:  isolated, not kept up for 12.3 s',
    'Watchdog:    armed /dev/watchdog0 (iTCO_wdt), 10 s',
    'Attested:    never',
    'Controllers: none known',
    'Peers:       node-2 (rack-2); node-3, not attested yet',
    'Check:       storage: no answer for 4 s: /mnt/shared (7 s ago)',
    'Refused:     3 datagrams: forged',
    'Grants:      ended: this boot goes down',
    expect.stringMatching(/^Problem: {5}the attestation cannot be written: [^\u001b]*no answer$/),
  ]);
});
