// One check that reads files: `check-child <name> <root> <state folder>`, in a process of its own, because a file system may hang in the kernel for ever.
// `check-child file-systems <root> <what is asked>` is told as JSON which folders were written to.
// Says what it found as one line of JSON.
import { uptime } from 'node:os';
import { checkHardware, USUAL_LIMITS } from './hardware.ts';
import { checkKdump } from './kdump.ts';
import { checkMounts } from './mount-verdict.ts';
import type { MountsAsked } from './mount-verdict.ts';
import { checkPreviousBoot } from './previous-boot.ts';
import { unknown } from './verdict.ts';
import type { Verdict } from './verdict.ts';
import { checkWatchdog } from './watchdog.ts';

const [, , name, root = '/', given = ''] = process.argv;

function check(): Promise<Verdict> {
  switch (name) {
    case 'hardware':
      return checkHardware({ root, stateFolder: given, clock: { bootMs: () => uptime() * 1_000 } }, USUAL_LIMITS);
    case 'kdump':
      return checkKdump(root, []);
    case 'watchdog':
      return checkWatchdog(root, { isHardware: false });
    case 'previous-boot':
      return checkPreviousBoot({ root, stateFolder: given }, { once: false });
    case 'file-systems':
      return checkMounts(root, JSON.parse(given) as MountsAsked);
    default:
      return Promise.resolve(unknown(`there is no check ${name ?? ''}`));
  }
}

const found = await check().catch((error: unknown) => unknown(error instanceof Error ? error.message : String(error)));
process.stdout.write(`${JSON.stringify(found)}\n`);
