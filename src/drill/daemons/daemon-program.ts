/** One `nodefence node` of a drill: the daemon as it ships, on the files of a played kernel. `argv[2]` names its configuration; stdin takes `{"jumpMs":3600000}`. */
import { readFileSync } from 'node:fs';
import type { WrittenTimes } from '../../domain/node-daemon/times.ts';
import { parseBindAddress } from '../../http/bind-address.ts';
import { jsonLog } from '../../node/shell/json-log.ts';
import type { StorageTarget } from '../../node/checks/storage-probe.ts';
import { runNodeDaemon } from '../../node/shell/run.ts';
import { obeyLines } from '../../testbed/processes/process-shell.ts';

interface Configuration {
  node: string;
  kubeconfig: string;
  address: string;
  root: string;
  stateDir: string;
  runDir: string;
  times: WrittenTimes;
  storage: readonly StorageTarget[];
  storageLostMs?: number;
}

async function main(): Promise<void> {
  const { root, address, ...configuration } = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as Configuration;
  // The machine that plays all others must not be the one that is reset.
  if (root === '/' || root === '') throw new Error('a drill needs a root of its own');
  const log = jsonLog('info', (line) => void process.stderr.write(line));
  const daemon = await runNodeDaemon({
    ...configuration,
    namespace: 'nodefence-system',
    listen: parseBindAddress(`${address}:7411`),
    root,
    watchdog: '/dev/watchdog0',
    isArmedBesideCrashKernel: false,
    fencesItself: true,
    postsConditions: false,
    version: 'drill',
    environment: {},
    log,
  });
  process.once('SIGTERM', () => {
    log.info('stopping', { signal: 'SIGTERM' });
    void daemon.close().then(() => process.exit(0));
  });
  obeyLines((line) => {
    const { jumpMs } = line as { jumpMs: number };
    const now = Date.now;
    Date.now = () => now() + jumpMs;
  });
}

await main();
