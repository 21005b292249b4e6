import { execFileSync } from 'node:child_process';
import { mkdtempSync, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** What `ipmi_sim` answers to its chassis program: a state, or a failure. */
export interface SimAnswers {
  power: 'on' | 'off' | 'fails';
  sets: 'done' | 'fails';
}

/**
 * The program that ipmi_sim runs for each question about the chassis: it reads the truth from a file and hands what is to be set to a pipe.
 * `1<>` opens the pipe for reading too, so that nothing hangs when nobody listens any more.
 */
const CHASSIS = `#!/bin/sh
folder=$1; operation=$2; shift 2
read -r power sets <"$folder/answers"
case $operation in
get) for what in "$@"; do case $what in
  power) case $power in on) echo power:1;; off) echo power:0;; *) echo 'the BMC cannot tell'; exit 1;; esac;;
  boot) echo boot:default;;
  *) echo "unknown: $what"; exit 1;;
  esac; done;;
set) [ "$sets" = done ] || { echo 'the BMC cannot do it'; exit 1; }
  while [ $# -gt 1 ]; do
    case $1 in power|reset|shutdown) echo "$1 $2" 1<>"$folder/sets";; esac
    shift 2
  done;;
*) echo "unknown: $operation"; exit 1;;
esac
`;

const EMULATION = `mc_setbmc 0x20
mc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f 0x1291 0xf02 persist_sdr
sel_enable 0x20 1000 0x0a
mc_enable 0x20
`;

export interface SimConfiguration {
  host: string;
  port: number;
  /** As lan.conf wants it: 32 hexadecimal digits. */
  guidHex: string;
  username: string;
  password: string;
}

/** The files of one ipmi_sim, in a folder of its own that only its owner can read. */
export class SimFiles {
  readonly folder: string;

  constructor(parent: string) {
    this.folder = mkdtempSync(join(resolve(parent), 'ipmi-sim-'));
    if (/[^\w./-]/.test(this.folder)) throw new Error(`${this.folder}: ipmi_sim takes no path with blanks or special characters`);
    writeFileSync(join(this.folder, 'chassis.sh'), CHASSIS, { mode: 0o700 });
    writeFileSync(join(this.folder, 'sim.emu'), EMULATION);
    execFileSync('mkfifo', ['-m', '600', this.setsPipe]);
  }

  get setsPipe(): string {
    return join(this.folder, 'sets');
  }

  /** In one step: a reader sees the old answers or the new ones. */
  answer({ power, sets }: SimAnswers): void {
    const next = join(this.folder, 'answers.next');
    writeFileSync(next, `${power} ${sets}\n`);
    renameSync(next, join(this.folder, 'answers'));
  }

  /** Writes the configuration and gives ipmi_sim's arguments. Only RMCP+ comes in: no authentication of IPMI 1.5 is allowed. */
  configure({ host, port, guidHex, username, password }: SimConfiguration): string[] {
    const lines = [
      'name "drill"',
      'set_working_mc 0x20',
      '  startlan 1',
      `    addr ${host} ${port}`,
      '    priv_limit admin',
      `    guid ${guidHex}`,
      '  endlan',
      `  chassis_control "${this.folder}/chassis.sh ${this.folder}"`,
      `  user 2 true "${username}" "${password}" admin 40 md5`,
    ];
    const file = join(this.folder, 'lan.conf');
    writeFileSync(file, `${lines.join('\n')}\n`, { mode: 0o600 });
    return ['-c', file, '-f', join(this.folder, 'sim.emu'), '-s', this.folder];
  }
}
