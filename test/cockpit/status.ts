import type { NodeDaemonStatus } from '../../src/node/core/daemon.ts';

/** A node that is well. */
export const KEPT: NodeDaemonStatus = {
  node: 'worker-1',
  bootID: '2f1c6f0e-7f0e-4d0c-9f57-0d7f6b1f7a11',
  phase: 'kept',
  keptForSeconds: 4.2,
  watchdog: { state: 'armed', feeds: 31, device: '/dev/watchdog0', identity: 'iTCO_wdt', timeoutSeconds: 10 },
  grantedSecondsAgo: 0.7,
  controllers: ['192.0.2.1:7411', '192.0.2.2:7411'],
  peers: [
    { node: 'worker-2', domain: 'rack-b', isAttested: true },
    { node: 'worker-3', isAttested: false },
  ],
  attestedSecondsAgo: 12,
  areGrantsEnded: false,
  checks: [
    { name: 'storage', health: 'ok', sentence: '1 storage target answered', secondsAgo: 8 },
    { name: 'bmc', health: 'unknown', sentence: 'ipmitool is not installed', secondsAgo: 200 },
  ],
  refusedDatagrams: {},
  problems: [],
};

const EVIL = `<img src=x onerror="window.taken=1"><script>window.taken=1</script>\u202e&lt;b&gt;\u001b[31m ${'long'.repeat(60)}`;

/** A node that somebody broke into: every text that it may choose wants to be HTML, and to break the layout. */
export const HOSTILE = {
  ...KEPT,
  node: EVIL,
  bootID: EVIL,
  phase: EVIL,
  watchdog: { state: EVIL, feeds: EVIL, device: EVIL, identity: EVIL, timeoutSeconds: EVIL },
  controllers: [EVIL],
  peers: [{ node: EVIL, domain: EVIL, isAttested: EVIL }, EVIL, null],
  checks: [{ name: EVIL, health: '__proto__', sentence: EVIL, secondsAgo: EVIL }, null],
  refusedDatagrams: { [EVIL]: EVIL },
  problems: [EVIL, { toString: EVIL }, ...Array.from({ length: 80 }, () => 'one more')],
};
