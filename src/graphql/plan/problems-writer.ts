import type { PageOf } from '../../query/page/page.ts'
import {
  lastEventNeeds,
  problemNeeds,
  type ProblemsRead,
  readProblems,
} from '../reads/over-kinds/problems-read.ts'
import type { ProblemObjectsArguments } from '../schema/read-arguments.ts'
import type { ProblemCount, ProblemEvent, ProblemSource } from '../schema/read-context.ts'
import { staleSince } from '../reads/staleness.ts'
import { connectionWriter, unionMember } from './connection-writer.ts'
import { objectRefWriter } from './object-ref-writer.ts'
import { type PlainWriter, plainWriter, valueMembers } from './plain-writer.ts'
import type { PlanField, PlanNeeds, RootWriter } from './plan-compiler.ts'
import type { PlanRun } from './plan-run.ts'

type Problem = ProblemsRead['page'] extends PageOf<infer R> ? R : never

/** Compiles `Query.problems`. Throws `NotCoveredError`. */
export function problemsWriter(field: PlanField): RootWriter {
  const { args, compiler, nodes } = field
  const { served } = compiler
  compiler.asks({ args, needs: (values, cluster) => problemNeeds(served, values, cluster) })
  const write = connectionWriter<ProblemsRead, Problem, ProblemsRead>(field, {
    sourceOf: (read) => read,
    row(row) {
      const problem = problemWriter(row)
      return (run, { problemOf }, found) => problem(run, problemOf(found))
    },
    part: listMember,
  })
  return {
    write(run) {
      const read = readProblems(run, run.argumentsOf(args))
      run.errors.beside(read.failures, nodes)
      return write(run, read)
    },
  }
}

/** Compiles a member of a list of problems that is about all of them. */
function listMember(part: PlanField): PlainWriter<ProblemsRead> | undefined {
  switch (part.name) {
    case 'counts': {
      const one = plainWriter(
        part,
        valueMembers<ProblemCount>(['severity', 'type', 'kind', 'count']),
      )
      return (run, { counts }) => run.list(counts(), (count) => one(run, count))
    }
    case 'lookedAt':
      return (_run, { lookedAt }) => JSON.stringify(lookedAt)
    default: {
      const member = unionMember(part)
      return member && ((run, read) => member(run, { ...read, types: read.lookedAt }))
    }
  }
}

/** A change of a problem in a frame. */
export interface ProblemChange {
  readonly type: 'ADDED' | 'MODIFIED' | 'REMOVED'
  readonly objectId: string
  /** The texts of the problem, as {@link ProblemFrames.row} writes them. */
  readonly texts: readonly string[]
}

/** A frame of `Subscription.problems`. */
export interface ProblemFrame {
  readonly read: ProblemsRead
  readonly reset: boolean
  readonly changes: readonly ProblemChange[]
}

/** The compiled `Subscription.problems`. */
export interface ProblemFrames {
  readonly needs: PlanNeeds
  /** Writes a problem, for each field `object` of a change. */
  readonly row: (run: PlanRun, problem: ProblemSource) => readonly string[]
  readonly frame: PlainWriter<ProblemFrame>
}

/** Compiles `Subscription.problems`. Throws `NotCoveredError`. */
export function problemFrames(field: PlanField): ProblemFrames {
  const { args, compiler } = field
  const rows: PlainWriter<ProblemSource>[] = []
  const compile = (): PlainWriter<ProblemFrame> =>
    plainWriter<ProblemFrame>(field, (member) => {
      switch (member.name) {
        case 'reset':
          return (_run, { reset }) => String(reset)
        case 'synced':
          return () => 'true'
        case 'totalCount':
          return (_run, { read }) => String(read.page.totalCount())
        case 'staleSince':
          return ({ served }, { read }) => JSON.stringify(staleSince(served, read.parts))
        case 'changes': {
          const change = plainWriter<ProblemChange>(member, (part) => {
            if (part.name !== 'object') {
              return valueMembers<ProblemChange>(['type', 'objectId'])(part)
            }
            const at = rows.push(problemWriter(part)) - 1
            return (_run, { texts }) => texts[at] ?? 'null'
          })
          return (run, { changes }) => run.list(changes, (one) => change(run, one))
        }
        default: {
          const write = listMember(member)
          return write && ((run, { read }) => write(run, read))
        }
      }
    })
  const { compiled: frame, needs } = compiler.apart(() => {
    const { served } = compiler
    compiler.asks({
      args,
      needs: (given, cluster) => problemNeeds(served, given, cluster),
    })
    return compiler.in({ place: field.key, isLive: true }, compile)
  })
  return { needs, frame, row: (run, problem) => rows.map((write) => write(run, problem)) }
}

const values = [
  'id',
  'cluster',
  'kind',
  'type',
  'severity',
  'reason',
  'message',
  'since',
  'count',
] as const

function problemWriter(field: PlanField): PlainWriter<ProblemSource> {
  const value = valueMembers<ProblemSource>(values)
  return plainWriter<ProblemSource>(field, (member) => {
    switch (member.name) {
      case 'object': {
        const write = objectRefWriter(member)
        return (run, { object }) => write(run, object)
      }
      case 'objects': {
        const write = objectRefWriter(member)
        return (run, problem) => {
          const asked: ProblemObjectsArguments = run.argumentsOf(member.args)
          return run.list(problem.objects(asked), (ref) => write(run, ref))
        }
      }
      case 'lastEvent': {
        const { compiler } = member
        for (const { kind, indexes } of lastEventNeeds(compiler.served)) {
          compiler.reads(kind, indexes)
        }
        const write = plainWriter<ProblemEvent>(
          member,
          valueMembers(['reason', 'message', 'count', 'lastSeen']),
        )
        return (run, problem) => {
          const event = problem.lastEvent()
          return event === null ? 'null' : write(run, event)
        }
      }
      default:
        return value(member)
    }
  })
}
