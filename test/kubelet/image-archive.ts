import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { buildStage } from '../installation/image.ts';

const WITHIN_MS = 300_000;
/** Beside what the Dockerfile copies, a container needs its interpreter and what that loads; here they are this machine's, which brings the pinned Node. */
const ACCOUNTS = { 'etc/passwd': 'root:x:0:0:root:/root:/sbin/nologin\n', 'etc/group': 'root:x:0:\n', 'etc/nsswitch.conf': 'hosts: files dns\n' };

/** The image `name` of the Dockerfile's stage `target`, as `ctr images import` takes it: no engine and no registry is asked. Its path. */
export async function imageArchive(target: string, name: string, work: string): Promise<string> {
  const built = await buildStage(target, join(work, 'stages'));
  const base = join(work, 'base');
  writeBase(base);
  const image = join(work, 'image');
  mkdirSync(image);
  const layers = [base, built.folder].map((folder, index) => {
    const layer = `layer-${String(index)}.tar`;
    tar(['--owner=0', '--group=0', '-C', folder, '-cf', join(image, layer), '.']);
    return layer;
  });
  const sums = layers.map(
    (layer) =>
      `sha256:${createHash('sha256')
        .update(readFileSync(join(image, layer)))
        .digest('hex')}`,
  );
  const { workdir, user, environment, entrypoint, command } = built;
  const variables = Object.entries({ PATH: '/usr/local/bin:/usr/bin:/bin', ...environment }).map(([name, value]) => `${name}=${value}`);
  const config = { Entrypoint: entrypoint, Cmd: command, User: user, WorkingDir: workdir, Env: variables };
  writeFileSync(
    join(image, 'config.json'),
    JSON.stringify({ architecture: 'amd64', os: 'linux', config, rootfs: { type: 'layers', diff_ids: sums } }),
  );
  writeFileSync(join(image, 'manifest.json'), JSON.stringify([{ Config: 'config.json', RepoTags: [name], Layers: layers }]));
  const archive = join(work, 'image.tar');
  tar(['-C', image, '-cf', archive, 'manifest.json', 'config.json', ...layers]);
  return archive;
}

function writeBase(base: string): void {
  for (const [path, text] of Object.entries(ACCOUNTS)) put(join(base, path), (to) => writeFileSync(to, text));
  for (const folder of ['tmp', 'proc', 'sys', 'dev', 'run', 'var']) mkdirSync(join(base, folder), { recursive: true });
  put(join(base, 'usr/local/bin/node'), (to) => cpSync(realpathSync(process.execPath), to));
  const loaded = execFileSync('ldd', [process.execPath], { encoding: 'utf8', timeout: WITHIN_MS });
  for (const [path] of loaded.matchAll(/\/\S+\.so\S*/gu)) put(join(base, path), (to) => cpSync(realpathSync(path), to));
}

function put(path: string, write: (to: string) => void): void {
  mkdirSync(dirname(path), { recursive: true });
  write(path);
}

function tar(words: readonly string[]): void {
  execFileSync('nice', ['-n', '10', 'tar', ...words], { stdio: ['ignore', 'ignore', 'pipe'], timeout: WITHIN_MS });
}
