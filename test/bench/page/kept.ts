import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, release, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Figures } from '../figures-of-all.ts';
import { graphsOf } from './graphs.ts';
import { pageOf } from './page.ts';
import type { Kept, Origin } from './page.ts';

const DOCS = fileURLToPath(new URL('../../../docs/', import.meta.url));

/** Figures of sections take the place of what was kept of them; page and graphs are made anew of all. */
export function keep({ machine: _machine, ...measured }: Partial<Figures>, command: string): void {
  const { real, pods } = measured;
  const figures = { ...measured, ...(real === undefined ? {} : { real: placeless(real) }), ...(pods === undefined ? {} : { pods: placeless(pods) }) };
  const file = `${DOCS}bench.json`;
  const kept: Kept = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Kept) : { figures: {}, origins: {} };
  const origin: Origin = {
    command,
    at: new Date().toISOString().slice(0, 16),
    machine: machineOf(),
    load: Math.round((loadavg()[0] ?? 0) * 10) / 10,
  };
  const origins = Object.fromEntries(Object.keys(figures).map((key) => [key, origin]));
  const agents = { ...kept.figures.agents, ...figures.agents };
  const all: Kept = {
    figures: { ...kept.figures, ...figures, ...(Object.keys(agents).length === 0 ? {} : { agents }) },
    origins: { ...kept.origins, ...origins },
  };
  writeFileSync(file, `${JSON.stringify(all, null, 1)}\n`);
  writeFileSync(`${DOCS}bench.md`, pageOf(all));
  for (const [name, graph] of Object.entries(graphsOf(all.figures.sizes ?? []))) writeFileSync(`${DOCS}images/${name}.svg`, graph);
}

/** Where the server's programs lie is nobody's business. */
function placeless<T extends { server: string }>(figures: T): T {
  return { ...figures, server: figures.server.replace(/ in \S+?(?=[;,]|$)/u, '') };
}

function machineOf(): string {
  const [cpu] = cpus();
  return `${cpus().length} × ${cpu?.model ?? 'unknown'}, ${Math.round(totalmem() / 2 ** 30)} GB, Linux ${release().split('-')[0] ?? ''}, Node ${process.versions.node}`;
}
