import type { PageOf } from '../../query/page/page.ts'
import {
  lastEventNeeds,
  problemNeeds,
  type ProblemsRead,
  readProblems,
} from '../reads/over-kinds/problems-read.ts'
import type { ProblemSource } from '../schema/read-context.ts'
import { connectionWriter } from './connection-writer.ts'
import { type PlainWriter, plainWriter } from './plain-writer.ts'
import type { PlanField, RootWriter } from './plan-compiler.ts'
import { memberWriter } from './value-writer.ts'

type Problem = ProblemsRead['page'] extends PageOf<infer R> ? R : never

/** Compiles `Query.problems`. Throws `NotCoveredError`. */
export function problemsWriter(field: PlanField): RootWriter {
  const { args, compiler, nodes } = field
  const { served } = compiler
  compiler.asks({ args, needs: (values, cluster) => problemNeeds(served, values, cluster) })
  const write = connectionWriter<ProblemsRead, Problem>(field, (row) => {
    const problem = problemWriter(row)
    return (run, { problemOf }, found) => problem(run, problemOf(found))
  })
  return {
    write(run) {
      const read = readProblems(run, run.argumentsOf(args))
      run.errors.beside(read.failures, nodes)
      return write(run, read)
    },
  }
}

/** Compiles a problem. Throws `NotCoveredError`. */
export function problemWriter(field: PlanField): PlainWriter<ProblemSource> {
  return plainWriter<ProblemSource>(field, (member) => {
    const { compiler } = member
    if (member.name === 'lastEvent') {
      for (const { kind, indexes } of lastEventNeeds(compiler.served)) compiler.reads(kind, indexes)
    }
    return memberWriter(member)
  })
}
