import type { ConformanceTarget } from './case.ts';
import { NAMESPACE, WIDGET_DEFINITION, WIDGETS } from './fixtures.ts';

const DEADLINE_MS = 20_000;

/** Makes what the cases share and waits until the custom kind is served. */
export async function prepare(target: ConformanceTarget): Promise<void> {
  await expectStatus(target, '/api/v1/namespaces', NAMESPACE);
  await expectStatus(target, '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', WIDGET_DEFINITION);
  const deadline = Date.now() + DEADLINE_MS;
  while ((await target.request({ method: 'GET', path: WIDGETS, status: 200 })).status !== 200) {
    if (Date.now() > deadline) throw new Error(`${WIDGETS} is not served ${String(DEADLINE_MS)} ms after its definition was created`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function expectStatus(target: ConformanceTarget, path: string, body: object): Promise<void> {
  const answer = await target.request({ method: 'POST', path, body, status: 201 });
  if (answer.status !== 201) throw new Error(`POST ${path}: ${String(answer.status)} ${JSON.stringify(answer.body)}`);
}
