import type { PageOf } from '../../query/page/page.ts'
import {
  lastEventNeeds,
  problemNeeds,
  type ProblemsRead,
  readProblems,
} from '../reads/over-kinds/problems-read.ts'
import type { ProblemObjectsArguments } from '../schema/read-arguments.ts'
import type { ProblemCount, ProblemEvent, ProblemSource } from '../schema/read-context.ts'
import { connectionWriter, unionMember } from './connection-writer.ts'
import { objectRefWriter } from './object-ref-writer.ts'
import { type PlainWriter, plainWriter, valueMembers } from './plain-writer.ts'
import type { PlanField, RootWriter } from './plan-compiler.ts'

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

/** Compiles a problem. Throws `NotCoveredError`. */
export function problemWriter(field: PlanField): PlainWriter<ProblemSource> {
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
