import { type EventFilter, eventFilters } from '../../audit/schema.ts';
import { NO_PROBLEMS, type Problems } from '../../pages/components.ts';
import type { Messages } from '../../pages/messages.ts';
import type { RepeatableParameters } from '../../platform/http/parameters.ts';
import * as Type from '../../platform/validation/type.ts';
import { findProblem } from '../../platform/validation/validate.ts';
import { FILTER_NAMES, type FilterName } from './view.ts';

/** The filters of which something was typed. */
export const typedFilters = (given: Pick<RepeatableParameters, 'get'>): ReadonlyMap<string, string> =>
  new Map(
    FILTER_NAMES.map((name) => [name, (given.get(name) ?? '').trim()] as const).filter(([, value]) => value !== ''),
  );

const Filters = Type.Object(eventFilters, { additionalProperties: false });

/** What was typed, with a day as the instant at which it begins. */
export function eventFilterOf(typed: ReadonlyMap<string, string>): EventFilter {
  const entries = [...typed].map(([name, text]) => [
    name,
    (name === 'since' || name === 'until') && /^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text,
  ]);
  return Object.fromEntries(entries) as EventFilter;
}

/** What is wrong with each filter by itself. */
export function problemsOfFilter(
  filter: Readonly<Record<string, unknown>>,
  { operators: { events: text } }: Messages,
): Problems {
  const isWrong = (name: FilterName): boolean =>
    filter[name] !== undefined && findProblem(Filters, { [name]: filter[name] }) !== undefined;
  const wrong = FILTER_NAMES.filter(isWrong).map((name) => [name, text.bad[name]] as const);
  return wrong.length === 0 ? NO_PROBLEMS : { fields: Object.fromEntries(wrong), general: [] };
}
