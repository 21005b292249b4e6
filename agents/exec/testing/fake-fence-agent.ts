import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const parameter = (name: string, type: string, more = ''): string =>
  `<parameter name="${name}" unique="0" required="0"${more}><getopt mixed="--${name}" /><content type="${type}" /><shortdesc lang="en">${name}</shortdesc></parameter>`;

const PARAMETERS = [
  parameter('action', 'string'),
  parameter('ip', 'string', ' obsoletes="ipaddr"'),
  parameter('ipaddr', 'string', ' deprecated="1"'),
  parameter('username', 'string'),
  parameter('password', 'string', ' obsoletes="passwd"'),
  parameter('passwd', 'string', ' deprecated="1"'),
  parameter('plug', 'string', ' obsoletes="port"'),
  parameter('port', 'string', ' deprecated="1"'),
  parameter('ssl_insecure', 'boolean'),
  parameter('ssh', 'boolean', ' obsoletes="secure"'),
  parameter('missing_as_off', 'boolean'),
  parameter('power_timeout', 'second'),
  parameter('retry_on', 'integer'),
];

const ACTIONS = ['off', 'reboot', 'status', 'list', 'list-status', 'monitor', 'diag', 'metadata', 'validate-all'];

function metadataOf(name: string, isFabric: boolean): string {
  const actions = ACTIONS.filter((action) => !isFabric || action !== 'reboot').map((action) => `<action name="${action}" />`);
  return `<?xml version="1.0" ?>
<resource-agent name="${name}" shortdesc="A fake" ><longdesc>A fake</longdesc><vendor-url></vendor-url>
<parameters>${PARAMETERS.join('\n')}</parameters>
<actions><action name="on" automatic="${isFabric ? 1 : 0}"/>${actions.join('')}</actions></resource-agent>
`;
}

/** Lines of shell, by action; they see `$action`, `$plug`, `$state` (on or off) and may call `turn on` and `say on`. Absent: as an honest device. */
export interface FakeDevice {
  status?: string;
  off?: string;
  on?: string;
  list?: string;
  diag?: string;
  /** Before anything else, whatever is asked. */
  login?: string;
  isFabric?: boolean;
}

const HONEST: Readonly<Record<'status' | 'off' | 'on' | 'list' | 'diag', string>> = {
  status: 'say "$state"',
  off: 'turn off; echo "Success: Powered OFF"',
  on: 'turn on; echo "Success: Powered ON"',
  list: 'echo 1,one,ON; echo 2,two,OFF; echo 3,three,UNKNOWN',
  diag: 'echo "Success: Diag"',
};

/** A program `fence_fake` that is called as those of ClusterLabs are, with a power state in a file for each plug. */
export class FakeFenceAgent {
  readonly folder = mkdtempSync(join(tmpdir(), 'nodefence-fake-agent-'));

  constructor(device: FakeDevice = {}) {
    writeFileSync(join(this.folder, 'log'), '');
    writeFileSync(join(this.folder, 'stdin'), '');
    writeFileSync(join(this.folder, 'metadata'), metadataOf('fence_fake', device.isFabric === true));
    const body = { ...HONEST, ...device };
    const lines = [
      '#!/bin/sh',
      `cd ${this.folder} || exit 1`,
      'action=reboot plug=',
      'input=$(cat)',
      'while IFS= read -r line; do',
      '  case $line in action=*) action=${line#action=};; plug=*) plug=${line#plug=};; esac',
      'done <<END',
      '$input',
      'END',
      'if [ "$action" = metadata ]; then cat metadata; exit 0; fi',
      'printf "%s\\n" "$input" >stdin',
      'echo "$action $plug" >>log',
      'state=$(cat "state-$plug" 2>/dev/null || echo on)',
      'turn() { echo "$1" >"state-$plug"; }',
      'say() { if [ "$1" = on ]; then echo "Status: ON"; exit 0; else echo "Status: OFF"; exit 2; fi; }',
      device.login ?? ':',
      'case $action in',
      ...(['status', 'off', 'on', 'diag'] as const).map((action) => `  ${action}) ${body[action]};;`),
      `  list|list-status) ${body.list};;`,
      '  *) echo "Failed: Unrecognised action" >&2; exit 1;;',
      'esac',
    ];
    const file = join(this.folder, 'fence_fake');
    writeFileSync(file, `${lines.join('\n')}\n`);
    chmodSync(file, 0o755);
  }

  /** To be looked in before any other folder. */
  get path(): string {
    return `${this.folder}:/usr/bin:/bin`;
  }

  /** Actions with their plug, in order. */
  get calls(): string[] {
    return this.#linesOf('log');
  }

  /** What the last call was told. */
  get stdin(): string[] {
    return this.#linesOf('stdin');
  }

  power(plug: string): string {
    const file = join(this.folder, `state-${plug}`);
    return existsSync(file) ? readFileSync(file, 'utf8').trim() : 'on';
  }

  turn(plug: string, power: 'on' | 'off'): void {
    writeFileSync(join(this.folder, `state-${plug}`), `${power}\n`);
  }

  dispose(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  #linesOf(name: string): string[] {
    return readFileSync(join(this.folder, name), 'utf8')
      .split('\n')
      .filter((line) => line !== '');
  }
}
