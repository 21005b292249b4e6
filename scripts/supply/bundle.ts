// `node scripts/supply/bundle.ts [--out FOLDER] [--product]`: the program that ships, in dist/src or FOLDER. --product leaves out the drill and its test cluster.
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { rolldown } from 'rolldown';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const DRILL = 'src/cli/drill-command.ts';
const PLAYED = 'src/testbed/processes';
/** What every start loads. Other packages stay where npm has them, and are loaded when an agent needs them. */
const BUNDLED: readonly string[] = ['commander', 'pino', 'prom-client', 'yaml', 'zod'];

interface Choice {
  /** Folder of the files; made anew. */
  out: string;
  /** Without the clusters and devices of `nodefence drill`. */
  isProduct: boolean;
}

/**
 * Modules that are needed together stand in one file; what is loaded later, and programs that are started by their file, have their own. Nothing is
 * renamed and lines stay lines, so that a stack trace can be read; comments go. All is ASCII: V8 keeps such a text in half the memory.
 */
export async function bundle({ out, isProduct }: Choice): Promise<void> {
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { dependencies: Record<string, string> };
  const outside = Object.keys(dependencies).filter((name) => !BUNDLED.includes(name));
  await bundlePrograms(programs(isProduct), { out, outside: isProduct ? [...outside, join(ROOT, DRILL)] : outside });
}

/** Paths from the project's root. `outside`: packages and files that are loaded from where they are. */
export async function bundlePrograms(paths: readonly string[], { out, outside }: { out: string; outside: string[] }): Promise<void> {
  const build = await rolldown({
    cwd: ROOT,
    input: Object.fromEntries(paths.map((path) => [basename(path, '.ts'), path])),
    platform: 'node',
    resolve: { alias: { 'node:http': join(import.meta.dirname, 'bundled-http.ts') } },
    external: outside,
    tsconfig: false,
    transform: { target: 'node24' },
  });
  rmSync(out, { recursive: true, force: true });
  await build.write({ dir: out, comments: false, charset: 'ascii', entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' });
  await build.close();
}

function programs(isProduct: boolean): string[] {
  const product = ['src/main.ts', ...['check', 'lease', 'storage'].map((name) => `src/node/checks/${name}-child.ts`)];
  if (isProduct) return product;
  const played = readdirSync(join(ROOT, PLAYED)).filter((name) => !name.endsWith('.test.ts'));
  return [...product, 'src/drill/daemons/daemon-program.ts', ...played.map((name) => `${PLAYED}/${name}`)];
}

const [, program = ''] = process.argv;
if (program === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: { out: { type: 'string', default: join(ROOT, 'dist/src') }, product: { type: 'boolean', default: false } },
  });
  await bundle({ out: values.out, isProduct: values.product });
}
