import { requestKind } from './request.ts';
import { kindKey, keyOf } from './snapshot.ts';
import type { HealthCheck, RequestFacts, TemplateFacts } from './snapshot.ts';

/** unheard: its kind, or that of its requests, is not read yet. undefined: the check has none. */
export type FoundTemplate = TemplateFacts | 'missing' | 'unheard' | undefined;

type Named = Pick<RequestFacts, 'apiVersion' | 'kind' | 'namespace' | 'name'>;

function objectKey({ apiVersion, kind, ...rest }: Named): string {
  return `${kindKey(apiVersion, kind)} ${keyOf(rest)}`;
}

/** Requests and templates of every kind, and what became of those that were not made. */
export class Requests {
  readonly #requests = new Map<string, RequestFacts>();
  readonly #templates = new Map<string, TemplateFacts>();
  readonly #refusals = new Map<string, string>();
  readonly #claims = new Map<string, string>();
  unheardKinds: ReadonlySet<string> = new Set();

  put(request: RequestFacts): void {
    this.#requests.set(objectKey(request), request);
  }

  remove(request: Named): void {
    this.#requests.delete(objectKey(request));
  }

  putTemplate(template: TemplateFacts): void {
    this.#templates.set(objectKey(template), template);
  }

  removeTemplate(template: Named): void {
    this.#templates.delete(objectKey(template));
  }

  setRefusal(machineUID: string, words: string | undefined): void {
    if (words === undefined) this.#refusals.delete(machineUID);
    else this.#refusals.set(machineUID, words);
  }

  setClaim(machineUID: string, holder: string | undefined): void {
    if (holder === undefined) this.#claims.delete(machineUID);
    else this.#claims.set(machineUID, holder);
  }

  refusalOf(machineUID: string): string | undefined {
    return this.#refusals.get(machineUID);
  }

  claimOf(machineUID: string): string | undefined {
    return this.#claims.get(machineUID);
  }

  /** What stands under the name that the request of this Machine has. */
  of({ template }: HealthCheck, machine: string): RequestFacts | undefined {
    return template === undefined ? undefined : this.#requests.get(`${kindKey(template.apiVersion, requestKind(template.kind))} ${machine}`);
  }

  templateOf({ template, namespace }: HealthCheck): FoundTemplate {
    if (template === undefined) return undefined;
    const { apiVersion, kind, name } = template;
    const isUnheard = [kind, requestKind(kind)].some((each) => this.unheardKinds.has(kindKey(apiVersion, each)));
    return isUnheard ? 'unheard' : (this.#templates.get(objectKey({ apiVersion, kind, namespace, name })) ?? 'missing');
  }
}
