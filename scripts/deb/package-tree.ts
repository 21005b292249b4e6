import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { lockedPackages } from '../supply/locked-packages.ts';
import { billOfMaterials } from '../supply/bill.ts';
import { packedNode } from '../supply/packed-node.ts';
import { prune } from '../supply/prune.ts';
import { control, COPYRIGHT, POSTINST, PRERM, unitOf, UNITS, WRAPPER } from './control.ts';

const PROGRAM = 'usr/lib/nodefence';
const DOCS = 'usr/share/doc/nodefence';
const CONFIGURATION = ['controller.env', 'node.env'];

type Manifest = Parameters<typeof billOfMaterials>[0] & { description: string };

/** As dpkg names it. */
export type Architecture = 'amd64' | 'arm64';
const PLATFORMS: Readonly<Record<Architecture, string>> = { amd64: 'linux-x64', arm64: 'linux-arm64' };

/** Everything that the package installs, under `tree`, and its DEBIAN folder. `isOwn`: the Node that runs is the one that is packed. */
export function fillTree(root: string, tree: string, architecture: Architecture, isOwn: boolean): void {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest;
  program(root, join(tree, PROGRAM), manifest, PLATFORMS[architecture]);
  if (isOwn) cpSync(realpathSync(process.execPath), join(tree, PROGRAM, 'node'), { dereference: true });
  else packedNode(root, join(tree, PROGRAM), architecture);
  pages(root, tree);
  services(root, tree);
  for (const name of ['nodefence', 'kubectl-fence']) write(tree, `usr/bin/${name}`, WRAPPER, 0o755);
  for (const folder of ['config', 'charts', 'cockpit']) cpSync(join(root, folder), join(tree, 'usr/share/nodefence', folder), { recursive: true });
  const size = Number(execFileSync('du', ['-sk', tree], { encoding: 'utf8' }).split('\t')[0]);
  const { version, description } = manifest;
  write(tree, 'DEBIAN/control', control({ version, architecture, description, installedKilobytes: size }));
  write(tree, 'DEBIAN/conffiles', CONFIGURATION.map((name) => `/etc/nodefence/${name}\n`).join(''));
  write(tree, 'DEBIAN/postinst', POSTINST, 0o755);
  write(tree, 'DEBIAN/prerm', PRERM, 0o755);
  // Whatever the umask of whoever builds.
  execFileSync('chmod', ['-R', 'u+rwX,go+rX,go-w', tree]);
}

function write(tree: string, path: string, content: string | Buffer, mode = 0o644): void {
  const file = join(tree, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
  chmodSync(file, mode);
}

function program(root: string, place: string, manifest: Manifest, platform: string): void {
  mkdirSync(place, { recursive: true });
  for (const name of ['package.json', 'package-lock.json', '.npmrc']) cpSync(join(root, name), join(place, name));
  const options = { cwd: place, stdio: ['ignore', 'ignore', 'inherit'] as ['ignore', 'ignore', 'inherit'] };
  execFileSync('npm', ['ci', '--ignore-scripts', '--omit=dev', '--omit=optional', '--prefer-offline', '--no-progress'], options);
  write(place, 'sbom.cdx.json', billOfMaterials(manifest, lockedPackages(place)));
  prune(join(place, 'node_modules'), platform);
  for (const name of ['package-lock.json', '.npmrc', 'node_modules/.package-lock.json']) rmSync(join(place, name), { force: true });
  // Test clusters and devices are no part of the product, as in the image.
  execFileSync(process.execPath, [join(root, 'scripts/supply/bundle.ts'), '--product', '--out', join(place, 'dist/src')]);
}

function pages(root: string, tree: string): void {
  for (const name of readdirSync(join(root, 'man'))) {
    write(tree, `usr/share/man/man1/${name}.gz`, gzipSync(readFileSync(join(root, 'man', name)), { level: 9 }));
  }
  symlinkSync('nodefence.1.gz', join(tree, 'usr/share/man/man1/kubectl-fence.1.gz'));
  cpSync(join(root, 'docs'), join(tree, DOCS), { recursive: true });
  write(tree, `${DOCS}/systemd/README.md`, readFileSync(join(root, 'systemd/README.md')));
  write(tree, `${DOCS}/copyright`, COPYRIGHT);
  write(tree, `${DOCS}/changelog.gz`, gzipSync(readFileSync(join(root, 'CHANGELOG.md')), { level: 9 }));
}

function services(root: string, tree: string): void {
  const text = (name: string): string => readFileSync(join(root, 'systemd', name), 'utf8');
  for (const name of UNITS) write(tree, `usr/lib/systemd/system/${name}`, unitOf(text(name)));
  for (const name of CONFIGURATION) write(tree, `etc/nodefence/${name}`, text(name));
  write(tree, 'usr/lib/sysusers.d/nodefence.conf', text('nodefence.sysusers.conf'));
}
