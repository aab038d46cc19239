import type { ObjectId } from '../../informer/store/store-view.ts'
import type { PageOf } from '../../query/page/page.ts'
import { ClientError } from '../errors/client-error.ts'
import type { Kind } from '../model/kind.ts'
import {
  facetsOf,
  pageInfoOf,
  paidEdges,
  paidRows,
  resumeTokenOf,
  sumsOf,
} from '../reads/connection-read.ts'
import { countsByType } from '../reads/over-kinds/any-kinds-list.ts'
import type { KindsPage } from '../reads/over-kinds/kinds-page.ts'
import { pageGaps, pageStaleSince, type ReadPage, resourceVersionOf } from '../reads/read-page.ts'
import type { FacetArguments, SumArguments } from '../schema/read-arguments.ts'
import type { ClusterGap } from '../schema/read-context.ts'
import { type PlainWriter, plainWriter, writtenMembers } from './plain-writer.ts'
import type { PlanField } from './plan-compiler.ts'
import { type PlanRun } from './plan-run.ts'
import { leastLengthOf, listText, objectText } from './value-run.ts'
import { valueWriter } from './value-writer.ts'

/** A form of connection: the rows of its pages `P`, and its own fields besides those that all connections have. */
export interface ConnectionForm<P, R> {
  /** Compiles the `nodes`, or the `node` of edges: one row, which is at a position of the page. */
  readonly row: (field: PlanField) => (run: PlanRun, read: P, row: R, at: number) => string
  /** Compiles a field of this form. Returns `undefined` for a field that plans do not cover. */
  readonly part: (field: PlanField) => PlainWriter<P> | undefined
}

/** Compiles a connection. Throws `NotCoveredError`. */
export function connectionWriter<P extends { readonly page: PageOf<R> }, R>(
  field: PlanField,
  form: ConnectionForm<P, R>,
): PlainWriter<P> {
  return plainWriter<P>(field, (part) => {
    switch (part.name) {
      case 'nodes': {
        const write = form.row(part)
        return (run, read) => {
          const rows = paidRows(run.budget, read.page)
          return listText(run, rows, (row, at) => write(run, read, row, at))
        }
      }
      case 'edges':
        return edgesWriter(part, form)
      case 'pageInfo': {
        const write = valueWriter(part)
        return (run, { page }) => write(run, pageInfoOf(page))
      }
      case 'totalCount':
        return (_run, { page }) => String(page.totalCount())
      default:
        return form.part(part)
    }
  })
}

function edgesWriter<P extends { readonly page: PageOf<R> }, R>(
  { objectType, selections, compiler }: PlanField,
  form: ConnectionForm<P, R>,
): PlainWriter<P> {
  type MemberWriter = (run: PlanRun, read: P, row: R, at: number) => string
  let cursors = 0
  const members = writtenMembers(objectType, selections, compiler, (field): MemberWriter => {
    if (field.name === 'node') return form.row(field)
    if (field.name !== 'cursor') throw field.notCovered()
    cursors += 1
    return (_run, { page }, _row, at) => JSON.stringify(page.cursorAt(at))
  })
  const leastLength = leastLengthOf(members)
  return (run, read) => {
    const rows = paidEdges(run.budget, read.page, cursors)
    return listText(run, rows, (row, at) => objectText(run, members, read, row, at), leastLength)
  }
}

/** Compiles `incomplete` of a page. */
function gapsWriter<P>(
  field: PlanField,
  read: (run: PlanRun, page: P) => readonly ClusterGap[],
): PlainWriter<P> {
  const write = valueWriter(field)
  return (run, page) => write(run, read(run, page))
}

/** Compiles the pages of a list of a kind. */
export function listWriter(kind: Kind, field: PlanField): PlainWriter<ReadPage> {
  const { compiler, args } = field
  compiler.reads(kind)
  compiler.filters(kind, args)
  return connectionWriter<ReadPage, ObjectId>(field, {
    row({ selections }) {
      const write = compiler.row(kind, selections)
      return (run, { page }, id, at) => write(run, page.partAt(at), id)
    },
    part(member) {
      switch (member.name) {
        case 'type':
          return () => JSON.stringify(kind.typeName)
        case 'resourceVersion':
          return (_run, read) => JSON.stringify(resourceVersionOf(read))
        case 'resumeToken':
          return (run, read) => JSON.stringify(resumeTokenOf(run, read))
        case 'staleSince':
          return staleSinceWriter(member, pageStaleSince)
        case 'incomplete':
          return gapsWriter(member, pageGaps)
        case 'facets':
          return countsOf(member, facetsOf)
        case 'sum':
          return countsOf(member, sumsOf)
        default:
          return undefined
      }
    },
  })
}

/** Compiles the counts or sums of all objects of a list. */
function countsOf(
  field: PlanField,
  read: (run: PlanRun, page: ReadPage, args: FacetArguments & SumArguments) => unknown,
): PlainWriter<ReadPage> {
  const { args } = field
  const write = valueWriter(field)
  return (run, page) => {
    const asked = run.argumentsOf(args) as unknown as FacetArguments & SumArguments
    return write(run, read(run, page, asked))
  }
}

/** Compiles a connection of objects of several kinds. `row` compiles its rows. Throws `NotCoveredError`. */
export function unionWriter<P extends KindsPage>(
  field: PlanField,
  row: ConnectionForm<P, ObjectId>['row'],
): PlainWriter<P> {
  return connectionWriter<P, ObjectId>(field, {
    row,
    part: (member) => (member.name === 'counts' ? countsWriter(member) : unionMember(member)),
  })
}

/** Compiles the number of objects of each type. */
function countsWriter(field: PlanField): PlainWriter<KindsPage> {
  const write = valueWriter(field)
  return (run, read) => write(run, countsByType(read))
}

/** Compiles a member that says how fresh a page of several kinds is, or which kinds were looked into. */
function unionMember(member: PlanField): PlainWriter<KindsPage> | undefined {
  if (member.name === 'incomplete') return gapsWriter(member, (_run, read) => read.incomplete())
  if (member.name !== 'staleSince') return lookedAtMember(member.name)
  return staleSinceWriter(member, (_run, read) => read.staleSince())
}

/** Compiles `staleSince` of a page. A row of a subscription does not change with it, so it fails there. */
function staleSinceWriter<P>(
  { compiler }: PlanField,
  read: (run: PlanRun, page: P) => string | null,
): PlainWriter<P> {
  if (!compiler.scope.isLive) return (run, page) => JSON.stringify(read(run, page))
  return () => {
    const message = 'the rows of a subscription do not follow staleSince'
    const hint = 'select staleSince of the frame: it is about all kinds that the subscription reads'
    throw new ClientError('UNSUPPORTED', message, { hint })
  }
}

/** Compiles a member that says which kinds were looked into; `undefined` for another one. */
export function lookedAtMember(
  name: string,
): PlainWriter<Pick<KindsPage, 'types' | 'notLookedAt'>> | undefined {
  switch (name) {
    case 'types':
      return (_run, { types }) => JSON.stringify(types)
    case 'complete':
      return (_run, { notLookedAt }) => String(notLookedAt().length === 0)
    case 'notLookedAt':
      return (_run, { notLookedAt }) => JSON.stringify(notLookedAt())
    default:
      return undefined
  }
}
