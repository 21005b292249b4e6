// `npm run deb:try -- [--arch amd64|arm64]`: builds the Debian package, installs it in a clean Debian tree made by debootstrap, tries what it brought, and removes it again. Root, on Debian.
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { UNITS } from '../../scripts/deb/control.ts';
import { setUpPackages, thisMachine } from '../../scripts/packages.ts';
import { VERSION } from '../../src/cli/version.ts';
import { startTestProcess, TEST_PASSWORD } from '../../src/testbed/devices/ipmi/test-process.ts';
import { architectureOf, OWN } from '../image/architecture.ts';
import { debianTree } from '../image/bases.ts';
import { EMULATOR, whyNotRun } from '../image/emulation.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const CACHE = join(homedir(), '.cache', 'nodefence-image');
const PROGRAMS = [
  { command: 'debootstrap', package: 'debootstrap' },
  { command: 'systemd-analyze', package: 'systemd' },
  { command: 'ipmi_sim', package: 'openipmi' },
];
const { values } = parseArgs({ options: { arch: { type: 'string', default: OWN } } });
const ARCHITECTURE = architectureOf(values.arch);

/** A Debian with nothing but its base; of another architecture the kernel runs its programs by an emulator. */
class Tree {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
    execFileSync('cp', ['-a', debianTree(CACHE, ARCHITECTURE), folder]);
  }

  run(...command: readonly string[]): { code: number; said: string } {
    return this.runWith('', ...command);
  }

  runWith(input: string, ...command: readonly string[]): { code: number; said: string } {
    const { status, stdout, stderr } = spawnSync('chroot', [this.folder, ...command], {
      encoding: 'utf8',
      input,
      env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', DEBIAN_FRONTEND: 'noninteractive' },
    });
    return { code: status ?? 1, said: stdout + stderr };
  }

  path(...words: readonly string[]): string {
    return join(this.folder, ...words);
  }
}

function built(): string {
  const said = execFileSync(process.execPath, [join(ROOT, 'scripts/deb/main.ts'), '--arch', ARCHITECTURE], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return said.split(' ')[0] ?? '';
}

function same(seen: unknown, wanted: unknown): void {
  if (JSON.stringify(seen) !== JSON.stringify(wanted)) throw new Error(`${JSON.stringify(seen)} instead of ${JSON.stringify(wanted)}`);
}

const EDITED = 'NODEFENCE_MODE=enforce\n';

/** In this order: each goes on where the last one left the tree. */
const TRIALS: Readonly<Record<string, (tree: Tree, file: string) => void | Promise<void>>> = {
  'installs with nothing but the base of Debian': (tree, file) => {
    copyFileSync(file, tree.path('nodefence.deb'));
    const { code, said } = tree.run('dpkg', '--install', '/nodefence.deb');
    if (code !== 0) throw new Error(said);
  },
  'says its version, and brings every command': (tree) => {
    same(tree.run('nodefence', '--version'), { code: 0, said: `${VERSION}\n` });
    same(tree.run('kubectl-fence', '--version'), { code: 0, said: `${VERSION}\n` });
    for (const command of ['controller', 'status', 'node', 'validate', 'manifests']) same(tree.run('nodefence', command, '--help').code, 0);
  },
  'reads the power of a BMC': async (tree) => {
    const bmc = await startTestProcess('ipmi-sim');
    try {
      const lines = {
        ip: '127.0.0.1',
        ipport: bmc.ready.port,
        username: 'admin',
        password: TEST_PASSWORD,
        transport: 'native',
        cipher: 3,
        action: 'status',
      };
      const input = Object.entries(lines).map(([key, value]) => `${key}=${value}\n`);
      const { code, said } = tree.runWith(input.join(''), 'nodefence', 'agent', 'ipmi');
      same([code, /\bON\b/i.test(said) || said], [0, true]);
    } finally {
      await bmc.stop();
    }
  },
  'prints the manifests that the folder of its own has': (tree) => {
    const { code, said } = tree.run('nodefence', 'manifests');
    same([code, said.includes('kind: CustomResourceDefinition')], [0, true]);
    same(existsSync(tree.path('usr/share/nodefence/config/observe/kustomization.yaml')), true);
  },
  'makes a user without a shell': (tree) => {
    same(/^nodefence:x:\d+:\d+:.*:\/usr\/sbin\/nologin\n$/.test(tree.run('getent', 'passwd', 'nodefence').said), true);
  },
  'belongs to root, and nobody else writes to it': (tree) => {
    same(tree.run('find', '/usr/lib/nodefence', '/etc/nodefence', '!', '-user', 'root', '-o', '-perm', '/022', '!', '-type', 'l').said, '');
  },
  'brings units that systemd understands, whose programs are there': (tree) => {
    for (const unit of UNITS) {
      const text = readFileSync(tree.path('usr/lib/systemd/system', unit), 'utf8');
      const [, program] = /^ExecStart=(\S+)/m.exec(text) ?? [];
      same(program === undefined, unit.endsWith('.timer'));
      if (program !== undefined) same([unit, program, (statSync(tree.path(program)).mode & 0o111) !== 0], [unit, program, true]);
      const { stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', '--recursive-errors=no', `--root=${tree.folder}`, unit], {
        encoding: 'utf8',
      });
      same(
        stderr.split('\n').filter((line) => line.includes('nodefence')),
        [],
      );
    }
  },
  'brings a manual page for each command': (tree) => {
    same(Number(tree.run('sh', '-c', 'ls /usr/share/man/man1/nodefence*.1.gz | wc -l').said) >= 17, true);
  },
  'keeps what an admin wrote into its configuration when it is installed again': (tree) => {
    writeFileSync(tree.path('etc/nodefence/controller.env'), EDITED);
    same(tree.run('dpkg', '--force-confold', '--install', '/nodefence.deb').code, 0);
    same(readFileSync(tree.path('etc/nodefence/controller.env'), 'utf8'), EDITED);
  },
  'is removed but for that, and purged wholly': (tree) => {
    same(tree.run('dpkg', '--remove', 'nodefence').code, 0);
    same(
      ['usr/lib/nodefence', 'usr/bin/nodefence', 'etc/nodefence/controller.env'].map((path) => existsSync(tree.path(path))),
      [false, false, true],
    );
    same(tree.run('dpkg', '--purge', 'nodefence').code, 0);
    same(existsSync(tree.path('etc/nodefence')), false);
  },
  'is the same when it is built again': (_tree, file) => {
    const before = readFileSync(file);
    same(built(), file);
    same(readFileSync(file).equals(before), true);
  },
};

const programs = [...PROGRAMS, ...(ARCHITECTURE === OWN ? [] : [EMULATOR])];
const missing = setUpPackages(programs, thisMachine(), (line) => process.stdout.write(`${line}\n`));
if (missing.length > 0 || process.getuid?.() !== 0)
  throw new Error(`npm run deb:try needs root on Debian, and these packages: ${programs.map((program) => program.package).join(' ')}`);
const notRun = whyNotRun(ARCHITECTURE);
if (notRun !== undefined) throw new Error(`programs for ${ARCHITECTURE} do not run here: ${notRun}`);
const work = mkdtempSync(join(tmpdir(), 'nodefence-deb-try-'));
try {
  const file = built();
  process.stdout.write(`${file} ${(statSync(file).size / 1e6).toFixed(1)} MB\n`);
  const tree = new Tree(join(work, 'tree'));
  for (const [name, trial] of Object.entries(TRIALS)) {
    try {
      await trial(tree, file);
      process.stdout.write(`  ok      ${name}\n`);
    } catch (error) {
      process.exitCode = 1;
      process.stdout.write(`  NOT SO  ${name}: ${error instanceof Error ? error.message : String(error)}\n`);
    }
  }
} finally {
  rmSync(work, { recursive: true, force: true });
}
