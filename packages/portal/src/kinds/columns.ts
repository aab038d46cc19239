import { useMemo, useState } from 'react'
import type { Kind } from '../gateway/kinds.ts'
import { hasSeveralClusters, type Scope } from '../scope.ts'
import { usageColumns } from '../usage/usage-column.tsx'
import { words } from '../words.ts'

/** A column of a table. */
export interface TableColumn {
  /** `name`, `namespace`, `cluster`, `health`, `age`, or the name of a printer column. */
  readonly id: string
  readonly title: string
  /** What its cells say, where the title is too short for it. */
  readonly hint?: string
  /** The index with the values of the column: the table is sorted and filtered by it. */
  readonly index: string | undefined
  /** Whether a small value of the index is a large one of the column, as with ages. */
  readonly isInverse: boolean
  /** The direction of the first click: what one looks for comes first. */
  readonly first: SortDirection
  /** Whether the column is shown without being chosen. */
  readonly isUsual: boolean
  /** Whether only `kubectl get -o wide` has the column. */
  readonly isWide: boolean
  readonly isNumeric: boolean
  /** Whether rows of equal names differ in it. */
  readonly tellsApart?: boolean
  /** Whether its cells are the links to the objects. It is always shown. */
  readonly isLink: boolean
}

export type SortDirection = 'ASC' | 'DESC'

/** The order of a table, by an index. */
export interface Sort {
  readonly index: string
  readonly direction: SortDirection
}

/** The order of a kind whose address says none: the newest Events first, and others by namespace and name. */
export function usualSort({ kind, indexes }: Kind): Sort | undefined {
  const isEvent = kind === 'Event' && indexes.some(({ name }) => name === 'lastSeen')
  return isEvent ? { index: 'lastSeen', direction: 'DESC' } : undefined
}

/** Reads the parameter `sort` of an address: `restarts`, `-restarts`. */
export function sortOf(text: string | undefined): Sort | undefined {
  if (text === undefined || text === '' || text === '-') return undefined
  return text.startsWith('-')
    ? { index: text.slice(1), direction: 'DESC' }
    : { index: text, direction: 'ASC' }
}

export function sortText({ index, direction }: Sort): string {
  return `${direction === 'DESC' ? '-' : ''}${index}`
}

/** The columns that a table of a kind can have, in their order. */
export function columnsOf(kind: Kind, scope: Scope): readonly TableColumn[] {
  const printed = (kind.columns ?? []).filter(
    ({ name, format }) => format !== 'name' && name !== 'Age',
  )
  const first = leadingOf(kind)
  const leads = first.length > 0
  const own = (id: keyof typeof words.table.columns, more: Partial<TableColumn>): TableColumn => ({
    id,
    title: words.table.columns[id],
    index: id,
    isInverse: false,
    first: 'ASC',
    isUsual: true,
    isWide: false,
    isNumeric: false,
    isLink: false,
    ...more,
  })
  const health = own('health', { isUsual: !isStateless(kind) })
  const isNarrow = isNarrowWindow()
  const all = [
    own('name', { isUsual: !leads, isLink: !leads }),
    ...(isNarrow ? [health] : []),
    ...(kind.namespaced
      ? [own('namespace', { isUsual: scope.namespaces?.length !== 1, tellsApart: true })]
      : []),
    // Rows of equal values are in the order of their clusters; there is no order by clusters alone.
    ...(hasSeveralClusters(scope) ? [own('cluster', { index: undefined, tellsApart: true })] : []),
    ...(isNarrow ? [] : [health]),
    ...printed.map((column): TableColumn => {
      const index = indexBehind(column.name, kind)
      const form = kind.indexes.find(({ name }) => name === index)?.form
      return {
        id: column.name,
        title: column.name,
        index,
        isInverse: column.type === 'date',
        first: form === 'STRING' || form === 'BOOLEAN' ? 'ASC' : 'DESC',
        isUsual: column.priority === 0 || first.includes(column.name),
        isWide: column.priority > 0,
        isNumeric: /^(?:integer|number)$/u.test(column.type),
        isLink: leads && column.name === 'Message',
      }
    }),
    ...usageColumns(kind).map((column) =>
      own('health', {
        ...column,
        // Sorted where the kind has an index of the name.
        index: kind.indexes.find(({ name }) => name === column.id)?.name,
        first: 'DESC',
        isNumeric: true,
      }),
    ),
    own('age', { index: 'creationTimestamp', isInverse: true, first: 'DESC', isUsual: !leads }),
  ]
  const placeOf = ({ id }: TableColumn): number => {
    const at = first.indexOf(id)
    return at < 0 ? first.length : at
  }
  return all.toSorted((one, other) => placeOf(one) - placeOf(other))
}

/** The columns of Events that come first: their names and ages say nothing. Other kinds lead with their names. */
function leadingOf({ kind, columns }: Kind): readonly string[] {
  const leading = ['Last Seen', 'Type', 'Message', 'Reason', 'Object', 'Count']
  const isEvent = kind === 'Event' && columns?.some(({ name }) => name === 'Message') === true
  return isEvent ? leading : []
}

/** Whether there is room for two columns or three: the names and their health come first then. As in grid.module.css. */
export function isNarrowWindow(): boolean {
  return globalThis.innerWidth < 600
}

/** Whether a kind only says what others read, or, as Events, what has happened: no object of it is healthy or degraded. */
export function isStateless({ kind }: Kind): boolean {
  return stateless.has(kind)
}

const stateless: ReadonlySet<string> = new Set(
  `ClusterRole ClusterRoleBinding ConfigMap ControllerRevision CSIDriver CSINode Endpoints EndpointSlice Event IngressClass
  Lease LimitRange NetworkPolicy PriorityClass Role RoleBinding RuntimeClass Secret ServiceAccount StorageClass`.split(
    /\s+/u,
  ),
)

/** Columns of `kubectl get` whose index has another name, both without case and separators. */
const otherNames: Readonly<Record<string, readonly string[]>> = {
  status: ['phase', 'ready'],
  node: ['nodename'],
  ip: ['podip'],
  class: ['classname'],
  desired: ['replicas'],
  object: ['involvedname'],
  volume: ['volumename'],
  storageclass: ['storageclassname'],
  version: ['kubeletversion'],
  lastschedule: ['lastscheduletime'],
  role: ['rolename'],
  reference: ['targetname'],
}

/** A name without case and separators. */
function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/gu, '')
}

/** The index with the values of a printer column, as far as names tell. */
function indexBehind(column: string, { indexes }: Kind): string | undefined {
  const wanted = plain(column)
  const candidates = [wanted, wanted.replace(/s$/u, ''), ...(otherNames[wanted] ?? [])]
  return candidates
    .map((candidate) => indexes.find(({ name }) => plain(name) === candidate)?.name)
    .find((name) => name !== undefined)
}

/** What a user has chosen for the tables of a kind. */
interface Choice {
  /** As in an address: the columns besides the usual ones, and with `-`, usual ones that are hidden. */
  readonly cols?: string
  readonly widths?: Readonly<Record<string, number>>
}

const choiceKey = (kind: Kind): string => `informerql.columns.${kind.path}`

function choiceKept(kind: Kind): Choice {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(choiceKey(kind)) ?? '{}')
    return typeof kept === 'object' && kept !== null ? kept : {}
  } catch {
    return {}
  }
}

/** The columns of a table: which there are, which are shown, and how wide they are. */
export interface Columns {
  readonly all: readonly TableColumn[]
  readonly shown: readonly TableColumn[]
  /** Whether one of those that are shown is wide. */
  readonly isWide: boolean
  /** Widths that the user has given, in pixels. */
  readonly widths: Readonly<Record<string, number>>
  /** Shows a column, or hides it. */
  readonly toggle: (id: string) => void
  /** Shows the usual columns, in their usual widths. */
  readonly reset: () => void
  /** Gives a column a width; its usual one without `width`. */
  readonly resize: (id: string, width: number | undefined) => void
}

/**
 * The columns of a kind's table. `cols`, of the address, comes before what the user has chosen for the kind before;
 * `change` changes it. The same object until something changes.
 */
export function useColumns(
  kind: Kind,
  scope: Scope,
  cols: string | undefined,
  change: (changed: { readonly cols: string | undefined }, isStep: boolean) => void,
): Columns {
  const [choice, setChoice] = useState(() => choiceKept(kind))
  return useMemo(() => {
    const keep = (next: Choice): void => {
      localStorage.setItem(choiceKey(kind), JSON.stringify(next))
      setChoice(next)
    }
    const all = columnsOf(kind, scope)
    const chosen = new Set(namesIn(cols ?? choice.cols ?? ''))
    const shown = all.filter(
      ({ id, isUsual, isLink }) => isLink || (isUsual ? !chosen.has(`-${id}`) : chosen.has(id)),
    )
    return {
      all,
      shown,
      isWide: shown.some((column) => column.isWide),
      widths: choice.widths ?? {},
      toggle(id) {
        const isUsual = all.find((column) => column.id === id)?.isUsual === true
        const entry = isUsual ? `-${id}` : id
        const next = new Set(chosen)
        if (!next.delete(entry)) next.add(entry)
        const nextCols = [...next].map(encodeURIComponent).join(',')
        keep({ ...choice, cols: nextCols })
        change({ cols: nextCols === '' ? undefined : nextCols }, false)
      },
      reset() {
        keep({})
        change({ cols: undefined }, false)
      },
      resize(id, width) {
        const { [id]: _, ...others } = choice.widths ?? {}
        keep({ ...choice, widths: width === undefined ? others : { ...others, [id]: width } })
      },
    }
  }, [kind, scope, cols, choice, change])
}

/** The names in the parameter `cols` of an address, which people may have written. */
function namesIn(cols: string): readonly string[] {
  try {
    return cols.split(',').map(decodeURIComponent).filter(Boolean)
  } catch {
    return []
  }
}
