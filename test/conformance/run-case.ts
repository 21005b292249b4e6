import type { ConformanceCase, ConformanceTarget, RequestStep, Step } from './case.ts';

/** Runs a case; the result is empty when the server behaved as it must, else one line for each difference. */
export async function runCase(target: ConformanceTarget, one: ConformanceCase): Promise<string[]> {
  const differences: string[] = [];
  await runSteps(target, one.steps, new Map(), differences);
  return differences;
}

async function runSteps(target: ConformanceTarget, steps: readonly Step[], saved: Map<string, string>, differences: string[]): Promise<void> {
  for (const step of steps) {
    if ('compact' in step) await target.compact();
    else if ('watch' in step) {
      const path = filled(step.watch, saved);
      const events = await target.watch(path, Math.max(1, step.events.length), () => runSteps(target, step.meanwhile ?? [], saved, differences));
      differences.push(...compare(events, step.events, `events of ${path}`, saved));
    } else await runRequest(target, step, saved, differences);
  }
}

async function runRequest(target: ConformanceTarget, step: RequestStep, saved: Map<string, string>, differences: string[]): Promise<void> {
  const path = filled(step.path, saved);
  const body: unknown =
    step.body === undefined ? undefined : typeof step.body === 'string' ? step.body : JSON.parse(filled(JSON.stringify(step.body), saved));
  let answer = await target.request({ ...step, path, body });
  const deadlineMs = performance.now() + (step.eventually ?? 0);
  while (performance.now() < deadlineMs && !isAnswer(answer, step, saved)) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    answer = await target.request({ ...step, path, body });
  }
  const where = `${step.method} ${path}`;
  if (answer.status !== step.status)
    differences.push(`${where}: status ${String(answer.status)} instead of ${String(step.status)}: ${JSON.stringify(answer.body).slice(0, 600)}`);
  for (const [name, from] of Object.entries(step.save ?? {})) saved.set(name, String(valueAt(answer.body, from)));
  if (step.expect !== undefined) differences.push(...compare(answer.body, step.expect, where, saved));
  for (const gone of step.absent ?? []) {
    if (valueAt(answer.body, gone) !== undefined)
      differences.push(`${where}: ${gone} should be absent, is ${JSON.stringify(valueAt(answer.body, gone))}`);
  }
  if (step.same !== undefined && saved.get(step.same[0]) !== saved.get(step.same[1]))
    differences.push(`${where}: ${step.same.join(' and ')} should be the same`);
  if (step.differ !== undefined && saved.get(step.differ[0]) === saved.get(step.differ[1]))
    differences.push(`${where}: ${step.differ.join(' and ')} should differ`);
}

function isAnswer(answer: { status: number; body: unknown }, step: RequestStep, saved: ReadonlyMap<string, string>): boolean {
  return answer.status === step.status && (step.expect === undefined || compare(answer.body, step.expect, '', saved).length === 0);
}

function filled(text: string, saved: ReadonlyMap<string, string>): string {
  return text.replaceAll(/\$\{(\w+)\}/g, (_, name: string) => saved.get(name) ?? `<${name} was not saved>`);
}

/** `a.b.0.c`; a member with dots is written `a.[x.y/z].b`. */
export function valueAt(value: unknown, path: string): unknown {
  const names = path.match(/\[[^\]]+\]|[^.[\]]+/g) ?? [];
  return names.reduce<unknown>((found, name) => {
    const key = name.startsWith('[') ? name.slice(1, -1) : name;
    return typeof found === 'object' && found !== null ? (found as Record<string, unknown>)[key] : undefined;
  }, value);
}

function compare(found: unknown, expected: unknown, where: string, saved: ReadonlyMap<string, string>): string[] {
  const differs = [
    `${where}: is ${found === undefined ? 'absent' : JSON.stringify(found).slice(0, 400)} instead of ${expected instanceof RegExp ? String(expected) : JSON.stringify(expected instanceof Set ? [...expected] : expected)}`,
  ];
  if (expected instanceof RegExp) return typeof found === 'string' && expected.test(found) ? [] : differs;
  if (expected instanceof Set) return isOfAll(found, expected, saved) ? [] : differs;
  if (typeof expected === 'string') return found === filled(expected, saved) ? [] : differs;
  if (typeof expected !== 'object' || expected === null) return found === expected ? [] : differs;
  if (typeof found !== 'object' || found === null) return differs;
  if (Array.isArray(expected) && (!Array.isArray(found) || found.length !== expected.length)) return differs;
  return Object.entries(expected).flatMap(([name, value]) => compare((found as Record<string, unknown>)[name], value, `${where}: ${name}`, saved));
}

/** As many as are expected, and each of those among them. */
function isOfAll(found: unknown, expected: ReadonlySet<unknown>, saved: ReadonlyMap<string, string>): boolean {
  if (!Array.isArray(found) || found.length !== expected.size) return false;
  return [...expected].every((one) => found.some((each) => compare(each, one, '', saved).length === 0));
}
