import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../scenarios/waiting.ts';
import { cloned, NO_REGISTRY, NoRegistry, run } from './installation.ts';

/** Two installations and a build, on a loaded machine. */
const STEPS_DEADLINE_MS = 600_000;
const START_DEADLINE_MS = 240_000;
/** What acts upon a machine's own service manager, or a cluster: each call is written down. */
const STANDS_FOR = ['kubectl', 'systemctl', 'systemd-sysusers', 'journalctl'];
/** Places of a machine that the page writes to. */
const PLACES = /(?<=^|[\s=:-])\/(?=opt\/|etc\/|usr\/lib\/)/gmu;

/** A machine whose root is a folder, on which systemd/README.md was followed. */
export interface Machine {
  root: string;
  /** Where the package was installed to. */
  home: string;
  /** What was asked of kubectl and systemd, a line each. */
  calls: string;
}

/** Carries out the commands of systemd/README.md, as written, in a fresh clone. */
export async function followed(folder: string, kubeconfig: string): Promise<Machine> {
  const root = join(folder, 'machine');
  const programs = join(root, 'bin');
  const calls = join(root, 'calls');
  mkdirSync(programs, { recursive: true });
  for (const name of STANDS_FOR) {
    writeFileSync(join(programs, name), `#!/bin/sh\necho "${name} $*" >> ${calls}\n`);
    chmodSync(join(programs, name), 0o755);
  }
  const clone = cloned(folder);
  const page = readFileSync(join(clone, 'systemd', 'README.md'), 'utf8');
  const steps = moved(/```sh\n([^]*?)```/u.exec(page)?.[1] ?? '', root).replace('YOUR-KUBECONFIG', kubeconfig);
  const { code, stderr } = await run(['sh', '-e', '-c', steps], clone, STEPS_DEADLINE_MS, [programs]);
  if (code !== 0 && NO_REGISTRY.test(stderr)) throw new NoRegistry(stderr.trim().split('\n')[0] ?? '');
  if (code !== 0) throw new Error(`the commands of systemd/README.md ended with ${code ?? 'a signal'}: ${stderr.slice(-2_000)}`);
  return { root, home: join(root, 'opt', 'nodefence'), calls: readFileSync(calls, 'utf8') };
}

function moved(text: string, root: string): string {
  return text.replaceAll(PLACES, `${root}/`);
}

/** Starts the unit that was installed as systemd would; its log until it leads. */
export async function begun({ root }: Machine): Promise<string> {
  const unit = moved(readFileSync(join(root, 'etc/systemd/system/nodefence-controller.service'), 'utf8'), root);
  const valueOf = (key: string): string => new RegExp(`^${key}=-?(.*)$`, 'mu').exec(unit)?.[1] ?? '';
  const [credential = '', source = ''] = valueOf('LoadCredential').split(':');
  const credentials = join(root, 'run');
  mkdirSync(credentials);
  writeFileSync(join(credentials, credential), readFileSync(source), { mode: 0o400 });
  const given = valueOf('Environment').replaceAll('%H', 'a-machine').replaceAll('%d', credentials).split(' ');
  const lines = [...given, ...readFileSync(valueOf('EnvironmentFile'), 'utf8').split('\n')].filter((line) => /^[A-Z_]+=/u.test(line));
  const variables = lines.map((line): [string, string] => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]);
  // Another port than the unit's: a service of this machine may have that one.
  const env = { ...Object.fromEntries(variables), NODEFENCE_HTTP_ADDRESS: '127.0.0.1:0' };
  const [program = '', ...rest] = valueOf('ExecStart').split(' ');
  const service = spawn(program, rest, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  service.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()));
  const ended = new Promise<void>((resolve) => service.once('close', () => resolve()));
  const leads = async (): Promise<true | undefined> => (log.includes('"message":"leading"') ? true : undefined);
  try {
    await until('the service leads', leads, START_DEADLINE_MS, async () => log.slice(-2_000));
    return log;
  } finally {
    service.kill('SIGTERM');
    await ended;
  }
}
