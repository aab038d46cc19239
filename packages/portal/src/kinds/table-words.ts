import { timeOfDay } from '../look/times.ts'

// Made once: it is asked for at every frame of scrolling.
const numbers = new Intl.NumberFormat()

/** The texts of a table's filter. */
export const filterWords = {
  title: 'Filter',
  placeholder: (example: string): string => `Filter: a name, label:app=web, ${example}`,
  suggestions: 'Ways to go on',
  edit: (token: string): string => `Change ${token}`,
  remove: (token: string): string => `Remove ${token}`,
  clear: 'Clear',
  not: 'not',
  label: 'a label',
  age: 'since it was made: <1h',
  forms: {
    STRING: 'text',
    INT: 'number',
    BOOLEAN: 'true or false',
    DATE_TIME: 'time',
    QUANTITY: 'quantity',
    HEALTH_STATUS: 'health',
  },
  unknownIndex: (name: string, near: readonly string[]): string =>
    near.length === 0
      ? `This kind has no index "${name}".`
      : `This kind has no index "${name}". Did you mean ${near.join(' or ')}?`,
  unknownValue: (name: string, value: string, values: readonly string[]): string =>
    `"${value}" is no value of ${name}: it is one of ${values.join(', ')}.`,
  starInside: (value: string): string =>
    `In "${value}", * may stand at the beginning and at the end only.`,
  starInList: (value: string): string =>
    `"${value}": several values of a label cannot have *. Make a token of each.`,
  noBoolean: (name: string, value: string): string => `"${value}": ${name} is true or false.`,
  noNumber: (name: string, value: string): string =>
    `"${value}": ${name} is a whole number, such as 3 or >3.`,
  noQuantity: (name: string, value: string): string =>
    `"${value}": ${name} is a quantity, such as 500m or >2Gi.`,
  noTime: (name: string, value: string): string =>
    `"${value}": ${name} is a time, such as <1h (less than an hour ago) or >2026-01-31.`,
  noLabel: (value: string): string => `"${value}" names no label: write label:app=web.`,
} as const

/** The texts of tables. */
export const tableWords = {
  columns: {
    name: 'Name',
    namespace: 'Namespace',
    cluster: 'Cluster',
    health: 'Health',
    age: 'Age',
  },
  columnMenu: {
    title: (column: string): string => `Sort, filter or hide ${column}`,
    ascending: 'Sort ascending',
    descending: 'Sort descending',
    filter: (index: string): string => `Filter by ${index}`,
    wider: 'Wider',
    narrower: 'Narrower',
    hide: 'Hide',
  },
  width: (column: string): string => `Width of ${column}: drag, or double-click for the usual one`,
  none: (kinds: string, namespaces: readonly string[] | undefined): string =>
    namespaces === undefined
      ? `There are no ${kinds}.`
      : `There are no ${kinds} in ${namespaces.join(' or ')}.`,
  appears: 'What is made appears here by itself.',
  allNamespaces: 'Look in all namespaces',
  noMatch: (kinds: string): string => `No ${kinds} match.`,
  withoutFilter: (objects: number): string => `${numbers.format(objects)} without the filter.`,
  clearFilter: 'Clear the filter',
  failed: (kinds: string): string => `${kinds} cannot be listed.`,
  allowed: (kinds: string, namespaces: readonly string[]): string =>
    namespaces.length > 5
      ? `You may list ${kinds} in ${namespaces.length} namespaces: ${namespaces.slice(0, 4).join(', ')} and ${namespaces.length - 4} more.`
      : `You may list ${kinds} in ${namespaces.join(' and ')} only.`,
  stale: (since: Date): string =>
    `The gateway cannot reach the cluster. You see what was known at ${timeOfDay(since)}.`,
  trouble: (message: string): string => `Some rows are late: ${message}`,
  notFollowed:
    'The gateway has no cache of this kind: you see its first 200 objects, read again every 5 seconds.',
  tooMany: (rows: number): string =>
    `A browser shows no more than the first ${numbers.format(rows)} rows. Filter to see the others.`,
  unknownKind: (resource: string): string => `There is no kind “${resource}” here.`,
  unknownKindNext: 'The cluster does not serve it, or you may not list any of its objects.',
  empty: '–',
  ago: 'ago',
  count: 'Number of objects',
  position: (row: number, all: number): string =>
    `row ${numbers.format(row)} of ${numbers.format(all)}`,
  newAbove: (rows: number): string => `↑ ${rows} new above`,
  picked: (rows: number): string => `${numbers.format(rows)} selected ×`,
  pick: (name: string): string => `Select ${name}`,
  pickAll: 'Select all',
  pickNone: 'Select none',
  selection: 'Selection',
  pickingAll: 'Reading what there is…',
  picksAll: (rows: number, most: number): string =>
    rows > most
      ? `Select the first ${numbers.format(most)} of ${numbers.format(rows)}`
      : `Select all ${numbers.format(rows)}`,
  pickFailed: (why: string): string => `They cannot be selected: ${why}`,
  outside: (rows: number): string => `${numbers.format(rows)} not in this list`,
  gone: (rows: number): string =>
    `${numbers.format(rows)} ${rows === 1 ? 'is' : 'are'} gone and not selected any more`,
  facets: 'Facets',
  noFacets: 'No index of these objects has values to group by.',
  moreValues: (values: number): string => `${numbers.format(values)} more`,
  choose: 'Columns',
  keys: {
    next: 'Next row',
    previous: 'Previous row',
    pageDown: 'Page down',
    pageUp: 'Page up',
    first: 'First row',
    last: 'Last row',
    visit: 'Open the page of the row',
    inspect: 'Show the row beside the table, or not',
    toggle: 'Select the row, or not',
    extendDown: 'Select down',
    extendUp: 'Select up',
    extendPageDown: 'Select a page down',
    extendPageUp: 'Select a page up',
    extendFirst: 'Select up to the first',
    extendLast: 'Select down to the last',
    all: 'Select all',
    leave: 'Close what is beside the table, then select nothing',
  },
  focusFilter: 'Filter the table',
  usualColumns: 'Usual columns and widths',
  inspectorWidth: 'Width of the inspector',
} as const
