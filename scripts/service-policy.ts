import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';

const MARK = '# nodefence: no service starts while its tests install packages.';

/**
 * Runs `work` while Debian's packages are told to start nothing (invoke-rc.d(8), `policy-rc.d`): programs that tests start themselves must not appear as
 * services of the machine. A policy of somebody else's stays as it is. One that a killed installation left behind forbids nothing any more: it asks
 * whether that process still runs.
 */
export function withoutServices<T>(file: string, work: () => T): T {
  if (existsSync(file) && !readFileSync(file, 'utf8').includes(MARK)) return work();
  writeFileSync(file, `#!/bin/sh\n${MARK}\nkill -0 ${process.pid} 2>/dev/null && exit 101\nexit 0\n`);
  chmodSync(file, 0o755);
  try {
    return work();
  } finally {
    rmSync(file, { force: true });
  }
}
