import { windowText } from '../domain/remedy/alarm-words.ts';
import type { ProblemRow } from '../domain/remedy/problem-rows.ts';

export interface ProblemsAnswer {
  contentType: string;
  body: string;
}

/** No script, nothing from elsewhere, and in no frame. */
export const PROBLEMS_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";
const STYLE = `:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem}
table{border-collapse:collapse;width:100%}th,td{text-align:left;vertical-align:top;padding:.4rem .8rem .4rem 0;border-bottom:1px solid #8886}
td{white-space:nowrap}.long{white-space:normal;overflow-wrap:anywhere;min-width:12rem}.alarm{font-weight:600}div{overflow-x:auto}`;
/** Control characters, and what turns the direction of a line or cannot be seen. */
const UNSEEN = /[\p{Cc}\p{Cf}\u2028\u2029]/gu;
const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** For programs. */
export function problemsJson(rows: readonly ProblemRow[], at: string): ProblemsAnswer {
  return { contentType: 'application/json', body: `${JSON.stringify({ at, problems: rows })}\n` };
}

/** For people: those with an alarm first. */
export function problemsHtml(rows: readonly ProblemRow[], at: string): ProblemsAnswer {
  const alarms = rows.filter((row) => row.alarms.length > 0).length;
  const title = alarms === 0 ? 'Problems of nodes' : `${alarms} ${alarms === 1 ? 'alarm' : 'alarms'}: problems of nodes`;
  const body =
    rows.length === 0
      ? '<p>Nothing was counted. Alarms of remedies name what is counted.</p>'
      : `<div><table><thead><tr>${['Subject', 'Problem', 'Count', 'Alarm', 'Last', 'Nodes'].map((head) => `<th scope="col">${head}</th>`).join('')}</tr></thead><tbody>${rows.map(lineOf).join('')}</tbody></table></div>`;
  return {
    contentType: 'text/html; charset=utf-8',
    body: `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${title}</title><style>${STYLE}</style></head><body><h1>${title}</h1><p>As of ${text(at)}. <code>/problems.json</code> is the same for programs.</p>${body}</body></html>\n`,
  };
}

function lineOf({ subject, reason, problems, nodes, alarms, lastAt }: ProblemRow): string {
  const raised = alarms.map(({ count, windowMs }) => `&#9888; ${count} in ${text(windowText(windowMs))}`).join(', ');
  const where = nodes.length > 1 ? `${nodes.length}: ${text(nodes.join(', '))}` : text(nodes.join(', '));
  const short = [text(reason), String(problems), raised === '' ? 'none' : raised, text(lastAt.replace(/\.\d+Z$/u, 'Z').replace('T', ' '))];
  const cells = [long(text(subject)), ...short.map((cell) => `<td>${cell}</td>`), long(where)];
  return `<tr${raised === '' ? '' : ' class="alarm"'}>${cells.join('')}</tr>`;
}

function long(cell: string): string {
  return `<td class="long">${cell}</td>`;
}

/** What comes from the API is text, never HTML. */
function text(value: string): string {
  return value.replaceAll(UNSEEN, '\ufffd').replaceAll(/[&<>"']/gu, (character) => ENTITIES[character] ?? '');
}
