import type { Clock } from '../../src/ports/clock.ts';
import type { Behaviour } from './fault-profile.ts';
import { startSshHost } from './ssh-host.ts';
import type { Ending, SshHost } from './ssh-host.ts';

/** Boot ID of the healthy host; that of the node is another one, or the same where the host is the wrong machine. */
export const HOST_BOOT_ID = '11111111-1111-4111-8111-111111111111';
export const VICTIM = '123abc01';
export const DEVICE = '/dev/disk/by-id/wwn-0x5000c500a1b2c3d4';
const OWN = '123abc02';
const CALL_MS = 4_000;
const ACTS_MS = 8_000;
const FLIPS_MS = 500;

export interface ScsiHost extends SshHost {
  /** How often the victim's key was told to be taken away. */
  told(): number;
  /** The victim's key is registered, so that the device takes its writes. */
  isRegistered(): boolean;
}

/** A host that is well, with one shared device: `fence_scsi` and `sg_persist` as they speak, in front of keys that really go, or do not. */
export async function startScsiHost(clock: Clock, behaviour: Behaviour, isOn: boolean, password: string): Promise<ScsiHost> {
  const timers = new Set<() => void>();
  let isRegistered = isOn;
  let told = 0;
  const later = (delayMs: number, act: () => void): void => void timers.add(clock.after(delayMs, act));
  const preempt = (): void => void (isRegistered = false);

  function fenced(input: string): Ending {
    told += 1;
    const said = (stdout: string, code = 0, stderr = ''): Ending => ({ stdout, stderr, code });
    if (input !== `action=off\ndevices=${DEVICE}\nkey=${VICTIM}\n`) return said('', 1, `Failed: You have to enter ${input}\n`);
    if (behaviour === 'refuses') return said('', 1, 'Failed: unable to preempt: Permission denied\n');
    if (behaviour === 'accepts-and-lies') return said('Success: Powered OFF\n');
    if (behaviour === 'late-after-deadline') {
      later(CALL_MS + 1_500, preempt);
      return { ...said('Success: Powered OFF\n'), afterMs: CALL_MS + 1_000 };
    }
    if (behaviour === 'slow') later(ACTS_MS, preempt);
    else preempt();
    if (behaviour === 'flips-back-on') later(FLIPS_MS, () => void (isRegistered = true));
    return said('Success: Powered OFF\n');
  }

  function answer(command: string, input: string): Ending {
    const said = (stdout: string, code = 0, stderr = ''): Ending => ({ stdout, stderr, code });
    if (command === 'cat /proc/sys/kernel/random/boot_id') return said(`${HOST_BOOT_ID}\n`);
    if (command === '/usr/sbin/fence_scsi') return fenced(input);
    if (!command.startsWith('/usr/bin/sg_persist -n -i ')) return said('', 127, `sh: ${command}: not found\n`);
    if (behaviour === 'garbage') return said('%$#\u0007 \n');
    if (behaviour === 'state-null') return said('');
    return command.includes(' -k ') ? said(keysShown()) : said(reservationShown());
  }

  function keysShown(): string {
    const keys = isRegistered ? [VICTIM, OWN] : [OWN];
    const count = behaviour === 'state-unknown' ? 3 : keys.length;
    return `  PR generation=0x6, ${count} registered reservation key${keys.length === 1 ? '' : 's'} follow${keys.length === 1 ? 's' : ''}:\n${keys.map((key) => `    0x${key}\n`).join('')}`;
  }

  function reservationShown(): string {
    return `  PR generation=0x6, Reservation follows:\n    Key=0x${OWN}\n  scope: LU_SCOPE,  type: Write Exclusive, registrants only\n`;
  }

  const host = await startSshHost({ clock, behaviour, password, answer });
  return {
    ...host,
    told: () => told,
    isRegistered: () => isRegistered,
    async close() {
      for (const cancel of timers) cancel();
      await host.close();
    },
  };
}
